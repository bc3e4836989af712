#!/usr/bin/env bash
# `paged mutants` builds the zoo where it is not there yet, alone in the build folder, and hands on what
# it was asked; help and wrong requests wait for no build; in a folder that is no build folder it says
# so. With a cmake that only pretends.
set -euo pipefail
shopt -s extglob
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build="$work/a build"
mkdir -p "$build/bin" "$work/path"
cp "$1" "$build/bin/paged"
cat >"$work/path/cmake" <<'CMAKE'
#!/usr/bin/env bash
echo "cmake $*"
if flock -n "$2/lock" true; then echo "and nobody has locked the folder"; fi
[ ! -e "$(dirname "$0")/broken" ] || exit 1
printf '#!/bin/sh\necho "zoo $*"\nexit 3\n' >"$2/bin/paged_mutants"
chmod +x "$2/bin/paged_mutants"
CMAKE
chmod +x "$work/path/cmake"
failures=0
try() { # WHAT STATUS OUT ERR [WORDS...]: patterns of what `paged mutants WORDS` says; --list without
  local what=$1 expected=$2 expected_out=$3 expected_err=$4 out status=0
  shift 4
  [ $# -gt 0 ] || set -- --list
  out=$(PATH="$work/path:$PATH" "$build/bin/paged" mutants "$@" 2>"$work/err") || status=$?
  # shellcheck disable=SC2053  # they are patterns
  [[ $status = "$expected" && "$out" == $expected_out && "$(cat "$work/err")" == $expected_err ]] || {
    printf '%s: expected %s, "%s", "%s", and got %s, "%s", "%s"\n' "$what" "$expected" "$expected_out" \
      "$expected_err" "$status" "$out" "$(cat "$work/err")"
    failures=$((failures + 1))
  }
}
try "no build folder" 1 "" '*there is no */bin/paged_mutants, and */a build is no build folder*'
touch "$build/CMakeCache.txt" "$work/path/broken"
try "help" 0 '*--group NAME*' "" --help
try "a mistyped option" 2 "" 'paged: *--lsit*; paged mutants --help shows what there is' --lsit
try "options that do not go together" 2 "" 'paged: *go with --mutant NAME' --invariant reference
try "a build that fails" 1 "" \
  "*the zoo could not be built*cmake --build '$build' --target paged_mutants"
rm "$work/path/broken"
# Another build, which makes the zoo: the shell's copy of the descriptor holds its lock.
exec 9>"$build/lock"
flock 9
(
  failures=0
  try "during another build" 3 "zoo of another build" 'Another build is under way in *; waiting for it'
  exit "$failures"
) 9>&- &
for ((i = 0; i < 100; ++i)); do
  if grep -q 'Another build' "$work/err" 2>/dev/null; then break; fi
  sleep 0.1
done
printf '#!/bin/sh\necho "zoo of another build"\nexit 3\n' >"$build/bin/paged_mutants"
chmod +x "$build/bin/paged_mutants"
exec 9>&-
wait $! || failures=$((failures + 1))
rm "$build/bin/paged_mutants"
try "not there yet" 3 "zoo --list" \
  "Building the zoo, once, *: cmake --build '$build' --target paged_mutants"$'\n'"cmake --build $build --target paged_mutants -j +([0-9])"
try "there" 3 "zoo --list" ""
exit "$failures"
