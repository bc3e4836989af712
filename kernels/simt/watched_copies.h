// Copies of memory that the checker sees.
//
// g++ shows an access for a copy of one word, and none for others that it does in line or by a call
// of memcpy(). A kernel file compiled after this header has a memcpy() that is seen whatever its
// size. What calls the library's by other names is seen if the object's symbols are renamed: memcpy
// to paged_watched_memcpy; likewise memmove, memset, memcmp, strlen and the __..._chk of these.
#pragma once
#include "kernels/simt/keywords.h"

#include <cstddef>

extern "C" void* paged_watched_memcpy(void* to, const void* from, std::size_t bytes);

namespace paged::PAGED_BACKEND {

/// A template, so that it is taken before the library's wherever that is found, too.
template <typename To, typename From>
__forceinline__ void* memcpy(To* to, const From* from, std::size_t bytes) {
  if (__builtin_constant_p(bytes) && bytes <= 16 && (bytes & (bytes - 1)) == 0)
    return __builtin_memcpy(to, from, bytes);
  return paged_watched_memcpy(to, from, bytes);
}

}  // namespace paged::PAGED_BACKEND
