#!/usr/bin/env bash
# On a machine with a GPU: builds what is needed, runs the tests and the checks on it, and records the
# results as JSON.
# Usage: bash tests/gpu.sh RESULTS_DIRECTORY [CMake arguments, e.g. -DCMAKE_PREFIX_PATH=/some/folder]
set -euo pipefail
results="${1:?usage: bash tests/gpu.sh RESULTS_DIRECTORY [CMake arguments]}"
shift
root=$(cd "$(dirname "$0")/.." && pwd)
build="$root/build-gpu"
mkdir -p "$results"
results=$(cd "$results" && pwd)
command -v nvcc >/dev/null || {
  echo "tests/gpu.sh needs nvcc; there is none on the PATH" >&2
  exit 1
}

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$root" -B "$build" "${generator[@]}" "$@" >"$results/configure.log" 2>&1 || {
  tail -n 30 "$results/configure.log"
  exit 1
}
cmake --build "$build" -j "$(nproc)" >"$results/build.log" 2>&1 || {
  grep -E "error|FAILED" "$results/build.log" | head -n 30
  exit 1
}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$results/device.txt"

status=0
# What concerns the GPU; everything else passes on any machine. One that skips has not been shown.
ctest --test-dir "$build" -L gpu --verbose -j 1 >"$results/ctest.txt" 2>&1 || status=1
grep -q '(Skipped)$' "$results/ctest.txt" && status=1
grep -hE 'tests? (passed|failed)|PASSED|SKIPPED|Skipped' "$results/ctest.txt"
for backend in cpu cuda; do
  "$build/bin/paged" check --backend "$backend" --json "$results/check_$backend.json" || status=1
done
"$build/bin/tour" --html "$results/tour.html" || status=1
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/bin/paged" run --backend cuda \
      --case worked-example-1-gqa --case smollm2-layer-14 >"$results/$tool.txt" 2>&1 || status=1
    echo "$tool: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$results/$tool.txt" | tail -n 1)"
  done
fi
exit $status
