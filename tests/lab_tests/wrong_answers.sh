#!/usr/bin/env bash
# What students are likely to write: each is stopped by the invariant that is there for it, and told
# what is wrong.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"

# wrong NAME LAB SED: the solution with one edit.
wrong() {
  "$lab" new "$2" "$work/$1" --solution >"$work/new"
  edit "$(file_of "$work/$1")" "$3"
}

wrong 1_page_for_block 1 's/t.key_page(block_table\[page\]/t.key_page(page/'
wrong 1_one_token_too_far 1 's/token < task.seq_len; token/token <= task.seq_len; token/'
wrong 2_no_sum_over_group 2 's/dot = warp_sum<Groups::kGroupSize>(dot);/;/'
wrong 2_wrong_kv_head 2 's/t.key_page(physical_block, task.kv_head)/t.key_page(physical_block, task.head)/'
wrong 3_no_maximum 3 's/__expf(weights\[token\] - shift)/__expf(weights[token])/'
wrong 3_no_last_barrier 3 '/two-pass-softmax\]/,/\/two-pass/{/__syncthreads/d}'
wrong 4_tail_not_zeroed 4 '/zero_past_end(value/d'
wrong 4_every_warp_every_page 4 's|page += kThreads / 32) {|page += 1) {|'
wrong 5_not_rescaled 5 's/sums\[j\] \* __expf(maxima\[j\] - shift)/sums[j]/'
wrong 5_sum_of_a_warp 5 's/sum = block_sum<kThreads>(sum, scratch.sum);/sum = warp_sum(sum);/'
# Right, and wasteful: a key read one element at a time.
"$lab" new 2 "$work/2_scalar_loads" --solution >"$work/new"
fill_hole "$(file_of "$work/2_scalar_loads")" <<'CODE'
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      float dot = 0.0F;
      for (int dim = lane_offset; dim < kHeadSize; dim += Groups::kGroupSize)
        dot += query[dim] *
               to_float(keys[key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)]);
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
CODE

grade "$work"/[1-5]_*
expect 1_page_for_block 'single-token: uninitialised read at stage_01_naive_paged_gather.cu:[0-9]+ .*'
expect 1_one_token_too_far 'single-token: out-of-bounds .* at stage_01_naive_paged_gather.cu:[0-9]+ '
expect 2_no_sum_over_group 'reference: '
expect 2_wrong_kv_head 'reference: '
expect 3_no_maximum 'reference: |large-logits: '
expect 3_no_last_barrier 'single-token: data race at '
expect 4_tail_not_zeroed '^ 4[0-9] of 100 .*tail-isolation: '
expect 4_every_warp_every_page 'reference: '
expect 5_not_rescaled 'partition-invariance: '
expect 5_sum_of_a_warp 'partition-invariance: (data race|uninitialised read) at stage_05_partition_and_reduce.cu:[0-9]+ '
expect 2_scalar_loads '^ 70 of 100 .*transactions: more than the target'
finish
