# shellcheck shell=bash
# Sourced by tests/run.sh and walkthroughs/tour.sh: installs what is missing, configures, builds.
# Defines set_up, which is configure and then build_targets, and leaves the tools in build/bin. Not a
# command of its own.

# Debian's and Ubuntu's names of what the build needs.
packages=(g++ cmake ninja-build libeigen3-dev libgtest-dev libbenchmark-dev libboost-context-dev
  libcli11-dev nlohmann-json3-dev)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
# Marks a build of the labs alone that goes without CUDA; see configure().
without_cuda="$build/without_cuda"
seconds_between_steps=10

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# For --help: prints the comment at the head of the script that was called, and ends it.
help_if_asked() { # THE SCRIPT'S ARGUMENTS...
  case "${1:-}" in
    -h | --help)
      sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
  esac
}

# Whether cmake is on the PATH and new enough, wherever it came from.
cmake_is_here() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  [ -n "$version" ] && [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

# The packages that dpkg doesn't have; nothing on a system without dpkg, where CMake finds or fetches.
missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local package
  for package in "${packages[@]}"; do
    if [ "$package" = cmake ] && cmake_is_here; then continue; fi
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s ' "$package"
  done
}

install_command() {
  printf 'apt-get update && apt-get install -y --no-install-recommends %s' "${1% }"
}

install_missing() {
  local missing
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif command -v sudo >/dev/null && [ -t 0 ]; then
      as_root=(sudo)
    else
      fail "Missing packages. As an administrator: $(install_command "$missing")"
    fi
  fi
  command -v apt-get >/dev/null ||
    fail "Missing packages, and no apt-get to install them with: ${missing% }"
  say "Installing: ${missing% }"
  local log="$build/install.log"
  # shellcheck disable=SC2086  # one word per package is meant
  { "${as_root[@]}" apt-get update || true # without a network the packages may still be in the cache
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      $missing; } >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "Installing failed (whole log: $log). By hand: $(install_command "$missing")"
  }
}

# Ends with what a step that failed said last.
failed_step() { # LOG WHAT
  tail -n 40 "$1" >&2
  fail "$2 (whole log: $1)"
}

# Runs a step with its output in a log; shows the log only if the step fails.
quietly() {
  local log="$1"
  shift
  "$@" >"$log" 2>&1 || failed_step "$log" "Failed: $*"
}

# Ninja and make name a step when it has ended: "[12/160] Building X" says that 12 of 160 are done, and
# nothing of those under way. Sets done_steps, to "" for other lines. No subshell: there are thousands.
read_step() { # LINE
  local count=${1%%]*}
  count=${count#[}
  count=${count// /}
  case "$count" in
    *[!0-9/%]* | '') done_steps='' ;;
    */*) done_steps="${count%/*} of ${count#*/} steps done" ;;
    *) done_steps="$count done" ;; # of make
  esac
}

# Rewrites one line of the terminal with each step of a build.
show_progress() {
  local line done_steps started=$SECONDS
  while IFS= read -r line; do
    case "$line" in \[*\]*) read_step "$line" ;; *) continue ;; esac
    [ -z "$done_steps" ] || printf '\r\033[K%s, %d s' "$done_steps" $((SECONDS - started))
  done
}

# Where there is no terminal, a line now and then shows that the build goes on.
tell_steps() { # LOG
  local done_steps started=$SECONDS
  while sleep "$seconds_between_steps" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    read_step "$(grep -a '^\[ *[0-9]' "$1" | tail -n 1)" # none yet is none
    [ -z "$done_steps" ] || say "$done_steps, $((SECONDS - started)) s"
  done
}

# Two builds at once in one folder spoil each other's: a step that changes it has it alone.
alone_in_build() {
  if ! command -v flock >/dev/null; then "$@"; else flock "$build/lock" "$@"; fi
}

# Says so if another one has it.
wait_for_others() {
  if ! command -v flock >/dev/null || flock -n "$build/lock" true; then return 0; fi
  say "Another build is under way in the folder build; waiting for it"
  flock "$build/lock" true
}

# --without-cuda: a build that is new leaves CUDA out, which takes minutes; one that has it keeps it.
# Whoever configures without that option gets all of it.
# shellcheck disable=SC2120  # lab.sh gives the option
configure() { # [--without-cuda]
  mkdir -p "$build"
  install_missing
  wait_for_others
  cmake_is_here || fail "This needs CMake 3.25 or later (Debian 12, Ubuntu 24.04); here is: $(cmake --version | head -n 1)"
  # A copied or moved lab brings the build folder of another one, which would build and run that one.
  if [ -f "$build/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    say "The folder build belongs to another copy of the lab; building anew"
    find "$build" -mindepth 1 -maxdepth 1 ! -name '*.log' -exec rm -rf {} +
  fi
  [ -f "$build/CMakeCache.txt" ] || say "Configuring"
  # Ninja begins to compile a program while its libraries still are; make waits for them.
  local generator=()
  if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  local cuda=()
  if [ "${1:-}" = --without-cuda ]; then
    [ -f "$build/CMakeCache.txt" ] || touch "$without_cuda"
    [ ! -f "$without_cuda" ] || cuda=(-D CMAKE_CUDA_COMPILER=)
  elif [ -f "$without_cuda" ]; then
    cuda=(-U CMAKE_CUDA_COMPILER)
  fi
  quietly "$build/configure.log" alone_in_build cmake -S "$root" -B "$build" "${generator[@]}" "${cuda[@]}"
  [ "${1:-}" = --without-cuda ] || rm -f "$without_cuda"
}

# Builds the given targets, or everything.
build_targets() {
  local jobs started=$SECONDS
  jobs=$(nproc)
  wait_for_others
  say "Building (the first time takes minutes, then seconds)"
  local target_arguments=()
  [ $# -eq 0 ] || target_arguments=(--target "$@")
  if [ -t 1 ]; then
    if ! alone_in_build cmake --build "$build" -j "$jobs" "${target_arguments[@]}" 2>&1 | tee "$build/build.log" |
      show_progress; then
      printf '\r\033[K'
      grep -E 'error|Error' "$build/build.log" | head -n 20 >&2
      fail "The build failed (whole log: $build/build.log)"
    fi
    printf '\r\033[K'
  else
    : >"$build/build.log"
    tell_steps "$build/build.log" &
    local reporter=$! status=0
    alone_in_build cmake --build "$build" -j "$jobs" "${target_arguments[@]}" >"$build/build.log" 2>&1 || status=$?
    { kill "$reporter" && wait "$reporter"; } 2>/dev/null || true
    [ "$status" -eq 0 ] || failed_step "$build/build.log" "The build failed"
  fi
  [ $((SECONDS - started)) -lt 5 ] || say "Built in $((SECONDS - started)) s"
}

set_up() {
  configure # all of it
  build_targets "$@"
}
