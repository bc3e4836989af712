#include "kernels/simt/races_between_blocks.h"

#include "kernels/simt/block_order.h"
#include "kernels/simt/device_memory.h"
#include "kernels/simt/race_cell.h"
#include "kernels/simt/reports.h"

#include <array>
#include <bit>
#include <cstddef>
#include <unordered_map>

namespace paged::simt {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

bool conflict(AccessKind a, AccessKind b) { return a != b || a == AccessKind::write; }

class Search {
 public:
  Search(const LaunchRequest& launch, const std::vector<BlockLog>& logs)
      : launch_(launch), logs_(logs), order_(logs) {}

  std::vector<RecordedFinding> run() {
    std::size_t accesses = 0;
    for (const BlockLog& log : logs_) accesses += log.accesses.size();
    cells_.reserve(accesses);
    for (std::size_t log = 0; log < logs_.size(); ++log)
      for (const LoggedAccess& access : logs_[log].accesses) see(log, access);
    return findings_.all();
  }

 private:
  /// An access of a block before, in a list of those of the same kind to the same cell.
  struct Earlier {
    std::size_t log;
    const LoggedAccess* access;
    std::uint32_t next;
  };
  struct Cell {
    std::array<std::uint32_t, 3> first = {kNone, kNone, kNone};  ///< list, by kind
    std::array<std::uint8_t, 3> bytes = {};                      ///< in that list
  };

  void see(std::size_t log, const LoggedAccess& access) {
    Cell& cell = cells_[access.cell];
    for (const AccessKind kind : {AccessKind::write, AccessKind::atomic, AccessKind::read}) {
      const auto k = static_cast<std::size_t>(kind);
      if (!conflict(kind, access.kind) || (cell.bytes[k] & access.bytes) == 0) continue;
      for (std::uint32_t i = cell.first[k]; i != kNone; i = earlier_[i].next)
        if (races(earlier_[i], log, access)) {
          report(log, access, earlier_[i]);
          return;
        }
    }
    const auto k = static_cast<std::size_t>(access.kind);
    // Without atomics a block's access races with what raced with another block's before it.
    if (!order_.has_atomics() && (access.bytes & ~cell.bytes[k]) == 0) return;
    earlier_.push_back({log, &access, cell.first[k]});
    cell.first[k] = static_cast<std::uint32_t>(earlier_.size() - 1);
    cell.bytes[k] |= access.bytes;
  }

  bool races(const Earlier& earlier, std::size_t log, const LoggedAccess& access) {
    if (earlier.log == log || (earlier.access->bytes & access.bytes) == 0) return false;
    return !order_.is_ordered(earlier.log, earlier.access->atomics, log, access.atomics) &&
           !order_.is_ordered(log, access.atomics, earlier.log, earlier.access->atomics);
  }

  void report(std::size_t log, const LoggedAccess& access, const Earlier& earlier) {
    const CodePlace place{access.pc, ""};
    if (findings_.count_again(FindingKind::data_race, place)) return;
    const LoggedAccess& other = *earlier.access;
    const auto byte = std::countr_zero(static_cast<unsigned>(access.bytes & other.bytes));
    RecordedFinding finding{
        FindingKind::data_race, launch_.kernel, place,
        describe_thread(launch_, logs_[log].block, access.thread, access.phase) + ": " +
            std::to_string(access.size) + "-byte " + name_of(access.kind) + " at " +
            place_in_allocation(access.cell * kCellBytes + byte) + " races with " +
            with_article(other.kind) + " by another block, " +
            describe_thread(launch_, logs_[earlier.log].block, other.thread, other.phase)};
    finding.other = {other.pc, ""};
    finding.advice =
        "give each block memory of its own, use atomics, or leave the second step to another "
        "launch: nothing orders the blocks of one";
    findings_.add(std::move(finding));
  }

  const LaunchRequest& launch_;
  const std::vector<BlockLog>& logs_;
  BlockOrder order_;
  BlockFindings findings_;
  std::unordered_map<std::uintptr_t, Cell> cells_;
  std::vector<Earlier> earlier_;
};

}  // namespace

std::vector<RecordedFinding> find_races_between_blocks(const LaunchRequest& launch,
                                                       const std::vector<BlockLog>& logs) {
  if (logs.size() < 2) return {};
  return Search(launch, logs).run();
}

}  // namespace paged::simt
