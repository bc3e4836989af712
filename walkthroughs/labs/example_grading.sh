#!/usr/bin/env bash
# Grades the ten example submissions.
# Usage: bash walkthroughs/labs/example_grading.sh [build/bin/paged_lab]
set -euo pipefail
case "${1:-}" in
  -*) sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0" && exit 0 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
lab=${1:-$here/../../build/bin/paged_lab}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bash "$here/example_submissions.sh" "$folder" "$lab" >/dev/null
"$lab" grade "$folder"/* --seconds-per-run 1
