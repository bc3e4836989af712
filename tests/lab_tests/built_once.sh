#!/usr/bin/env bash
# lab.sh builds what has changed, and when nothing has it neither waits nor speaks. Where the labs
# are left out it says what to install. In a tree with a set_up.sh that only says that it was
# called.
set -euo pipefail
lab_sh=$(cd "$(dirname "$0")/../../walkthroughs" && pwd)/lab.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/tree"
mkdir -p "$tree"/{walkthroughs,tests,reference,kernels,stages}
cp "$lab_sh" "$tree/walkthroughs/lab.sh"
touch "$tree"/{CMakeLists.txt,CMakePresets.json}
cat >"$tree/tests/set_up.sh" <<'SET_UP'
help_if_asked() { :; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
without_cuda="$build/without_cuda"
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
configure() {
  mkdir -p "$build/bin" "$build/labs"
  [ "${1:-}" != --without-cuda ] || touch "$without_cuda"
  [ "${1:-}" = --without-cuda ] || { echo "with CUDA" && rm -f "$without_cuda"; }
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

# No GPU, until there is one.
mkdir "$work/path"
printf '#!/bin/sh\n[ -e "%s/gpu" ]\n' "$work" >"$work/path/nvidia-smi"
chmod +x "$work/path/nvidia-smi"
PATH="$work/path:$PATH"

failures=0
try() { # WHAT EXPECTED [ARGUMENT...]: what lab.sh in $tree, or lab.sh list, says
  local said what=$1 expected=$2
  shift 2
  sleep 0.05 # times of files are that coarse
  [ $# -gt 0 ] || set -- list
  said=$(bash "$tree/walkthroughs/lab.sh" "$@" 2>&1) || said="$said (failed)"
  [ "$said" = "$expected" ] || {
    printf '%s: expected "%s", and got "%s"\n' "$what" "$expected" "$said"
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
try "asked to compile for a GPU" $'with CUDA\nBuilding paged_lab paged\ntool: check --compile-for-gpu' check --compile-for-gpu
try "asked for it once more" 'tool: check --compile-for-gpu' check --compile-for-gpu
try "not asked for it" "$quick"
rm -r "$tree/build"
try "a new build without a GPU" "$built"
touch "$work/gpu"
try "now with a GPU" $'with CUDA\n'"$built"
try "and again" "$quick"
rm "$work/gpu"
mv "$tree" "$work/moved"
tree="$work/moved"
try "a tree that was moved" "$built"
# What `new` would refuse is refused before a build of minutes.
mkdir "$work/full" && touch "$work/full/file" "$tree/CMakeLists.txt"
try "new in a folder that is there" \
  "lab.sh: '$work/full' is there already and not empty; name a new folder (failed)" new 1 "$work/full"
try "new where a file is" \
  "lab.sh: '$work/full/file' is there, as a file; name a new folder (failed)" new 1 "$work/full/file"
ln -s "$tree" "$work/link"
for way in "$tree" "$work/link"; do
  said=$(bash "$way/walkthroughs/lab.sh" new 1 "$work/link/stages/mine" 2>&1) || true
  [[ $said == *"own folder stages; "* ]] || {
    printf 'new among the sources, through a link: %s\n' "$said"
    failures=$((failures + 1))
  }
done
try "new among the sources" \
  "lab.sh: '$tree/stages/mine' is in the repository's own folder stages; name one beside it, such as my_lab (failed)" \
  new 1 "$tree/stages/mine"
try "new below a file" \
  "lab.sh: '$work/full/file/mine' cannot be made: nothing can be written in '$work/full/file' (failed)" \
  new 1 "$work/full/file/mine"
try "new without a folder" \
  "lab.sh: new takes a lab and a folder: bash walkthroughs/lab.sh new 2 my_lab (failed)" new 1
try "new in a new folder" $'Building paged_lab paged\ntool: new 1 '"$work/mine" new 1 "$work/mine"
# It refuses what the tool does: the same own folders.
of_script=$(sed -n 's/^ *\(build | .*\))$/\1/p' "$lab_sh" | tr -s ' |' '\n')
of_tool=$(sed -n '/for (const char. own/,/})/p' "$(dirname "$lab_sh")/labs/starter.cpp" | grep -o '"[a-z]*"' | tr -d '"')
[ -n "$of_tool" ] && [ "$of_script" = "$of_tool" ] || {
  printf 'own folders: of lab.sh "%s", of starter.cpp "%s"\n' "$of_script" "$of_tool"
  failures=$((failures + 1))
}
touch "$tree/something_missing" "$tree/CMakeLists.txt"
try "a library is missing" "Install something (failed)"
[ "$failures" -eq 0 ]
