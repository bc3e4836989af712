#!/usr/bin/env bash
# A first attempt at lab 2 that forgets to add up over the lanes of a group, and what it is told.
# Usage: bash walkthroughs/labs/example_first_attempt.sh [build/bin/paged_lab]
set -euo pipefail
case "${1:-}" in
  -*) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0" && exit 0 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
lab=$(realpath "${1:-$here/../../build/bin/paged_lab}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$lab" new 2 my_lab --solution >/dev/null
sed -i 's/dot = warp_sum<Groups::kGroupSize>(dot);.*/;/' my_lab/kernels/thread_group_qk.cuh
"$lab" check my_lab --hint 1 --no-gpu | sed 's/ (built in .*//' # seconds differ each time
