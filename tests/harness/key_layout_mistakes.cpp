#include "tests/harness/key_layout_mistakes.h"

#include "reference/cache_layout.h"

#include <utility>

namespace paged {
namespace {

class KeyLayoutMistakes {
 public:
  KeyLayoutMistakes(int head_size, int block_size, int x)
      : head_size_(head_size), block_size_(block_size), x_(x) {
    other_widths();
    other_orders();
    forgotten_factors();
    forgotten_terms();
  }
  std::vector<KeyLayoutMistake> take() { return std::move(all_); }

 private:
  template <typename Place>
  void add(std::string sentence, Place place) {
    all_.push_back({std::move(sentence), place});
  }

  void other_widths() {
    for (const int width : {2, 4, 8, 16})
      if (width != x_ && head_size_ % width == 0)
        add("keys are read with x = " + std::to_string(width) + ", as elements of " +
                std::to_string(16 / width) + (width == 16 ? " byte" : " bytes") +
                " have it, and x is " + std::to_string(x_) + " here: 16 bytes of this cache",
            [width, tokens = block_size_](int offset, int dim) {
              return std::int64_t{key_offset_in_page(offset, dim, tokens, width)};
            });
  }

  void other_orders() {
    add("keys are read in the layout of values", [tokens = block_size_](int offset, int dim) {
      return std::int64_t{value_offset_in_page(offset, dim, tokens)};
    });
    add("keys are read as [block_size, head_size]",
        [dims = head_size_](int offset, int dim) { return std::int64_t{offset} * dims + dim; });
  }

  void forgotten_factors() {
    add("in a key's place, the step from one vector of x dimensions to the next lacks its factor "
        "x: "
        "it is block_size * x",
        [x = x_, tokens = block_size_](int offset, int dim) {
          return std::int64_t{dim / x} * tokens + offset * x + dim % x;
        });
    add("in a key's place, the step from one token to the next lacks its factor x",
        [x = x_, tokens = block_size_](int offset, int dim) {
          return std::int64_t{dim / x} * tokens * x + offset + dim % x;
        });
    add("in a key's place, the steps from vector to vector and from token to token lack their "
        "factor "
        "x",
        [x = x_, tokens = block_size_](int offset, int dim) {
          return std::int64_t{dim / x} * tokens + offset + dim % x;
        });
  }

  void forgotten_terms() {
    add("the vectors of a token are taken to lie side by side, at token * x + dim",
        [x = x_](int offset, int dim) { return std::int64_t{offset} * x + dim; });
    // Where dimensions are loaded `loaded` at a time, the load itself walks so far.
    for (int loaded = 1; loaded < x_; loaded *= 2)
      add("in a key's place, dim % x is left out: the parts of a vector of x dimensions are all "
          "read "
          "from its beginning",
          [=, x = x_, tokens = block_size_](int offset, int dim) {
            return (std::int64_t{dim / x} * tokens + offset) * x + dim % loaded;
          });
    add("in a key's place, dim / x is left out: all dimensions are read from the first vector",
        [x = x_](int offset, int dim) { return std::int64_t{offset} * x + dim % x; });
    add("in a key's place, the token is left out: all tokens of a page have the key of its first",
        [x = x_, tokens = block_size_](int, int dim) {
          return std::int64_t{dim / x} * tokens * x + dim % x;
        });
    add("in a key's place, dim stands where dim % x belongs",
        [x = x_, tokens = block_size_](int offset, int dim) {
          return (std::int64_t{dim / x} * tokens + offset) * x + dim;
        });
    add("in a key's place, dim stands where dim / x belongs",
        [x = x_, tokens = block_size_](int offset, int dim) {
          return (std::int64_t{dim} * tokens + offset) * x + dim % x;
        });
  }

  int head_size_, block_size_, x_;
  std::vector<KeyLayoutMistake> all_;
};

}  // namespace

std::vector<KeyLayoutMistake> key_layout_mistakes(int head_size, int block_size, int x) {
  return KeyLayoutMistakes(head_size, block_size, x).take();
}

}  // namespace paged
