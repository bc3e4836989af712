#include "kernels/simt/saved_pages.h"

#include <cstring>

namespace paged::simt {

void SavedPages::save(std::uintptr_t page, std::uint8_t* written) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Page>& saved = pages_[page];
  if (saved != nullptr) return;
  saved = std::make_unique<Page>();
  std::memcpy(saved->data, reinterpret_cast<const void*>(page), kPage);
  saved->written = written;
  if (written != nullptr) std::memcpy(saved->bits, written, sizeof saved->bits);
}

void SavedPages::restore() const {
  for (const auto& [page, saved] : pages_) {
    std::memcpy(reinterpret_cast<void*>(page), saved->data, kPage);
    if (saved->written != nullptr) std::memcpy(saved->written, saved->bits, sizeof saved->bits);
  }
}

}  // namespace paged::simt
