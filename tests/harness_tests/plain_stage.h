// Decode attention in plain C++ behind the stage interface: right, or with exactly one mistake.
#pragma once
#include "stages/stage.h"

#include <ostream>
#include <string>
#include <vector>

namespace paged::testing {

/// Realistic mistakes, each of which somebody has made in a kernel.
enum class Mistake {
  none,
  // the page walk
  one_page_too_many,        ///< L / B + 1 pages
  whole_table_row,          ///< every entry of the row, tokens masked afterwards
  row_of_longest_sequence,  ///< rows taken to be as wide as the longest sequence needs
  row_of_next_sequence,
  table_ignored,            ///< logical block used as physical block
  tokens_in_address_order,  ///< the sequence read in the order of its blocks' addresses
  sum_in_address_order,     ///< the same tokens, summed in the order of their addresses
  sum_in_changing_order,    ///< as threads with atomics would
  sum_order_of_longest,     ///< an order of adding that depends on the longest sequence
  // lengths
  last_token_dropped,
  last_page_dropped,  ///< L / B pages
  token_512_dropped,  ///< the first of the second partition
  longest_length_for_all,
  // the tail
  tail_not_masked,
  tail_weight_zero_times_value,
  tail_weighs_exp_of_zero,  ///< masked logits of 0 in the sum
  // heads and layouts
  kv_head_modulo,     ///< h % Hkv
  head_stride_of_16,  ///< a head stride that takes every page for one of 16 tokens
  query_of_sequence_0,
  x_of_scalar_type,  ///< the key vector width of the scalar type in an fp8 cache
  // scales and position terms
  no_scale,
  v_scale_dropped,
  k_scale_for_values,
  alibi_sign,
  alibi_off_by_one,  ///< t - L instead of t - (L - 1)
  sparsity_ignored,
  stripe_by_kv_head,  ///< stripe of the KV head where that of the query head is asked for
  // softmax
  no_maximum,
  maximum_starts_at_zero,
  maximum_starts_at_minus_1e4,  ///< a finite "minus infinity"
  logits_in_f16,
  sum_not_divided,
  // what is written
  dimensions_past_64_unwritten,
  empty_sequence_divided,  ///< 0 / 0
  empty_sequence_unwritten,
  added_to_output,
  written_past_output,
  tail_cleared_in_cache,  ///< zeros written into the value cache
  lse_unwritten,
  // intermediates that are handed out, beside an output and LSE that are right
  statistics_shifted,  ///< a maximum greater by 1 and the sum that belongs to it: LSE is the same
  maximum_unwritten,
  sum_inverted,                  ///< 1 / sum, by which the weights were multiplied
  partition_maximum_running,     ///< the greatest logit of this partition and those before it
  partition_sum_counts_tail,     ///< masked logits of 0 in the sum of the last partition
  partition_output_not_divided,  ///< by the partition's sum
  left_out_partition_unwritten,  ///< a partition without any token that takes part
  // what the weights show
  page_too_many_attended,  ///< a whole page past the last one takes part
  last_value_dropped,      ///< counted in the denominator, not in the weighted sum
  first_value_doubled,     ///< added twice, counted once
  keys_ignored,            ///< every logit 0
  alibi_ignored,
  position_bias_unasked,    ///< older tokens weigh less without any slope
  sum_not_rescaled,         ///< exponentials of an earlier, smaller maximum stay in the sum
  partitions_not_rescaled,  ///< V2: each partition's exponentials are of its own maximum
  table_ignored_for_keys,
  table_ignored_for_values,
  dot_of_lane_0,  ///< the lanes of a thread group are not added: dimensions of the others are lost
  dot_of_page,    ///< the dot products of a page's tokens are added to one another
  sum_of_lane_0,  ///< the lanes of a warp are not added: the sum has every 32nd token
  // values and addresses
  values_clamped,       ///< to +-2
  output_carried_over,  ///< a quarter of what was left of the head before is added
  k_scale_dropped,
  nan_code_as_number,  ///< e4m3's code 0x7F read as 480
  query_stride_from_sizes,  ///< as if no gap were between two queries
  block_stride_from_sizes,  ///< of values
  value_strides_of_keys,
  address_in_32_bits,
};

struct MistakeInfo {
  Mistake mistake;
  std::string name;
  std::vector<std::string> caught_by;  ///< invariants whose "catches" names it
};

const std::vector<MistakeInfo>& mistakes();

/// Printed by GoogleTest.
inline void PrintTo(const MistakeInfo& info, std::ostream* stream) { *stream << info.name; }

/// A stage that supports every type and shape and promises every invariant.
Stage plain_stage(Mistake mistake, const std::vector<ScalarType>& scalars);

}  // namespace paged::testing
