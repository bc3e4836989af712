// Refusing pointers and strides that vectors of 16 bytes cannot be loaded with.
#pragma once
#include "reference/cache_layout.h"
#include "reference/input_error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace paged {

/// Throws InputError unless an address is a multiple of 16 bytes, and not null.
inline void check_pointer(const std::string& name, const void* address) {
  if (address == nullptr) throw InputError(name + " is a null pointer");
  const auto misalignment = reinterpret_cast<std::uintptr_t>(address) % 16;
  if (misalignment != 0)
    throw InputError(name + " is misaligned: its address is " + std::to_string(misalignment) +
                     " past a multiple of 16 bytes");
}

/// Throws InputError unless a stride, in elements, keeps what it leads to at multiples of 16 bytes.
inline void check_stride_alignment(const std::string& name, std::int64_t stride,
                                   std::size_t bytes_per_element) {
  const int in_vector = key_vector_width(static_cast<int>(bytes_per_element));
  if (stride % in_vector != 0)
    throw InputError(name + " is " + std::to_string(stride) + "; it must be a multiple of " +
                     std::to_string(in_vector) + " (16 bytes)");
}

}  // namespace paged
