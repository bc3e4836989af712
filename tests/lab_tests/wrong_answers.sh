#!/usr/bin/env bash
# What students are likely to write: each is stopped by the step that is there for it, and told what
# is wrong. Every statement of a contract that can be broken by itself is broken here.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"

# wrong NAME LAB SED...: the solution with edits.
wrong() {
  local name=$1 number=$2
  "$lab" new "$number" "$work/$name" --solution >"$work/new"
  shift 2
  for change in "$@"; do edit "$(file_of "$work/$name")" "$change"; done
}

# A page taken for a block is among the hostile submissions.
wrong 1_one_token_too_far 1 's/token < task.seq_len; token/token <= task.seq_len; token/'
# What fp8, ALiBi and sparse attention need, each in a step of its own: one of them costs its
# points.
no_k_scale='s/(t.k_scale \* dot)/dot/'
wrong 1_features 1 "$no_k_scale" 's/ + t.position_bias/ - t.position_bias/' \
  's/if (t.sparsity.takes_part(.*)) {/{/'
# Heads of 64 dimensions taken for granted.
wrong 2_head_size_64 2 's|vector < Groups::kVectorsPerLane|vector < 64 / (Groups::kGroupSize * Groups::kVector)|'
wrong 5_head_size_64 5 '/\[reduce\]/,/\/reduce/s/dim < t.head_size/dim < 64/'
wrong 2_wrong_kv_head 2 's/t.key_page(physical_block, task.kv_head)/t.key_page(physical_block, task.head)/'
# Mistakes in the place of a key that no finding names first: the weights do.
wrong 2_kv_head_of_0 2 's/t.key_page(physical_block, task.kv_head)/t.key_page(physical_block, 0)/'
place='key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)'
vector='(dim / Groups::kX)'
wrong 2_step_lacks_x 2 "s|$place|$vector * kBlockSize + token_in_page * Groups::kX + dim % Groups::kX|"
wrong 2_dim_left_out 2 "s|$place|($vector * kBlockSize + token_in_page) * Groups::kX|"
# All 32 lanes added up, those of other tokens too.
wrong 2_sum_over_warp 2 's/warp_sum<Groups::kGroupSize>(dot)/warp_sum(dot)/'
wrong 3_no_maximum 3 's/__expf(weights\[token\] - shift)/__expf(weights[token])/'
wrong 3_no_last_barrier 3 '/two-pass-softmax\]/,/\/two-pass/{/__syncthreads/d}'
wrong 3_nothing_takes_part 3 's/maximum == -INFINITY ? 0.0F : maximum/maximum/'
wrong 4_tail_not_zeroed 4 '/zero_past_end(value/d'
wrong 4_rows_past_head 4 '/weighted-values\]/,/\/weighted/s/if (row < kHeadSize)$//' '/weighted-values\]/,/\/weighted/{/>= kHeadSize) continue;/d}'
wrong 4_every_warp_every_page 4 's|page += kThreads / 32) {|page += 1) {|'
wrong 4_sparsity_ignored 4 '/weighted-values\]/,/\/weighted/{/takes_part/d}'
wrong 5_not_rescaled 5 's/sums\[j\] \* __expf(maxima\[j\] - shift)/sums[j]/'
wrong 5_sum_of_a_warp 5 's/sum = block_sum<kThreads>(sum, scratch.sum);/sum = warp_sum(sum);/'
wrong 5_empty_left 5 's|^  float maximum = -INFINITY;|  if (partitions == 0) return;\n&|'
wrong 5_nothing_takes_part 5 's/maximum == -INFINITY ? 0.0F : maximum/maximum/'
# Plain attention is right, and wasteful: a key read one element at a time. Scales of fp8 and ALiBi
# are forgotten. Something is changed outside of the hole in two places.
"$lab" new 2 "$work/2_scalar_loads" --solution >"$work/new"
fill_hole "$(file_of "$work/2_scalar_loads")" <<'CODE'
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      float dot = 0.0F;
      for (int dim = lane_offset; dim < kHeadSize; dim += Groups::kGroupSize)
        dot += query[dim] *
               to_float(keys[key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)]);
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * dot;
CODE
scalar_loads=$(file_of "$work/2_scalar_loads")
edit "$scalar_loads" '1s/$/ Mine./'
edit "$scalar_loads" '$d'
changed="line 1, and what stood behind line $(wc -l <"$scalar_loads")"

# One that the labs' page quotes: the lanes of a group are not added up.
labs="$(dirname "$0")/../../walkthroughs/labs"
bash "$labs/example_first_attempt.sh" "$lab" >"$work/first_attempt" || true
sed -n '/^\$ bash .*example_first_attempt.sh/,/^```$/p' "$labs/README.md" | sed '1d;$d' |
  grep -v '^\[exit status 1\]$' >"$work/quoted" || true
diff "$work/quoted" "$work/first_attempt" || complain "the labs' page quotes another first attempt than this"
grep -q '^reference *FAILED ' "$work/first_attempt" || complain "the first attempt does not fail at reference"

early="1_one_token_too_far 2_wrong_kv_head 4_every_warp_every_page 5_not_rescaled 5_sum_of_a_warp"
mkdir "$work/early"
for name in $early; do mv "$work/$name" "$work/early"; done
grade "$work"/early/* --one-kernel --json "$work/json_early"
cp "$work/grades" "$work/grades_early"
grade "$work"/[1-5]_* --json "$work/json"
cat "$work/grades_early" >>"$work/grades"
expect 1_one_token_too_far 'single-token on .*: out-of-bounds .* at stage_01_naive_paged_gather.cu:[0-9]+ '
expect 1_features '^ 85 of 100 .*reference \(fp8\) on .*: .*k_scale.*\(also failed: alibi, block-sparse\)'
expect 2_head_size_64 '^  0 of 100 .*reference on .*: .*dimension'
expect 5_head_size_64 '^ 35 of 100 .*reference on .*: '
expect 2_wrong_kv_head 'reference on .*: '
expect 2_kv_head_of_0 'reference on .*: .*likely cause: the keys are those of KV head 0'
expect 2_step_lacks_x 'reference on .*: .*likely cause: .*from one vector of x dimensions to the next lacks its factor x'
expect 2_dim_left_out 'reference on .*: .*likely cause: .*dim % x is left out'
expect 2_sum_over_warp 'reference on .*: .*likely cause: the dot products of a page.s tokens are added to one another: .*warp_sum without'
expect 3_no_maximum 'reference on .*: |large-logits on .*: '
expect 3_no_last_barrier 'single-token on .*: data race at '
expect 3_nothing_takes_part '^ 95 of 100 .*block-sparse on .*: '
expect 4_tail_not_zeroed '^ 3[0-9] of 100 .*tail-isolation on .*: '
expect 4_rows_past_head '^  5 of 100 .*reference on head_size_80: held with heads of 64 dimensions, fails with 80: out-of-bounds read at '
expect 4_every_warp_every_page 'reference on .*: '
expect 4_sparsity_ignored '^ 95 of 100 .*block-sparse on .*: '
expect 5_not_rescaled 'partition-invariance on .*: '
expect 5_sum_of_a_warp 'partition-invariance on .*: (data race|uninitialised read) at stage_05_partition_and_reduce.cu:[0-9]+ '
expect 5_empty_left '^ 45 of 100 .*empty-sequence on .*: '
expect 5_nothing_takes_part '^ 95 of 100 .*reference \(block-sparse\) on .*: '
expect 2_scalar_loads 'thread_group_qk.cuh, line 1, and .*: changed outside of the hole, and put back'
expect 2_scalar_loads '^ 60 of 100 .*reference \(fp8\) on .*: .*k_scale.*\(also failed: alibi, transactions\)'
# How to read a failure is taken from what was found, not from the words of its message.
reads() { # FILE SUBMISSION READING: of its first failure
  awk -v name="/$2\"" 'index($0, "\"reading\": \"") && !/"reading": ""/ { reading = reading $0 }
    index($0, "\"submission\": ") { if (index($0, name)) print reading; reading = "" }' "$1" >"$work/reading"
  grep -qF -- "\"reading\": \"$3" "$work/reading" || complain "$2 is not read as '$3': $(cat "$work/reading")"
}
reads "$work/json" 4_tail_not_zeroed "Values alone were changed: "
reads "$work/json" 2_dim_left_out "So many times its bound is no matter of rounding: "
reads "$work/json" 1_features "So many times its bound is no matter of rounding: "
# The lines named are the student's: the one that reads keys, the one that reads the query.
line_of() { grep -nF -- "$1" "$scalar_loads" | head -n 1 | cut -d: -f1; }
for hint in "global load requests: [0-9]+ too many on [a-z0-9-]+; thread_group_qk.cuh:$(line_of 'to_float(keys') has " \
  "shared load requests: [0-9]+ too many on [a-z0-9-]+; thread_group_qk.cuh:$(line_of 'dot += query') has "; do
  grep -qE "\"hint\": .*$hint" "$work/json" || complain "no hint '$hint' in: $(grep '"hint"' "$work/json")"
done
grep -qF "$changed: changed outside of the hole" "$work/json" ||
  complain "not named as changed outside of the hole: $changed"
finish
