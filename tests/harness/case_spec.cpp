#include "tests/harness/case_spec.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_object.h"
#include "tests/harness/value_family.h"
#include "tests/harness/wrapped_text.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace paged {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

ValueFamily read_family(JsonObject json) {
  ValueFamily family;
  if (json.has("kind")) family.kind = json.text("kind");
  try {
    check_family_kind(shortened(family.kind));
  } catch (const InputError& error) {
    json.fail("kind", error.what());
  }
  const auto only_of = [&](const char* key, const std::string& kind, const std::string& other) {
    if (family.kind != kind && family.kind != other)
      json.fail(key, "means nothing to the kind \"" + family.kind + "\"");
  };
  if (json.has("std")) family.standard_deviation = json.number("std");
  if (!(family.standard_deviation >= 0) ||
      family.standard_deviation > std::numeric_limits<float>::max())
    json.fail("std", "is " + shortened(json.at("std").dump()) +
                         "; it must be a 32-bit float, finite and not negative");
  if (json.has("value")) {
    family.value = json.finite_number("value");
    only_of("value", "constant", "constant");
  }
  if (json.has("logit")) {
    family.logit = json.finite_number("logit");
    only_of("logit", "negative-logits", "negative-logits");
  }
  if (json.has("token")) {
    family.token = json.integer("token", -1, kMaxInt);
    only_of("token", "needle", "large-logits");
  }
  if (json.has("seed"))
    family.seed = static_cast<std::uint64_t>(
        json.integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
  json.finish();
  return family;
}

/// "values" is one family for all three tensors, or one for each.
void read_values(JsonObject json, CaseSpec& spec) {
  const bool per_tensor = json.has("query") || json.has("key_cache") || json.has("value_cache");
  if (!per_tensor) {
    spec.query_values = spec.key_values = spec.value_values = read_family(json);
    return;
  }
  if (json.has("query")) spec.query_values = read_family(json.object("query"));
  if (json.has("key_cache")) spec.key_values = read_family(json.object("key_cache"));
  if (json.has("value_cache")) spec.value_values = read_family(json.object("value_cache"));
  json.finish();
}

void read_block_tables(JsonObject& json, CaseSpec& spec) {
  const nlohmann::json& tables = json.at("block_tables");
  if (tables == "random") {
    spec.block_tables = TableKind::random;
  } else if (tables == "identity") {
    spec.block_tables = TableKind::identity;
  } else if (tables == "reversed") {
    spec.block_tables = TableKind::reversed;
  } else if (tables.is_array()) {
    std::vector<std::vector<std::int32_t>> rows;
    for (std::size_t row = 0; row < tables.size(); ++row) {
      const std::string name = "block_tables[" + std::to_string(row) + "]";
      if (!tables[row].is_array()) json.fail(name, "must be a list of block ids");
      rows.emplace_back();
      for (const nlohmann::json& id : tables[row]) {
        const std::string entry = name + "[" + std::to_string(rows.back().size()) + "]";
        rows.back().push_back(static_cast<std::int32_t>(
            JsonObject::to_integer(id, std::numeric_limits<std::int32_t>::min(), kMaxInt,
                                   [&](const std::string& why) { json.fail(entry, why); })));
      }
    }
    spec.block_tables = std::move(rows);
  } else {
    json.fail("block_tables",
              "must be \"random\", \"identity\", \"reversed\" or a list with one row of block ids "
              "per sequence");
  }
}

void read_block_sparse(JsonObject json, BlockSparsity& sparse) {
  const auto read = [&](const char* key, int& value, int least) {
    if (json.has(key)) value = static_cast<int>(json.integer(key, least, kMaxInt));
  };
  read("local_blocks", sparse.local_blocks, 0);
  read("vert_stride", sparse.vert_stride, 1);
  read("block_size", sparse.block_size, 1);
  read("head_sliding_step", sparse.head_sliding_step, -kMaxInt);
  read("tensor_parallel_rank", sparse.tensor_parallel_rank, 0);
  json.finish();
}

void read_tensors(JsonObject json, CaseSpec& spec, const std::filesystem::path& directory) {
  for (const char* name : {"query", "key_cache", "value_cache", "keys", "values"})
    if (json.has(name)) {
      const std::string file = json.text(name);
      if (file.empty()) json.fail(name, "must name a file");
      if (file.find('\0') != std::string::npos)
        json.fail(name, "has a zero character, which no file's name has");
      spec.tensors[name] = directory / file;
    }
  json.finish();
}

void read_partitioning(JsonObject& json, CaseSpec& spec) {
  if (json.has("partition_size"))
    spec.partition_size = static_cast<int>(json.integer("partition_size", 1, kMaxInt));
  if (!json.has("variant")) return;
  const std::string variant = json.text("variant");
  if (variant == "v1")
    spec.variant = KernelVariant::v1;
  else if (variant == "v2")
    spec.variant = KernelVariant::v2;
  else if (variant == "v0.6.0")
    spec.variant = KernelVariant::v060;
  else if (variant != "auto")
    json.fail("variant", "is \"" + shortened(variant) + "\"; known are v1, v2, auto, v0.6.0");
}

void read_types(JsonObject& json, CaseSpec& spec) {
  if (json.has("scalar")) {
    const std::string name = json.text("scalar");
    const auto type = scalar_type_named(name);
    if (!type) json.fail("scalar", "is \"" + shortened(name) + "\"; known are f32, f16, bf16");
    spec.scalar = *type;
  }
  if (json.has("cache")) {
    const std::string name = json.text("cache");
    spec.cache = cache_type_named(name);
    if (!spec.cache)
      json.fail("cache", "is \"" + shortened(name) + "\"; known are f32, f16, bf16, e4m3, e5m2");
  }
  if (json.has("probabilities")) {
    const std::string name = json.text("probabilities");
    if (name != "f32" && name != "f16")
      json.fail("probabilities", "is \"" + shortened(name) + "\"; known are f32, f16");
    spec.probabilities = *scalar_type_named(name);
  }
}

void read_shape(JsonObject& json, CaseSpec& spec) {
  spec.num_heads = static_cast<int>(json.integer("num_heads", 1, kMaxInt));
  spec.num_kv_heads = static_cast<int>(json.integer("num_kv_heads", 1, kMaxInt));
  spec.head_size = static_cast<int>(json.integer("head_size", 1, kMaxInt));
  spec.block_size = static_cast<int>(json.integer("block_size", 1, kMaxInt));
  if (json.has("num_blocks")) spec.num_blocks = json.integer("num_blocks", 0, kMaxInt);
  for (std::int64_t length : json.integers("seq_lens", 0, kMaxInt))
    spec.seq_lens.push_back(static_cast<int>(length));
}

}  // namespace

CaseSpec parse_case(const std::string& json_text, const std::string& origin,
                    const std::filesystem::path& directory) {
  const nlohmann::json document = parse_json(json_text, origin);
  JsonObject json(document, origin, "");
  CaseSpec spec;
  spec.name = origin;
  if (json.has("description")) spec.description = json.text("description");
  read_shape(json, spec);
  read_types(json, spec);
  if (json.has("block_tables")) read_block_tables(json, spec);
  if (json.has("table_width"))
    spec.table_width = static_cast<int>(json.integer("table_width", 0, kMaxInt));
  if (json.has("table_padding"))
    spec.table_padding = static_cast<std::int32_t>(
        json.integer("table_padding", std::numeric_limits<std::int32_t>::min(), kMaxInt));
  if (json.has("scale")) spec.scale = json.float_number("scale");
  if (json.has("k_scale")) spec.k_scale = json.float_number("k_scale");
  if (json.has("v_scale")) spec.v_scale = json.float_number("v_scale");
  if (json.has("alibi_slopes")) spec.alibi_slopes = json.float_numbers("alibi_slopes");
  if (json.has("block_sparse")) read_block_sparse(json.object("block_sparse"), spec.block_sparse);
  if (json.has("values")) read_values(json.object("values"), spec);
  if (json.has("poison")) {
    JsonObject poison = json.object("poison");
    if (poison.has("tail")) spec.poison.tail = poison.number("tail");
    if (poison.has("free_blocks")) spec.poison.free_blocks = poison.number("free_blocks");
    poison.finish();
  }
  if (json.has("tensors")) read_tensors(json.object("tensors"), spec, directory);
  read_partitioning(json, spec);
  json.finish();
  return spec;
}

CaseSpec read_case_file(const std::filesystem::path& file) {
  CaseSpec spec = parse_case(content_of_input(file), file.string(), file.parent_path());
  spec.name = file.stem().string();
  spec.file = file;
  return spec;
}

}  // namespace paged
