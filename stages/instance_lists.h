// Which combinations of types and sizes a build has kernels for.
#pragma once
#include "reference/scalar_type.h"

namespace paged {

/// Head sizes and page sizes that stages with compile-time sizes can be built for.
inline constexpr int kHeadSizes[] = {32, 64, 80, 96, 112, 120, 128, 192, 256};
inline constexpr int kBlockSizes[] = {8, 16, 32};

/// The product of all types and sizes is 225 kernels a stage, a minute of compiling for each stage.
/// docs/instance_lists.md says what each list costs.
enum class InstanceList {
  small,     ///< what the tour and the labs need, compiled in seconds
  pairwise,  ///< `small`, and every pair of values of types, head size and block size
  all,       ///< everything that can exist
  // The pairs of `pairwise` dealt out in four shares, for tests that give each stage another one:
  // together they have every pair, also with the stage, in a quarter of the kernels.
  share_0,
  share_1,
  share_2,
  share_3,
  // One or two kernels a stage for the mutants of tests/mutants, of which there are many. Kernels
  // whose sizes are run-time values come in these types only, too.
  mutant,              ///< f16, head size 64, block size 16
  mutant_fp8,          ///< beside it, an e4m3 cache
  mutant_ragged,       ///< head size 120, whose rows are no whole number of a warp's steps
  mutant_small_pages,  ///< block size 8
  /// Block sizes 8 and 16, 16 with e4m3, and head size 80 with block size 8, whose rows are no whole
  /// number of a warp's steps: what a student waits for.
  lab,
};

/// Shares that the covering pairs are dealt out in: as many as stages with compile-time sizes.
inline constexpr int kNumShares = 4;

constexpr const char* name_of(InstanceList list) {
  constexpr const char* names[] = {"small",
                                   "pairwise",
                                   "all",
                                   "share_0",
                                   "share_1",
                                   "share_2",
                                   "share_3",
                                   "mutant",
                                   "mutant_fp8",
                                   "mutant_ragged",
                                   "mutant_small_pages",
                                   "lab"};
  return names[static_cast<int>(list)];
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

/// 0 ... 8: the three scalars with caches of their own type, then with e4m3, then with e5m2. In
/// this order, for head size 120 has the first three alone, and they too must meet all block sizes.
constexpr int index_of(ScalarType scalar, CacheType cache) {
  const int kind = cache == CacheType::e4m3 ? 1 : cache == CacheType::e5m2 ? 2 : 0;
  return kind * 3 + static_cast<int>(scalar);
}

constexpr bool in_small(ScalarType scalar, CacheType cache, int head_size, int block_size) {
  const bool types =
      cache == same_as(scalar) || (scalar == ScalarType::f16 && cache == CacheType::e4m3);
  const bool every_block_size = scalar == ScalarType::f16 && cache == CacheType::f16;
  return types && (head_size == 64 || head_size == 128) && (block_size == 16 || every_block_size);
}

/// A Latin square: block size and share follow from types and head size. In each row and column of
/// types and head sizes all block sizes and all shares occur.
constexpr int square(ScalarType scalar, CacheType cache, int head_size) {
  return index_of(scalar, cache) + index_of(kHeadSizes, head_size);
}
constexpr bool covers_pairs(ScalarType scalar, CacheType cache, int head_size, int block_size) {
  return square(scalar, cache, head_size) % 3 == index_of(kBlockSizes, block_size);
}
constexpr bool is_in_share(int share, ScalarType scalar, CacheType cache, int head_size) {
  // Head size 120 exists in fewer types than there are shares: the one left over gets f16 as well.
  if (head_size == 120 && scalar == ScalarType::f16 && share == 0) return true;
  return square(scalar, cache, head_size) % kNumShares == share;
}

constexpr bool in_mutant(InstanceList list, ScalarType scalar, CacheType cache, int head_size,
                         int block_size) {
  const bool has_fp8 = list == InstanceList::mutant_fp8 || list == InstanceList::lab;
  const bool fp8 = has_fp8 && cache == CacheType::e4m3;
  if (list == InstanceList::lab && head_size == 80 && block_size == 8)
    return scalar == ScalarType::f16 && cache == CacheType::f16;
  return scalar == ScalarType::f16 && (cache == CacheType::f16 || fp8) &&
         head_size == (list == InstanceList::mutant_ragged ? 120 : 64) &&
         ((list == InstanceList::lab && block_size == 8 && !fp8) ||
          block_size == (list == InstanceList::mutant_small_pages ? 8 : 16));
}

}  // namespace instance_lists

/// Whether a list is one of those for mutants.
constexpr bool is_for_mutants(InstanceList list) { return list >= InstanceList::mutant; }

/// Whether a list holds a combination of the sizes above.
constexpr bool is_in(InstanceList list, ScalarType scalar, CacheType cache, int head_size,
                     int block_size) {
  if (!can_exist(scalar, cache, head_size)) return false;
  if (list == InstanceList::all) return true;
  if (is_for_mutants(list))
    return instance_lists::in_mutant(list, scalar, cache, head_size, block_size);
  const bool is_small = instance_lists::in_small(scalar, cache, head_size, block_size);
  if (list == InstanceList::small) return is_small;
  const bool covers = instance_lists::covers_pairs(scalar, cache, head_size, block_size);
  if (list == InstanceList::pairwise) return is_small || covers;
  const int share = static_cast<int>(list) - static_cast<int>(InstanceList::share_0);
  return covers && instance_lists::is_in_share(share, scalar, cache, head_size);
}

}  // namespace paged
