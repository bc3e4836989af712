#!/usr/bin/env bash
# What a student is told fits the failure: first what failed, then what must hold; a hint for this
# very failure before the ladder. A check of what has not changed compiles nothing, but where the
# last result was not decided by the sources alone.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

# tell NAME OPTION...: what check says of the folder NAME, in the background. One kernel says as much as
# all, but for what is about fp8 or comes last.
tell() {
  local name=$1 kernels=--one-kernel
  case "$name" in no_k_scale | halves) kernels="" ;; esac
  shift
  "$lab" check "$work/$name" --no-gpu $kernels "$@" >"$work/$name.out" &
}
# expect_told NAME REGEX: on one line, as sentences are wrapped.
expect_told() {
  tr -s '\n ' ' ' <"$work/$1.out" >"$work/line"
  grep -qE -- "$2" "$work/line" || complain "$1: expected '$2', and got: $(cat "$work/$1.out")"
}

"$lab" new 1 "$work/starter" >"$work/new"
"$lab" new 1 "$work/empty" >"$work/new"
fill_hole "$(file_of "$work/empty")" <<<'  // nothing yet'
"$lab" new 1 "$work/race" >"$work/new"
fill_hole "$(file_of "$work/race")" <<<'  printf("seen\n"), weights[0] = 1.0F;'
"$lab" new 1 "$work/overflow" >"$work/new"
fill_hole "$(file_of "$work/overflow")" <<'CODE'
  volatile float query_of_head[64];
  for (int i = 0; i < 1000 * t.head_size; ++i) query_of_head[64 - i] = 1.0F;
CODE
"$lab" new 1 "$work/no_k_scale" --solution >"$work/new"
edit "$(file_of "$work/no_k_scale")" 's/(t.k_scale \* dot)/dot/'
edit "$(file_of "$work/no_k_scale")" 's/^ *weights.token. = logit;/if (token + task.seq == 0) printf("seen "); &/'
"$lab" new bug-race "$work/bug" >"$work/new"
"$lab" new 2 "$work/layout" --solution >"$work/new"
edit "$(file_of "$work/layout")" \
  's/key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)/token_in_page * kHeadSize + dim/'
"$lab" new 1 "$work/prints" >"$work/new"
fill_hole "$(file_of "$work/prints")" <<<'  for (int i = 0; i < task.seq_len; ++i) printf("page %d, = %s\n", i / t.block_size, "x = 1");'
cp -r "$work/race" "$work/not_utf8"
iconv -t UTF-16LE <"$(file_of "$work/race")" >"$(file_of "$work/not_utf8")"
cp -r "$work/race" "$work/nothing"
: >"$(file_of "$work/nothing")"
cp -r "$work/race" "$work/binary"
cp "$lab" "$work/binary/stages/stage_01_naive_paged_gather.cu"
truncate -s 100K "$work/binary/stages/stage_01_naive_paged_gather.cu"
tell starter --hint 1
tell empty
wait
tell prints --hint 1
tell not_utf8
wait
tell nothing
tell binary
wait
tell layout --hint 1
tell race --hint 2
tell overflow
wait
tell no_k_scale --hint 1
tell bug
wait
"$lab" new 1 "$work/stuck" >"$work/new"
fill_hole "$(file_of "$work/stuck")" <<<'  if (threadIdx.x == 0) printf("seen "), __syncthreads();'
"$lab" new 1 "$work/crash" >"$work/new"
fill_hole "$(file_of "$work/crash")" <<<'  volatile int zero = 0; printf("seen "); weights[0] = task.seq_len / zero;'
"$lab" new 1 "$work/unexplained" --solution >"$work/new"
edit "$(file_of "$work/unexplained")" 's/(t.k_scale \* dot)/(t.k_scale * dot * (token % 3 == 1 ? 0.7F : 1.1F))/'
# Of lab 2: another head's keys, shared memory that nobody wrote, halves of a key.
for name in kv_head shared halves; do "$lab" new 2 "$work/$name" --solution >"$work/new"; done
edit "$(file_of "$work/kv_head")" 's/t.key_page(physical_block, task.kv_head)/t.key_page(physical_block, task.head)/'
edit "$(file_of "$work/shared")" 's/float dot = 0.0F;/float dot = logits[token - task.first_token];/'
edit "$(file_of "$work/halves")" 's/(vector \* Groups::kGroupSize + lane_offset)/(lane_offset * Groups::kVectorsPerLane + vector)/'
"$lab" new bug-race "$work/barrier" >"$work/new"
edit "$(file_of "$work/barrier" softmax.cuh)" 's/^ *sum = block_sum<kThreads>(sum, scratch.maximum);/__syncthreads(); &/'
tell stuck
tell crash
wait
tell unexplained
tell kv_head --hint 1
wait
tell shared --hint 1
tell halves --hint 1
wait
tell barrier --hint 1
tell starter --hint 4
wait

# The reason stands first, and says what failed; what was not tried is one list at the end.
hole='The hole \(stage_01_naive_paged_gather.cu, lines [0-9]+ to [0-9]+\)'
failed='FAILED: single-token. With one token, the output is not that token.s value.'
must_hold='What must hold: With one token, the output is that token.s value.'
of_case='3 sequences with context length 1 each; block size 16 \(tokens in a page\), head size 64, '
of_case+='4 query heads, 2 KV heads, type f16 '
expect_told starter "^$hole is still as it was given: .* $failed $must_hold The case: $of_case"
expect_told starter ' 0: the token has no weight, .* step result points single-token FAILED 0 of 10 not '
not_tried='not tried: reference, .*, transactions \(90 points\)'
expect_told starter " $not_tried Hint 1: Two steps lead from a token to its page"
expect_told empty " A hint: bash walkthroughs/lab.sh check $work/empty --hint 1 \$"
[ "$(grep -c 'not tried' "$work/starter.out")" -eq 1 ] ||
  complain "steps that were not tried take several lines"
expect_told layout 'Likely cause: keys are read as \[block_size, head_size\].* Hint 1: A page.s keys lie as'
expect_told empty '^The hole .* has no code in it: yours goes there'
expect_told prints "^The hole .stage_01_naive_paged_gather.cu, line [0-9]+. has code that only prints: .* Hint 1: Two steps lead from a token to its page"
expect_told not_utf8 '^stage_01_naive_paged_gather.cu is UTF-16; save it as UTF-8 .* mend the above first. $'
expect_told nothing '^stage_01_naive_paged_gather.cu is empty '
expect_told binary '^stage_01_naive_paged_gather.cu is no text, but a program'
expect_told bug '^The files are still as they were given'
! grep -q 'as it was given' "$work/race.out" || complain "a hole with code is said to be untouched"

# A finding is told as what it is, and so is its hint; the ladder follows.
expect_told race '^FAILED: no-race, in step single-token. Two threads use the same bytes .* What must hold in every step: No two thr'
expect_told race 'in every step: No two threads access .* data race at stage_01_naive_paged_gather.cu:[0-9]+ '
# What was found, where, what it does to the result; then what to do; then how to learn more.
expect_told race 'data race at .* seen in the result: .* What to do: put __syncthreads.. between .* of its own More on it: '
expect_told race 'data race at .* explain no-race '
expect_told race 'Hint 1: Each weight belongs to one thread.* Hint 2: Two steps lead from a token to its '
expect_told overflow '^FAILED: in-bounds, in step single-token. It uses an index that is outside of its array .out of bounds.. '
overflow_line=$(grep -nF 'query_of_head[64 - i]' "$(file_of "$work/overflow")" | cut -d: -f1)
expect_told overflow " index out of its array at stage_01_naive_paged_gather.cu:$overflow_line .* What to do: check the index, or the pointer, against"
expect_told no_k_scale '^FAILED: reference \(fp8\). A result is further from the reference than its bound'
expect_told no_k_scale 'its bound allows. .* an fp8 cache \(e4m3\) .* 95 of 100 points'
expect_told no_k_scale 'So many times its bound is no matter of rounding'
expect_told no_k_scale ' Hint 1: An fp8 cache stores key / k_scale'
expect_told bug '^.* FAILED: no-race. Two threads use .* data race at reduction.cuh'

# What a kernel prints is shown whatever it fails at, with a line's end or without.
printed='Your kernel printed: seen '
expect_told race "^FAILED: no-race.* $printed"
expect_told no_k_scale "^FAILED: reference .fp8.* Your kernel printed: .on the case that failed; before it [0-9]+ bytes. seen "
expect_told stuck "^FAILED: no-barrier-divergence.* $printed"
expect_told crash "^FAILED: crash.* $printed"
# Weights that nothing explains: what else can be done here.
expect_told unexplained 'no known mistake explains these weights .how to go on: print by printf what'
! grep -q reading_a_failure "$work/unexplained.out" || complain "a page that is of no use in a lab is named"
# A place in memory is made of several numbers; shared memory is another matter.
expect_told kv_head '^FAILED: no-uninitialised.* Hint 1: The key is read from where .* task.kv_head.* token_in_page.* dim'
expect_told shared '^FAILED: no-uninitialised.* of shared memory .* Hint 1: Nothing in this block has written'
# Transactions alone: that is said first. As many loads as needed, each from too many places.
expect_told halves '^FAILED: transactions. More are asked for than the stage itself needs. step result'
expect_told halves 'global load sectors: .* Hint 1: As many loads as needed, and too many sectors: the lanes. loads do not lie side by side'
expect_told barrier '^FAILED: transactions.* barriers: 2 too many .* Hint 1: The race is mended, by a barrier'
expect_told starter ' Hint 3: .* There are no more hints than these 3. $'

# Folders that are no place for a starter, and results that nobody could write, are refused at once.
refuses() { # TEXT ARGUMENT...: of the program, with status 2
  local status=0
  "$lab" "${@:2}" >"$work/said" 2>&1 || status=$?
  { [ "$status" -eq 2 ] && [ "$(wc -l <"$work/said")" -eq 1 ] && grep -qF -- "$1" "$work/said"; } ||
    complain "${*:2}: expected '$1' and status 2, and got $status and: $(cat "$work/said")"
}
repository=$(cd "$(dirname "$0")/../.." && pwd)
refuses "'$work/starter' is there already and not empty; name a new folder" new 1 "$work/starter"
refuses "'$work/new' is there, as a file; name a new folder" new 1 "$work/new"
refuses "is in the repository's own folder stages; name one beside it" new 1 "$repository/stages/mine"
refuses "cannot be made: nothing can be written in '$work/new'" new 1 "$work/new/mine"
refuses "cannot write '/proc/x': " check "$work/starter" --json /proc/x
refuses "cannot write '/proc/x': " grade "$work/starter" --json /proc/x
refuses "cannot write '/proc/x': " grade "$work/starter" --gradescope /proc/x
refuses "cannot make the folder '/proc/x': " grade "$work/starter" "$work/race" --gradescope /proc/x
# The commands of TASK.md can be copied as they are.
grep -qxF "    bash walkthroughs/lab.sh check starter" "$work/starter/TASK.md" || complain "TASK.md says no command"
! grep -qF "$work" "$work/starter/TASK.md" || complain "TASK.md names a place of who made it"

# Asked again, it is told without being tried; after an edit, and if asked to, it is tried.
of_last='\(of the last check; nothing has changed since. --anew tries it again\)'
tell starter --hint 2
wait
expect_told starter "FAILED: single-token. .* not tried: reference, .* Hint 2: page = token .* $of_last"
# It has the spelling of its folder that was asked for.
"$lab" check "$work/./starter" --one-kernel --json - >"$work/json" || true
grep -qF "\"submission\": \"$work/./starter\"" "$work/json" || complain "the folder is spelt otherwise"
# One file for a folder, named by all of its digest, whatever other folders there are. Files that
# are a month old go, and so does what is more than some hundreds.
name_of_result() { find "$results" -name '*.json' -newer "$work/before" ! -name 'of-a-test-*'; }
for i in $(seq 600); do : >"$results/of-a-test-$i.json"; done
touch -d '20 days ago' "$results"/of-a-test-*.json
touch -d '31 days ago' "$results/of-a-test-1.json"
touch "$work/before"
sleep 0.05
tell starter --anew
wait
expect_told starter '\(built in '
name_of_result | grep -qE '/[0-9a-f]{32}\.json$' || complain "the result is not named by its digest"
[ ! -e "$results/of-a-test-1.json" ] || complain "a result is kept for more than a month"
kept=$(find "$results" -name '*.json' | wc -l)
[ "$kept" -le 512 ] || complain "$kept results are kept"
[ "$(find "$results" -name 'of-a-test-*.json' | wc -l)" -gt 100 ] || complain "too few results are kept"

# After an edit, too.
edit "$(file_of "$work/starter")" 's/no token takes part yet/none yet/'
tell starter
wait
expect_told starter '\(built in '
edit "$(file_of "$work/starter")" 's/-INFINITY;  \/\/ none/not_declared;  \/\/ none/'
tell starter
wait
expect_told starter '^it does not compile .*not_declared'
tell starter --hint 1
wait
expect_told starter '^it does not compile .*not_declared.* \(of the last check; '
expect_told starter 'Hints are about what a kernel computes. None was run yet: mend the above first. $'
! grep -q 'Hint 1' "$work/starter.out" || complain "a hint beside a compile error"
# What the compiler says is not wrapped: its caret stands below the place that it means. The path is
# that of the student's own file.
edit "$(file_of "$work/starter")" 's|^\( *\)weights.token. = not_declared.*|\1weights[token] = 1.0F + 2.0F + 3.0F + 4.0F + 5.0F + 6.0F + 7.0F + 8.0F + 9.0F + 10.0F + 11.0F + not_declared;|'
tell starter
wait
error_line=$(grep -F 'not_declared;' "$work/starter.out") || complain "the line is broken"
caret_line=$(grep -A1 -F 'not_declared;' "$work/starter.out" | tail -n 1)
before=${error_line%%not_declared*}
[ "${caret_line%%^*}" = "$(sed 's/[0-9]/ /g; s/[^| ]/ /g' <<<"$before")" ] ||
  complain "the caret is elsewhere: $error_line$caret_line"
# Of several errors the first is shown, and how many there are.
edit "$(file_of "$work/starter")" 's/not_declared;/not_declared + not_there + not_here;/'
tell starter
wait
expect_told starter "^it does not compile .* error: 'not_declared' .* Mend this error first: 2 more errors of the compiler's may come from it. "
[ "$(grep -c 'error: ' "$work/starter.out")" -eq 1 ] || complain "more than the first error: $(cat "$work/starter.out")"
# A brace that is left out makes errors far behind it, in what is not the student's.
"$lab" new 1 "$work/brace" --solution >"$work/new"
edit "$(file_of "$work/brace")" 's|for (int dim = 0; dim < t.head_size; ++dim)|& {|'
tell brace
wait
expect_told brace "^it does not compile .your code in stage_01_naive_paged_gather.cu has 3 '\{' and 2 '\}'. "
! grep -q 'error: ' "$work/brace.out" || complain "errors that come of a brace are shown: $(cat "$work/brace.out")"
grep -qE "^ *$work/starter/stages/stage_01_naive_paged_gather.cu:[0-9]+:[0-9]+: error: " "$work/starter.out" ||
  complain "the error's path is not the student's: $(cat "$work/starter.out")"

# `grade` reads no result and writes none.
"$lab" new bug-hang "$work/graded" >"$work/new"
"$lab" grade "$work/graded" >"$work/grades"
"$lab" new bug-hang "$work/hang" >"$work/new"
tell graded
tell hang
wait
expect_told graded '\(built in '
# Threads that wait for each other the CPU machine finds by itself, however busy this one is.
expect_told hang 'Threads wait for others that never come|wait at different barriers|others wait for them'
tell hang
wait
expect_told hang "$of_last"

# What the clock decided, or a tool that was not there, is tried again.
"$lab" new 1 "$work/endless" >"$work/new"
fill_hole "$(file_of "$work/endless")" <<<'  for (volatile int i = printf("seen ") - 5; i < 1;) {}'
mkdir "$work/no_tool"
printf '#!/bin/sh\nexit 1\n' >"$work/no_tool/addr2line"
chmod +x "$work/no_tool/addr2line"
cp -r "$work/race" "$work/no_lines"
cp -r "$work/race" "$work/no_program"
tell endless --seconds-per-run 1
PATH="$work/no_tool:$PATH" tell no_lines
wait
expect_told endless '^FAILED: endless, in step single-token. The kernel did not answer. What must hold in every step: .* did not come to an end within 1 s'
expect_told endless "$printed"
expect_told no_lines ' data race in naive_paged_gather'
tell endless --seconds-per-run 1
tell no_lines
wait
expect_told endless '\(built in '
expect_told no_lines ' data race at stage_01_naive_paged_gather.cu:[0-9]+ .*\(built in '
mv "$work/no_tool/addr2line" "$work/no_tool/objcopy"
PATH="$work/no_tool:$PATH" tell no_program
wait
expect_told no_program '^it does not compile '
tell no_program
wait
expect_told no_program ' data race at .*\(built in '
finish
