#!/usr/bin/env bash
# The test of includes, tried on a tree with one include of each wrong kind, and on a right one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
mkdir -p "$tree"/{reference,kernels,stages,tests/harness,tests/paged,walkthroughs}
echo '#include "reference/a.h"' >"$tree/kernels/right.h"
echo '#include "tests/harness/a.h"' >"$tree/walkthroughs/right.cpp"
bash "$here/include_direction.sh" "$tree" >/dev/null || {
  echo "a right tree was refused"
  exit 1
}
expect_refused() { # FILE INCLUDE
  echo "#include \"$2\"" >"$tree/$1"
  if bash "$here/include_direction.sh" "$tree" >"$tree/output"; then
    echo "not noticed: $1 includes $2"
    exit 1
  fi
  grep -q "^$1:1: includes \"$2\"" "$tree/output" || {
    echo "not named: $1 includes $2"
    exit 1
  }
  rm "$tree/$1"
}
expect_refused reference/wrong.h kernels/cuda.h
expect_refused kernels/wrong.cuh stages/stage.h
expect_refused stages/wrong.cu tests/harness/npy.h
expect_refused tests/harness/wrong.cpp tests/paged/options.h
expect_refused walkthroughs/wrong.cpp tests/paged/options.h
expect_refused reference/wrong.cpp local.h
echo "every wrong include was noticed"
