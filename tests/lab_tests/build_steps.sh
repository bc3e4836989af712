#!/usr/bin/env bash
# What tests/set_up.sh does where standard output is no terminal: a build says now and then how far
# it is, a failure shows its log, and CUDA is left out of a build of the labs until somebody wants
# it. With a cmake that only pretends.
set -euo pipefail
set_up=$(cd "$(dirname "$0")/.." && pwd)/set_up.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/tests" "$work/path"
cp "$set_up" "$work/tree/tests/set_up.sh"
cat >"$work/path/cmake" <<'CMAKE'
#!/usr/bin/env bash
case "$*" in
*--build*)
  # Silent until somebody has looked; then each step until it has been told.
  told() { # WHAT, or nothing: that time has passed
    for _ in $(seq 200); do
      sleep 0.1
      if [ -z "$1" ] && [ -e "$(dirname "$0")/looked" ]; then return; fi
      if [ -n "$1" ] && grep -qF "$1" "$(dirname "$0")/said"; then return; fi
    done
  }
  told "" && echo "[1/3] Building one" && told "1 of 3" && echo "[2/3] Building two" && told "2 of 3"
  [ ! -e "$(dirname "$0")/broken" ] || { echo "one.cpp:1: error: broken" && exit 1; }
  ;;
*)
  echo "$*" >"$(dirname "$0")/configured"
  while [ "$1" != -B ]; do shift; done
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$(dirname "$2")" >"$2/CMakeCache.txt"
  ;;
esac
CMAKE
chmod +x "$work/path/cmake"
cat >"$work/run.sh" <<'RUN'
set -euo pipefail
. "$1/tree/tests/set_up.sh"
install_missing() { :; }
cmake_is_here() { :; }
seconds_between_steps=0.3
sleep() { # between looks at the log
  command sleep "$@" && if [ "$1" = 0.3 ]; then : >>"$looked"; fi
}
looked=$1/path/looked
"${@:2}"
RUN
run() {
  rm -f "$work/path/looked"
  PATH="$work/path:$PATH" bash "$work/run.sh" "$work" "$@" >"$work/path/said" 2>&1 || true
  cat "$work/path/said"
}
failures=0
expect() { # WHAT PATTERN TEXT
  # shellcheck disable=SC2053  # it is a pattern
  [[ "$3" == $2 ]] || {
    printf '%s: expected "%s", and got "%s"\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  }
}

run configure --without-cuda >/dev/null
expect "a new build of the labs" '*-D CMAKE_CUDA_COMPILER=*' "$(cat "$work/path/configured")"
run configure --without-cuda >/dev/null
expect "the labs again" '*-D CMAKE_CUDA_COMPILER=*' "$(cat "$work/path/configured")"
run configure >/dev/null
expect "all of it" '*-U CMAKE_CUDA_COMPILER*' "$(cat "$work/path/configured")"
run configure --without-cuda >/dev/null
expect "the labs, in a build that has CUDA" "*[!A-Z_]$work/tree/build" "$(cat "$work/path/configured")"

# A folder of another copy, with what CMake leaves there, is emptied but for the logs at its top.
mkdir -p "$work/tree/build/CMakeFiles/CheckCUDA" && touch "$work/tree/build/CMakeFiles/CheckCUDA/one.log" "$work/tree/build/install.log"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=/another" >"$work/tree/build/CMakeCache.txt"
expect "another copy's build" '*belongs to another copy*' "$(run configure)"
expect "what is left of it" "CMakeCache.txt configure.log install.log lock " "$(ls "$work/tree/build" | tr '\n' ' ')"

# Who comes while another build has the folder waits, and says so.
: >"$work/path/said"
flock "$work/tree/build/lock" timeout 20 bash -c 'until grep -q Another "$1"; do sleep 0.1; done' _ "$work/path/said" &
until ! flock -n "$work/tree/build/lock" true; do sleep 0.05; done
expect "a second build" '*Another build is under way*Building*' "$(run build_targets)"

# Ninja names a step when it has ended: none is said to be under way.
expect "a build's steps" $'Building*\n1 of 3 steps done, [0-9]* s\n*2 of 3 steps done, [0-9]* s*' "$(run build_targets)"
expect "make's steps" "40% done" "$(run eval 'read_step "[ 40%] Building CXX object one.o"; say "$done_steps"')"
expect "another line in brackets" "" "$(run eval 'read_step "[warning] a/b]"; say "$done_steps"')"
expect "what a terminal shows" $'\r\033[K1 of 3 steps done, 0 s' \
  "$(run eval 'printf "[1/3] one\n[warning] a/b]\n" | show_progress')"
touch "$work/path/broken"
expect "a build that fails" '*one.cpp:1: error: broken*The build failed*' "$(run build_targets || true)"
[ "$failures" -eq 0 ]
