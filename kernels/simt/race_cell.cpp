#include "kernels/simt/race_cell.h"

#include "kernels/simt/checker.h"

#include <cstdint>

namespace paged::simt {

std::uint32_t LaneReadsOfEpoch::add(std::uint64_t epoch, unsigned lanes, BlockClocks::Clock clock,
                                    std::uint8_t bytes) {
  const UncheckedScope unchecked;
  if (epoch_ != epoch) num_used_ = 0;
  epoch_ = epoch;
  if (num_used_ == reads_.size()) reads_.emplace_back();
  LaneReads& reads = reads_[num_used_];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool has_read = (lanes >> lane & 1U) != 0;
    reads.clocks[lane] = has_read ? clock : 0;
    reads.bytes[lane] = has_read ? bytes : 0;
  }
  return num_used_++;
}

}  // namespace paged::simt
