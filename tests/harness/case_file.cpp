#include "tests/harness/case_file.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>

namespace paged {
namespace {

using Json = nlohmann::ordered_json;

/// A number, or what stands for one that JSON has not.
Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json json_of(const ValueFamily& family) {
  const ValueFamily plain;
  Json json = {{"kind", family.kind}};
  if (family.standard_deviation != plain.standard_deviation)
    json["std"] = family.standard_deviation;
  if (family.kind == "constant") json["value"] = family.value;
  if (family.kind == "negative-logits" && family.logit != plain.logit) json["logit"] = family.logit;
  if (family.token >= 0 && (family.kind == "needle" || family.kind == "large-logits"))
    json["token"] = family.token;
  json["seed"] = family.seed;
  return json;
}

Json json_of(const std::variant<TableKind, std::vector<std::vector<std::int32_t>>>& tables) {
  if (const auto* rows = std::get_if<1>(&tables)) return *rows;
  constexpr const char* names[] = {"random", "identity", "reversed"};
  return names[static_cast<int>(std::get<TableKind>(tables))];
}

Json json_of(const BlockSparsity& sparse) {
  Json json = {{"local_blocks", sparse.local_blocks},
               {"vert_stride", sparse.vert_stride},
               {"block_size", sparse.block_size},
               {"head_sliding_step", sparse.head_sliding_step}};
  if (sparse.tensor_parallel_rank != 0) json["tensor_parallel_rank"] = sparse.tensor_parallel_rank;
  return json;
}

void add_cache(const CaseSpec& spec, Json& json) {
  json["scalar"] = name_of(spec.scalar);
  if (spec.cache && *spec.cache != same_as(spec.scalar)) json["cache"] = name_of(*spec.cache);
  if (spec.num_blocks) json["num_blocks"] = *spec.num_blocks;
  json["seq_lens"] = spec.seq_lens;
  json["block_tables"] = json_of(spec.block_tables);
  if (spec.table_width) json["table_width"] = *spec.table_width;
  if (spec.table_padding != -1) json["table_padding"] = spec.table_padding;
}

void add_options(const CaseSpec& spec, Json& json) {
  if (spec.scale) json["scale"] = *spec.scale;
  if (spec.k_scale != 1) json["k_scale"] = spec.k_scale;
  if (spec.v_scale != 1) json["v_scale"] = spec.v_scale;
  if (!spec.alibi_slopes.empty()) json["alibi_slopes"] = spec.alibi_slopes;
  if (spec.block_sparse.active()) json["block_sparse"] = json_of(spec.block_sparse);
  if (spec.probabilities != ScalarType::f32) json["probabilities"] = name_of(spec.probabilities);
  if (spec.partition_size != 512) json["partition_size"] = spec.partition_size;
  if (spec.variant == KernelVariant::v1) json["variant"] = "v1";
  if (spec.variant == KernelVariant::v2) json["variant"] = "v2";
  if (spec.variant == KernelVariant::v060) json["variant"] = "v0.6.0";
}

}  // namespace

std::string case_file_of(const CaseSpec& spec) {
  Json json;
  if (!spec.description.empty()) json["description"] = spec.description;
  json["num_heads"] = spec.num_heads;
  json["num_kv_heads"] = spec.num_kv_heads;
  json["head_size"] = spec.head_size;
  json["block_size"] = spec.block_size;
  add_cache(spec, json);
  add_options(spec, json);
  json["values"] = {{"query", json_of(spec.query_values)},
                    {"key_cache", json_of(spec.key_values)},
                    {"value_cache", json_of(spec.value_values)}};
  if (spec.poison.tail) json["poison"]["tail"] = json_number(*spec.poison.tail);
  if (spec.poison.free_blocks)
    json["poison"]["free_blocks"] = json_number(*spec.poison.free_blocks);
  for (const auto& [name, file] : spec.tensors) json["tensors"][name] = file.string();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paged
