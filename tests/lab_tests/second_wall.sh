#!/usr/bin/env bash
# What holds if a submission gets past the rules on its text and symbols: the system-call filter.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

# try NAME: a kernel with standard input in its hole, without the rules. Side by side with others.
try() {
  "$lab" new 1 "$work/$1" >"$work/new"
  fill_hole "$(file_of "$work/$1")"
  "$lab" check "$work/$1" --without-rules --one-kernel --no-gpu --seconds-per-run 2 --json "$work/$1.json" \
    >"$work/$1.out" &
}

# expect_wall NAME EXPECTED
expect_wall() {
  if grep -qE '"shut_off": *false' "$work/$1.json"; then
    echo "no system-call filter here"
    exit 0
  fi
  grep -qE -- "$2" "$work/$1.out" || complain "$1: expected '$2', and got: $(cat "$work/$1.out")"
  grep -q '^0 of 100 points' "$work/$1.out" || complain "$1 has points"
}

stopped='asked the system for what no kernel needs'
# The file is refused, and the process the end of it.
try process <<<"  if (auto* file = std::fopen(\"$work/was_here\", \"w\")) std::fclose(file);
  std::system(\"touch $work/was_here\");"
names="process"
if [ "$(uname -m)" = x86_64 ]; then # socket(AF_INET, SOCK_STREAM, 0)
  try network <<<'  long r; asm volatile("syscall" : "=a"(r) : "0"(41L), "D"(2L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");'
  names="$names network"
fi
# Not of the wall, but of what is handed over through it: ours is closed, as cron's may be.
"$lab" new 1 "$work/closed" --solution >"$work/new"
"$lab" check "$work/closed" --no-gpu >"$work/closed.out" 2>"$work/closed.err" <&- &
wait
grep -q '^100 of 100 points' "$work/closed.out" ||
  complain "standard input is closed: expected all points, and got: $(cat "$work/closed".{out,err})"
for name in $names; do expect_wall "$name" "$stopped"; done
[ ! -e "$work/was_here" ] || complain "a file was written"
finish
