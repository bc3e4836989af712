#include "kernels/simt/released_memory.h"

#include <utility>

namespace paged::simt {

void ReleasedMemory::add(const Allocation& allocation) {
  GuardedPages pages = allocation.pages;
  if (!pages.close()) return pages.unmap();
  if (all_.size() == kMost) {
    drop_content(all_.front());
    all_.front().allocation.pages.unmap();
    all_.pop_front();
  }
  const bool kept = pages.reserved_bytes <= kMostKeptBytes;
  if (!kept) pages.drop();
  all_.push_back({allocation, kept});
  if (kept) kept_bytes_ += pages.reserved_bytes;
  for (Released& released : all_)
    if (kept_bytes_ > kMostKeptBytes) drop_content(released);
}

void ReleasedMemory::drop_content(Released& released) {
  if (!std::exchange(released.kept, false)) return;
  released.allocation.pages.drop();
  kept_bytes_ -= released.allocation.pages.reserved_bytes;
}

GuardedPages ReleasedMemory::take(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  std::size_t best = all_.size();
  for (std::size_t i = 0; i + kLatest < all_.size(); ++i) {
    const std::size_t reserved = all_[i].allocation.pages.reserved_bytes;
    if (!all_[i].kept || reserved < wanted || reserved > 8 * wanted) continue;
    if (best == all_.size() || reserved < all_[best].allocation.pages.reserved_bytes) best = i;
  }
  if (best == all_.size()) return {};
  const GuardedPages pages = all_[best].allocation.pages;
  kept_bytes_ -= pages.reserved_bytes;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(best));
  return pages;
}

const Allocation* ReleasedMemory::find(std::uintptr_t address) const {
  for (const Released& released : all_)
    if (address - released.allocation.begin() < released.allocation.bytes)
      return &released.allocation;
  return nullptr;
}

}  // namespace paged::simt
