#include "tests/harness/kernel_under_test.h"

#include "reference/input_error.h"
#include "stages/partition_workspace.h"
#include "tests/harness/guarded_buffer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace paged {
namespace {

/// A problem's tensors on a device, each in a buffer of its own.
struct DeviceProblem {
  DeviceProblem(Device& device, const DecodeProblem& problem, std::size_t workspace_bytes,
                const RunOptions& options);

  paged_decode_args arguments(const DecodeProblem& problem) const;
  /// The inputs and the host data that they must still hold.
  std::vector<std::pair<const GuardedBuffer*, const void*>> inputs(
      const DecodeProblem& problem) const;

  PlacedInputs placed;  // query, caches, block tables
  GuardedBuffer seq_lens, output, lse;
  std::optional<GuardedBuffer> alibi_slopes, maxima, sums, logits, workspace;
  DecodeShape shape;
};

std::size_t bytes_of_lse(const DecodeShape& shape) {
  return sizeof(float) * static_cast<std::size_t>(shape.num_seqs) * shape.num_heads;
}

DeviceProblem::DeviceProblem(Device& device, const DecodeProblem& problem,
                             std::size_t workspace_bytes, const RunOptions& options)
    : placed(device, problem, options.layout),
      seq_lens(device, sizeof(std::int32_t) * problem.seq_lens.size(), "seq_lens"),
      output(device, problem.query.size_in_bytes(), "output"),
      lse(device, bytes_of_lse(problem.shape()), "lse"),
      shape(problem.shape()) {
  seq_lens.upload(problem.seq_lens.data());
  if (!problem.alibi_slopes.empty()) {
    alibi_slopes.emplace(device, sizeof(float) * problem.alibi_slopes.size(), "alibi_slopes");
    alibi_slopes->upload(problem.alibi_slopes.data());
  }
  if (options.statistics) {
    maxima.emplace(device, bytes_of_lse(shape), "maxima");
    sums.emplace(device, bytes_of_lse(shape), "sums");
  }
  if (options.logits) logits.emplace(device, bytes_of_lse(shape) * shape.max_seq_len, "logits");
  if (workspace_bytes > 0) workspace.emplace(device, workspace_bytes, "workspace");
  output.fill(options.output_fill);
  device.forget(output.data(), problem.query.size_in_bytes());
}

paged_decode_args DeviceProblem::arguments(const DecodeProblem& problem) const {
  paged_decode_args args{};
  placed.set(args);
  args.version = PAGED_DECODE_VERSION;
  args.scalar = static_cast<int>(same_as(shape.scalar));
  args.cache = static_cast<int>(shape.cache);
  args.num_seqs = shape.num_seqs;
  args.num_heads = shape.num_heads;
  args.num_kv_heads = shape.num_kv_heads;
  args.head_size = shape.head_size;
  args.block_size = shape.block_size;
  args.max_num_blocks_per_seq = shape.max_num_blocks_per_seq;
  args.max_seq_len = shape.max_seq_len;
  args.seq_lens = static_cast<const std::int32_t*>(seq_lens.data());
  args.alibi_slopes = alibi_slopes ? static_cast<const float*>(alibi_slopes->data()) : nullptr;
  args.scale = problem.scale;
  args.k_scale = problem.k_scale;
  args.v_scale = problem.v_scale;
  args.sparse_local_blocks = problem.sparsity.local_blocks;
  args.sparse_vert_stride = problem.sparsity.vert_stride;
  args.sparse_block_size = problem.sparsity.block_size;
  args.sparse_head_sliding_step = problem.sparsity.head_sliding_step;
  args.tensor_parallel_rank = problem.sparsity.tensor_parallel_rank;
  args.output = output.data();
  args.lse = static_cast<float*>(lse.data());
  args.maxima = maxima ? static_cast<float*>(maxima->data()) : nullptr;
  args.sums = sums ? static_cast<float*>(sums->data()) : nullptr;
  args.logits = logits ? static_cast<float*>(logits->data()) : nullptr;
  args.logits_stride = shape.max_seq_len;
  args.workspace = workspace ? workspace->data() : nullptr;
  args.probabilities = static_cast<int>(same_as(shape.probabilities));
  args.partition_size = shape.partition_size;
  args.variant = static_cast<int>(shape.variant);
  return args;
}

std::vector<std::pair<const GuardedBuffer*, const void*>> DeviceProblem::inputs(
    const DecodeProblem& problem) const {
  std::vector<std::pair<const GuardedBuffer*, const void*>> all = {
      {&seq_lens, problem.seq_lens.data()}};
  if (alibi_slopes) all.emplace_back(&*alibi_slopes, problem.alibi_slopes.data());
  return all;
}

/// Reads the workspace of a partitioned run.
PartitionOutputs download_partitions(const GuardedBuffer& workspace, const DecodeShape& shape,
                                     int partitions) {
  std::vector<float> host(
      PartitionWorkspace::bytes(shape.num_seqs, shape.num_heads, shape.head_size, partitions) /
      sizeof(float));
  workspace.download(host.data());
  const PartitionWorkspace view(host.data(), shape.num_seqs, shape.num_heads, partitions);
  return {partitions,
          {view.maxima, view.sums},
          {view.sums, view.outputs},
          {view.outputs, host.data() + host.size()}};
}

/// Downloads what the kernel was asked to hand out beside its output, and appends damage.
void download_intermediates(Device& device, const DeviceProblem& buffers, int partitions,
                            DecodeOutputs& outputs, std::vector<Fault>& faults) {
  const DecodeShape& shape = buffers.shape;
  const std::size_t rows = static_cast<std::size_t>(shape.num_seqs) * shape.num_heads;
  if (buffers.maxima) {
    outputs.maxima.resize(rows);
    buffers.maxima->download(outputs.maxima.data());
    outputs.sums.resize(rows);
    buffers.sums->download(outputs.sums.data());
  }
  for (const Finding& finding : device.take_findings()) faults.push_back(fault_of(finding));
  // Rows of shorter sequences end early, and what lies behind them is nobody's.
  if (buffers.logits) {
    outputs.logits.resize(rows * shape.max_seq_len);
    buffers.logits->download(outputs.logits.data());
  }
  if (partitions > 0)
    outputs.partitions = download_partitions(*buffers.workspace, shape, partitions);
  device.take_findings();
  for (const auto* buffer : {&buffers.maxima, &buffers.sums, &buffers.logits, &buffers.workspace})
    if (*buffer)
      if (const std::string damage = (*buffer)->damage(); !damage.empty())
        faults.push_back(damage_fault(damage));
}

}  // namespace

void KernelUnderTest::check_supported(const DecodeProblem& problem) const {
  check_supported(problem.shape(), !problem.alibi_slopes.empty(), problem.sparsity.active());
}

void KernelUnderTest::check_supported(const DecodeShape& shape, bool has_alibi,
                                      bool is_block_sparse) const {
  paged::check_supported(stage_, shape, device_.limits());
  if (!stage_.features.alibi && has_alibi)
    throw InputError(title_of(stage_) + " takes no ALiBi slopes");
  if (!stage_.features.block_sparse && is_block_sparse)
    throw InputError(title_of(stage_) + " has no block-sparse attention");
}

bool KernelUnderTest::supports(const DecodeProblem& problem) const {
  try {
    check_supported(problem);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

DecodeOutputs KernelUnderTest::run(const DecodeProblem& problem, const RunOptions& asked) {
  RunOptions options = asked;
  options.logits = asked.logits && stage_.features.logits;
  options.statistics = asked.statistics && stage_.features.statistics;
  options.layout.cache_layout = stage_.cache_layout;
  DecodeOutputs outputs;
  outputs.output = Tensor(same_as(problem.scalar), problem.query.shape());
  if (problem.num_seqs() == 0) return outputs;  // no block to launch

  const LaunchPlan plan = stage_.plan(problem.shape());
  DeviceProblem buffers(device_, problem, plan.workspace_bytes, options);
  const DecodeShape& shape = buffers.shape;
  paged_decode_args args = buffers.arguments(problem);
  if (!stage_.features.lse) args.lse = nullptr;
  check_arguments(args, stage_.cache_layout);
  const auto begin = std::chrono::steady_clock::now();
  stage_.run(args);
  device_.finish();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  buffers.output.download(outputs.output.data());
  outputs.max_seq_len = shape.max_seq_len;
  if (stage_.features.lse) {
    outputs.lse.resize(static_cast<std::size_t>(shape.num_seqs) * shape.num_heads);
    buffers.lse.download(outputs.lse.data());
  }
  record(outputs);
  download_intermediates(device_, buffers, options.partitions ? plan.partitions : 0, outputs,
                         faults_);
  for (const GuardedBuffer* buffer : {&buffers.output, &buffers.lse})
    if (const std::string damage = buffer->damage(); !damage.empty())
      faults_.push_back(damage_fault(damage));
  const char* names[] = {"seq_lens", "alibi_slopes"};
  if (options.compare_inputs) {
    for (std::string& damage : buffers.placed.damage())
      faults_.push_back(damage_fault(std::move(damage)));
    std::size_t i = 0;
    for (const auto& [buffer, host] : buffers.inputs(problem)) {
      if (buffer->differs_from(host))
        faults_.push_back(
            damage_fault(std::string("the kernel changed its input '") + names[i] + "'"));
      if (const std::string damage = buffer->damage(); !damage.empty())
        faults_.push_back(damage_fault(damage));
      ++i;
    }
    device_.take_findings();  // forgotten padding was downloaded on purpose
  }
  return outputs;
}

bool KernelUnderTest::is_watched() const {
  const auto unchecked = stages(Backend::cpu, Checking::unchecked);
  return device_.watches_accesses() &&
         std::none_of(unchecked.begin(), unchecked.end(),
                      [&](const Stage& stage) { return &stage == &stage_; });
}

void KernelUnderTest::operate_on_caches(
    const std::function<void(CacheOperations& operations)>& action) {
  CacheOperations operations(
      device_, cache_kernels_ != nullptr ? *cache_kernels_ : cache_kernels(device_.backend()));
  action(operations);
  for (const Finding& finding : device_.take_findings()) faults_.push_back(fault_of(finding));
}

void KernelUnderTest::record(const DecodeOutputs& outputs) {
  if (!bits_) bits_.emplace();
  bits_->add(outputs.output.data(), outputs.output.size_in_bytes());
  bits_->add(outputs.lse.data(), sizeof(float) * outputs.lse.size());
  seconds_of_runs_ += seconds_;
}

RunRecord KernelUnderTest::take_record() {
  RunRecord taken{bits_ ? bits_->text() : "", seconds_of_runs_};
  bits_.reset();
  seconds_of_runs_ = 0;
  return taken;
}

std::vector<std::string> KernelUnderTest::take_faults() {
  std::vector<std::string> texts;
  for (const Fault& fault : take_attributed_faults())
    texts.push_back(fault.text + advice_part(fault));
  return texts;
}

std::vector<Fault> KernelUnderTest::take_attributed_faults() { return std::exchange(faults_, {}); }

}  // namespace paged
