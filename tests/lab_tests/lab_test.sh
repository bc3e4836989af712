# shellcheck shell=bash
# Sourced by the tests of the labs. Expects the program paged_lab as $1.
set -euo pipefail
lab=$(realpath "$1")
work=$(mktemp -d)
results="$(dirname "$lab")/../labs/results" # what checks remember
# Nothing is left, so that tests push no student's results out.
leave_nothing() {
  { grep -lsF "$work/" "$results"/*.json || true; } | xargs -r rm -f
  rm -rf "$work" "$results"/of-a-test-*.json
}
trap leave_nothing EXIT
failures=0

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# The file that a student of the lab in folder $1 works on: the only one, or the one named $2.
file_of() { find "$1" -name "${2:-*.cu*}" | head -n 1; }

# shellcheck source=walkthroughs/labs/fill_hole.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../walkthroughs/labs/fill_hole.sh"

# Edits a file by sed; complains if that changes nothing.
edit() {
  local before
  before=$(cksum <"$1")
  sed -i "$2" "$1"
  [ "$before" != "$(cksum <"$1")" ] || complain "the edit '$2' changes nothing in $1: mend the test"
}

# Grades folders and remembers the entries, each on one line.
# --one-kernel: for those that are stopped by what more kernels (types and sizes) have nothing to do
# with.
grade() { # what standard error says is in $work/warnings
  "$lab" grade "$@" 2>"$work/warnings" >"$work/wrapped" || complain "grading failed: $(cat "$work/warnings")"
  grades=$(awk '/^ *[0-9]+ of [0-9]+ / { if (NR > 1) print entry; entry = $0; next }
    { sub(/^ +/, " "); entry = entry $0 } END { print entry }' "$work/wrapped" | tee "$work/grades")
}

# Complains unless the submission $1 was graded with a line that matches $2.
expect() {
  local line
  line=$(grep -E "^ *[0-9]+ of [0-9]+  $1( |\$)" "$work/grades") || line="nothing"
  grep -qE -- "$2" <<<"$line" || complain "$1: expected '$2', and got: $line"
}

finish() {
  [ "$failures" -eq 0 ] || {
    printf '%s\n' "$failures failures; all grades:" "$grades"
    exit 1
  }
}
