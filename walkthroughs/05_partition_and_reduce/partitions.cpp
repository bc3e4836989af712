// Numbers of the page on stage 5: partitions and their merge on worked example 2, how many CUDA blocks
// there are, and which of V1 and V2 is taken.
#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "stages/partition_workspace.h"
#include "stages/shared_memory.h"
#include "stages/v1_v2_policy.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"
#include "walkthroughs/counted_stage.h"

#include <algorithm>
#include <cmath>

namespace paged {
namespace {

constexpr int kThreads = 128;

struct Part {
  int first, end;
  HeadAttention attention;
};

/// The partitions of sequence 0, head 0.
std::vector<Part> parts_of(const DecodeProblem& problem, const HeadAttention& whole,
                           const GatheredKv& kv) {
  std::vector<Part> parts;
  const int seq_len = problem.seq_lens[0];
  const int count = num_partitions(seq_len, problem.partition_size);
  for (int j = 0; j < count; ++j) {
    const int first = j * problem.partition_size;
    const int end = std::min(first + problem.partition_size, seq_len);
    parts.push_back({first, end, attend_partition(problem, kv, whole, 0, 0, first, end)});
  }
  return parts;
}

void print_partitions(const DecodeProblem& problem, const std::vector<Part>& parts,
                      Claims& claims) {
  std::cout << "Worked example 2: 1100 tokens in partitions of 512\n\n";
  TextTable table({"partition", "tokens", "pages", "tokens on the last page"});
  for (std::size_t j = 0; j < parts.size(); ++j) {
    const int tokens = parts[j].end - parts[j].first;
    const int pages = num_pages(tokens, problem.block_size);
    table.add_row(
        {std::to_string(j), std::to_string(parts[j].first) + "-" + std::to_string(parts[j].end - 1),
         std::to_string(pages), std::to_string(tokens - (pages - 1) * problem.block_size)});
  }
  table.print(std::cout);
  const Part& last = parts.back();
  std::cout << '\n';
  claims.require(parts.size() == 3 && num_pages(512, problem.block_size) == 32 &&
                     last.first == 1024 && num_pages(last.end - last.first, 16) == 5 &&
                     (last.end - last.first) % 16 == 12,
                 "32 and 32 pages, then 5, the last of them with 12 tokens");
}

void print_merge(const HeadAttention& whole, const std::vector<Part>& parts, Claims& claims) {
  double maximum = parts[0].attention.maximum;
  for (const Part& part : parts) maximum = std::max(maximum, part.attention.maximum);
  std::cout << "\nTheir merge, head 0: m = " << fixed(maximum, 4) << "\n\n";
  TextTable table({"partition", "m_j", "S_j", "exp(m_j - m)", "w_j", "share", "o_j[0]"});
  double sum = 0;
  double merged = 0;
  double not_rescaled_sum = 0;
  double not_rescaled = 0;
  for (const Part& part : parts) {
    const HeadAttention& a = part.attention;
    sum += a.sum * std::exp(a.maximum - maximum);
    not_rescaled_sum += a.sum;
  }
  for (std::size_t j = 0; j < parts.size(); ++j) {
    const HeadAttention& a = parts[j].attention;
    const double weight = a.sum * std::exp(a.maximum - maximum);
    merged += weight * a.output[0] / (sum + kDenominatorGuard);
    not_rescaled += a.sum * a.output[0] / not_rescaled_sum;
    table.add_row({std::to_string(j), fixed(a.maximum, 4), fixed(a.sum, 4),
                   fixed(std::exp(a.maximum - maximum), 4), fixed(weight, 4),
                   percentage(weight / sum), fixed(a.output[0], 4)});
  }
  table.print(std::cout);
  std::cout << "\no[0] = sum of w_j o_j[0] / (sum of w_j + 1e-6) = " << fixed(merged, 4)
            << "; over all tokens at once " << fixed(whole.output[0], 4)
            << "; without exp(m_j - m) " << fixed(not_rescaled, 4) << "\n\n";
  claims.require(std::abs(merged - whole.output[0]) < 1e-5,
                 "the merge is what one softmax over all tokens gives");
  claims.require(std::abs(not_rescaled - whole.output[0]) > 0.01,
                 "without the rescaling it is not");
}

void print_blocks(Claims& claims) {
  std::cout << "\nCUDA blocks, and who takes V1 (f16, head size 128, B = 16):\n\n";
  TextTable table({"sequences", "heads", "tokens", "blocks V1", "blocks V2", "shared V1",
                   "shared V2", "workspace", "v0.6.0", "here"});
  DecodeShape shape;
  shape.block_size = 16;
  shape.head_size = 128;
  const auto add = [&](int seqs, int heads, int tokens) {
    shape.num_seqs = seqs;
    shape.num_heads = heads;
    shape.max_seq_len = tokens;
    const int partitions = num_partitions(tokens, kDefaultPartitionSize);
    table.add_row(
        {std::to_string(seqs), std::to_string(heads), std::to_string(tokens),
         std::to_string(seqs * heads), std::to_string(seqs * heads * partitions),
         std::to_string(bytes_of_v1(shape, kThreads)),
         std::to_string(bytes_of_v2(kDefaultPartitionSize, shape.head_size, kThreads)),
         std::to_string(PartitionWorkspace::bytes(seqs, heads, shape.head_size, partitions)),
         v060_takes_v1(shape) ? "V1" : "V2", measured_takes_v1(shape) ? "V1" : "V2"});
    return seqs * heads * partitions;
  };
  add(1, 32, 35);
  add(1, 32, 1100);
  const int blocks = add(1, 32, 8192);
  add(16, 32, 4096);
  add(17, 32, 4096);
  add(64, 32, 8192);
  add(64, 32, 8193);
  table.print(std::cout);
  std::cout << '\n';
  claims.require(blocks == 512, "1 sequence of 8192 tokens, 32 heads: 32 blocks against 512");
}

void count_both(Claims& claims) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const CountsByPhase v1 = counted("4", "worked-example-2-partitions", *device);
  const CountsByPhase v2 = counted("5", "worked-example-2-partitions", *device);
  std::cout << "\nGlobal memory of worked example 2, sectors:\n\n";
  TextTable table(
      {"kernel", "gather", "QK", "PV loads", "PV stores", "reduce loads", "reduce stores", "all"});
  const auto add = [&](const char* name, const CountsByPhase& c) {
    const Counts all = c.total();
    table.add_row({name, std::to_string(c[Phase::gather].global_load_sectors),
                   std::to_string(c[Phase::qk].global_load_sectors),
                   std::to_string(c[Phase::pv].global_load_sectors),
                   std::to_string(c[Phase::pv].global_store_sectors),
                   std::to_string(c[Phase::reduce].global_load_sectors),
                   std::to_string(c[Phase::reduce].global_store_sectors),
                   std::to_string(all.global_load_sectors + all.global_store_sectors)});
  };
  add("stage 4, V1", v1);
  add("stage 5, V2", v2);
  table.print(std::cout);
  std::cout << '\n';
  claims.require(v1[Phase::gather] == v2[Phase::gather],
                 "both read the same keys in the same requests");
  claims.require(v1[Phase::pv].global_load_sectors == v2[Phase::pv].global_load_sectors,
                 "and the same values");
}

void tell(Claims& claims) {
  const DecodeProblem problem = build_case(find_case("worked-example-2-partitions")).problem;
  const GatheredKv kv = gather(problem, 0, 0);
  const HeadAttention whole = attend(problem, kv, 0, 0);
  const std::vector<Part> parts = parts_of(problem, whole, kv);
  print_partitions(problem, parts, claims);
  print_merge(whole, parts, claims);
  print_blocks(claims);
  count_both(claims);
}

}  // namespace
}  // namespace paged

int main() { return paged::run_page("partitions", paged::tell); }
