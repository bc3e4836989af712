# Sourced by tests/run.sh and walkthroughs/tour.sh: installs what is missing, configures, builds.
# Defines set_up, and leaves the tools in build/bin. Not a command of its own.

# Debian's and Ubuntu's names of what the build needs.
packages=(g++ cmake make libeigen3-dev libgtest-dev libbenchmark-dev libboost-context-dev
  libcli11-dev nlohmann-json3-dev)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The packages that dpkg doesn't have; nothing on a system without dpkg, where CMake finds or fetches.
missing_packages() {
  command -v dpkg-query >/dev/null || return 0
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s ' "$package"
  done
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
      fail "Missing packages. As an administrator: apt-get install -y --no-install-recommends ${missing% }"
    fi
  fi
  command -v apt-get >/dev/null ||
    fail "Missing packages, and no apt-get to install them with: ${missing% }"
  say "Installing: ${missing% }"
  local log="$build/install.log"
  # shellcheck disable=SC2086  # one word per package is meant
  { "${as_root[@]}" apt-get update &&
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends \
      $missing; } >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "Installing failed (whole log: $log). By hand: apt-get install -y --no-install-recommends ${missing% }"
  }
}

# Runs a step with its output in a log; shows the log only if the step fails.
quietly() {
  local log="$1"
  shift
  "$@" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    fail "Failed: $* (whole log: $log)"
  }
}

# Builds the given targets, or everything.
set_up() {
  mkdir -p "$build"
  install_missing
  if [ ! -f "$build/CMakeCache.txt" ]; then
    say "Configuring"
    quietly "$build/configure.log" cmake -S "$root" -B "$build"
  fi
  local jobs started=$SECONDS
  jobs=$(nproc)
  # A build of nothing takes seconds; a first one minutes, and then people want to see it move.
  if [ ! -f "$build/bin/paged" ]; then say "Building with $jobs jobs (the first time takes a few minutes)"; fi
  local target_arguments=()
  [ $# -eq 0 ] || target_arguments=(--target "$@")
  if [ -t 1 ]; then
    cmake --build "$build" -j "$jobs" "${target_arguments[@]}" 2>&1 | tee "$build/build.log" |
      while IFS= read -r line; do
        case "$line" in \[*%\]*) printf '\r\033[K%.100s' "$line" ;; esac
      done
    local status=${PIPESTATUS[0]}
    printf '\r\033[K'
    [ "$status" -eq 0 ] || {
      tail -n 40 "$build/build.log" >&2
      fail "The build failed (whole log: $build/build.log)"
    }
  else
    quietly "$build/build.log" cmake --build "$build" -j "$jobs" "${target_arguments[@]}"
  fi
  [ $((SECONDS - started)) -lt 5 ] || say "Built in $((SECONDS - started)) s"
}
