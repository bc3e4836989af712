// One CUDA thread of the CPU machine: a fiber with a stack of its own, and the arena they live in.
#pragma once
#include "kernels/phase.h"
#include "kernels/simt/thread_coordinates.h"
#include "kernels/simt/warp_operations.h"

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>

namespace paged::simt {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kWarpSize = 32;
inline constexpr int kMaxWarps = kMaxThreads / kWarpSize;

using FiberContext = boost::context::detail::fcontext_t;

enum class FiberState : std::uint8_t { ready, at_barrier, at_warp_operation, at_mbarrier, exited };

struct alignas(64) Fiber {
  ThreadCoordinates coordinates;
  int id = 0;  ///< linear index in the block
  int warp = 0;
  int lane = 0;
  FiberState state = FiberState::exited;
  std::optional<Phase> phase;

  /// Where it is suspended; null if it has to be started anew.
  FiberContext context = nullptr;
  bool stack_is_guarded = false;

  /// The barrier or warp operation it waits at.
  std::source_location where;
  std::uintptr_t pc = 0;  ///< return address of the call, for its inlined callers

  WarpOperation operation = WarpOperation::sync;
  unsigned mask = 0;
  int source_lane = 0;
  std::uint64_t value = 0;
  std::uint64_t result = 0;
};

/// Fibers and stacks of one worker in one mapping, so that one comparison tells a thread's own
/// variables (and threadIdx) from memory that a checker cares about.
class FiberArena {
 public:
  static constexpr std::size_t kStackBytes = std::size_t{64} * 1024;

  FiberArena();
  ~FiberArena();
  FiberArena(const FiberArena&) = delete;
  FiberArena& operator=(const FiberArena&) = delete;

  Fiber& operator[](int id) const { return fibers_[id]; }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  std::size_t size() const { return kBytes; }

  /// Gives a fiber a fresh stack on which `entry` runs at the first switch to it.
  void prepare(Fiber& fiber, void (*entry)(boost::context::detail::transfer_t)) const;
  /// The fiber whose guard page holds this address, or null.
  const Fiber* owner_of_guard(std::uintptr_t address) const;

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kSlot = kPage + kStackBytes + kPage;  // guard, stack, room to shift
  static constexpr std::size_t kFiberBytes =
      (sizeof(Fiber) * kMaxThreads + kPage - 1) / kPage * kPage;
  static constexpr std::size_t kBytes = kFiberBytes + kSlot * kMaxThreads;

  char* slot(int id) const { return memory_ + kFiberBytes + kSlot * static_cast<std::size_t>(id); }

  char* memory_ = nullptr;
  Fiber* fibers_ = nullptr;
};

/// Suspends the running context into `from` and runs `to`; returns when something switches back.
inline void switch_context(FiberContext& from, FiberContext to) {
  const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(to, &from);
  *static_cast<FiberContext*>(back.data) = back.fctx;
}

}  // namespace paged::simt
