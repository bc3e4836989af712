#!/usr/bin/env bash
# What a student is told fits the failure: first what failed, then what must hold; a hint for this very
# failure before the ladder; and a check of what has not changed compiles nothing.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

# tell NAME OPTION...: what check says of the folder NAME, in the background.
tell() {
  local name=$1
  shift
  "$lab" check "$work/$name" --no-gpu "$@" >"$work/$name.out" &
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
fill_hole "$(file_of "$work/race")" <<<'  weights[0] = 1.0F;'
"$lab" new 1 "$work/overflow" >"$work/new"
fill_hole "$(file_of "$work/overflow")" <<'CODE'
  volatile float query_of_head[64];
  for (int i = 0; i < 1000 * t.head_size; ++i) query_of_head[64 - i] = 1.0F;
CODE
"$lab" new 1 "$work/no_k_scale" --solution >"$work/new"
edit "$(file_of "$work/no_k_scale")" 's/(t.k_scale \* dot)/dot/'
"$lab" new bug-race "$work/bug" >"$work/new"
tell starter --hint 1
tell empty
wait
tell race --hint 2
tell overflow
wait
tell no_k_scale --hint 1
tell bug
wait

# The reason stands first, and says what failed; what was not tried is one list at the end.
expect_told starter '^The hole \(stage_01_naive_paged_gather.cu, lines [0-9]+ to [0-9]+\) is still as it was given: .* FAILED: single-token. With one token, the output is not that token.s value. What must hold: With one token, the output is that token.s value. The case: 3 sequences with context length 1 each; block size 8 \(tokens in a page\), head size 64, 4 query heads, 2 KV heads, type f16 '
expect_told starter ' 0: the token has no weight, .* step result points single-token FAILED 0 of 10 not tried: reference, .*, transactions \(90 points\) Hint 1: Two steps lead from a token to its page'
[ "$(grep -c 'not tried' "$work/starter.out")" -eq 1 ] || complain "steps that were not tried take several lines"
expect_told empty '^The hole .* has no code in it: yours goes there'
expect_told bug '^The files are still as they were given'
! grep -q 'as it was given' "$work/race.out" || complain "a hole with code is said to be untouched"

# A finding is told as what it is, and so is its hint; the ladder follows.
expect_told race '^FAILED: single-token. Two threads use the same bytes .* What must hold: No two threads access .* data race at stage_01_naive_paged_gather.cu:[0-9]+ .* explain no-race '
expect_told race 'Hint 1: Each weight belongs to one thread.* Hint 2: Two steps lead from a token to its page'
expect_told overflow '^FAILED: single-token. A write past a local array, or too deep a recursion. .* stack overflow at stage_01_naive_paged_gather.cu:[0-9]+ .*: check the array.s index'
expect_told no_k_scale '^FAILED: reference \(fp8\). A result is further from the reference than its bound allows. .* an fp8 cache \(e4m3\) .* 95 of 100 points'
expect_told no_k_scale 'So many times its bound is no matter of rounding.* Hint 1: An fp8 cache stores key / k_scale'
expect_told bug '^.* FAILED: no-race. Two threads use .* data race at reduction.cuh'

# Asked again, it is told without being tried; after an edit, and if asked to, it is tried.
tell starter --hint 2
wait
expect_told starter 'FAILED: single-token. .* not tried: reference, .* Hint 2: page = token .* \(of the last check; nothing has changed since. --anew tries it again\)'
tell starter --anew
wait
expect_told starter '\(built in '
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
expect_told starter '^it does not compile .*not_declared.* Hint 1: .* \(of the last check; '
finish
