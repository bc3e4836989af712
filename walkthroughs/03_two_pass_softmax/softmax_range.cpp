// Numbers of the page on stage 3: what exp() can hold, what an unmasked slot weighs, and the two passes
// on worked example 1.
#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"
#include "walkthroughs/counted_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paged {
namespace {

/// exp() of a float, in float. volatile: the compiler must not know the result better.
float exp_in_float(float logit) {
  volatile float value = logit;
  return std::exp(value);
}

/// Two weights, as a softmax in float has them that subtracts `shift` from its logits.
std::string weights_of_two(float a, float b, float shift) {
  const float u = exp_in_float(a - shift);
  const float v = exp_in_float(b - shift);
  return general(u / (u + v), 4) + ", " + general(v / (u + v), 4);
}

void print_range(Claims& claims) {
  std::cout << "Two tokens with logits l and l - 1:\n\n";
  TextTable table({"l", "exp(l)", "exp(l - 1)", "weights, bare", "weights, maximum subtracted"});
  for (const float l : {0.0F, 12.0F, 88.0F, 89.0F, 1e4F, -87.0F, -104.0F, -1e4F})
    table.add_row({general(l, 6), general(exp_in_float(l), 4), general(exp_in_float(l - 1), 4),
                   weights_of_two(l, l - 1, 0), weights_of_two(l, l - 1, l)});
  table.print(std::cout);
  std::cout << '\n';
  claims.require(std::isfinite(exp_in_float(88)) && std::isinf(exp_in_float(89)),
                 "exp() of a float is finite at 88 and infinite at 89");
  claims.require(exp_in_float(-103) > 0 && exp_in_float(-104) == 0,
                 "exp() of a float is above 0 at -103 and 0 at -104");
}

/// A last page with few tokens, whose unused slots are counted with logit 0.
void print_unmasked(Claims& claims) {
  constexpr int kTokens = 3;
  constexpr int kBlockSize = 16;
  std::cout << "\nA page with 3 tokens of logit l; its 13 unused slots counted with logit 0:\n\n";
  TextTable table({"l", "weight that the tokens should share", "weight that they get"});
  double worst = 1;
  for (const double l : {5.0, 0.0, -5.0, -20.0}) {
    const double tokens = kTokens * std::exp(l);
    const double got = tokens / (tokens + (kBlockSize - kTokens));
    table.add_row({general(l, 4), "1", general(got, 3)});
    worst = std::min(worst, got);
  }
  table.print(std::cout);
  std::cout << '\n';
  claims.require(worst < 1e-8,
                 "with logits of -20 the unused slots take all but 1e-8 of the weight");
}

/// The two passes on the logits of one head, warp by warp.
void print_two_passes(Claims& claims) {
  constexpr int kHead = 5;
  constexpr int kWarps = 4;
  const DecodeProblem problem = build_case(find_case("worked-example-1-gqa")).problem;
  const int kv_head = kv_head_of(kHead, problem.num_heads, problem.num_kv_heads);
  const HeadAttention whole = attend(problem, gather(problem, 0, kv_head), 0, kHead);
  const int tokens = problem.seq_lens[0];
  std::cout << "\nWorked example 1, query head 5: 35 tokens, pages dealt to four warps\n\n";
  TextTable table({"warp", "tokens of QK", "their greatest logit"});
  double greatest = -std::numeric_limits<double>::infinity();
  for (int warp = 0; warp < kWarps; ++warp) {
    const int first = warp * problem.block_size;
    const int count = std::min(problem.block_size, tokens - first);
    const double maximum = count > 0 ? whole.logits.segment(first, count).maxCoeff()
                                     : -std::numeric_limits<double>::infinity();
    table.add_row(
        {std::to_string(warp),
         count > 0 ? std::to_string(first) + "-" + std::to_string(first + count - 1) : "none",
         count > 0 ? fixed(maximum, 4) : "-infinity"});
    greatest = std::max(greatest, maximum);
  }
  table.print(std::cout);
  double sum = 0;
  for (int token = 0; token < tokens; ++token) sum += std::exp(whole.logits[token] - greatest);
  std::cout << "\nmaximum m = " << fixed(greatest, 4) << ", sum S of exp(l - m) = " << fixed(sum, 4)
            << ", largest weight 1 / (S + 1e-6) = " << fixed(1 / (sum + kDenominatorGuard), 4)
            << "\n\n";
  claims.require(std::abs(greatest - whole.maximum) < 1e-12 && std::abs(sum - whole.sum) < 1e-9,
                 "the reference has the same maximum and sum");
  claims.require(sum >= 1, "the sum is at least 1: the greatest logit adds exp(0)");
}

void count_barriers(Claims& claims) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const Counts naive = counted("2", "worked-example-1-gqa", *device).total();
  const Counts stable = counted("3", "worked-example-1-gqa", *device).total();
  std::cout << "\nWorked example 1, 8 heads:\n\n";
  TextTable table({"stage", "barriers", "shuffles", "global load sectors"});
  table.add_row({"2", std::to_string(naive.barriers), std::to_string(naive.shuffles),
                 std::to_string(naive.global_load_sectors)});
  table.add_row({"3", std::to_string(stable.barriers), std::to_string(stable.shuffles),
                 std::to_string(stable.global_load_sectors)});
  table.print(std::cout);
  std::cout << '\n';
  claims.require(naive.barriers == stable.barriers, "stage 3 has no more barriers than stage 2");
  claims.require(naive.global_load_sectors == stable.global_load_sectors,
                 "and asks nothing more of global memory");
}

}  // namespace
}  // namespace paged

int main() {
  return paged::run_page("softmax_range", [](paged::Claims& claims) {
    paged::print_range(claims);
    paged::print_unmasked(claims);
    paged::print_two_passes(claims);
    paged::count_barriers(claims);
  });
}
