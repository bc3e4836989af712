// Which accesses of a warp's lanes were one instruction of the warp.
//
// The machine runs one lane after the other, so what is known is what each lane did, in its own
// order. A GPU runs the lanes together, and lanes that took different ways come together again
// where the ways meet. What belongs together is found from the lanes' sequences of sites (places in
// the code) alone, and so depends neither on the schedule nor on the number of workers:
//
//   1. What all sequences begin with in common is done together.
//   2. Then a site that every lane passes equally often, the rarest one (an outer loop's before an
//      inner loop's), is an anchor: its n-th passes belong together, and cut the sequences into
//      segments, which are treated alike. If another site that all lanes pass falls differently
//      between the anchors, and looks as if it were passed in each iteration of a loop in which
//      lanes pass the anchor only now and then, it takes the anchor's place.
//   3. Where no site is passed equally often by all lanes, the one that most lanes pass takes its part:
//      loops that some lanes leave earlier.
//
// What this gets wrong: lanes that skip different iterations of a loop in which no access, barrier
// or warp operation is common to all lanes, or in which none skips the first iteration and all skip
// one after each that they do not. Their n-th passes are taken for one, so that requests come out
// too few; the sectors come out right unless lanes of different iterations share some.
#pragma once
#include "kernels/simt/warp_access.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace paged::simt {

/// One access of one lane.
struct LaneAccess {
  std::uintptr_t address;
  std::uint32_t site;  ///< which place in the code, numbered from 0
};

/// Groups what lanes of one warp did since they last were together for certain.
class LaneGrouping {
 public:
  /// Called once for each instruction of the warp, in an order that agrees with each lane's own.
  using Emit = std::function<void(std::uint32_t site, const WarpAccess& access)>;

  /// lanes: what each lane did, [at most 32].
  void group(std::span<const std::vector<LaneAccess>> lanes, const Emit& emit);

 private:
  /// Part of a lane's sequence.
  struct Piece {
    int lane;
    const LaneAccess* begin;
    const LaneAccess* end;
  };
  using Segment = std::vector<Piece>;

  /// How often the lanes of a segment pass a site.
  struct Passes {
    std::uint32_t site;
    std::vector<int> of_piece;
    int first = 0;  ///< index of the first pass in the first piece that has one
    int most() const;
    int lanes() const;
    bool uniform() const;
  };

  void group_segment(Segment segment, const Emit& emit);
  static void take_common_beginning(Segment& segment, const Emit& emit);
  std::vector<Passes> count_passes(const Segment& segment);
  /// `whole`: the segment with what its pieces begin with in common.
  std::uint32_t choose_anchor(const Segment& segment, const Segment& whole);
  /// Whether a site is in the loop that the anchor is in, and passed in each of its iterations
  /// while the anchor is passed only in some.
  static bool takes_place_of(const Segment& segment, const Segment& whole, const Passes& other,
                             const Passes& anchor);

  std::vector<std::uint32_t> index_of_site_;  ///< scratch of count_passes()
};

}  // namespace paged::simt
