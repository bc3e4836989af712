// What every stage states about itself, and how it is run.
#pragma once
#include "kernels/counts.h"
#include "kernels/device.h"
#include "kernels/paged_decode.h"
#include "reference/decode_shape.h"
#include "reference/scalar_type.h"
#include "reference/stage_arithmetic.h"
#include "stages/call_shape.h"
#include "stages/instance_lists.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paged {

/// Types and shapes that a stage is built for.
struct StageSupport {
  std::vector<ScalarType> scalars;
  std::vector<CacheType> caches;  ///< a cache is fp8 or of the scalar's own type
  std::vector<int> head_sizes;
  std::vector<int> block_sizes;
  /// Which combinations of these this build has kernels for.
  InstanceList instances = InstanceList::all;
  /// Types that probabilities can have when they multiply values.
  std::vector<ScalarType> probabilities = {ScalarType::f32};
};

/// All scalar and cache types, head sizes and block sizes, as far as `instances` has them.
StageSupport every_type_and_size(InstanceList instances = InstanceList::all);

/// What a stage takes and hands out beside plain attention. Ours have it all; a kernel of somebody
/// else's may not.
struct StageFeatures {
  bool alibi = true;
  bool block_sparse = true;
  bool partitions = true;  ///< honours variant and partition_size
  bool lse = true;
  bool statistics = true;  ///< maxima and sums
  bool logits = true;
  bool cache_operations = true;  ///< there are operations on caches beside it
};

/// The invariants that no stage breaks, however naive.
std::vector<std::string> promises_of_every_stage();

/// An invariant that a stage knowingly breaks. The harness requires it to fail, so that the
/// statement stays true.
struct BrokenPromise {
  std::string invariant;
  std::string reason;
};

/// What one launch of a stage asks of a device.
struct LaunchPlan {
  std::int64_t grid_x = 1, grid_y = 1, grid_z = 1;  ///< blocks
  int threads = 128;                                ///< per block
  std::size_t shared_bytes = 0;                     ///< dynamic shared memory per block
  std::size_t static_shared_bytes = 0;  ///< __shared__ variables; counts against the same limit
  std::size_t workspace_bytes = 0;      ///< device memory at args.workspace
  /// Partitions of the longest sequence, whose values the workspace then holds as a
  /// PartitionWorkspace; 0 if the sequences are not partitioned.
  int partitions = 0;
};

/// One complete decode attention, built for one backend.
struct Stage {
  int number = 0;    ///< 0: not one of ours, but a kernel from a shared library
  std::string name;  ///< lower case with dashes, as on the command line
  std::string idea;  ///< what it adds to the stage before, one sentence
  StageSupport supports;
  StageFeatures features;
  paged_cache_layout cache_layout = PAGED_CLASSIC;
  std::vector<std::string> promises;  ///< ids of invariants
  std::vector<BrokenPromise> breaks;
  StageArithmetic arithmetic;

  LaunchPlan (*plan)(const DecodeShape& shape) = nullptr;
  /// Launches on the device that args' pointers belong to; returns before it is done.
  /// Throws DeviceError if the launch fails. args must be valid and supported.
  void (*run)(const paged_decode_args& args) = nullptr;
  /// What the launches ask of memory, by phase, from the shape alone; null if the stage does not say.
  CountsByPhase (*predict)(const CallShape& call) = nullptr;
};

/// "stage 4 (vectorised-pv)" or, of somebody else's, "kernel my-kernel".
std::string title_of(const Stage& stage);

/// Throws InputError if the stage is not built for the shape's types and sizes, or if its launch
/// would exceed the device's limits; names the value, the limit, and what to use instead.
void check_supported(const Stage& stage, const DecodeShape& shape, const DeviceLimits& limits);

/// The sizes in a call's arguments.
DecodeShape shape_of(const paged_decode_args& args);

/// Throws InputError for a struct that no stage can take, nor any kernel of caches in the layout
/// `taken`: wrong version, another layout, types that do not go together (those of probabilities
/// among them), null or misaligned pointers (all must be 16-byte aligned), sizes below their least
/// value, heads that do not divide, strides with which elements would lie on each other or that are
/// no multiple of 16 bytes.
void check_arguments(const paged_decode_args& args, paged_cache_layout taken = PAGED_CLASSIC);

}  // namespace paged
