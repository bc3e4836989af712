// What orders blocks of one launch: atomics on the same word, and nothing else.
//
// What a block did before an atomic is ordered before what another block does after a later atomic
// on the same word, and so on from block to block: the last block that counts itself done may read
// what all others wrote. Whether the fences are there that a GPU needs for it is not looked at.
#pragma once
#include "kernels/simt/block_log.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace paged::simt {

class BlockOrder {
 public:
  explicit BlockOrder(const std::vector<BlockLog>& logs);

  /// Without any, no two blocks are ordered.
  bool has_atomics() const { return !by_address_.empty(); }
  /// Whether what block `a` (an index into logs) did between its atomics number atomics_a - 1 and
  /// atomics_a is ordered before what b did after atomics_b of its own.
  bool is_ordered(std::size_t a, std::uint32_t atomics_a, std::size_t b, std::uint32_t atomics_b);

 private:
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  struct Event {
    std::uint64_t turn;
    std::size_t log;
    std::uint32_t number;  ///< in its block
  };

  void follow(std::size_t from, std::uint32_t atomics);

  const std::vector<BlockLog>& logs_;
  std::unordered_map<std::uintptr_t, std::vector<Event>> by_address_;  ///< in order of turns
  // What is ordered after (from_, from_atomics_): of each block, what follows this atomic of its.
  std::size_t from_ = ~std::size_t{0};
  std::uint32_t from_atomics_ = 0;
  std::vector<std::uint32_t> reached_;
};

}  // namespace paged::simt
