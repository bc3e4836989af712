// What one request of a warp costs, from where its lanes go.
#pragma once
#include "kernels/counts.h"
#include "kernels/simt/wavefronts.h"

#include <cstdint>

namespace paged {

/// Lanes of one warp in a row: lane i accesses `bytes` bytes at begin + i * stride. begin and
/// stride are multiples of bytes.
struct LaneRow {
  std::int64_t begin = 0;  ///< bytes from the allocation's start
  int lanes = 32;
  std::int64_t stride = 0;  ///< bytes; 0: all lanes read the same
  int bytes = 4;
};

/// Lanes next to each other, with no gap between.
constexpr LaneRow side_by_side(std::int64_t begin, int lanes, int bytes) {
  return {begin, lanes, bytes, bytes};
}
/// All lanes read the same.
constexpr LaneRow same_for_all(std::int64_t begin, int bytes) { return {begin, 32, 0, bytes}; }

/// Sectors of 32 bytes that a row touches. With strides up to a sector none is left out between the
/// first and the last; with larger ones each lane has its own.
constexpr std::int64_t sectors_of(const LaneRow& row) {
  const std::int64_t last = row.begin + (row.lanes - 1) * row.stride + row.bytes - 1;
  return row.stride > kSectorBytes ? row.lanes : last / kSectorBytes - row.begin / kSectorBytes + 1;
}

constexpr std::int64_t useful_bytes_of(const LaneRow& row) {
  return row.stride == 0 ? row.bytes : std::int64_t{row.lanes} * row.bytes;
}

/// One load of global memory; nothing if it has no lanes.
inline Counts global_load(const LaneRow& row) {
  Counts counts;
  if (row.lanes == 0) return counts;
  counts.global_load_requests = 1;
  counts.global_load_sectors = static_cast<std::uint64_t>(sectors_of(row));
  counts.global_load_useful_bytes = static_cast<std::uint64_t>(useful_bytes_of(row));
  return counts;
}

/// One store to global memory; nothing if it has no lanes.
inline Counts global_store(const LaneRow& row) {
  Counts counts;
  if (row.lanes == 0) return counts;
  counts.global_store_requests = 1;
  counts.global_store_sectors = static_cast<std::uint64_t>(sectors_of(row));
  counts.global_store_useful_bytes = static_cast<std::uint64_t>(useful_bytes_of(row));
  return counts;
}

/// One load of shared memory in which each bank gives one word at most.
inline Counts shared_load() {
  Counts counts;
  counts.shared_load_requests = counts.shared_load_wavefronts = 1;
  return counts;
}
/// One store of the same kind.
inline Counts shared_store() {
  Counts counts;
  counts.shared_store_requests = counts.shared_store_wavefronts = 1;
  return counts;
}

/// The wavefronts of lanes 0 ... lanes-1, lane i at address_of(i), by the model of
/// kernels/simt/wavefronts.h.
template <typename AddressOf>
std::uint64_t wavefronts(int lanes, int bytes, AddressOf address_of) {
  simt::WarpAccess access;
  for (int lane = 0; lane < lanes; ++lane)
    access.add(lane, static_cast<std::uintptr_t>(address_of(lane)));
  return static_cast<std::uint64_t>(simt::shared_wavefronts(access, bytes));
}

/// One load of shared memory that may have conflicts.
template <typename AddressOf>
Counts shared_load(int lanes, int bytes, AddressOf address_of) {
  Counts counts;
  counts.shared_load_requests = 1;
  counts.shared_load_wavefronts = wavefronts(lanes, bytes, address_of);
  return counts;
}
/// One store of the same kind.
template <typename AddressOf>
Counts shared_store(int lanes, int bytes, AddressOf address_of) {
  Counts counts;
  counts.shared_store_requests = 1;
  counts.shared_store_wavefronts = wavefronts(lanes, bytes, address_of);
  return counts;
}

inline Counts barriers(int number) {
  Counts counts;
  counts.barriers = static_cast<std::uint64_t>(number);
  return counts;
}
inline Counts shuffles(int number) {
  Counts counts;
  counts.shuffles = static_cast<std::uint64_t>(number);
  return counts;
}

}  // namespace paged
