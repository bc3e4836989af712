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
  if grep -qE '"shut_off": *false' "$work/json"; then
    echo "no system-call filter here"
    exit 0
  fi
  grep -qE -- "$2" "$work/out" || complain "$1: expected '$2', and got: $(cat "$work/out")"
  grep -q '^0 of 100 points' "$work/out" || complain "$1 has points"
}

stopped='asked the system for what no kernel needs'
wall process "$stopped" <<<"  std::system(\"touch $work/was_here\");"
wall file 'single-token' <<<"  if (auto* file = std::fopen(\"$work/was_here\", \"w\")) std::fclose(file);"
if [ "$(uname -m)" = x86_64 ]; then # socket(AF_INET, SOCK_STREAM, 0)
  wall network "$stopped" <<<'  long r; asm volatile("syscall" : "=a"(r) : "0"(41L), "D"(2L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");'
fi
[ ! -e "$work/was_here" ] || complain "a file was written"
finish
