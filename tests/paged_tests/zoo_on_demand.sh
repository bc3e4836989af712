#!/usr/bin/env bash
# `paged mutants` builds the zoo where it is not there yet, and hands on what it was asked; in a folder
# that is no build folder it says so. With a cmake that only pretends.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/bin" "$work/path"
cp "$1" "$work/build/bin/paged"
cat >"$work/path/cmake" <<'CMAKE'
#!/usr/bin/env bash
echo "cmake $*"
[ ! -e "$(dirname "$0")/broken" ] || exit 1
printf '#!/bin/sh\necho "zoo $*"\nexit 3\n' >"$2/bin/paged_mutants"
chmod +x "$2/bin/paged_mutants"
CMAKE
chmod +x "$work/path/cmake"
failures=0
try() { # WHAT STATUS OUT ERR: patterns of what `paged mutants --list` says
  local out status=0
  out=$(PATH="$work/path:$PATH" "$work/build/bin/paged" mutants --list 2>"$work/err") || status=$?
  # shellcheck disable=SC2053  # they are patterns
  [[ $status = "$2" && "$out" == $3 && "$(cat "$work/err")" == $4 ]] || {
    printf '%s: expected %s, "%s", "%s", and got %s, "%s", "%s"\n' "$1" "$2" "$3" "$4" "$status" "$out" "$(cat "$work/err")"
    failures=$((failures + 1))
  }
}
try "no build folder" 1 "" '*there is no */build/bin/paged_mutants, and */build is no build folder*'
touch "$work/build/CMakeCache.txt" "$work/path/broken"
try "a build that fails" 1 "" '*the zoo could not be built*'
rm "$work/path/broken"
try "not there yet" 3 "zoo --list" 'Building the zoo, once, *cmake --build */build --target paged_mutants -j *'
try "there" 3 "zoo --list" ""
exit "$failures"
