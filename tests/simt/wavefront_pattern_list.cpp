#include "tests/simt/wavefront_pattern_list.h"

#include "kernels/simt/wavefronts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace paged {

namespace {

/// A way to place lanes: the slot of a lane, in units of its access, or -1.
struct Placement {
  std::string name;
  std::function<int(int lane)> slot;
};

std::vector<Placement> strides() {
  std::vector<Placement> all;
  for (const int stride : {1, 2, 4, 8, 16, 32, 33})
    all.push_back(
        {"stride " + std::to_string(stride), [stride](int lane) { return lane * stride; }});
  return all;
}

/// Several lanes at one place.
std::vector<Placement> broadcasts() {
  return {{"broadcast", [](int) { return 5; }},
          {"two addresses, even and odd lanes", [](int lane) { return lane % 2 * 3; }},
          {"two addresses in the same banks, even and odd lanes",
           [](int lane) { return lane % 2 * 32; }},
          {"two addresses, pairs of lanes", [](int lane) { return lane / 2 % 2 * 3; }},
          {"two addresses in the same banks, pairs of lanes",
           [](int lane) { return lane / 2 % 2 * 32; }},
          {"two rows, lower and upper half", [](int lane) { return lane / 16 * 32 + lane % 16; }},
          {"two rows in the same banks, even and odd lanes",
           [](int lane) { return lane % 2 * 32 + lane / 2; }},
          {"four addresses, by lane", [](int lane) { return lane % 4 * 2; }},
          {"four addresses in the same banks, by lane", [](int lane) { return lane % 4 * 32; }},
          {"four addresses, groups of eight lanes", [](int lane) { return lane / 8 * 2; }},
          {"half-warps equal", [](int lane) { return lane % 16; }},
          {"quarter-warps equal", [](int lane) { return lane % 8; }},
          {"pairs equal", [](int lane) { return lane / 2; }},
          {"lane and lane ^ 2 equal", [](int lane) { return lane / 4 * 2 + lane % 2; }},
          {"fours equal", [](int lane) { return lane / 4; }},
          {"reversed", [](int lane) { return 31 - lane; }}};
}

/// Neighbours, of which only some take part.
std::vector<Placement> subsets() {
  const auto if_active = [](auto active) {
    return [active](int lane) { return active(lane) ? lane : -1; };
  };
  return {{"lane 0 alone", if_active([](int lane) { return lane == 0; })},
          {"lanes 0 to 7", if_active([](int lane) { return lane < 8; })},
          {"lanes 0 to 15", if_active([](int lane) { return lane < 16; })},
          {"lanes 16 to 31", if_active([](int lane) { return lane >= 16; })},
          {"even lanes", if_active([](int lane) { return lane % 2 == 0; })},
          {"every fourth lane", if_active([](int lane) { return lane % 4 == 0; })},
          {"lanes 0 and 1 of each four", if_active([](int lane) { return lane % 4 < 2; })},
          {"one lane of each quarter", if_active([](int lane) { return lane % 8 == 3; })}};
}

/// Drawn from a generator whose numbers the standard fixes.
std::vector<Placement> random_ones() {
  std::vector<Placement> all;
  std::mt19937 generator(7);
  for (int turn = 0; turn < 3; ++turn) {
    std::array<int, 32> slots;
    std::iota(slots.begin(), slots.end(), 0);
    for (std::size_t i = slots.size() - 1; i > 0; --i)
      std::swap(slots[i], slots[generator() % (i + 1)]);
    all.push_back({"permutation " + std::to_string(turn),
                   [slots](int lane) { return slots[static_cast<std::size_t>(lane)]; }});
  }
  for (int turn = 0; turn < 3; ++turn) {
    std::array<int, 32> slots;
    for (int& slot : slots) slot = static_cast<int>(generator() % 256);
    all.push_back({"random " + std::to_string(turn),
                   [slots](int lane) { return slots[static_cast<std::size_t>(lane)]; }});
  }
  return all;
}

WavefrontPattern pattern_of(const Placement& placement, bool store, int bytes) {
  WavefrontPattern pattern;
  pattern.name =
      std::string(store ? "store " : "load ") + std::to_string(bytes) + ", " + placement.name;
  pattern.store = store;
  pattern.bytes = bytes;
  for (int lane = 0; lane < 32; ++lane) {
    const int slot = placement.slot(lane);
    pattern.offsets[static_cast<std::size_t>(lane)] = slot < 0 ? -1 : slot * bytes;
  }
  return pattern;
}

}  // namespace

std::vector<WavefrontPattern> wavefront_patterns() {
  std::vector<Placement> placements = strides();
  for (const auto& more : {broadcasts(), subsets(), random_ones()})
    placements.insert(placements.end(), more.begin(), more.end());
  std::vector<WavefrontPattern> all;
  for (const bool store : {false, true})
    for (const int bytes : {4, 8, 16})
      for (const Placement& placement : placements) {
        // Lanes that store to one place race.
        const WavefrontPattern pattern = pattern_of(placement, store, bytes);
        std::vector<int> written(pattern.offsets.begin(), pattern.offsets.end());
        std::erase(written, -1);
        std::sort(written.begin(), written.end());
        const bool race = std::adjacent_find(written.begin(), written.end()) != written.end();
        if (!store || !race) all.push_back(pattern);
      }
  return all;
}

PatternWavefronts predicted_wavefronts(const WavefrontPattern& pattern) {
  simt::WarpAccess access;
  for (int lane = 0; lane < 32; ++lane)
    if (const int offset = pattern.offsets[static_cast<std::size_t>(lane)]; offset >= 0)
      access.add(lane, static_cast<std::uintptr_t>(offset));
  const int wavefronts = simt::shared_wavefronts(access, pattern.bytes);
  return pattern.store ? PatternWavefronts{kReadingBackLoads, kFillingStores + wavefronts}
                       : PatternWavefronts{wavefronts, kFillingStores};
}

}  // namespace paged
