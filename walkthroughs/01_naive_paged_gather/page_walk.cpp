// Numbers of the page on stage 1: where the lanes of a warp go, and worked example 3 by hand.
#include "reference/cache_layout.h"
#include "stages/cost_of_requests.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"
#include "walkthroughs/counted_stage.h"

namespace paged {
namespace {

constexpr int kBlockSize = 16;

/// Lanes that read dimension 0 of the keys of neighbouring tokens of one page.
LaneRow keys_of_tokens(CacheType cache, int tokens) {
  const int bytes = static_cast<int>(size_in_bytes(cache));
  const int x = key_vector_width(bytes);
  const int step =
      key_offset_in_page(1, 0, kBlockSize, x) - key_offset_in_page(0, 0, kBlockSize, x);
  return {.begin = 0, .lanes = tokens, .stride = step * bytes, .bytes = bytes};
}

/// Lanes that read the value of one token, each another dimension.
LaneRow values_of_dimensions(CacheType cache, int lanes) {
  const int bytes = static_cast<int>(size_in_bytes(cache));
  const int step = value_offset_in_page(0, 1, kBlockSize) - value_offset_in_page(0, 0, kBlockSize);
  return {.begin = 0, .lanes = lanes, .stride = step * bytes, .bytes = bytes};
}

void print_requests(Claims& claims) {
  std::cout << "One load of a warp, pages of 16 tokens:\n\n";
  TextTable table({"cache", "lanes on", "bytes from lane to lane", "sectors", "bytes moved",
                   "bytes asked for", "useful"});
  const auto add = [&](CacheType cache, const char* what, const LaneRow& row, int pages) {
    const auto sectors = pages * sectors_of(row);
    const auto asked = pages * useful_bytes_of(row);
    table.add_row({std::string(name_of(cache)), what, std::to_string(row.stride),
                   std::to_string(sectors), std::to_string(sectors * kSectorBytes),
                   std::to_string(asked),
                   percentage(static_cast<double>(asked) / (sectors * kSectorBytes))});
  };
  bool apart = true;
  for (const CacheType cache : {CacheType::f32, CacheType::f16, CacheType::e4m3}) {
    // 32 lanes sit on two pages, which lie anywhere and begin at a sector.
    add(cache, "keys of 32 tokens", keys_of_tokens(cache, kBlockSize), 2);
    add(cache, "32 dimensions of a value", values_of_dimensions(cache, 32), 1);
    apart = apart && keys_of_tokens(cache, kBlockSize).stride == 16;
  }
  table.print(std::cout);
  std::cout << '\n';
  claims.require(apart, "keys of neighbouring tokens lie 16 bytes apart, whatever the type");
}

/// Requests and sectors of a step.
struct Cost {
  long long requests, sectors;
};

void count_worked_example_3(Claims& claims) {
  const DecodeProblem problem = build_case(find_case("worked-example-3-address-walk")).problem;
  const int tokens = problem.seq_lens[0];                     // 17
  const int pages = num_pages(tokens, kBlockSize);            // 2
  const int warps_with_dims = (problem.head_size + 31) / 32;  // 2
  const int on_last = tokens - (pages - 1) * kBlockSize;      // 1
  const long long sectors_of_keys = sectors_of(keys_of_tokens(problem.cache(), kBlockSize)) +
                                    sectors_of(keys_of_tokens(problem.cache(), on_last));

  const Cost table_qk = {1, 1};
  const Cost query = {problem.head_size, problem.head_size};
  const Cost keys = {problem.head_size, problem.head_size * sectors_of_keys};
  const Cost table_pv = {warps_with_dims * pages, warps_with_dims * pages};
  const Cost values = {
      warps_with_dims * tokens,
      warps_with_dims * tokens * sectors_of(values_of_dimensions(problem.cache(), 32))};
  std::cout << "\nWorked example 3 by hand: 17 tokens on pages 7 and 2, head size 64, f16\n\n";
  TextTable table({"step", "reads", "requests", "sectors", "because"});
  const auto add = [&](const char* step, const char* reads, const Cost& cost, const char* why) {
    table.add_row({step, reads, std::to_string(cost.requests), std::to_string(cost.sectors), why});
  };
  add("QK", "block table", table_qk, "17 lanes read two entries side by side");
  add("QK", "query", query, "64 dimensions, one sector each: all lanes read the same element");
  add("QK", "keys", keys, "64 dimensions, 8 sectors of page 7 and 1 of page 2 each");
  add("PV", "block table", table_pv, "2 warps walk 2 pages");
  add("PV", "values", values, "2 warps walk 17 tokens, 32 sectors each");
  table.print(std::cout);

  const std::unique_ptr<Device> device = make_cpu_device();
  const CountsByPhase counts = counted("1", "worked-example-3-address-walk", *device);
  const auto agrees = [&](Phase phase, std::initializer_list<Cost> costs) {
    Cost sum = {0, 0};
    for (const Cost& cost : costs) sum = {sum.requests + cost.requests, sum.sectors + cost.sectors};
    const Counts& c = counts[phase];
    claims.require(static_cast<long long>(c.global_load_requests) == sum.requests &&
                       static_cast<long long>(c.global_load_sectors) == sum.sectors,
                   std::string("counted in ") + name_of(phase) + ": " +
                       std::to_string(c.global_load_requests) + " requests, " +
                       std::to_string(c.global_load_sectors) + " sectors, as by hand");
  };
  std::cout << '\n';
  agrees(Phase::qk, {table_qk, query, keys});
  agrees(Phase::pv, {table_pv, values});
}

}  // namespace
}  // namespace paged

int main() {
  return paged::run_page("page_walk", [](paged::Claims& claims) {
    paged::print_requests(claims);
    paged::count_worked_example_3(claims);
  });
}
