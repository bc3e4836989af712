// Which combinations of types and sizes a build has kernels for.
#pragma once
#include "reference/scalar_type.h"

namespace paged {

/// Head sizes and page sizes that stages with compile-time sizes can be built for.
inline constexpr int kHeadSizes[] = {32, 64, 80, 96, 112, 120, 128, 192, 256};
inline constexpr int kBlockSizes[] = {8, 16, 32};

/// The product of all types and sizes is hundreds of kernels a stage: a minute of compiling each.
enum class InstanceList {
  small,     ///< what the tour and the labs need, compiled in seconds
  pairwise,  ///< every pair of values of types, head size and block size occurs
  all        ///< everything that can exist
};

constexpr const char* name_of(InstanceList list) {
  return list == InstanceList::small      ? "small"
         : list == InstanceList::pairwise ? "pairwise"
                                          : "all";
}

/// Whether a combination is possible at all: the cache is fp8 or the scalar's own type, and a key
/// is whole vectors of 16 bytes (so head size 120 has no fp8 cache).
constexpr bool can_exist(ScalarType scalar, CacheType cache, int head_size) {
  const bool fits = is_fp8(cache) || cache == same_as(scalar);
  return fits && head_size * static_cast<int>(size_in_bytes(cache)) % 16 == 0;
}

namespace instance_lists {

constexpr int index_of(const int* values, int value) {
  int i = 0;
  while (values[i] != value) ++i;
  return i;
}

/// 0 ... 8: the scalar's own type and the two fp8 types, for each scalar type.
constexpr int index_of(ScalarType scalar, CacheType cache) {
  const int kind = cache == CacheType::e4m3 ? 1 : cache == CacheType::e5m2 ? 2 : 0;
  return static_cast<int>(scalar) * 3 + kind;
}

constexpr bool in_small(ScalarType scalar, CacheType cache, int head_size, int block_size) {
  const bool types =
      cache == same_as(scalar) || (scalar == ScalarType::f16 && cache == CacheType::e4m3);
  const bool every_block_size = scalar == ScalarType::f16 && cache == CacheType::f16;
  return types && (head_size == 64 || head_size == 128) && (block_size == 16 || every_block_size);
}

/// A Latin square: the block size follows from types and head size, and each meets all block sizes.
constexpr bool in_pairwise(ScalarType scalar, CacheType cache, int head_size, int block_size) {
  const int row = index_of(scalar, cache) + index_of(kHeadSizes, head_size);
  return row % 3 == index_of(kBlockSizes, block_size);
}

}  // namespace instance_lists

/// Whether a list holds a combination of the sizes above.
constexpr bool is_in(InstanceList list, ScalarType scalar, CacheType cache, int head_size,
                     int block_size) {
  if (!can_exist(scalar, cache, head_size)) return false;
  if (list == InstanceList::small)
    return instance_lists::in_small(scalar, cache, head_size, block_size);
  return list == InstanceList::all ||
         instance_lists::in_pairwise(scalar, cache, head_size, block_size);
}

}  // namespace paged
