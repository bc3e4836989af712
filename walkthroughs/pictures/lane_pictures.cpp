// Which lane reads which bytes of a page, and when.
#include "tests/harness/text_table.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace paged {
namespace {

constexpr int kRowBytes = 128;  // of the page, in a row of the picture
constexpr double kByteWidth = 5.5;
constexpr double kRowHeight = 20;
constexpr double kPageLeft = 150;
constexpr double kPageTop = 92;

/// What one lane asked of the page in one step.
struct Touch {
  int step, lane, first_byte, bytes;
};

/// One warp's way through one page.
struct PageWalk {
  std::vector<Touch> touches;
  std::vector<const simt::TracedRequest*> steps;
  std::map<int, CachePlace> places;  ///< by first byte of an access
};

PageWalk walk_of(const TracedStage& run, const std::string& cache, std::int64_t block) {
  PageWalk walk;
  for (const simt::TracedRequest* request : requests_of(run, 0, cache)) {
    bool touched = false;
    for (int lane = 0; lane < 32; ++lane) {
      if (!request->has(lane)) continue;
      const CachePlace place = place_in_cache(run.problem, cache, request->offsets[lane]);
      if (place.block != block) continue;
      walk.touches.push_back(
          {static_cast<int>(walk.steps.size()), lane, place.byte_in_page, request->bytes});
      walk.places[place.byte_in_page] = place;
      touched = true;
    }
    if (touched) walk.steps.push_back(request);
  }
  return walk;
}

/// How many bytes further every lane is in each step, if that is one number.
std::optional<int> shift_of(const PageWalk& walk) {
  std::map<int, int> before;  // by lane
  std::optional<int> shift;
  for (const Touch& touch : walk.touches) {
    const auto last = before.find(touch.lane);
    if (last != before.end()) {
      const int distance = touch.first_byte - last->second;
      if (shift && *shift != distance) return std::nullopt;
      shift = distance;
    }
    before[touch.lane] = touch.first_byte;
  }
  return shift;
}

/// Neighbouring bytes of one row that one lane reads, in whatever steps.
struct Run {
  int lane, begin, end;
};

std::vector<Run> runs_of(const PageWalk& walk, int page_bytes) {
  std::vector<int> owner(page_bytes, -1);
  for (const Touch& touch : walk.touches)
    std::fill_n(owner.begin() + touch.first_byte, touch.bytes, touch.lane);
  std::vector<Run> runs;
  for (int byte = 0; byte < page_bytes; ++byte) {
    if (owner[byte] < 0) continue;
    if (byte % kRowBytes == 0 || runs.empty() || runs.back().end != byte ||
        runs.back().lane != owner[byte])
      runs.push_back({owner[byte], byte, byte});
    runs.back().end = byte + 1;
  }
  return runs;
}

double x_of(int byte) { return kPageLeft + byte % kRowBytes * kByteWidth; }
double y_of(int byte) { return kPageTop + byte / kRowBytes * kRowHeight; }

std::string range_text(int first, int last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

/// "dims 0-7, tokens 0-7" of a row.
std::string row_label(const DecodeProblem& problem, const std::string& cache, int row) {
  const auto element = static_cast<int>(size_in_bytes(problem.cache()));
  const CachePlace first = place_in_cache(problem, cache, row * kRowBytes);
  CachePlace last = place_in_cache(problem, cache, (row + 1) * kRowBytes - element);
  return "dim " + range_text(first.dim, last.dim) + ", token " +
         range_text(first.offset, last.offset);
}

void draw_page(Svg& svg, const PageWalk& walk, const std::string& cache,
               const DecodeProblem& problem, int page_bytes) {
  for (const Run& run : runs_of(walk, page_bytes)) {
    const CachePlace& place = walk.places.at(run.begin);
    const bool even = (cache == "key_cache" ? place.offset : place.dim) % 2 == 0;
    svg.rectangle(x_of(run.begin), y_of(run.begin), (run.end - run.begin) * kByteWidth,
                  kRowHeight - 4, even ? "a" : "b");
  }
  std::vector<bool> hot_start(page_bytes);
  std::vector<bool> sectors(page_bytes / kSectorBytes);
  for (const Touch& touch : walk.touches) {
    if (touch.step != 0) continue;
    hot_start[touch.first_byte] = true;
    svg.rectangle(x_of(touch.first_byte), y_of(touch.first_byte), touch.bytes * kByteWidth,
                  kRowHeight - 4, "hot");
    sectors[touch.first_byte / kSectorBytes] = true;
  }
  const int hot_bytes = walk.touches.front().bytes;
  for (const Run& run : runs_of(walk, page_bytes)) {
    const bool hot = hot_start[run.begin];
    const bool filled = hot && run.end - run.begin == hot_bytes;
    const double begin = x_of(run.begin) + (hot && !filled ? hot_bytes * kByteWidth : 0);
    const double end = x_of(run.begin) + (run.end - run.begin) * kByteWidth;
    const std::string word = end - begin < 60 ? "" : "lane ";
    svg.text((begin + end) / 2, y_of(run.begin) + 12, word + std::to_string(run.lane),
             filled ? "small on" : "small", Anchor::middle);
  }
  for (std::size_t sector = 0; sector < sectors.size(); ++sector) {
    const int byte = static_cast<int>(sector) * kSectorBytes;
    if (sectors[sector])
      svg.rectangle(x_of(byte) + 1, y_of(byte) - 2, kSectorBytes * kByteWidth - 2, kRowHeight,
                    "frame");
  }
  for (int row = 0; row < page_bytes / kRowBytes; ++row) {
    svg.text(kPageLeft - 10, y_of(row * kRowBytes) + 12, row_label(problem, cache, row),
             "small dim", Anchor::end);
    int first = -1;
    int last = -1;
    for (const Touch& touch : walk.touches)
      if (touch.first_byte / kRowBytes == row) {
        if (first < 0 || touch.step < first) first = touch.step;
        last = std::max(last, touch.step);
      }
    if (first < 0) {
      svg.rectangle(kPageLeft, y_of(row * kRowBytes), kRowBytes * kByteWidth, kRowHeight - 4,
                    "idle");
      continue;
    }
    svg.text(kPageLeft + kRowBytes * kByteWidth + 10, y_of(row * kRowBytes) + 12,
             "step " + range_text(first + 1, last + 1), "small dim");
  }
}

void draw_legend(Svg& svg, double y, const std::string& cache) {
  const std::string by = cache == "key_cache" ? "token" : "dimension";
  svg.rectangle(kPageLeft, y, 22, 14, "hot");
  svg.text(kPageLeft + 28, y + 11, "read in step 1");
  svg.rectangle(kPageLeft + 130, y - 1, 22, 16, "frame");
  svg.text(kPageLeft + 158, y + 11, "a sector moved for it");
  svg.rectangle(kPageLeft + 310, y, 22, 14, "a");
  svg.rectangle(kPageLeft + 336, y, 22, 14, "b");
  svg.text(kPageLeft + 364, y + 11, "read in other steps: even, odd " + by);
}

Picture picture_of(const TracedStage& run, const std::string& cache) {
  const bool keys = cache == "key_cache";
  const std::int64_t block = run.problem.block_table(0)[0];
  const PageWalk walk = walk_of(run, cache, block);
  const int page_bytes = static_cast<int>(size_in_bytes(run.problem.cache())) *
                         run.problem.head_size * run.problem.block_size;
  const double height = kPageTop + page_bytes / kRowBytes * kRowHeight + 40;
  const simt::TracedRequest& first = *walk.steps.front();
  const int lanes = std::popcount(first.lanes);
  const auto here = std::count_if(walk.touches.begin(), walk.touches.end(),
                                  [](const Touch& touch) { return touch.step == 0; });

  const std::string title = "Stage " + std::to_string(run.stage_number) +
                            (keys ? ", QK: keys" : ", PV: values") + " of physical block " +
                            std::to_string(block) + ", read by warp 0";
  std::string counts = "Step 1 of " + std::to_string(walk.steps.size()) + ": " +
                       std::to_string(lanes) + " lanes ask for " + std::to_string(first.bytes) +
                       " bytes each, in " + std::to_string(first.counts.global_load_sectors) +
                       " sectors of 32 bytes";
  if (here < lanes) counts += " (" + std::to_string(here) + " lanes in this block)";
  counts += "; " +
            percentage(static_cast<double>(first.counts.global_load_useful_bytes) /
                       (kSectorBytes * first.counts.global_load_sectors)) +
            " of what is moved is asked for.";
  std::string move;
  if (const auto shift = shift_of(walk))
    move = "Each step reads " + std::to_string(*shift) + " bytes further on, in every lane.";
  Svg svg(930, height, title, counts + " " + move);
  svg.text(20, 26, title, "h");
  svg.text(20, 48, counts);
  svg.text(20, 67,
           move + " f16, " + std::to_string(run.problem.block_size) + " tokens a page, head size " +
               std::to_string(run.problem.head_size) +
               "; a row is 128 bytes, a number in it a lane.");
  draw_page(svg, walk, cache, run.problem, page_bytes);
  draw_legend(svg, height - 28, cache);
  return {"lanes_stage_" + std::to_string(run.stage_number) + (keys ? "_qk.svg" : "_pv.svg"),
          svg.adaptive()};
}

}  // namespace

std::vector<Picture> lane_pictures(Device& device) {
  std::vector<Picture> pictures;
  for (const int stage : {1, 2, 4}) {
    const TracedStage run = trace_stage(device, stage, picture_case(64, 16, {7, 2, 9, 4}, 10));
    pictures.push_back(picture_of(run, "key_cache"));
    pictures.push_back(picture_of(run, "value_cache"));
  }
  return pictures;
}

}  // namespace paged
