#include "kernels/simt/wavefronts.h"

#include <algorithm>

namespace paged::simt {

namespace {

constexpr int kBanks = 32;
constexpr int kWordBytes = 4;

/// Different words in the bank that has most of them, of the lanes in a set.
int words_in_fullest_bank(const WarpAccess& access, unsigned lanes, int bytes) {
  std::array<std::uintptr_t, 32 * 4> words;  // 32 lanes of 16 bytes at most
  std::size_t num_words = 0;
  WarpAccess part = access;
  part.lanes &= lanes;
  part.for_each([&](int, std::uintptr_t address) {
    for (int byte = 0; byte < bytes; byte += kWordBytes)
      words[num_words++] = (address + static_cast<std::uintptr_t>(byte)) / kWordBytes;
  });
  std::sort(words.begin(), words.begin() + num_words);
  const auto end = std::unique(words.begin(), words.begin() + num_words);
  std::array<int, kBanks> in_bank{};
  for (auto word = words.begin(); word != end; ++word) ++in_bank[*word % kBanks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

/// Whether every lane of the set asks for the same address as lane ^ distance.
bool are_pairs(const WarpAccess& access, unsigned lanes, int distance) {
  bool same = true;
  access.for_each([&](int lane, std::uintptr_t address) {
    const int other = lane ^ distance;
    if ((lanes >> lane & 1U) != 0 && access.has(other))
      same &= access.addresses[static_cast<std::size_t>(other)] == address;
  });
  return same;
}

/// Wavefronts of a set of lanes that is served in two halves, unless they can be joined.
int in_two_parts(const WarpAccess& access, unsigned lower, unsigned upper, int bytes) {
  const unsigned both = lower | upper;
  if (are_pairs(access, both, 1) || are_pairs(access, both, 2))
    return words_in_fullest_bank(access, both, bytes);
  return words_in_fullest_bank(access, lower, bytes) + words_in_fullest_bank(access, upper, bytes);
}

}  // namespace

int shared_wavefronts(const WarpAccess& access, int bytes) {
  if (bytes <= kWordBytes) return words_in_fullest_bank(access, ~0U, bytes);
  if (bytes == 8) return in_two_parts(access, 0x0000FFFFU, 0xFFFF0000U, bytes);
  return in_two_parts(access, 0x000000FFU, 0x0000FF00U, bytes) +
         in_two_parts(access, 0x00FF0000U, 0xFF000000U, bytes);
}

}  // namespace paged::simt
