// The cache operations in plain C++ behind the kernels' interface: right, or with one mistake.
#pragma once
#include "stages/cache_operations.h"

#include <ostream>
#include <string>
#include <vector>

namespace paged::testing {

/// Realistic mistakes in what fills and copies caches.
enum class CacheMistake {
  none,
  // writing tokens
  x_of_token_type,           ///< the key vector width of the tokens' type in an fp8 cache
  padding_written,           ///< slot -1 taken for slot 0
  block_and_offset_swapped,  ///< slot % num_blocks, slot / num_blocks
  heads_all_from_first,      ///< every KV head gets the first one's numbers
  scale_on_the_wrong_side,   ///< multiplied where it divides
  truncated,                 ///< towards zero, not to nearest
  k_scale_for_both,
  // copying blocks
  only_keys_copied,
  only_first_head_copied,
  copied_backwards,
  not_copied,
};

struct CacheMistakeInfo {
  CacheMistake mistake;
  std::string name;
  std::string caught_by;  ///< id of the invariant that is there for it
};

const std::vector<CacheMistakeInfo>& cache_mistakes();

/// Printed by GoogleTest.
inline void PrintTo(const CacheMistakeInfo& info, std::ostream* stream) { *stream << info.name; }

/// Kernels for host memory.
const CacheKernels& plain_cache_kernels(CacheMistake mistake);

}  // namespace paged::testing
