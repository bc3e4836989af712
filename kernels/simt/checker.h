// Looks at every load, store and atomic of instrumented kernel code before it happens.
#pragma once
#include "kernels/simt/access.h"
#include "kernels/simt/block_clocks.h"
#include "kernels/simt/global_races.h"
#include "kernels/simt/shared_races.h"
#include "kernels/simt/static_shared.h"
#include "kernels/simt/written_bits.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace paged::simt {

struct Worker;

/// Memory that a kernel may touch, as the checker sees it.
struct Region {
  enum class Kind : std::uint8_t { shared, allocation, arguments, program };
  /// What needs only a look at `written`, or, of shared memory, at its races: quick_check.h.
  enum class Shortcut : std::uint8_t { none, reads, shared };

  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::uint8_t* written = nullptr;  ///< as in written_bits.h, or null
  Kind kind = Kind::program;
  Shortcut shortcut = Shortcut::none;
  std::uint32_t instruction = 0;  ///< whose region it is: the last bits of the pc

  bool is_of(std::uintptr_t pc) const { return instruction == static_cast<std::uint32_t>(pc); }
  bool holds(std::uintptr_t address, std::size_t bytes) const {
    const std::uintptr_t offset = address - begin;
    return offset < size && bytes <= size - offset;
  }
};

/// Accesses of the calling OS thread in this range are nobody's business: the stacks of the fibers
/// while a checked block runs, everything at all other times.
struct IgnoredRange {
  std::uintptr_t begin = 0;
  std::size_t size = ~std::size_t{0};
};
extern thread_local IgnoredRange ignored_range;

/// Suspends checking on this OS thread: for the machine's own work in the middle of a kernel, which
/// may run through inline functions that the linker took from an instrumented file.
class UncheckedScope {
 public:
  UncheckedScope() : saved_(ignored_range) { ignored_range = {}; }
  ~UncheckedScope() { ignored_range = saved_; }
  UncheckedScope(const UncheckedScope&) = delete;
  UncheckedScope& operator=(const UncheckedScope&) = delete;

 private:
  IgnoredRange saved_;
};

/// The checker's state of one worker. The functions named at_ and *_block are called by the
/// scheduler: they are where a race detector or counters get their events.
class AccessChecker {
 public:
  void begin_launch(const Worker& worker, GlobalLaunch& launch);
  void begin_block(Worker& worker);
  void end_block(Worker& worker);
  void at_barrier() { clocks_.at_barrier(); }  ///< all live threads came to it
  void at_warp_sync(int warp, unsigned lanes) { clocks_.at_warp_sync(warp, lanes); }
  /// An asynchronous copy of the running thread writes to shared memory, in bounds.
  void at_copy_arrival(Worker& worker, const Access& access) { shared_.see(worker, access); }
  /// A bulk copy writes to shared memory, in bounds; see SharedRaces.
  void at_bulk_arrival(const Access& access, int actor, SyncClock& clock) {
    shared_.see_bulk_arrival(access, actor, clocks_.advance_copies(actor, clock));
  }
  void release(int thread, SyncClock& clock) { clocks_.release(thread, clock); }
  void acquire(int thread, const SyncClock& clock) { clocks_.acquire(thread, clock); }

  /// Checks an access of 1, 2, 4, 8 or 16 bytes by one instruction; does not return if it must not
  /// be executed. Counts it, if accesses are counted. Defined in quick_check.h.
  template <std::size_t kSize>
  void check(Worker& worker, std::uintptr_t address, AccessKind kind, std::uintptr_t pc);
  /// Of an access that is no read of what many read.
  template <std::size_t kSize>
  void check_otherwise(Worker& worker, std::uintptr_t address, AccessKind kind, std::uintptr_t pc);
  /// What check() comes to where that is not enough, and where accesses are counted.
  void check_and_count(Worker& worker, std::uintptr_t address, std::size_t size, AccessKind kind,
                       std::uintptr_t pc);

  /// Checks an access of any size by one instruction, and does not count it. `alignment` is what a
  /// GPU asks for: the size, or 1 where the compiler copies an object of another size.
  void check_instruction(Worker& worker, const Access& access, std::size_t alignment) {
    check_thoroughly(worker, access, alignment, access.pc);
  }
  /// The same for an operation of the machine, which may touch several variables; the access's pc
  /// is that of the call.
  void check_thoroughly(Worker& worker, const Access& access, std::size_t alignment) {
    check_thoroughly(worker, access, alignment, kNoInstruction);
  }

  /// Does an atomic that has been checked, update(). Those on global memory order blocks.
  template <typename F>
  auto do_atomic(std::uintptr_t address, F update) {
    return address - tls_begin_ < tls_size_ ? update() : global_.in_turn(address, update);
  }

 private:
  /// So large that instructions of one kernel, which lie close together, have a place each.
  static constexpr std::size_t kNumRecent = 8192;
  static constexpr std::uintptr_t kNoInstruction = 0;

  /// instruction: the access's pc, or kNoInstruction.
  void check_thoroughly(Worker& worker, const Access& access, std::size_t alignment,
                        std::uintptr_t instruction);

  /// Where the access at a program counter went last: nearly always where it goes next.
  Region& recent(std::uintptr_t pc) { return recent_[pc % kNumRecent]; }

  /// The region that an access lies in; its size is 0 if there is none.
  Region find_region(const Worker& worker, const Access& access, std::uintptr_t instruction);
  Region find_shared_region(const Worker& worker, const Access& access, std::uintptr_t instruction);
  /// "right past the end of 'keys' (4096 bytes)", for an access that lies in no region.
  std::string describe_bad_address(const Worker& worker, const Access& access) const;
  void check_races(Worker& worker, Region& region, const Access& access);
  void report_out_of_bounds(Worker& worker, const Access& access) const;
  void report_misaligned(Worker& worker, const Access& access) const;
  void report_uninitialised(Worker& worker, const Access& access) const;

  std::array<Region, kNumRecent> recent_;
  bool preempts_ = false;  ///< threads may give way before any access
  bool takes_shortcuts_ = true;
  BlockClocks clocks_;
  SharedRaces shared_{clocks_};
  GlobalRaces global_{clocks_};
  StaticShared static_shared_;
  std::uintptr_t tls_begin_ = 0;  ///< this OS thread's thread-local variables of the program
  std::size_t tls_size_ = 0;
};

}  // namespace paged::simt
