#!/usr/bin/env bash
# Grades the ten example submissions.
# Usage: bash walkthroughs/labs/example_grading.sh [build/bin/paged_lab]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lab=${1:-$here/../../build/bin/paged_lab}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bash "$here/example_submissions.sh" "$folder" "$lab" >/dev/null
"$lab" grade "$folder"/* --seconds-per-run 1
