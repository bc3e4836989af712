// The dynamic shared memory of a launch.
#pragma once
#include <cstddef>

namespace paged::simt {

/// What an H200 gives to one block, with opt-in: 227 KB.
inline constexpr std::size_t kMaxSharedBytes = 232448;

}  // namespace paged::simt

/// As many bytes as the launch asked for may be touched; they hold 0xFF when a block begins.
extern "C" {
extern thread_local unsigned char dynamic_shared[paged::simt::kMaxSharedBytes]
    __attribute__((aligned(1024)));
}
