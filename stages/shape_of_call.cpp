#include "stages/stage.h"

namespace paged {

DecodeShape shape_of(const paged_decode_args& args) {
  DecodeShape shape;
  shape.num_seqs = args.num_seqs;
  shape.num_heads = args.num_heads;
  shape.num_kv_heads = args.num_kv_heads;
  shape.head_size = args.head_size;
  shape.block_size = args.block_size;
  shape.num_blocks = args.num_blocks;
  shape.max_num_blocks_per_seq = args.max_num_blocks_per_seq;
  shape.max_seq_len = args.max_seq_len;
  shape.scalar = static_cast<ScalarType>(args.scalar);
  shape.cache = static_cast<CacheType>(args.cache);
  shape.probabilities = static_cast<ScalarType>(args.probabilities);
  shape.partition_size = args.partition_size;
  shape.variant = static_cast<KernelVariant>(args.variant);
  return shape;
}

}  // namespace paged
