// Patterns of shared-memory accesses, to find out what they cost on a GPU and to hold the model of
// kernels/simt/wavefronts.h against it.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace paged {

/// One load or store of one warp.
struct WavefrontPattern {
  std::string name;  ///< "load 16 stride 2"
  bool store = false;
  int bytes = 4;                  ///< a lane's access: 4, 8 or 16
  std::array<int, 32> offsets{};  ///< bytes from the start of shared memory; -1: takes no part
};

/// Shared memory that every pattern's kernel has; all of it is written first, 128 bytes at a time.
inline constexpr int kPatternSharedBytes = 32 * 33 * 16;
/// Wavefronts that the kernel takes beside the pattern: to fill the memory, and, of a store, to
/// read a word a lane back.
inline constexpr int kFillingStores = kPatternSharedBytes / 128;
inline constexpr int kReadingBackLoads = 1;

/// All patterns, in the order in which wavefront_patterns launches them.
std::vector<WavefrontPattern> wavefront_patterns();

/// Wavefronts of the pattern's kernel by the model: {loads, stores}.
struct PatternWavefronts {
  int loads = 0;
  int stores = 0;
};
PatternWavefronts predicted_wavefronts(const WavefrontPattern& pattern);

namespace cpu_checked {
void launch_wavefront_pattern(bool store, int bytes, const int* offsets, unsigned* results);
}
namespace cuda {
void launch_wavefront_pattern(bool store, int bytes, const int* offsets, unsigned* results);
}

}  // namespace paged
