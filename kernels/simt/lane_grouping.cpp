#include "kernels/simt/lane_grouping.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace paged::simt {

namespace {

constexpr std::uint32_t kNotSeen = ~0U;

/// How often `counted` comes before the first `divider`, between it and the next one, and so on.
std::vector<int> passes_between(const LaneAccess* begin, const LaneAccess* end,
                                std::uint32_t counted, std::uint32_t divider) {
  std::vector<int> passes = {0};
  for (const LaneAccess* access = begin; access != end; ++access) {
    if (access->site == counted) ++passes.back();
    if (access->site == divider) passes.push_back(0);
  }
  return passes;
}

}  // namespace

int LaneGrouping::Passes::most() const {
  return *std::max_element(of_piece.begin(), of_piece.end());
}

int LaneGrouping::Passes::lanes() const {
  return static_cast<int>(of_piece.size() - std::count(of_piece.begin(), of_piece.end(), 0));
}

bool LaneGrouping::Passes::uniform() const {
  return std::all_of(of_piece.begin(), of_piece.end(), [&](int n) { return n == of_piece[0]; });
}

void LaneGrouping::group(std::span<const std::vector<LaneAccess>> lanes, const Emit& emit) {
  Segment all;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    all.push_back(
        {static_cast<int>(lane), lanes[lane].data(), lanes[lane].data() + lanes[lane].size()});
  group_segment(std::move(all), emit);
}

void LaneGrouping::group_segment(Segment segment, const Emit& emit) {
  std::erase_if(segment, [](const Piece& piece) { return piece.begin == piece.end; });
  const Segment whole = segment;
  take_common_beginning(segment, emit);
  std::erase_if(segment, [](const Piece& piece) { return piece.begin == piece.end; });
  if (segment.empty()) return;

  const std::uint32_t anchor = choose_anchor(segment, whole);
  while (!segment.empty()) {
    Segment before;
    WarpAccess together;
    for (Piece& piece : segment) {
      const LaneAccess* const pass = std::find_if(
          piece.begin, piece.end, [&](const LaneAccess& access) { return access.site == anchor; });
      before.push_back({piece.lane, piece.begin, pass});
      if (pass != piece.end) together.add(piece.lane, pass->address);
      piece.begin = pass == piece.end ? pass : pass + 1;
    }
    group_segment(std::move(before), emit);
    if (together.lanes != 0) emit(anchor, together);
    std::erase_if(segment, [](const Piece& piece) { return piece.begin == piece.end; });
  }
}

void LaneGrouping::take_common_beginning(Segment& segment, const Emit& emit) {
  if (segment.empty()) return;
  for (;;) {
    WarpAccess together;
    for (const Piece& piece : segment) {
      if (piece.begin == piece.end || piece.begin->site != segment[0].begin->site) return;
      together.add(piece.lane, piece.begin->address);
    }
    emit(segment[0].begin->site, together);
    for (Piece& piece : segment) ++piece.begin;
  }
}

std::vector<LaneGrouping::Passes> LaneGrouping::count_passes(const Segment& segment) {
  std::vector<Passes> all;
  for (std::size_t i = 0; i < segment.size(); ++i)
    for (const LaneAccess* access = segment[i].begin; access != segment[i].end; ++access) {
      if (access->site >= index_of_site_.size())
        index_of_site_.resize(access->site + std::size_t{1}, kNotSeen);
      std::uint32_t& index = index_of_site_[access->site];
      if (index == kNotSeen) {
        index = static_cast<std::uint32_t>(all.size());
        all.push_back({access->site, std::vector<int>(segment.size()),
                       static_cast<int>(access - segment[i].begin)});
      }
      ++all[index].of_piece[i];
    }
  for (const Passes& passes : all) index_of_site_[passes.site] = kNotSeen;
  return all;
}

std::uint32_t LaneGrouping::choose_anchor(const Segment& segment, const Segment& whole) {
  std::vector<Passes> all = count_passes(segment);
  // Passed equally often by all lanes, the rarest first; then by as many lanes as can be had.
  std::stable_sort(all.begin(), all.end(), [](const Passes& a, const Passes& b) {
    return std::tuple(!a.uniform(), -a.lanes(), a.most(), a.first) <
           std::tuple(!b.uniform(), -b.lanes(), b.most(), b.first);
  });
  const Passes* anchor = &all[0];
  for (const Passes& other : all)
    if (&other != anchor && takes_place_of(segment, whole, other, *anchor)) anchor = &other;
  return anchor->site;
}

bool LaneGrouping::takes_place_of(const Segment& segment, const Segment& whole, const Passes& other,
                                  const Passes& anchor) {
  if (other.lanes() != static_cast<int>(segment.size())) return false;
  const std::vector<int> in_first =
      passes_between(segment[0].begin, segment[0].end, other.site, anchor.site);
  bool differs = false;             // from lane to lane
  bool in_one_loop = false;         // passed before and after an anchor
  bool anchor_at_most_once = true;  // between two of its passes
  // It is no loop's within the anchor's branch: passed once between two anchors, or before the first.
  bool outside_of_branch = false;
  for (const Piece& piece : segment) {
    const std::vector<int> passes = passes_between(piece.begin, piece.end, other.site, anchor.site);
    differs |= passes != in_first;
    in_one_loop |= passes.size() > 1 && passes.front() > 0 && passes.back() > 0;
    outside_of_branch |= std::find(passes.begin() + 1, passes.end(), 1) != passes.end();
    for (const int n : passes_between(piece.begin, piece.end, anchor.site, other.site))
      anchor_at_most_once &= n <= 1;
  }
  for (const Piece& piece : whole)
    outside_of_branch |=
        passes_between(piece.begin, piece.end, other.site, anchor.site).front() > 0;
  return differs && (in_one_loop || other.uniform()) && outside_of_branch && anchor_at_most_once;
}

}  // namespace paged::simt
