// Where the query and the caches of a problem lie in device memory: with gaps, or both caches in
// one allocation.
#pragma once
#include "kernels/paged_decode.h"
#include "reference/cache_layout.h"
#include "reference/decode_problem.h"
#include "tests/harness/guarded_buffer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paged {

/// Unused elements of a cache. Multiples of 16 bytes, so that pages stay aligned.
struct CacheGaps {
  std::int64_t after_page = 0;   ///< between KV heads of a block
  std::int64_t after_block = 0;  ///< behind a block's last page and its gap
};

/// How two caches share memory.
enum class CacheArrangement {
  apart,       ///< an allocation each
  split_view,  ///< one allocation [2, num_blocks, ...]: all keys, then all values
  interleaved  ///< one allocation [num_blocks, 2, ...]: a block's keys, then its values
};

/// A layout of the inputs. Gaps hold NaN, and on the CPU machine a read of one is a finding. No
/// result may depend on the layout.
struct InputLayout {
  std::int64_t query_gap = 0;  ///< elements between two sequences' queries, a multiple of 16 bytes
  CacheGaps key_gaps = {}, value_gaps = {};
  CacheArrangement arrangement = CacheArrangement::apart;
  /// Blocks in front of the problem's own, whose ids all rise by so many. Nothing is put there: a
  /// cache beyond 2^31 elements takes address space on the CPU machine, and memory only on a GPU.
  std::int64_t blocks_before = 0;
  /// How pages are laid out. Others than the classic one have no gaps, and each cache its own
  /// allocation.
  paged_cache_layout cache_layout = PAGED_CLASSIC;
};

/// The query, the caches and the block tables of a problem on a device.
class PlacedInputs {
 public:
  /// Allocates, uploads, and marks blocks that no sequence owns as not to be read. The problem must
  /// outlive this object.
  PlacedInputs(Device& device, const DecodeProblem& problem, const InputLayout& layout);

  /// Sets the pointers and strides of query and caches, block_tables and num_blocks.
  void set(paged_decode_args& args) const;

  /// What a kernel did to these inputs and to their gaps: one line each, empty if nothing. Blocks
  /// before the problem's own are not looked at.
  std::vector<std::string> damage() const;

 private:
  /// One cache in its allocation, which the other may share. It is uploaded and compared in pieces
  /// without gaps: the page of a KV head, or, where those of all heads are interleaved, a block.
  struct Cache {
    const Tensor* tensor;
    std::vector<std::byte> relaid;  ///< in another layout than the tensor's; else empty
    std::string name;
    std::shared_ptr<GuardedBuffer> buffer;
    std::size_t first_byte;  ///< of block 0, in the allocation
    CacheStrides strides;

    const std::byte* content() const { return relaid.empty() ? tensor->data() : relaid.data(); }
  };

  bool is_classic() const { return layout_.cache_layout == PAGED_CLASSIC; }
  int pieces_per_block() const { return is_classic() ? problem_.num_kv_heads : 1; }
  std::size_t piece_bytes() const;
  std::byte* piece(const Cache& cache, std::int64_t block, int index) const;
  void upload(const Cache& cache);
  void forget_unused();
  void compare(const Cache& cache, std::vector<std::string>& damage) const;

  Device& device_;
  const DecodeProblem& problem_;
  InputLayout layout_;
  std::int64_t query_stride_;
  std::vector<std::int32_t> tables_;  // [num_seqs, max_num_blocks_per_seq], ids as on the device
  GuardedBuffer query_, block_tables_;
  Cache keys_, values_;
};

}  // namespace paged
