#!/usr/bin/env bash
# Labs: makes starters, checks a student's folder, grades many. Arguments go to build/bin/paged_lab:
#   lab.sh list
#   lab.sh new LAB DIR
#   lab.sh check DIR [--hint 1|2|3|4] [--compile-for-gpu]
#   lab.sh grade DIR... [--lab LAB] [--json FILE] [--gradescope FILE]
set -euo pipefail
# shellcheck source=tests/set_up.sh
. "$(dirname "$0")/../tests/set_up.sh"

# Asking CMake and Ninja whether anything has changed takes seconds, and a student checks often. So the
# time of the last build is remembered, and a look at the sources' times does.
built="$build/labs/built"
sources=(CMakeLists.txt CMakePresets.json reference kernels stages tests walkthroughs)

# CUDA's part of a build takes minutes, and a check needs none of it where there is no GPU.
wants_cuda() {
  local argument
  for argument in "$@"; do [ "$argument" != --compile-for-gpu ] || return 0; done
  nvidia-smi -L >/dev/null 2>&1
}

# Whether the tool was built from the sources as they are. A folder's time changes with what is added
# or removed.
is_built() {
  [ -x "$build/bin/paged_lab" ] && [ -f "$build/labs/kit.json" ] && [ -f "$built" ] || return 1
  [ "$(cat "$built")" = "$root" ] || return 1 # the build folder of another copy of the lab
  if [ -f "$without_cuda" ] && wants_cuda "$@"; then return 1; fi
  local compiler
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  local changed
  changed=$(cd "$root" && find -L "${sources[@]}" "$compiler" -newer "$built" -print -quit 2>/dev/null) || return 1
  [ -z "$changed" ]
}

# A build takes minutes, so what `new` would refuse is said before it, in the words of the tool
# (check_new_folder() in labs/starter.cpp), which looks once more.
refuse_folder() { # ARGUMENTS...
  local words=() argument
  for argument in "$@"; do case "$argument" in -*) ;; *) words+=("$argument") ;; esac; done
  [ "${words[0]:-}" = new ] || return 0
  [ ${#words[@]} -eq 3 ] || fail "lab.sh: new takes a lab and a folder: bash walkthroughs/lab.sh new 2 my_lab"
  local folder=${words[2]} parent inside
  if [ -d "$folder" ]; then
    [ -z "$(ls -A "$folder")" ] ||
      fail "lab.sh: '$folder' is there already and not empty; name a new folder"
  elif [ -e "$folder" ] || [ -L "$folder" ]; then
    fail "lab.sh: '$folder' is there, as a file; name a new folder"
  fi
  inside=$(realpath -m "$folder")
  inside=${inside#"$(realpath "$root")"/}
  case "${inside%%/*}" in
    build | docs | kernels | reference | stages | tests | walkthroughs)
      fail "lab.sh: '$folder' is in the repository's own folder ${inside%%/*}; name one beside it, such as my_lab"
      ;;
  esac
  parent=$(realpath -m "$folder")
  while [ ! -e "$parent" ]; do parent=$(dirname "$parent"); done
  { [ -d "$parent" ] && [ -w "$parent" ] && [ -x "$parent" ]; } ||
    fail "lab.sh: '$folder' cannot be made: nothing can be written in '$parent'"
}

if ! is_built "$@"; then
  help_if_asked "$@"
  refuse_folder "$@"
  rm -f "$built"
  started=$(mktemp)
  trap 'rm -f "$started"' EXIT
  if wants_cuda "$@"; then configure >&2; else configure --without-cuda >&2; fi
  if [ -f "$build/labs/left_out.txt" ]; then fail "$(cat "$build/labs/left_out.txt")"; fi
  build_targets paged_lab paged >&2 # the tool, too: what a check says and TASK.md point at it
  mkdir -p "$build/labs"
  printf '%s\n' "$root" >"$built"
  touch -r "$started" "$built" # what changes while it builds is newer
  rm -f "$started"
fi
exec "$build/bin/paged_lab" "$@"
