// Counting what a stage asks of memory on a case, beside what its formulas predict: what
// `paged count` does.
#pragma once
#include "kernels/counts.h"
#include "stages/flops.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"

#include <optional>
#include <string>
#include <vector>

namespace paged {

/// Counts launches on a device while it lives.
class CountingScope {
 public:
  explicit CountingScope(Device& device) : device_(device) {
    device_.take_counts();
    device_.switch_counting(true);
  }
  ~CountingScope() { device_.switch_counting(false); }
  CountingScope(const CountingScope&) = delete;
  CountingScope& operator=(const CountingScope&) = delete;

 private:
  Device& device_;
};

/// One stage on one case.
struct CountRun {
  int stage_number = 0;
  std::string stage;
  std::string case_name;
  std::optional<CountsByPhase> predicted;  ///< nothing if the stage does not predict
  std::optional<Flops> flops;              ///< by formula; nothing if the stage does not predict
  LaunchCounts counted;
  DecodeOutputs outputs;            ///< of the run that was counted
  std::vector<std::string> faults;  ///< findings: the counts may be incomplete

  /// Nothing went wrong, and what was predicted was counted, to the digit.
  bool held() const;
};

/// The shape of the call that KernelUnderTest::run() makes.
CallShape call_shape_of(const DecodeProblem& problem, const RunOptions& options = {});

/// Throws InputError if the stage cannot run the case. The kernel must be a checked one on the CPU
/// machine.
CountRun count_on_case(KernelUnderTest& kernel, const Case& c, const RunOptions& options = {});

/// One line that names the source line with the most wasted bytes, if lanes asked for less than
/// half of the bytes that a stage's global loads moved; else "".
std::string hint_about_loads(const LaunchCounts& counts);

}  // namespace paged
