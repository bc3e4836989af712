// A test case as people write it: sizes, lengths, tables, and where the values come from.
#pragma once
#include "reference/block_sparsity.h"
#include "reference/decode_shape.h"
#include "reference/scalar_type.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paged {

/// How the physical blocks of a case are laid out when no explicit table is given.
enum class TableKind { random, identity, reversed };

/// A distribution of inputs. See value_family.h for what each kind does.
struct ValueFamily {
  std::string kind = "normal";
  double standard_deviation = 1.0;  ///< "std"; >= 0, finite
  double value = 1.0;               ///< of "constant"; finite
  double logit = -20;               ///< of "negative-logits": about what every logit is; finite
  std::int64_t token = -1;          ///< of "needle": which token; -1 draws one
  std::uint64_t seed = 7;
};

/// Values put where a kernel must not look.
struct Poison {
  std::optional<double> tail;         ///< unused slots of each sequence's last page
  std::optional<double> free_blocks;  ///< blocks that no sequence owns
};

/// A decode step described, not yet built. The keys of a case file are these names; see
/// docs/case_files.md.
struct CaseSpec {
  std::string name;
  std::string description;  ///< one sentence, for lists
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_size = 0;
  int block_size = 0;
  std::optional<std::int64_t> num_blocks;  ///< default: what the tables need, and three free ones
  ScalarType scalar = ScalarType::f16;
  std::optional<CacheType> cache;  ///< default: the scalar's own type
  std::vector<int> seq_lens;
  std::variant<TableKind, std::vector<std::vector<std::int32_t>>> block_tables = TableKind::random;
  std::optional<int> table_width;  ///< default: the longest row
  std::int32_t table_padding = -1;
  std::optional<double> scale;  ///< default: 1 / sqrt(head_size)
  double k_scale = 1.0;
  double v_scale = 1.0;
  std::vector<double> alibi_slopes;
  BlockSparsity block_sparse;
  ValueFamily query_values, key_values, value_values;
  Poison poison;
  /// Tensors from .npy files instead of generated values, by name: "query" [num_seqs, num_heads,
  /// head_size]; "key_cache", "value_cache" in the paged layouts; or "keys", "values"
  /// [num_tokens, num_kv_heads, head_size] of one text, whose prefixes the sequences are; an fp8
  /// cache stores them divided by its scale.
  std::map<std::string, std::filesystem::path> tensors;
  ScalarType probabilities = ScalarType::f32;  ///< that multiply values: f32, or f16
  int partition_size = 512;                    ///< tokens per partition, for stages that partition
  KernelVariant variant = KernelVariant::automatic;  ///< "v1", "v2" or "auto"
  std::filesystem::path file;                        ///< where it was read; "" if from no file
};

/// Reads a case file. Paths of tensors are relative to the file. Throws InputError naming the file
/// and key: JSON that does not parse (with the line), unknown keys, wrong types, missing shape.
CaseSpec read_case_file(const std::filesystem::path& file);

/// The same from text; `origin` stands in messages, `directory` is where tensor paths start.
CaseSpec parse_case(const std::string& json_text, const std::string& origin,
                    const std::filesystem::path& directory);

}  // namespace paged
