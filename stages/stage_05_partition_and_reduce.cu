// Stage 5: partition and reduce.
//
// Adds      V2: the grid's third dimension cuts a sequence into partitions of 512 tokens, each a
//           CUDA block of its own that leaves its maximum, sum and normalised output in a
//           workspace; a second kernel merges them. And the choice between V1 (stage 4) and V2.
// Expect    long sequences of small batches spread over the whole GPU; shared memory that no longer
//           grows with the sequence; for large batches nothing but the cost of a second kernel.
// Still     with grouped query heads, each KV head is read once for every query head of its
// wrong     group.
//
// Grid (num_heads, num_seqs, partitions), then (num_heads, num_seqs); 128 threads.
#include "kernels/occupancy.cuh"
#include "kernels/softmax.cuh"
#include "kernels/thread_group_qk.cuh"
#include "kernels/vector_pv.cuh"
#include "reference/input_error.h"
#include "stages/cost_of_stages.h"
#include "stages/dispatch.cuh"
#include "stages/partition_workspace.h"
#include "stages/shared_memory.h"
#include "stages/stage.h"
#include "stages/v1_v2_policy.h"

#include <algorithm>
#include <string>

namespace paged::PAGED_BACKEND {

void run_stage_04(const paged_decode_args& args);
LaunchPlan plan_of_stage_04(const DecodeShape& shape);

namespace {

constexpr int kThreads = 128;

template <typename scalar_t, typename cache_t, int kHeadSize, int kBlockSize,
          typename probability_t>
__global__ void __launch_bounds__(
    kThreads, kBlocksPerMultiprocessor<cache_t, kHeadSize, kBlockSize, probability_t>)
    partition_attention(const DecodeTensors<scalar_t, cache_t> t,
                        const PartitionWorkspace workspace, int partition_size) {
  // [partition-begins]
  const HeadTask task =
      partition_of_head(t, blockIdx.y, blockIdx.x, blockIdx.z, partition_size, kBlockSize);
  if (task.tokens() == 0) return;  // past this sequence's end: the whole block leaves
  float* weights = reinterpret_cast<float*>(dynamic_shared);  // [partition_size]
  // [/partition-begins]

  const float thread_maximum = thread_group_qk<kHeadSize, kBlockSize, kThreads>(t, task, weights);

  __shared__ SoftmaxScratch<kThreads> scratch;
  const SoftmaxStatistics statistics =
      two_pass_softmax(weights, task.tokens(), thread_maximum, scratch);
  // [leave-partition]
  const std::int64_t slot =
      (static_cast<std::int64_t>(task.seq) * t.num_heads + task.head) * workspace.partitions +
      blockIdx.z;
  if (threadIdx.x == 0) {
    workspace.maxima[slot] = statistics.maximum;
    workspace.sums[slot] = statistics.sum;
  }
  // [/leave-partition]

  float sums[ValueRows<scalar_t, kHeadSize, kBlockSize>::kRowsPerLane] = {};
  add_weighted_values<kHeadSize, kBlockSize, kThreads, probability_t>(t, task, weights, sums);
  __syncthreads();  // from here on nobody reads the weights: their memory may be used again
  add_over_warps<kHeadSize, kBlockSize, kThreads, scalar_t>(sums, weights);
  float* output = workspace.outputs + slot * kHeadSize;  // [kHeadSize]
  for_each_output<kHeadSize, kBlockSize, scalar_t>(
      sums, [&](int dim, float sum) { output[dim] = t.v_scale * sum; });
}

/// Merges the partitions of one head: with m = max_j m_j and w_j = S_j exp(m_j - m),
/// o = sum_j w_j o_j / (sum_j w_j + 1e-6). Dynamic shared memory: [partitions] floats.
template <typename scalar_t, typename cache_t>
__global__ void __launch_bounds__(kThreads)
    reduce_partitions(const DecodeTensors<scalar_t, cache_t> t, const PartitionWorkspace workspace,
                      int partition_size) {
  enter_phase(Phase::reduce);
  const int seq = blockIdx.y;
  const int head = blockIdx.x;
  const int partitions = num_partitions(t.seq_lens[seq], partition_size);
  const std::int64_t first_slot =
      (static_cast<std::int64_t>(seq) * t.num_heads + head) * workspace.partitions;
  const float* maxima = workspace.maxima + first_slot;                  // [partitions]
  const float* sums = workspace.sums + first_slot;                      // [partitions]
  const float* outputs = workspace.outputs + first_slot * t.head_size;  // [partitions, head_size]
  float* weights = reinterpret_cast<float*>(dynamic_shared);            // [partitions]

  // [reduce]
  float maximum = -INFINITY;
  for_each_own<kThreads>(partitions, [&](int j) { maximum = fmaxf(maximum, maxima[j]); });
  __shared__ SoftmaxScratch<kThreads> scratch;
  maximum = block_max<kThreads>(maximum, scratch.maximum);  // in every thread
  // Nothing takes part anywhere: -infinity - -infinity would be NaN.
  const float shift = maximum == -INFINITY ? 0.0F : maximum;
  float sum = 0.0F;
  for_each_own<kThreads>(partitions, [&](int j) {
    weights[j] = sums[j] * __expf(maxima[j] - shift);
    sum += weights[j];
  });
  sum = block_sum<kThreads>(sum, scratch.sum);  // in every thread; its barrier publishes weights
  const float normaliser = __fdividef(1.0F, sum + 1e-6F);
  write_statistics(t, seq, head, {maximum, sum});

  scalar_t* output = t.output_of(seq, head);  // [head_size]
  for (int dim = threadIdx.x; dim < t.head_size; dim += kThreads) {
    float accumulator = 0.0F;
    for (int j = 0; j < partitions; ++j)
      accumulator += weights[j] * outputs[static_cast<std::int64_t>(j) * t.head_size + dim];
    output[dim] = from_float<scalar_t>(accumulator * normaliser);
  }
  // [/reduce]
}

LaunchPlan plan(const DecodeShape& shape) {
  if (takes_v1(shape)) return plan_of_stage_04(shape);
  if (shape.partition_size % shape.block_size != 0)
    throw InputError("partition_size " + std::to_string(shape.partition_size) +
                     " must be a multiple of block_size " + std::to_string(shape.block_size));
  const int partitions = num_partitions(shape.max_seq_len, shape.partition_size);
  // The reduction needs shared memory for one weight a partition.
  const std::size_t shared_bytes = std::max(
      bytes_of_v2(shape.partition_size, shape.head_size, kThreads), bytes_of_reduction(partitions));
  return {.grid_x = shape.num_heads,
          .grid_y = shape.num_seqs,
          .grid_z = std::max(partitions, 1),
          .threads = kThreads,
          .shared_bytes = shared_bytes,
          .static_shared_bytes = bytes_of_static_shared(shape, kThreads),
          .workspace_bytes = PartitionWorkspace::bytes(shape.num_seqs, shape.num_heads,
                                                       shape.head_size, partitions),
          .partitions = partitions};
}

void run(const paged_decode_args& args) {
  const DecodeShape shape = shape_of(args);
  if (takes_v1(shape)) return run_stage_04(args);
  const int partitions = num_partitions(shape.max_seq_len, shape.partition_size);
  if (partitions > 0 && args.workspace == nullptr)
    throw InputError("workspace is a null pointer, but V2 leaves its partitions there: " +
                     std::to_string(plan(shape).workspace_bytes) + " bytes");
  const PartitionWorkspace workspace(args.workspace, shape.num_seqs, shape.num_heads, partitions);
  if (partitions > 0)
    with_instance(args, [&](auto instance) {
      using I = decltype(instance);
      using scalar_t = typename I::scalar_t;
      using cache_t = typename I::cache_t;
      with_probability_type<cache_t>(args, [&](auto probability) {
        using probability_t = typename decltype(probability)::type;
        launch(partition_attention<scalar_t, cache_t, I::kHeadSize, I::kBlockSize, probability_t>,
               dim3(shape.num_heads, shape.num_seqs, partitions), dim3(kThreads),
               bytes_of_v2(shape.partition_size, shape.head_size, kThreads), stream_of(args),
               DecodeTensors<scalar_t, cache_t>(args), workspace, shape.partition_size);
      });
    });
  with_scalar_type(args, [&](auto scalar) {
    using scalar_t = typename decltype(scalar)::type;
    with_cache_type<scalar_t>(args, [&](auto cache) {
      using cache_t = typename decltype(cache)::type;
      launch(reduce_partitions<scalar_t, cache_t>, dim3(shape.num_heads, shape.num_seqs),
             dim3(kThreads), bytes_of_reduction(partitions), stream_of(args),
             DecodeTensors<scalar_t, cache_t>(args), workspace, shape.partition_size);
    });
  });
}

}  // namespace

Stage stage_05_partition_and_reduce() {
  Stage stage;
  stage.number = 5;
  stage.name = "partition-and-reduce";
  stage.idea =
      "V2: partitions of 512 tokens, merged by a second kernel, and the choice between V1 and V2";
  stage.supports = every_type_and_size(kInstances);
  stage.supports.probabilities.push_back(ScalarType::f16);
  stage.promises = promises_of_every_stage();
  stage.promises.push_back("large-logits");
  stage.promises.push_back("shift-invariance");
  stage.promises.push_back("partition-invariance");
  stage.arithmetic.lanes_per_dot = kPartialSumsPerDot;
  stage.arithmetic.has_dot_order = true;
  stage.arithmetic.exp_of_zero_is_one = stage.arithmetic.has_precise_log = true;
  stage.arithmetic.lanes_per_sum = kThreads;
  stage.arithmetic.warps_per_output = kThreads / 32;
  stage.arithmetic.partitions = true;
  stage.plan = plan;
  stage.run = run;
  stage.predict = predict_stage_05;
  return stage;
}

}  // namespace paged::PAGED_BACKEND
