// In which order the CPU machine runs what a GPU runs at the same time: the threads of a block, and
// the blocks of a launch. Every order is one that a GPU might take, so that a correct kernel does
// the same in all; seeds make an order happen again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace paged::simt {

enum class ScheduleKind : std::uint8_t {
  in_order,    ///< threads and blocks as they are numbered; a thread runs until it has to wait
  random,      ///< any thread that can run, until it has to wait
  warp_first,  ///< one warp as far as it goes, then the next in a permuted order
  preemptive,  ///< as random, but a thread may give way before any access, too: checked code only
};

/// "in-order", "random", "warp-first", "preemptive"
const char* name_of(ScheduleKind kind);
/// The kind of this name, or nothing.
std::optional<ScheduleKind> schedule_named(const std::string& name);

struct Schedule {
  ScheduleKind kind = ScheduleKind::in_order;
  std::uint64_t seed = 1;  ///< means nothing to in_order

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// "random, seed 7"; "" for the default, in_order.
std::string describe(const Schedule& schedule);

/// How launches from here on are run. What a block's threads do depends on the seed and the block's
/// index alone, so that neither the number of workers nor launches before change it.
void set_schedule(const Schedule& schedule);
Schedule current_schedule();

/// The block (linear index) that a launch of num_blocks hands out at a position. Each block has one
/// position.
std::uint64_t block_at(const Schedule& schedule, std::uint64_t position, std::uint64_t num_blocks);

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014).
class ScheduleRandom {
 public:
  explicit ScheduleRandom(std::uint64_t seed = 0) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// 0 ... n-1, 1 <= n < 2^32
  unsigned below(unsigned n) { return static_cast<unsigned>((bits() >> 32) * n >> 32); }

 private:
  std::uint64_t state_;
};

/// What decides about the threads of a block.
ScheduleRandom random_of_block(const Schedule& schedule, std::uint64_t block);

}  // namespace paged::simt
