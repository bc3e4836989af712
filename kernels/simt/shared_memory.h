// The dynamic shared memory of a launch.
#pragma once
#include "kernels/simt/program_symbols.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace paged::simt {

/// What an H200 gives to one block, with opt-in: 227 KB.
inline constexpr std::size_t kMaxSharedBytes = 232448;

/// Before the dynamic shared memory there is nothing for so many bytes, so that an index below 0
/// does not hit a variable.
inline constexpr std::size_t kGuardedSharedBytes = 16384;

/// Whether an address is where the calling OS thread's blocks have their shared memory, static and
/// dynamic, in use or not.
bool is_shared_memory(std::uintptr_t address);

/// "byte 8 of 'scratch'", "byte 8 of the dynamic shared memory" (-8 is 8 bytes before it)
std::string place_in_shared_memory(std::uintptr_t address);

/// "right past the end of 'scratch' (16 bytes of static shared memory)", for an address outside of
/// a variable, or "across the end of" for one within.
std::string place_beside(const ThreadLocalExtent& variable, std::uintptr_t address);

}  // namespace paged::simt

/// As many bytes as the launch asked for may be touched; they hold 0xFF when a block begins.
extern "C" {
extern thread_local unsigned char dynamic_shared[paged::simt::kMaxSharedBytes]
    __attribute__((aligned(1024)));
}
