// The last page of a sequence: what lies past its end is loaded and must not matter.
#include "tests/harness/text_table.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace paged {
namespace {

constexpr int kPage = 2;  // the last one, which warp 2 takes
constexpr double kTailLeft = 190;
constexpr double kTailCell = 44;

CaseSpec tail_case(double tail) {
  CaseSpec spec = picture_case(35, 16, {7, 2, 9}, 12);
  spec.poison.tail = tail;
  return spec;
}

std::string short_value(double value) {
  if (std::isnan(value)) return "NaN";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return value == 0 ? "0" : text;
}

double cache_value(CacheType type, const simt::LaneValue& bytes, int element) {
  Tensor one(type, {1});
  std::memcpy(one.data(), bytes.data() + element * size_in_bytes(type), size_in_bytes(type));
  return one.read(0);
}

float float_value(const simt::LaneValue& bytes, int element) {
  float value;
  std::memcpy(&value, bytes.data() + element * sizeof value, sizeof value);
  return value;
}

/// One text for each slot of the page.
using Row = std::vector<std::string>;

/// Dimension 0 of each token's key or value, as lanes loaded it, and which lanes took part.
struct LoadedRow {
  Row values, lanes;
};

LoadedRow loaded_row(const TracedStage& run, const std::string& cache) {
  const DecodeProblem& problem = run.problem;
  const auto element_bytes = static_cast<int>(size_in_bytes(problem.cache()));
  LoadedRow row{Row(problem.block_size), Row(problem.block_size)};
  for (const simt::TracedRequest* request : requests_of(run, kPage, cache))
    for (int lane = 0; lane < 32; ++lane)
      for (int byte = 0; request->has(lane) && byte < request->bytes; byte += element_bytes) {
        const CachePlace place = place_in_cache(problem, cache, request->offsets[lane] + byte);
        std::string& lanes = row.lanes[place.offset];
        const std::string number = std::to_string(lane);
        if (request == requests_of(run, kPage, cache).front() && byte == 0)
          lanes += (lanes.empty() ? "" : ", ") + number;
        if (place.dim == 0)
          row.values[place.offset] = short_value(
              cache_value(problem.cache(), request->values[lane], byte / element_bytes));
      }
  return row;
}

/// What is stored to, or loaded from, the logits' slots of the page in a phase.
Row shared_row(const TracedStage& run, simt::AccessKind kind, Phase phase) {
  Row row(run.problem.block_size);
  for (const simt::TracedRequest* request : requests_of(run, kPage, "dynamic_shared", kind))
    for (int lane = 0; request->phase == phase && lane < 32; ++lane)
      for (int i = 0; request->has(lane) && i < request->bytes / 4; ++i) {
        const std::int64_t slot =
            request->offsets[lane] / 4 + i - std::int64_t{kPage} * run.problem.block_size;
        if (slot >= 0 && slot < run.problem.block_size && row[slot].empty())
          row[slot] = short_value(float_value(request->values[lane], i));
      }
  return row;
}

void draw_row(Svg& svg, double y, const std::string& label, const std::string& note, const Row& row,
              int valid) {
  svg.text(kTailLeft - 10, y + 14, label, "", Anchor::end);
  if (!note.empty()) svg.text(kTailLeft - 10, y + 27, note, "small dim", Anchor::end);
  for (int slot = 0; slot < static_cast<int>(row.size()); ++slot) {
    svg.rectangle(kTailLeft + slot * kTailCell, y, kTailCell - 3, 26, slot < valid ? "a" : "waste");
    svg.text(kTailLeft + slot * kTailCell + kTailCell / 2 - 1.5, y + 17, row[slot],
             slot < valid ? "small" : "small halo", Anchor::middle);
  }
}

}  // namespace

std::vector<Picture> tail_pictures(Device& device) {
  const TracedStage clean = trace_stage(device, 4, tail_case(0));
  const TracedStage run =
      trace_stage(device, 4, tail_case(std::numeric_limits<double>::quiet_NaN()));
  if (std::memcmp(clean.outputs.output.data(), run.outputs.output.data(),
                  run.outputs.output.size_in_bytes()) != 0)
    throw std::runtime_error("NaN in the tail changes the output");

  const int first = kPage * run.problem.block_size;
  const int valid = run.problem.seq_lens[0] - first;
  const LoadedRow keys = loaded_row(run, "key_cache");
  const LoadedRow values = loaded_row(run, "value_cache");
  Row tokens;
  Row masked = values.values;
  for (int slot = 0; slot < run.problem.block_size; ++slot) {
    tokens.push_back(std::to_string(first + slot));
    if (slot >= valid) masked[slot] = "0";
  }

  Svg svg(
      910, 424, "The last page: 3 tokens, and 13 slots that must not matter",
      "Worked example 1 with NaN in the unused slots of its last page, run by stage 4: keys and "
      "values of unused slots are loaded, their logits are stored as 0, and their values are set "
      "to zero before the product. The output has the same bits as with zeros in these slots.");
  svg.text(20, 26,
           "Stage 4 on the last page of 35 tokens (physical block 9): NaN in every unused slot",
           "h");
  svg.text(20, 47, "Read by warp 2. Numbers are those of the run; dimension 0 of keys and values.",
           "dim");
  double y = 62;
  draw_row(svg, y, "token", "", tokens, valid);
  draw_row(svg, y += 40, "lanes of its key", "a thread group of 2", keys.lanes, valid);
  draw_row(svg, y += 40, "key, as loaded", "", keys.values, valid);
  draw_row(svg, y += 40, "logit, as stored", "0 past the end, not the NaN",
           shared_row(run, simt::AccessKind::write, Phase::qk), valid);
  draw_row(svg, y += 40, "weight, as read in PV", "the softmax leaves the 0 alone",
           shared_row(run, simt::AccessKind::read, Phase::pv), valid);
  draw_row(svg, y += 40, "value, as loaded", "", values.values, valid);
  draw_row(svg, y += 40, "value in the product", "0 * NaN would be NaN", masked, valid);
  svg.text(
      20, y + 56,
      "The output of this run and of one with zeros in these slots: the same bits. Without the "
      "last row's mask every output would be NaN.");
  svg.rectangle(20, y + 68, 22, 14, "a");
  svg.text(48, y + 79, "a token of the sequence");
  svg.rectangle(210, y + 68, 22, 14, "waste");
  svg.text(238, y + 79, "an unused slot");
  return {{"tail_mask.svg", svg.adaptive()}};
}

}  // namespace paged
