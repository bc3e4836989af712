// One implementation of decode attention on one device, as the harness sees it.
#pragma once
#include "kernels/device.h"
#include "reference/decode_problem.h"
#include "stages/cache_operations.h"
#include "stages/registry.h"
#include "tests/harness/execution_fault.h"
#include "tests/harness/input_layout.h"
#include "tests/harness/run_record.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// What the partitions of V2 left in the workspace for the reduction. Those past a sequence's end
/// are not written and mean nothing.
struct PartitionOutputs {
  int partitions = 0;          ///< of the longest sequence; 0: nothing was partitioned
  std::vector<float> maxima;   // [num_seqs, num_heads, partitions]
  std::vector<float> sums;     // [num_seqs, num_heads, partitions]
  std::vector<float> outputs;  // [num_seqs, num_heads, partitions, head_size]
};

/// What an implementation returned for one problem. Vectors are empty if nobody asked for them, or
/// if it doesn't hand them out.
struct DecodeOutputs {
  Tensor output;              // [num_seqs, num_heads, head_size]
  std::vector<float> lse;     // [num_seqs, num_heads]
  std::vector<float> maxima;  // [num_seqs, num_heads]
  std::vector<float> sums;    // [num_seqs, num_heads]
  std::vector<float> logits;  // [num_seqs, num_heads, max_seq_len]
  PartitionOutputs partitions;
  int max_seq_len = 0;
};

/// How to run.
struct RunOptions {
  bool logits = false;              ///< hand out the logits, too
  bool statistics = false;          ///< maximum and sum of each softmax
  bool partitions = false;          ///< what partitions left, where a run has them
  bool compare_inputs = false;      ///< afterwards, see that no input was changed
  std::uint8_t output_fill = 0xFF;  ///< every byte of the output before the run; 0xFF is NaN
  InputLayout layout = {};          ///< where query and caches lie; no gaps by default

  /// Everything that lies between the inputs and the output.
  static RunOptions with_intermediates() {
    return {.logits = true, .statistics = true, .partitions = true};
  }
};

/// A stage on a device. Runs problems from host memory, and remembers everything that went wrong
/// besides a wrong result: findings of the CPU machine, damaged guard zones, changed inputs.
class KernelUnderTest {
 public:
  /// Beside the cache operations that come with the device's backend.
  KernelUnderTest(const Stage& stage, Device& device) : stage_(stage), device_(device) {}
  /// Beside cache kernels of one's own, to try them. They must outlive this object.
  KernelUnderTest(const Stage& stage, Device& device, const CacheKernels& cache_kernels)
      : stage_(stage), device_(device), cache_kernels_(&cache_kernels) {}

  const Stage& stage() const { return stage_; }
  Device& device() const { return device_; }
  /// Whether every memory access and barrier is watched: checked kernels on the CPU machine.
  bool is_watched() const;

  /// Throws InputError if the stage or the device cannot run the shape, or lacks a feature.
  void check_supported(const DecodeShape& shape, bool has_alibi, bool is_block_sparse) const;
  void check_supported(const DecodeProblem& problem) const;
  /// Whether check_supported() would pass.
  bool supports(const DecodeProblem& problem) const;

  /// Uploads, launches, downloads. The problem must be valid and supported.
  DecodeOutputs run(const DecodeProblem& problem, const RunOptions& asked = {});

  /// Runs cache operations on the device and remembers what went wrong in them.
  void operate_on_caches(const std::function<void(CacheOperations& operations)>& action);

  /// Wall time of the last run's launches, copies left out. No measure of a GPU.
  double seconds_of_last_run() const { return seconds_; }

  /// Of the runs since the last call.
  RunRecord take_record();

  /// Everything that went wrong since the last call, one line each.
  std::vector<std::string> take_faults();
  /// The same, each with the invariant that it breaks.
  std::vector<Fault> take_attributed_faults();

 private:
  void record(const DecodeOutputs& outputs);

  const Stage& stage_;
  Device& device_;
  const CacheKernels* cache_kernels_ = nullptr;  ///< none: those of the backend
  std::vector<Fault> faults_;
  double seconds_ = 0;
  std::optional<BitHash> bits_;  ///< of the runs since the last take_record()
  double seconds_of_runs_ = 0;
};

}  // namespace paged
