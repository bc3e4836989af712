#!/usr/bin/env bash
# What holds if a submission gets past the rules on its text and symbols: the system-call filter.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

# wall NAME EXPECTED: a kernel with standard input in its hole, without the rules.
wall() {
  "$lab" new 1 "$work/$1" >"$work/new"
  fill_hole "$(file_of "$work/$1")"
  "$lab" check "$work/$1" --without-rules --no-gpu --seconds-per-run 2 --json "$work/json" >"$work/out" || true
  if grep -q '"shut_off":false' "$work/json"; then
    echo "no system-call filter here"
    exit 0
  fi
  grep -qE -- "$2" "$work/out" || complain "$1: expected '$2', and got: $(cat "$work/out")"
  grep -q '"score":0' "$work/json" || complain "$1 has points"
}

stopped='asked the system for what no kernel needs'
wall process "$stopped" <<<"  std::system(\"touch $work/was_here\");"
wall file 'single-token' <<<"  if (auto* file = std::fopen(\"$work/was_here\", \"w\")) std::fclose(file);"
wall exit 'ended itself \(exit status 0\)' <<<'  std::_Exit(0);'
if [ "$(uname -m)" = x86_64 ]; then
  call='long r; asm volatile("syscall" : "=a"(r) : "0"(%s), "D"(%s), "S"(%s), "d"(0L) : "rcx", "r11", "memory");'
  # shellcheck disable=SC2059  # the format is above
  wall network "$stopped" < <(printf "  $call" 41L 2L 1L)
  # shellcheck disable=SC2059
  wall signal "$stopped" < <(printf "  $call" 62L "$$" 9L)
fi
[ ! -e "$work/was_here" ] || complain "a file was written"
finish
