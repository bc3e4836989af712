#!/usr/bin/env bash
# Every barrier of the kernels is missing from one mutant. Fails and says how many are not.
# Usage: every_barrier.sh ROOT
set -euo pipefail
cd "$1"
barriers=$(cat kernels/*.cuh stages/*.cu | grep -cE '^ *__syncthreads\(\);')
removed=$(cat tests/mutants/*.json | grep -c '"text": ".*__syncthreads();')
echo "$barriers barriers in kernels/*.cuh and stages/*.cu, $removed mutants without one"
[ "$barriers" -eq "$removed" ] || {
  grep -n '__syncthreads();' kernels/*.cuh stages/*.cu
  echo "Add a mutant for each new barrier, or drop those of old ones: tests/mutants, docs/mutants.md"
  exit 1
}
