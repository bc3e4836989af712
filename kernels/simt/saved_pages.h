// What a launch has overwritten in global memory, so that it can be taken back and the launch run
// once more.
#pragma once
#include "kernels/simt/written_bits.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace paged::simt {

class SavedPages {
 public:
  static constexpr std::uintptr_t kPage = 4096;

  /// Before the first write to a page: keeps what it holds. page: a multiple of kPage, all of it
  /// readable; written: the page's bits in Allocation::written, or null. Thread-safe: whoever
  /// writes to the page has called this before, so that nobody does while it is kept.
  void save(std::uintptr_t page, std::uint8_t* written);
  /// Puts back what was saved.
  void restore() const;

 private:
  struct Page {
    std::uint8_t data[kPage];
    std::uint8_t bits[kPage / kBytesPerBits];
    std::uint8_t* written;
  };
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
};

}  // namespace paged::simt
