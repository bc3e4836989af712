// What it costs to run many random cases on the CPU machine: time and peak memory for cases of 8
// heads, up to 4 sequences and up to 2048 tokens, on all stages by turns.
//
//   random_cases_benchmark [--cases N] [--seed S] [--unchecked] [--workers N]
//
// Exit status 1 if anything was found or an output is no number.
#include "kernels/simt/worker_pool.h"
#include "stages/registry.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"
#include "tests/harness/random.h"
#include "tests/harness/stage_run.h"

#include <CLI/CLI.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <span>

namespace paged {
namespace {

struct Options {
  int cases = 300;
  std::uint64_t seed = 1;
  bool unchecked = false;
  int workers = 0;  ///< 0: as many as there are processors
};

template <typename T>
T one_of(Random& random, const std::vector<T>& values) {
  return values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))];
}

/// Of types and sizes that the stage is built for.
CaseSpec random_case(Random& random, const StageSupport& supports) {
  CaseSpec spec;
  spec.name = "random";
  spec.num_heads = 8;
  spec.num_kv_heads = one_of<int>(random, {8, 4, 2, 1});
  do {
    spec.head_size = one_of(random, supports.head_sizes);
    spec.block_size = one_of(random, supports.block_sizes);
    spec.scalar = one_of(random, supports.scalars);
    spec.cache = one_of(random, supports.caches);
  } while (spec.head_size > 128 ||
           !is_in(supports.instances, spec.scalar, *spec.cache, spec.head_size, spec.block_size));
  const auto num_seqs = 1 + random.below(4);
  for (int seq = 0; seq < num_seqs; ++seq)
    spec.seq_lens.push_back(static_cast<int>(random.below(2049)));
  if (is_fp8(*spec.cache)) spec.k_scale = spec.v_scale = 0.5;
  // Quicker to make than random numbers, and no two elements alike.
  spec.key_values.kind = spec.value_values.kind = "coded";
  spec.query_values.seed = random.bits() >> 32;
  return spec;
}

class Stopwatch {
 public:
  double wall() const { return std::chrono::duration<double>(Clock::now() - wall_).count(); }
  double processor() const { return processor_now() - processor_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double processor_now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  Clock::time_point wall_ = Clock::now();
  double processor_ = processor_now();
};

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000.0;  // Linux counts kilobytes
}

bool all_finite(const Tensor& output) {
  for (std::int64_t i = 0; i < output.size(); ++i)
    if (!std::isfinite(output.read(i))) return false;
  return true;
}

int run(const Options& options) {
  if (options.workers > 0) simt::set_worker_count(options.workers);
  const std::unique_ptr<Device> device = make_device(Backend::cpu);
  const Checking checking = options.unchecked ? Checking::unchecked : Checking::checked;
  const std::span<const Stage> all = stages(Backend::cpu, checking);
  Random random(options.seed);
  double wall = 0, processor = 0, launches = 0;
  std::int64_t tokens = 0;
  bool good = true;
  for (int i = 0; i < options.cases; ++i) {
    KernelUnderTest kernel(all[static_cast<std::size_t>(i) % all.size()], *device);
    const Case c = build_case(random_case(random, kernel.stage().supports));
    const Stopwatch stopwatch;
    const DecodeOutputs outputs = kernel.run(c.problem);
    wall += stopwatch.wall();
    processor += stopwatch.processor();
    launches += kernel.seconds_of_last_run();
    for (const std::int32_t seq_len : c.problem.seq_lens) tokens += seq_len;
    for (const std::string& fault : kernel.take_faults()) {
      good = false;
      std::printf("case %d: %s\n", i, fault.c_str());
    }
    if (!all_finite(outputs.output)) {
      good = false;
      std::printf("case %d: the output is not finite\n", i);
    }
  }
  std::printf(
      "%d cases %s, %lld tokens of 8 heads, %d workers: %.1f s (launches %.1f s), %.1f s of "
      "processors, peak memory %.0f MB\n",
      options.cases, options.unchecked ? "unchecked" : "checked", static_cast<long long>(tokens),
      simt::worker_count(), wall, launches, processor, peak_megabytes());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  CLI::App program("Time and memory of random cases on the CPU machine");
  paged::Options options;
  program.add_option("--cases", options.cases, "how many")->check(CLI::PositiveNumber);
  program.add_option("--seed", options.seed, "of the cases");
  program.add_flag("--unchecked", options.unchecked, "without watching memory accesses");
  program.add_option("--workers", options.workers, "OS threads")->check(CLI::PositiveNumber);
  CLI11_PARSE(program, argc, argv);
  try {
    return paged::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "random_cases_benchmark: %s\n", error.what());
    return 1;
  }
}
