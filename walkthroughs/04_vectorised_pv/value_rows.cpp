// Numbers of the page on stage 4: how a warp walks a page of values, what the tail mask keeps, and
// the shared memory of V1.
#include "kernels/vector_pv.cuh"
#include "stages/shared_memory.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"
#include "walkthroughs/counted_stage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

namespace paged {
namespace {

constexpr int kHeadSize = 128;
constexpr int kThreads = 128;

/// ValueRows of one type and block size as values.
struct RowShape {
  CacheType scalar;
  int block_size, vector, lanes_per_row, rows_per_step, rows_per_lane;
};

template <typename scalar_t, int kBlockSize>
RowShape shape_of_rows(CacheType scalar) {
  using Rows = PAGED_BACKEND::ValueRows<scalar_t, kHeadSize, kBlockSize>;
  return {scalar,
          kBlockSize,
          Rows::kVector,
          Rows::kLanesPerRow,
          Rows::kRowsPerStep,
          Rows::kRowsPerLane};
}

/// Sectors of one load of a warp from a cache of the scalar's own type.
int sectors_of_load(const RowShape& rows) {
  const int bytes = static_cast<int>(size_in_bytes(rows.scalar));
  std::set<int> sectors;
  for (int lane = 0; lane < 32; ++lane) {
    const int element = value_offset_in_page(lane % rows.lanes_per_row * rows.vector,
                                             lane / rows.lanes_per_row, rows.block_size);
    for (int byte = 0; byte < rows.vector * bytes; ++byte)
      sectors.insert((element * bytes + byte) / kSectorBytes);
  }
  return static_cast<int>(sectors.size());
}

void print_rows(Claims& claims) {
  const std::vector<RowShape> all = {
      shape_of_rows<__half, 8>(CacheType::f16),  shape_of_rows<__half, 16>(CacheType::f16),
      shape_of_rows<__half, 32>(CacheType::f16), shape_of_rows<float, 8>(CacheType::f32),
      shape_of_rows<float, 16>(CacheType::f32),  shape_of_rows<float, 32>(CacheType::f32)};
  std::cout << "How a warp walks a page of values, head size 128:\n\n";
  TextTable table({"scalar", "B", "V_VEC_SIZE", "lanes a row", "rows a step", "steps",
                   "sectors a load", "useful"});
  bool whole = true;
  for (const RowShape& rows : all) {
    const int bytes = 32 * rows.vector * static_cast<int>(size_in_bytes(rows.scalar));
    const int moved = sectors_of_load(rows) * kSectorBytes;
    whole = whole && bytes == moved;
    table.add_row({std::string(name_of(rows.scalar)), std::to_string(rows.block_size),
                   std::to_string(rows.vector), std::to_string(rows.lanes_per_row),
                   std::to_string(rows.rows_per_step), std::to_string(rows.rows_per_lane),
                   std::to_string(sectors_of_load(rows)),
                   percentage(static_cast<double>(bytes) / moved)});
  }
  table.print(std::cout);
  std::cout << '\n';
  claims.require(whole, "a warp asks for every byte of the sectors that it moves");
}

/// The last page of worked example 1: which of a lane's eight tokens stay.
void print_tail(Claims& claims) {
  using Rows = PAGED_BACKEND::ValueRows<__half, kHeadSize, 16>;
  const DecodeProblem problem = build_case(find_case("worked-example-1-gqa")).problem;
  const int seq_len = problem.seq_lens[0];
  const int page = num_pages(seq_len, problem.block_size) - 1;
  std::cout << "\nThe last page of worked example 1 (tokens 32-47, the sequence has 35):\n\n";
  TextTable table({"lanes", "tokens of a vector", "valid", "kept", "set to zero"});
  int kept_in_all = 0;
  for (int lane = 0; lane < Rows::kLanesPerRow; ++lane) {
    const int token = page * problem.block_size + lane * Rows::kVector;
    const int valid = seq_len - token;  // what zero_past_end() is given
    const int kept = std::clamp(valid, 0, static_cast<int>(Rows::kVector));
    kept_in_all += kept;
    table.add_row({lane == 0 ? "even" : "odd",
                   std::to_string(token) + "-" + std::to_string(token + Rows::kVector - 1),
                   std::to_string(valid), std::to_string(kept),
                   std::to_string(Rows::kVector - kept)});
  }
  table.print(std::cout);
  volatile float zero = 0.0F;
  const float product = zero * std::numeric_limits<float>::quiet_NaN();
  std::cout << "\n0 * NaN = " << general(std::abs(product), 4) << "\n\n";
  claims.require(std::isnan(product), "a weight of 0 does not silence a NaN");
  claims.require(kept_in_all == seq_len - page * problem.block_size,
                 "the tokens that are kept are the 3 of the sequence");
}

void print_shared_memory(Claims& claims) {
  std::cout << "\nDynamic shared memory of V1, head size 128, B = 16:\n\n";
  TextTable table({"tokens", "logits", "partial outputs", "one buffer for both"});
  DecodeShape shape;
  shape.block_size = 16;
  shape.head_size = kHeadSize;
  for (const int tokens : {35, 256, 1024, 8192}) {
    shape.max_seq_len = tokens;
    table.add_row({std::to_string(tokens), std::to_string(bytes_of_logits(shape)),
                   std::to_string(bytes_of_partial_outputs(kHeadSize, kThreads)),
                   std::to_string(bytes_of_v1(shape, kThreads))});
  }
  table.print(std::cout);
  std::cout << '\n';
  claims.require(bytes_of_logits(shape) == 32 * 1024, "the logits of 8192 tokens take 32 KiB");
}

void count_values(Claims& claims) {
  const std::unique_ptr<Device> device = make_cpu_device();
  std::cout << "\nPV of worked example 1, 8 heads:\n\n";
  TextTable table({"stage", "load requests", "sectors", "useful bytes", "useful"});
  const auto add = [&](const char* stage) {
    const Counts counts = counted(stage, "worked-example-1-gqa", *device)[Phase::pv];
    const double moved = static_cast<double>(counts.global_load_sectors) * kSectorBytes;
    table.add_row({stage, std::to_string(counts.global_load_requests),
                   std::to_string(counts.global_load_sectors),
                   std::to_string(counts.global_load_useful_bytes),
                   percentage(static_cast<double>(counts.global_load_useful_bytes) / moved)});
    return counts;
  };
  const Counts scalar = add("3");
  const Counts vector = add("4");
  table.print(std::cout);
  // Heads, pages, and of each page its table entry and all of its bytes.
  const std::uint64_t by_hand = 8 * 3 * (1 + 16 * kHeadSize * 2 / kSectorBytes);
  std::cout << "\nby hand: 8 heads x 3 pages x (1 + 16 x 128 x 2 / 32) = " << by_hand
            << " sectors\n\n";
  claims.require(vector.global_load_sectors == by_hand, "stage 4 is counted as by hand");
  claims.require(scalar.global_load_sectors > 11 * vector.global_load_sectors,
                 "stage 3 asks for more than 11 times the sectors");
}

}  // namespace
}  // namespace paged

int main() {
  return paged::run_page("value_rows", [](paged::Claims& claims) {
    paged::print_rows(claims);
    paged::print_tail(claims);
    paged::print_shared_memory(claims);
    paged::count_values(claims);
  });
}
