// A sequence in partitions, and their merge.
#include "reference/cache_layout.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>

namespace paged {
namespace {

constexpr double kPartitionsLeft = 30;
constexpr double kWidth = 840;  // of the whole sequence
constexpr double kGap = 16;     // between partitions

std::string digits(double value, int count) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", count, value);
  return text;
}

/// One partition of head 0, as the run left it in the workspace.
struct Partition {
  int first_token = 0, tokens = 0;
  std::size_t pages = 0;  ///< that its CUDA block read keys of
  double maximum = 0, sum = 0, share = 0;
};

std::vector<Partition> partitions_of(const TracedStage& run) {
  const DecodeProblem& problem = run.problem;
  const int count = run.outputs.partitions.partitions;
  std::vector<Partition> partitions(count);
  for (int j = 0; j < count; ++j) {
    Partition& partition = partitions[j];
    partition.first_token = j * problem.partition_size;
    partition.tokens =
        std::min(problem.partition_size, problem.seq_lens[0] - partition.first_token);
    partition.maximum = run.outputs.partitions.maxima[j];
    partition.sum = run.outputs.partitions.sums[j];
    // Blocks of the grid: (head, sequence, partition), the head fastest.
    const auto cuda_block = static_cast<std::uint64_t>(j) * problem.num_heads;
    std::set<std::int64_t> pages;
    const std::int64_t page_bytes =
        static_cast<std::int64_t>(size_in_bytes(problem.cache())) *
        contiguous_strides(problem.num_kv_heads, problem.head_size, problem.block_size)
            .block_stride;
    for (const simt::TracedRequest& request : run.requests)
      if (request.launch == 0 && request.block == cuda_block && request.memory == "key_cache")
        for (int lane = 0; lane < 32; ++lane)
          if (request.has(lane)) pages.insert(request.offsets[lane] / page_bytes);
    partition.pages = pages.size();
  }
  double maximum = -INFINITY;
  double total = 0;
  for (const Partition& partition : partitions) maximum = std::max(maximum, partition.maximum);
  for (Partition& partition : partitions)
    total += partition.share = partition.sum * std::exp(partition.maximum - maximum);
  for (Partition& partition : partitions) partition.share /= total + 1e-6;
  return partitions;
}

}  // namespace

std::vector<Picture> partition_pictures(Device& device) {
  const TracedStage run =
      trace_stage(device, 5, find_case("worked-example-2-partitions"), {.partitions = true});
  const std::vector<Partition> partitions = partitions_of(run);
  const int seq_len = run.problem.seq_lens[0];
  double share_sum = 0;
  for (const Partition& partition : partitions) share_sum += partition.share;

  Svg svg(930, 412, "1100 tokens in partitions of 512, and their merge",
          "Worked example 2, run by stage 5: three CUDA blocks each leave a maximum, a sum and an "
          "output; the second kernel merges them by their shares.");
  svg.text(20, 26, "Stage 5 (V2): 1100 tokens in partitions of 512, and their merge", "h");
  svg.text(20, 47, "Worked example 2, query head 0. Numbers are those of the run.", "dim");
  const double scale = (kWidth - kGap * (static_cast<double>(partitions.size()) - 1)) / seq_len;
  const double merged = kPartitionsLeft + kWidth / 2;
  double x = kPartitionsLeft;
  for (std::size_t j = 0; j < partitions.size(); ++j) {
    const Partition& p = partitions[j];
    const double width = p.tokens * scale;
    svg.rectangle(x, 82, width, 34, j % 2 == 0 ? "a" : "b");
    const double middle = x + width / 2;
    const double text = std::clamp(middle, kPartitionsLeft + 80, kPartitionsLeft + kWidth - 75);
    const int last = p.first_token + p.tokens - 1;
    svg.text(text, 74, "tokens " + std::to_string(p.first_token) + "-" + std::to_string(last), "",
             Anchor::middle);
    svg.text(middle, 104, std::to_string(p.pages) + (width < 90 ? "" : " pages"), "",
             Anchor::middle);
    svg.line(middle, 118, text, 142, "arrow");
    svg.rectangle(text - 75, 146, 150, 108, "idle");
    svg.text(text, 164, "CUDA block z = " + std::to_string(j), "", Anchor::middle);
    svg.text(text, 184, "m = " + digits(p.maximum, 3), "", Anchor::middle);
    svg.text(text, 202, "S = " + digits(p.sum, 3), "", Anchor::middle);
    svg.text(text, 222, "o: " + std::to_string(run.problem.head_size) + " floats", "dim",
             Anchor::middle);
    svg.text(text, 242, "share of the output: " + percentage(p.share), "", Anchor::middle);
    svg.connect(text, 256, merged + (static_cast<double>(j) - 1) * 60, 312, "arrow");
    x += width + kGap;
  }
  svg.rectangle(merged - 260, 316, 520, 64, "idle");
  svg.text(merged, 338, "second kernel: m = max m_j,  w_j = S_j exp(m_j - m)", "", Anchor::middle);
  svg.text(merged, 360,
           "o = sum w_j o_j / (sum w_j + 1e-6); shares add up to " + digits(share_sum, 4), "",
           Anchor::middle);
  const Partition& last = partitions.back();
  const int on_last_page = (last.tokens - 1) % run.problem.block_size + 1;
  svg.text(20, 400,
           "The last page holds " + std::to_string(on_last_page) + " tokens of " +
               std::to_string(run.problem.block_size) + ".",
           "dim");
  return {{"partitions.svg", svg.adaptive()}};
}

}  // namespace paged
