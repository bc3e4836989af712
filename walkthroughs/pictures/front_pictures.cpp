// The picture of the project: tokens, block table, physical blocks, and the warps that read them.
#include "reference/cache_layout.h"
#include "tests/harness/named_cases.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace paged {
namespace {

constexpr double kFrontLeft = 40;
constexpr double kFrontCell = 68;

/// Which warps of the run read keys of which physical block, and how many of its requests did.
std::map<std::int64_t, std::set<int>> readers_of_blocks(const TracedStage& run) {
  std::map<std::int64_t, std::set<int>> readers;
  for (const simt::TracedRequest& request : run.requests)
    if (request.memory == "key_cache")
      for (int lane = 0; lane < 32; ++lane)
        if (request.has(lane))
          readers[place_in_cache(run.problem, "key_cache", request.offsets[lane]).block].insert(
              request.warp);
  return readers;
}

void draw_sequence(Svg& svg, const DecodeProblem& problem, int pages) {
  const double first = kFrontLeft + kFrontCell * 2;
  svg.text(kFrontLeft, 52, "the sequence:", "");
  svg.text(kFrontLeft, 68, std::to_string(problem.seq_lens[0]) + " tokens,", "dim");
  svg.text(kFrontLeft, 84, std::to_string(problem.block_size) + " a page", "dim");
  svg.text(kFrontLeft, 126, "its block table", "");
  svg.text(kFrontLeft, 230, "the cache", "");
  svg.text(kFrontLeft, 298, "read by", "");
  for (int page = 0; page < pages; ++page) {
    const double x = first + page * kFrontCell * 2;
    const int tokens =
        std::min(problem.block_size, problem.seq_lens[0] - page * problem.block_size);
    const double slot = (kFrontCell * 2 - 12) / problem.block_size;
    for (int token = 0; token < problem.block_size; ++token)
      svg.rectangle(x + token * slot, 46, slot - 1.5, 34, token < tokens ? "a" : "idle");
    svg.text(x + kFrontCell - 6, 40, "page " + std::to_string(page), "small dim", Anchor::middle);
    svg.line(x + kFrontCell - 6, 84, x + kFrontCell - 6, 104, "arrow");
    svg.rectangle(x + kFrontCell - 26, 108, 40, 28, "idle");
    svg.text(x + kFrontCell - 6, 127, std::to_string(problem.block_table(0)[page]), "h",
             Anchor::middle);
  }
}

}  // namespace

std::vector<Picture> front_pictures(Device& device) {
  const TracedStage run = trace_stage(device, 2, find_case("worked-example-1-gqa"));
  const DecodeProblem& problem = run.problem;
  const int pages = num_pages(problem.seq_lens[0], problem.block_size);
  const auto readers = readers_of_blocks(run);

  Svg svg(900, 322, "Paged attention: from tokens through the block table to the cache",
          "35 tokens on three pages. The block table sends page 0 to physical block 7, page 1 to 2 "
          "and page 2 to 9; the warps of a CUDA block read them side by side.");
  draw_sequence(svg, problem, pages);
  const auto x_of_block = [](std::int64_t block) {
    return kFrontLeft + 70 + static_cast<double>(block) * 63;
  };
  for (int page = 0; page < pages; ++page) {
    const std::int64_t block = problem.block_table(0)[page];
    svg.connect(kFrontLeft + kFrontCell * 2 + page * kFrontCell * 2 + kFrontCell - 6, 138,
                x_of_block(block) + 28, 200, "arrow");
  }
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block) {
    const auto reader = readers.find(block);
    const bool owned = reader != readers.end();
    svg.rectangle(x_of_block(block), 204, 56, 44, owned ? "hot" : "idle");
    svg.text(x_of_block(block) + 28, 231, std::to_string(block), owned ? "h on" : "dim",
             Anchor::middle);
    if (!owned) continue;
    std::string warps;
    for (const int warp : reader->second)
      warps += (warps.empty() ? "warp " : ", ") + std::to_string(warp);
    svg.line(x_of_block(block) + 28, 284, x_of_block(block) + 28, 252, "arrow");
    svg.text(x_of_block(block) + 28, 298, warps, "", Anchor::middle);
  }
  return {{"page_walk.svg", svg.adaptive()}, {"page_walk_dark.svg", svg.dark()}};
}

}  // namespace paged
