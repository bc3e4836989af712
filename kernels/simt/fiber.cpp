#include "kernels/simt/fiber.h"

#include <sys/mman.h>

#include <new>

namespace paged::simt {

FiberArena::FiberArena() {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  fibers_ = reinterpret_cast<Fiber*>(memory_);
  for (int id = 0; id < kMaxThreads; ++id) {
    Fiber& fiber = *new (&fibers_[id]) Fiber;
    fiber.id = id;
    fiber.warp = id / kWarpSize;
    fiber.lane = id % kWarpSize;
    fiber.coordinates.lane = fiber.lane;
  }
}

FiberArena::~FiberArena() { munmap(memory_, kBytes); }

void FiberArena::prepare(Fiber& fiber, void (*entry)(boost::context::detail::transfer_t)) const {
  char* const guard = slot(fiber.id);
  // Without a guard (the kernel has only so many mappings) an overflow runs into the next stack.
  if (!fiber.stack_is_guarded) mprotect(guard, kPage, PROT_NONE);
  fiber.stack_is_guarded = true;
  // Equal offsets in all stacks would fall into the same few cache sets.
  const std::size_t shift = 192 * static_cast<std::size_t>(fiber.id) % kPage;
  char* const top = guard + kSlot - shift;
  fiber.context = boost::context::detail::make_fcontext(top, kStackBytes, entry);
}

const Fiber* FiberArena::owner_of_guard(std::uintptr_t address) const {
  const std::uintptr_t offset = address - begin() - kFiberBytes;
  if (offset >= kSlot * kMaxThreads || offset % kSlot >= kPage) return nullptr;
  return &fibers_[offset / kSlot];
}

}  // namespace paged::simt
