// Pages of memory with unusable guards before and after them, straight from the system.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paged::simt {

/// Pages that may be used, with guard_bytes on both sides that may not.
struct GuardedPages {
  std::uint8_t* data = nullptr;    ///< null: none
  std::size_t reserved_bytes = 0;  ///< between the guards, whole pages
  std::size_t guard_bytes = 0;

  /// Reserves whole pages for so many bytes, all usable and zero. None if memory is short.
  static GuardedPages map(std::size_t bytes, std::size_t guard_bytes);
  /// Gives everything back. The addresses may be anyone's afterwards.
  void unmap();

  /// The first bytes can be used, what follows can't. False if the system refuses.
  bool open(std::size_t bytes) const;
  /// Nothing can be used; the content stays. False if the system refuses.
  bool close() const;
  /// Forgets the content of closed pages, so that they take no memory.
  void drop() const;
};

/// `bytes` rounded up to whole pages, at least one.
std::size_t whole_pages(std::size_t bytes);

}  // namespace paged::simt
