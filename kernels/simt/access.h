// One load, store or atomic, as the checker and what hangs on it see it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paged::simt {

enum class AccessKind : std::uint8_t { read, write, atomic };

/// "read", "write" or "atomic"
constexpr const char* name_of(AccessKind kind) {
  constexpr const char* names[] = {"read", "write", "atomic"};
  return names[static_cast<int>(kind)];
}

/// One access, before it is executed.
struct Access {
  std::uintptr_t address;
  std::size_t size;  ///< bytes
  AccessKind kind;
  std::uintptr_t pc;  ///< return address of the callback: just after the access
};

}  // namespace paged::simt
