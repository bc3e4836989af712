#include "kernels/simt/guarded_pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace paged::simt {

std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
}

GuardedPages GuardedPages::map(std::size_t bytes, std::size_t guard_bytes) {
  GuardedPages pages{nullptr, whole_pages(bytes), guard_bytes};
  void* all = mmap(nullptr, pages.reserved_bytes + 2 * guard_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return {};
  pages.data = static_cast<std::uint8_t*>(all) + guard_bytes;
  if (pages.open(bytes)) return pages;
  pages.unmap();
  return {};
}

void GuardedPages::unmap() {
  if (data != nullptr) munmap(data - guard_bytes, reserved_bytes + 2 * guard_bytes);
  data = nullptr;
}

bool GuardedPages::open(std::size_t bytes) const {
  return mprotect(data, whole_pages(bytes), PROT_READ | PROT_WRITE) == 0;
}

bool GuardedPages::close() const { return mprotect(data, reserved_bytes, PROT_NONE) == 0; }

void GuardedPages::drop() const { madvise(data, reserved_bytes, MADV_DONTNEED); }

}  // namespace paged::simt
