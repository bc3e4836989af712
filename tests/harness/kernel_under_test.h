// One implementation of decode attention on one device, as the harness sees it.
#pragma once
#include "kernels/device.h"
#include "reference/decode_problem.h"
#include "stages/registry.h"
#include "tests/harness/input_layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// What an implementation returned for one problem.
struct DecodeOutputs {
  Tensor output;              // [num_seqs, num_heads, head_size]
  std::vector<float> lse;     // [num_seqs, num_heads]
  std::vector<float> logits;  // [num_seqs, num_heads, max_seq_len]; only if asked for
  int max_seq_len = 0;
};

/// How to run.
struct RunOptions {
  bool logits = false;              ///< hand out the logits, too
  bool compare_inputs = false;      ///< afterwards, see that no input was changed
  std::uint8_t output_fill = 0xFF;  ///< every byte of the output before the run; 0xFF is NaN
  InputLayout layout = {};          ///< where query and caches lie; no gaps by default
};

/// A stage on a device. Runs problems from host memory, and remembers everything that went wrong
/// besides a wrong result: findings of the CPU machine, damaged guard zones, changed inputs.
class KernelUnderTest {
 public:
  KernelUnderTest(const Stage& stage, Device& device) : stage_(stage), device_(device) {}

  const Stage& stage() const { return stage_; }
  Device& device() const { return device_; }

  /// Throws InputError if the stage or the device cannot run the shape.
  void check_supported(const DecodeProblem& problem) const;
  /// Whether check_supported() would pass.
  bool supports(const DecodeProblem& problem) const;

  /// Uploads, launches, downloads. The problem must be valid and supported.
  DecodeOutputs run(const DecodeProblem& problem, const RunOptions& options = {});

  /// Wall time of the last run's launches, copies left out. No measure of a GPU.
  double seconds_of_last_run() const { return seconds_; }

  /// Everything that went wrong since the last call, one line each.
  std::vector<std::string> take_faults();

 private:
  const Stage& stage_;
  Device& device_;
  std::vector<std::string> faults_;
  double seconds_ = 0;
};

}  // namespace paged
