// Case files for the tool, written key by key.
#pragma once
#include <map>
#include <string>

namespace paged::testing {

/// A case of 20 and 3 tokens; keys of `changes` replace or add to its own, values are raw JSON.
inline std::string case_text(const std::map<std::string, std::string>& changes = {}) {
  std::map<std::string, std::string> object = {
      {"num_heads", "4"},      {"num_kv_heads", "2"},
      {"head_size", "64"},     {"block_size", "16"},
      {"seq_lens", "[20, 3]"}, {"scalar", "\"f16\""},
      {"num_blocks", "12"},    {"values", R"({"kind": "peaked", "seed": 7})"}};
  for (const auto& [key, value] : changes) object[key] = value;
  std::string text;
  for (const auto& [key, value] : object)
    text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
  return text + "}";
}

}  // namespace paged::testing
