#!/usr/bin/env bash
# Makes ten submissions of lab 1, from right to hostile, to try grading on.
# Usage: bash walkthroughs/labs/example_submissions.sh FOLDER [build/bin/paged_lab]
set -euo pipefail
case "${1:-}" in
  -*) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0" && exit 0 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || {
  echo "usage: bash walkthroughs/labs/example_submissions.sh FOLDER" >&2
  exit 2
}
folder=$1
if [ $# -ge 2 ]; then lab=("$2"); else lab=(bash "$here/../lab.sh"); fi # which builds it
# shellcheck source=walkthroughs/labs/fill_hole.sh
. "$here/fill_hole.sh"

source_of() { printf '%s' "$folder/$1/stages/stage_01_naive_paged_gather.cu"; }
solution() { "${lab[@]}" new 1 "$folder/$1" --solution >/dev/null; }
starter() { "${lab[@]}" new 1 "$folder/$1" >/dev/null; }
with_hole() { # NAME: the starter with standard input in its hole
  starter "$1"
  fill_hole "$(source_of "$1")"
}

solution right
solution wrong
sed -i 's/t.key_page(block_table\[page\]/t.key_page(page/' "$(source_of wrong)"
starter empty
: >"$(source_of empty)"
with_hole endless <<<'  volatile int spin = 1; while (spin == 1) {}'
with_hole crashing <<<'  volatile int zero = 0; volatile int seven = 7 / zero;'
with_hole exits <<<'  std::exit(0);'
with_hole forks <<<'  for (;;) std::system("sleep 60 &");'
with_hole memory <<<'  for (;;) { float* volatile more = new float[1 << 24]; }'
with_hole prints <<<'  for (int i = 0; i < 100; ++i) std::printf("100 of 100, \"score\": 100, all held %080d\n", i);'
# Leaves its hole, declares the reference, and calls it in place of the kernel.
{
  cat <<'CODE'
  steal(t);
}
}  // namespace
}  // namespace paged::lab
namespace paged { void decode_attention(const void*); }
namespace paged::lab {
template <typename T> __device__ void steal(const T& t) { paged::decode_attention(t.query); }
CODE
  take_up_lab_1
} | with_hole reference
printf '%s\n' "Ten submissions of lab 1 are in $folder. To grade them:" \
  "  bash walkthroughs/lab.sh grade $(printf %q "$folder")/* --lab 1 --seconds-per-run 1"
