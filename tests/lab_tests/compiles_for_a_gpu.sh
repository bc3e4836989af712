#!/usr/bin/env bash
# What is timed on a GPU can be built where there is none: a submission of lab 5, which needs most.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
"$lab" new 5 "$work/s" --solution >"$work/new"
"$lab" check "$work/s" --compile-for-gpu >"$work/out" || complain "the solution fails"
grep -q '^it compiles for a GPU, too$' "$work/out" || complain "$(cat "$work/out")"
edit "$(file_of "$work/s")" 's/^#include "kernels\/cuda.h"$/&\n#ifdef __CUDACC__\n#error no nvcc\n#endif/'
"$lab" check "$work/s" --compile-for-gpu --no-gpu >"$work/out" || true
grep -q '^it compiles for a GPU, too$' "$work/out" && complain "an #error went unseen: $(cat "$work/out")"
grades=$(cat "$work/out")
finish
