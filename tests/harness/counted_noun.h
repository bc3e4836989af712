// Numbers with their nouns.
#pragma once
#include <string>

namespace paged {

/// "1 token", "2 tokens", "0 tokens".
template <typename Integer>
std::string counted(Integer count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace paged
