#!/usr/bin/env bash
# lab.sh builds what has changed, and when nothing has it neither waits nor speaks. Where the labs are
# left out it says what to install. In a tree with a set_up.sh that only says that it was called.
set -euo pipefail
lab_sh=$(cd "$(dirname "$0")/../../walkthroughs" && pwd)/lab.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/tree"
mkdir -p "$tree"/{walkthroughs,tests,reference,kernels,stages}
cp "$lab_sh" "$tree/walkthroughs/lab.sh"
touch "$tree"/{CMakeLists.txt,CMakePresets.json}
cat >"$tree/tests/set_up.sh" <<'SET_UP'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
configure() {
  mkdir -p "$build/bin" "$build/labs"
  [ ! -e "$root/something_missing" ] || echo "Install something" >"$build/labs/left_out.txt"
}
build_targets() {
  echo "Building $*"
  printf '#!/bin/sh\necho "tool: $*"\n' >"$build/bin/paged_lab"
  chmod +x "$build/bin/paged_lab"
  touch "$build/labs/kit.json"
  echo "CMAKE_CXX_COMPILER:STRING=$root/compiler" >"$build/CMakeCache.txt"
  [ ! -e "$root/edit_while_building" ] || touch "$root/kernels/edited"
}
SET_UP
touch "$tree/compiler"

failures=0
try() { # WHAT EXPECTED: what lab.sh list in $tree says
  local said
  sleep 0.05 # times of files are that coarse
  said=$(bash "$tree/walkthroughs/lab.sh" list 2>&1) || said="$said (failed)"
  [ "$said" = "$2" ] || {
    printf '%s: expected "%s", and got "%s"\n' "$1" "$2" "$said"
    failures=$((failures + 1))
  }
}
built=$'Building paged_lab paged\ntool: list'
quick='tool: list'
try "the first time" "$built"
try "the second time" "$quick"
echo more >"$tree/stages/stage.cu"
try "a new source" "$built"
try "the same source" "$quick"
rm "$tree/stages/stage.cu"
try "a source removed" "$built"
touch "$tree/compiler"
try "another compiler" "$built"
rm "$tree/build/bin/paged_lab"
try "no tool" "$built"
touch "$tree/edit_while_building" "$tree/CMakeLists.txt"
try "an edit while it builds" "$built"
rm "$tree/edit_while_building"
try "after that edit" "$built"
try "nothing more" "$quick"
mv "$tree" "$work/moved"
tree="$work/moved"
try "a tree that was moved" "$built"
touch "$tree/something_missing" "$tree/CMakeLists.txt"
try "a library is missing" "Install something (failed)"
[ "$failures" -eq 0 ]
