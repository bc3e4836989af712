// What a request moves, and how much of it was asked for.
#include "tests/harness/text_table.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <cstdio>

namespace paged {
namespace {

/// All requests of a run to one memory.
struct Bar {
  std::string label;
  Counts counts;
  int lane_bytes = 0;
};

Bar bar_of(const TracedStage& run, const std::string& cache, const std::string& label) {
  Bar bar;
  bar.label = label;
  for (const simt::TracedRequest& request : run.requests)
    if (request.memory == cache) {
      bar.counts += request.counts;
      bar.lane_bytes = request.bytes;
    }
  return bar;
}

std::string one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number;
}

void draw_bar(Svg& svg, double y, const Bar& bar) {
  constexpr double kBarsLeft = 250;
  constexpr double kSector = 13;
  const double sectors = static_cast<double>(bar.counts.global_load_sectors) /
                         static_cast<double>(bar.counts.global_load_requests);
  const double useful = static_cast<double>(bar.counts.global_load_useful_bytes) /
                        static_cast<double>(bar.counts.global_load_requests) / kSectorBytes;
  svg.text(kBarsLeft - 10, y + 13, bar.label, "", Anchor::end);
  svg.rectangle(kBarsLeft, y, sectors * kSector, 18, "waste");
  svg.rectangle(kBarsLeft, y, useful * kSector, 18, "hot");
  for (int sector = 1; sector < sectors; ++sector)
    svg.line(kBarsLeft + sector * kSector, y, kBarsLeft + sector * kSector, y + 18, "thin");
  svg.text(kBarsLeft + sectors * kSector + 8, y + 13,
           one_digit(sectors) + (sectors == 1 ? " sector, " : " sectors, ") +
               percentage(useful / sectors) + " asked for");
}

struct Group {
  std::string heading, cache;
  std::vector<int> stages;
};

}  // namespace

std::vector<Picture> sector_pictures(Device& device) {
  const std::vector<Group> groups = {
      {"Keys, QK: one load of a warp", "key_cache", {1, 2}},
      {"Values, PV: one load of a warp", "value_cache", {1, 4}},
  };
  const std::vector<std::pair<const char*, CacheType>> types = {
      {"f32", CacheType::f32}, {"f16", CacheType::f16}, {"e4m3", CacheType::e4m3}};
  Svg svg(860, 460, "Sectors of 32 bytes that a request moves",
          "Bars of sectors per load request by stage and type, counted on the CPU machine: stage 1 "
          "moves many times what it asks for, stages 2 and 4 hardly more than that.");
  svg.text(20, 26, "Sectors that a request moves, and how much of them its lanes asked for", "h");
  svg.text(20, 46, "Mean over all requests of a run: 64 tokens, 16 a page, head size 64.", "dim");
  double y = 62;
  for (const Group& group : groups) {
    y += 24;
    svg.text(20, y, group.heading, "h");
    y += 10;
    for (const int stage : group.stages)
      for (const auto& [name, type] : types) {
        CaseSpec spec = picture_case(64, 16, {7, 2, 9, 4}, 10);
        if (type == CacheType::f32) spec.scalar = ScalarType::f32;
        spec.cache = type;
        const TracedStage run = trace_stage(device, stage, spec);
        Bar bar = bar_of(run, group.cache, "");
        bar.label = "stage " + std::to_string(stage) + ", " + name + ", " +
                    std::to_string(bar.lane_bytes) + " bytes a lane";
        draw_bar(svg, y, bar);
        y += 24;
      }
  }
  svg.rectangle(20, 434, 22, 14, "hot");
  svg.text(48, 445, "asked for");
  svg.rectangle(130, 434, 22, 14, "waste");
  svg.text(158, 445, "moved for nothing");
  return {{"sectors.svg", svg.adaptive()}};
}

}  // namespace paged
