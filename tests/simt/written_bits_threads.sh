#!/bin/bash
# Compiles written_bits_threads.cpp with ThreadSanitizer and runs it: right, and with plain accesses, which it must
# report. Skipped (77) where there is no ThreadSanitizer, or where it cannot start.
#   written_bits_threads.sh COMPILER SOURCE_ROOT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$folder/written_bits_threads
if ! "$1" -std=c++20 -O1 -g1 -fsanitize=thread -I"$2" "$2/tests/simt/written_bits_threads.cpp" -o "$program" \
    2> "$folder/errors"; then
  cat "$folder/errors"
  # It may lack the library, or not know the option for what it compiles for.
  grep -qE "tsan|(unsupported|unrecognized).*(option|argument).*(-fsanitize|thread)" "$folder/errors" || exit 1
  echo "skipped: the compiler has no ThreadSanitizer"
  exit 77
fi
# It has fixed places for its memory, which a random layout of the address space may take.
run() { setarch -R "$program" "$@" > "$folder/output" 2>&1 || return $?; }
status=0
run || status=$?
if grep -q "FATAL: ThreadSanitizer\|setarch" "$folder/output"; then
  cat "$folder/output"
  echo "skipped: ThreadSanitizer does not start here"
  exit 77
fi
cat "$folder/output"
if [ $status != 0 ] || grep -q "WARNING: ThreadSanitizer" "$folder/output"; then
  exit 1
fi
run plainly || true
if ! grep -q "WARNING: ThreadSanitizer: data race" "$folder/output"; then
  echo "plain accesses to the same bits are not reported: this shows nothing"
  exit 1
fi
