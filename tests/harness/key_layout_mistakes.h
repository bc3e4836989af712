// Mistakes about where an element of a key lies in its page, [head_size/x, block_size, x].
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paged {

/// A wrong place for every element of a page of keys.
struct KeyLayoutMistake {
  std::string sentence;  ///< what is wrong
  /// Elements from the page's first to where (offset, dimension) is read; it may lie behind the page.
  std::function<std::int64_t(int offset, int dim)> place;
};

/// Those of pages with this x: another x, other orders of the dimensions, a factor or a term that is
/// forgotten.
std::vector<KeyLayoutMistake> key_layout_mistakes(int head_size, int block_size, int x);

}  // namespace paged
