#!/usr/bin/env bash
# What is timed on a GPU can be built where there is none: a submission of lab 5, which needs most.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
"$lab" new 5 "$work/s" --solution >"$work/new"
"$lab" check "$work/s" --compile-for-gpu >"$work/out" || complain "the solution fails"
grep -q '^it compiles for a GPU, too$' "$work/out" || complain "$(cat "$work/out")"
edit "$(file_of "$work/s")" 's/^ *\/\/ \[\/[a-z-]*\]$/not_declared();\n&/'
"$lab" check "$work/s" --compile-for-gpu >"$work/out" || true
grep -q '^for a GPU it does not compile$' "$work/out" || complain "a mistake went unseen: $(cat "$work/out")"
grades=$(cat "$work/out")
finish
