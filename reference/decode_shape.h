// The sizes of one decode step. No Eigen here: stages and device code include this file.
#pragma once
#include "reference/scalar_type.h"

#include <cstdint>

namespace paged {

/// Which of the two classical kernels a stage that has both takes.
enum class KernelVariant {
  automatic,  ///< the stage's own choice
  v1,         ///< one CUDA block a (sequence, head)
  v2,         ///< one a partition, and a reduction
  v060        ///< whichever of the two vLLM v0.6.0 took
};

/// Sizes and types of one decode step: what decides which kernel runs and what it needs.
struct DecodeShape {
  int num_seqs = 0;                ///< >= 0
  int num_heads = 0;               ///< query heads, >= 1, a multiple of num_kv_heads
  int num_kv_heads = 0;            ///< >= 1
  int head_size = 0;               ///< elements per head, a multiple of 16 / sizeof(cache element)
  int block_size = 0;              ///< tokens per page, >= 1
  std::int64_t num_blocks = 0;     ///< physical blocks in the cache
  int max_num_blocks_per_seq = 0;  ///< width of a block-table row
  int max_seq_len = 0;             ///< longest sequence of the batch, in tokens
  ScalarType scalar = ScalarType::f16;
  CacheType cache = CacheType::f16;
  ScalarType probabilities = ScalarType::f32;  ///< that multiply values: f32, or f16
  int partition_size = 512;  ///< tokens, a multiple of block_size; for stages that partition
  KernelVariant variant = KernelVariant::automatic;
};

}  // namespace paged
