// Numbers of the page on stage 2: thread groups and vectors of every type and block size, where their
// lanes go, and the banks of the staged query.
#include "kernels/simt/wavefronts.h"
#include "kernels/thread_group_qk.cuh"
#include "stages/cost_of_requests.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"
#include "walkthroughs/counted_stage.h"

#include <cstdint>
#include <set>

namespace paged {
namespace {

constexpr int kHeadSize = 128;

/// ThreadGroups of one type and block size as values.
struct GroupRow {
  CacheType scalar, cache;
  int block_size, group_size, x, vector, vectors_per_lane, query_piece;

  int cache_bytes() const { return static_cast<int>(size_in_bytes(cache)); }
};

template <typename scalar_t, typename cache_t, int kBlockSize>
GroupRow row_of(CacheType scalar, CacheType cache) {
  using Groups = PAGED_BACKEND::ThreadGroups<scalar_t, cache_t, kHeadSize, kBlockSize>;
  return {scalar,
          cache,
          kBlockSize,
          Groups::kGroupSize,
          Groups::kX,
          Groups::kVector,
          Groups::kVectorsPerLane,
          Groups::kQueryPiece};
}

template <typename scalar_t, typename cache_t>
void add_rows(CacheType scalar, CacheType cache, std::vector<GroupRow>& rows) {
  rows.push_back(row_of<scalar_t, cache_t, 8>(scalar, cache));
  rows.push_back(row_of<scalar_t, cache_t, 16>(scalar, cache));
  rows.push_back(row_of<scalar_t, cache_t, 32>(scalar, cache));
}

/// All types that the classical kernel knows; bf16 is like f16, e5m2 like e4m3.
std::vector<GroupRow> all_rows() {
  std::vector<GroupRow> rows;
  add_rows<__half, __half>(CacheType::f16, CacheType::f16, rows);
  add_rows<float, float>(CacheType::f32, CacheType::f32, rows);
  add_rows<__half, __nv_fp8_e4m3>(CacheType::f16, CacheType::e4m3, rows);
  add_rows<float, __nv_fp8_e4m3>(CacheType::f32, CacheType::e4m3, rows);
  return rows;
}

/// Byte of the page that a lane's vector begins at, the first of its vectors.
int key_byte(const GroupRow& row, int lane) {
  return row.cache_bytes() * key_offset_in_page(lane / row.group_size,
                                                lane % row.group_size * row.vector, row.block_size,
                                                row.x);
}

int sectors_of_first_load(const GroupRow& row) {
  std::set<int> sectors;
  for (int lane = 0; lane < 32; ++lane)
    for (int byte = 0; byte < row.vector * row.cache_bytes(); ++byte)
      sectors.insert((key_byte(row, lane) + byte) / kSectorBytes);
  return static_cast<int>(sectors.size());
}

void print_groups(const std::vector<GroupRow>& rows, Claims& claims) {
  std::cout << "Thread groups, head size 128:\n\n";
  TextTable table({"scalar", "cache", "B", "G", "x", "VEC_SIZE", "vectors a lane", "bytes a load",
                   "sectors", "useful"});
  for (const GroupRow& row : rows) {
    const int bytes = row.vector * row.cache_bytes();
    const int sectors = sectors_of_first_load(row);
    const double useful = 32.0 * bytes / (sectors * kSectorBytes);
    table.add_row({std::string(name_of(row.scalar)), std::string(name_of(row.cache)),
                   std::to_string(row.block_size), std::to_string(row.group_size),
                   std::to_string(row.x), std::to_string(row.vector),
                   std::to_string(row.vectors_per_lane), "32 x " + std::to_string(bytes),
                   std::to_string(sectors), percentage(useful)});
  }
  table.print(std::cout);
  std::cout << '\n';
  bool sixteen = true;
  bool whole = true;
  bool covers = true;
  for (const GroupRow& row : rows) {
    const int scalar_bytes = static_cast<int>(size_in_bytes(row.scalar));
    sixteen = sixteen && row.group_size * row.vector * scalar_bytes == 16;
    covers = covers && row.group_size * row.vector * row.vectors_per_lane == kHeadSize &&
             32 / row.group_size == row.block_size;
    if (row.cache == row.scalar)
      whole =
          whole && sectors_of_first_load(row) * kSectorBytes == 32 * row.vector * row.cache_bytes();
  }
  claims.require(sixteen, "a group always takes 16 bytes of query at a time");
  claims.require(covers, "a group's vectors make the whole head, and a warp's groups one page");
  claims.require(whole,
                 "where the cache has the scalar's type, every byte of a sector is asked for");
}

void print_lanes(const GroupRow& row) {
  std::cout << "\nWorked example 1 (f16, B = 16): the first two loads of a warp from physical "
               "block 7\n\n";
  TextTable table({"lane", "token", "load 0: dimensions", "bytes of the page", "load 1: dimensions",
                   "bytes of the page"});
  const auto dims = [&](int lane, int vector) {
    return (vector * row.group_size + lane % row.group_size) * row.vector;
  };
  const auto range = [](int first, int count) {
    return std::to_string(first) + "-" + std::to_string(first + count - 1);
  };
  for (const int lane : {0, 1, 2, 3, 30, 31}) {
    std::vector<std::string> cells = {std::to_string(lane), std::to_string(lane / row.group_size)};
    for (const int vector : {0, 1}) {
      const int dim = dims(lane, vector);
      const int byte =
          row.cache_bytes() * key_offset_in_page(lane / row.group_size, dim, row.block_size, row.x);
      cells.push_back(range(dim, row.vector));
      cells.push_back(range(byte, row.vector * row.cache_bytes()));
    }
    table.add_row(cells);
  }
  table.print(std::cout);
}

/// What one page costs in reads of the staged query: requests, and wavefronts of each.
struct QueryReads {
  int requests, wavefronts_each;
};

QueryReads query_reads(const GroupRow& row, int bytes_a_lane, int requests, int stride) {
  simt::WarpAccess access;
  for (int lane = 0; lane < 32; ++lane)
    access.add(lane, static_cast<std::uintptr_t>(lane % row.group_size * stride));
  return {requests, simt::shared_wavefronts(access, bytes_a_lane)};
}

/// Ways to stage a query of f16: the classic kernel's by lanes, and in the query's own order; each in
/// f16 and in floats.
void print_banks(const std::vector<GroupRow>& rows, Claims& claims) {
  std::cout << "\nReads of the staged query for one page, f16, head size 128:\n\n";
  TextTable table({"B", "staged as", "bytes a lane", "bytes from offset 0 to 1", "requests",
                   "wavefronts each", "wavefronts"});
  bool classic_conflicts = true;
  bool own_does_not = true;
  for (const GroupRow& row : rows) {
    if (row.scalar != CacheType::f16 || row.cache != CacheType::f16) continue;
    const int share = row.vectors_per_lane * row.vector;  // elements of a lane
    const int pieces = share / row.query_piece;
    const auto add = [&](const char* name, int bytes, int stride, int requests) {
      const QueryReads reads = query_reads(row, bytes, requests, stride);
      table.add_row({std::to_string(row.block_size), name, std::to_string(bytes),
                     row.group_size == 1 ? "-" : std::to_string(stride),
                     std::to_string(reads.requests), std::to_string(reads.wavefronts_each),
                     std::to_string(reads.requests * reads.wavefronts_each)});
      return reads.wavefronts_each;
    };
    constexpr int kHalf = 2;
    constexpr int kFloat = 4;
    const int classic =
        add("f16 [G][vectors], classic", row.vector * kHalf, share * kHalf, row.vectors_per_lane);
    const int own =
        add("f16 [head_size]", row.vector * kHalf, row.vector * kHalf, row.vectors_per_lane);
    const int floats = add("floats [G][vectors]", row.query_piece * kFloat, share * kFloat, pieces);
    const int here =
        add("floats [head_size], here", row.query_piece * kFloat, row.vector * kFloat, pieces);
    if (row.group_size == 1) continue;
    classic_conflicts = classic_conflicts && classic == 2 * own;
    own_does_not = own_does_not && here < floats;
  }
  table.print(std::cout);
  std::cout << '\n';
  claims.require(classic_conflicts,
                 "by lanes, reads of f16 take twice the wavefronts: a two-way bank conflict");
  claims.require(own_does_not, "floats in the query's own order take fewer than floats by lanes");
}

void print_warps() {
  const DecodeProblem problem = build_case(find_case("worked-example-4-warps")).problem;
  std::cout << "\nWorked example 4: 64 tokens, table [7, 2, 9, 4]\n\n";
  TextTable table({"warp", "logical block", "tokens", "physical block"});
  constexpr int kWarps = 4;
  for (int page = 0; page < num_pages(problem.seq_lens[0], problem.block_size); ++page)
    table.add_row({std::to_string(page % kWarps), std::to_string(page),
                   std::to_string(page * problem.block_size) + "-" +
                       std::to_string((page + 1) * problem.block_size - 1),
                   std::to_string(problem.block_table(0)[page])});
  table.print(std::cout);
}

void count_worked_example_1(const GroupRow& row, Claims& claims) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const CountsByPhase counts = counted("2", "worked-example-1-gqa", *device);
  const std::uint64_t walks = 8 * 3;  // query heads, pages
  const std::uint64_t vectors = static_cast<std::uint64_t>(row.vectors_per_lane);
  const std::uint64_t sectors = static_cast<std::uint64_t>(sectors_of_first_load(row));
  const Counts& gather = counts[Phase::gather];
  std::cout << "\nWorked example 1: 8 heads x 3 pages x (1 table entry + " << vectors
            << " key vectors) = " << walks * (1 + vectors) << " requests, 8 x 3 x (1 + " << vectors
            << " x " << sectors << ") = " << walks * (1 + vectors * sectors) << " sectors\n";
  claims.require(gather.global_load_requests == walks * (1 + vectors) &&
                     gather.global_load_sectors == walks * (1 + vectors * sectors),
                 "the CPU machine counts the same");
  const std::uint64_t before =
      counted("1", "worked-example-1-gqa", *device)[Phase::qk].global_load_sectors;
  const std::uint64_t now = gather.global_load_sectors + counts[Phase::qk].global_load_sectors;
  std::cout << "sectors of gather and QK: stage 1 " << before << ", stage 2 " << now << ", "
            << fixed(static_cast<double>(before) / static_cast<double>(now), 1) << " times fewer\n";
  claims.require(before > 5 * now, "stage 2 asks for less than a fifth of stage 1's sectors");
}

void tell(Claims& claims) {
  const std::vector<GroupRow> rows = all_rows();
  print_groups(rows, claims);
  const GroupRow& example = rows[1];
  claims.require(example.group_size == 2 && example.vector == 4 && example.vectors_per_lane == 16,
                 "worked example 1: G = 2, VEC_SIZE = 4, 16 vectors a lane");
  print_lanes(example);
  print_warps();
  print_banks(rows, claims);
  count_worked_example_1(example, claims);
}

}  // namespace
}  // namespace paged

int main() { return paged::run_page("thread_groups", paged::tell); }
