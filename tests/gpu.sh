#!/usr/bin/env bash
# On a machine with a GPU: builds what is needed, runs the tests and the checks on it, and records the
# results as JSON.
# Usage: bash tests/gpu.sh RESULTS_DIRECTORY [CMake arguments, e.g. -DCMAKE_PREFIX_PATH=/some/folder]
# In the environment: CHECKS_ONLY=1 for everything but what is measured (times, counts, registers);
# PLANTED_SECONDS=N: how long the last part may take (250 s).
# Exit status: 0 all is as it should be, 3 all but for that part, which had no time left, 1 something is not.
set -euo pipefail
case "${1:-}" in
  -h | --help)
    sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  "" | -*)
    echo "'${1:-}' is no folder for the results; usage: bash tests/gpu.sh RESULTS_DIRECTORY [CMake arguments]" >&2
    exit 1
    ;;
esac
results=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build-gpu"
mkdir -p "$results"
results=$(cd "$results" && pwd)
command -v nvcc >/dev/null || {
  echo "tests/gpu.sh needs nvcc; there is none on the PATH" >&2
  exit 1
}

# Compiling every instance takes as long as everything else: beside it.
if [ -z "${CHECKS_ONLY:-}" ]; then
  bash "$root/tests/kernel_resources.sh" all >"$results/kernel_resources.md" 2>"$results/kernel_resources.log" &
  resources=$!
fi

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
# Kernels for every pair of types and sizes, which tests then run: see docs/instance_lists.md.
cmake -S "$root" -B "$build" "${generator[@]}" -DPAGED_INSTANCES=pairwise "$@" >"$results/configure.log" 2>&1 || {
  tail -n 30 "$results/configure.log"
  exit 1
}
cmake --build "$build" -j "$(nproc)" >"$results/build.log" 2>&1 || {
  grep -E "error|FAILED" "$results/build.log" | head -n 30
  exit 1
}
status=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$results/device.txt"
# A copied tree has no history: COMMIT says then what it is.
commit="${COMMIT:-$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)}"
echo "commit $commit" | tee -a "$results/device.txt"

# What concerns the GPU; everything else passes on any machine. What skips has not been shown.
ctest --test-dir "$build" -L gpu --verbose -j 1 >"$results/ctest.txt" 2>&1 || status=1
grep -q '(Skipped)$' "$results/ctest.txt" && status=1
grep -hE '% tests passed|PASSED|SKIPPED|FAILED|Skipped' "$results/ctest.txt" || true
for backend in cpu cuda; do
  "$build/bin/paged" check --backend "$backend" --json "$results/check_$backend.json" \
    >"$results/check_$backend.txt" || status=1
  echo "paged check, $backend: $(grep -c ' held$\|as stated$' "$results/check_$backend.txt") rows as stated," \
    "$(grep -c 'FAILED$' "$results/check_$backend.txt") not"
done
cat "$results/check_cuda.txt"
"$build/bin/tour" || status=1

# What the named cases lack: other types, 8-bit caches, both other block sizes, ALiBi, block-sparse.
write_case() { # NAME, then keys as JSON
  printf '{"num_heads":4,"num_kv_heads":2,"seq_lens":[35,17,0,600],"block_tables":"random",%s}\n' "$2" \
    >"$build/sanitizer_$1.json"
}
write_case f32 '"head_size":64,"block_size":16,"scalar":"f32"'
write_case bf16 '"head_size":128,"block_size":16,"scalar":"bf16"'
write_case e4m3 '"head_size":128,"block_size":16,"scalar":"f16","cache":"e4m3","k_scale":0.25,"v_scale":0.5'
write_case block_8 '"head_size":64,"block_size":8,"scalar":"f16","alibi_slopes":[0.5,0.25,0.125,0.0625]'
write_case block_32 '"head_size":128,"block_size":32,"scalar":"f16","partition_size":64,"variant":"v2",
  "block_sparse":{"local_blocks":1,"vert_stride":3,"block_size":64,"head_sliding_step":1}'
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== $tool"
    cases=(--case worked-example-1-gqa --case worked-example-2-partitions --case smollm2-layer-14)
    for file in "$build"/sanitizer_*.json; do cases+=(--case "$file"); done
    watched() { compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" 2>&1 || status=1; }
    watched "$build/bin/paged" run --backend cuda "${cases[@]}"
    watched "$build/bin/paged" run --backend cuda --stage 5 --probabilities f16 --case worked-example-2-partitions
    watched "$build/bin/paged" run --backend cuda --stage 4 --probabilities f16 --case worked-example-2-partitions
    watched "$build/bin/stage_tests" --gtest_filter='*CacheOperationsTest*/cuda' --gtest_brief=1
  done >"$results/sanitizer.txt"
  grep -E '^==|SUMMARY' "$results/sanitizer.txt"
  # What each sees of a race that is planted.
  compute-sanitizer --tool racecheck --racecheck-report all "$build/bin/planted_race" \
    >"$results/planted_race.txt" 2>&1 || status=1
  cat "$results/planted_race.txt"
  { grep -q '^CPU machine: data race' "$results/planted_race.txt" &&
    grep -q 'hazard' "$results/planted_race.txt"; } || status=1
fi
measure() {
  "$build/bin/decode_benchmark" --stages 4,5 --types f16,bf16,e4m3 --commit "$commit" \
    --json "$results/decode_benchmark.json" | tee "$results/decode_benchmark.txt" || status=1
  # Every stage beside the next, for the walkthroughs.
  for shape in "32 x 2k" "1 x 8k"; do
    "$build/bin/decode_benchmark" --stages 1,2,3,4,5 --types f16 --only "$shape" --commit "$commit" \
      --json "$results/stages_${shape// /_}.json" | tee -a "$results/stages.txt" || status=1
  done
  # The CPU machine's counts beside Nsight Compute's.
  if command -v ncu >/dev/null; then
    bash "$root/tests/agreement/agreement.sh" "$build" "$results" || status=1
    bash "$root/tests/simt/wavefront_patterns.sh" "$build/bin/wavefront_patterns" \
      >"$results/wavefront_patterns.json" || status=1
  fi
  # Where V1 and V2 change places: what the measured choice of stages/v1_v2_policy.h comes from.
  for type in f16 e4m3; do
    "$build/bin/decode_benchmark" --crossover --types "$type" --commit "$commit" \
      --json "$results/crossover_$type.json" >/dev/null || status=1
  done
  if wait "$resources"; then
    echo "no kernel spills at head sizes up to 128"
  else
    cat "$results/kernel_resources.log"
    status=1
  fi
}
[ -n "${CHECKS_ONLY:-}" ] || measure
# What compute-sanitizer finds of the planted mistakes, beside the CPU machine: last, since it takes three
# minutes or more. If the time is over before, its table is not complete, and everything above stands.
if command -v compute-sanitizer >/dev/null && command -v python3 >/dev/null; then
  COMMIT="$commit" timeout -k 5 $((${PLANTED_SECONDS:-250} + 60)) python3 "$root/tests/simt/planted_findings.py" \
    "$build/bin/planted_findings" "$results" --seconds "${PLANTED_SECONDS:-250}" || {
    planted=$?
    case "$planted" in
      3 | 124 | 137)
        echo "planted_findings.py: not complete; give it more PLANTED_SECONDS"
        [ "$status" -ne 0 ] || status=3
        ;;
      *) status=1 ;;
    esac
  }
fi
exit $status
