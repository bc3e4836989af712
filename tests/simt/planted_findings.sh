#!/usr/bin/env bash
# What finds planted mistakes: the CPU machine here, compute-sanitizer's four tools on the GPU. Runs
# every planted kernel and its clean look-alikes under each, and writes a table in Markdown.
# Usage: bash tests/simt/planted_findings.sh PROGRAM TABLE.md [LOGS_DIRECTORY]
#   PROGRAM: build/bin/planted_findings of a build with CUDA
# Exit status: 1 if the CPU machine missed a mistake or found one where there is none.
set -euo pipefail
program="${1:?usage: bash tests/simt/planted_findings.sh PROGRAM TABLE.md [LOGS_DIRECTORY]}"
table="${2:?the second argument is the table to write}"
logs="${3:-$(mktemp -d)}"
mkdir -p "$logs"
seconds=20 # a kernel that waits for ever
for tool in "$program" compute-sanitizer; do
  command -v "$tool" >/dev/null || {
    echo "planted_findings.sh: there is no $tool" >&2
    exit 2
  }
done

# What a tool says: a word and the source lines that it names.
verdict() { # LOG STATUS TOOL
  local log=$1 status=$2
  # racecheck counts hazards, the others errors; a failed launch is none of the tool's own findings.
  local errors
  errors=$(sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p;s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' \
    "$log" | tail -n 1)
  local kind
  kind=$(sed -n 's/^========= \(Invalid [_a-z]* [a-z]*\|Error: .*hazard\|Warning: .*hazard\|Uninitialized [_a-z]* memory read\|Barrier error[^.]*\|.*Stack overflow.*\|.*[Rr]ace reported\).*/\1/p' \
    "$log" | head -n 1)
  if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    echo "hangs (${seconds} s)${errors:+, $errors errors}"
  elif [ "${errors:-0}" != 0 ]; then
    echo "found${kind:+: $kind}"
  elif [ "$status" != 0 ]; then
    echo "fails, unexplained"
  else
    echo "-"
  fi
}

# Tries one kernel with everything: its row of the table, and its exit status beside it.
try() { # NUMBER NAME KIND
  local place name=$2 kind=$3
  place="$logs/$(printf '%03d' "$1")"
  echo 0 >"$place.status"
  timeout -k 5 "$seconds" "$program" --cpu "$name" >"${place}_cpu.txt" 2>&1 </dev/null || echo 1 >"$place.status"
  local cpu
  cpu=$(sed -n 's/^\([a-z -]*\) at \([^ ]*:[0-9]*\) in.*/\1, \2/p;t;s/^\([a-z -]*\) in [^:]*:.*/\1/p' "${place}_cpu.txt" |
    paste -sd ';')
  case "$kind" in
  clean*) [ -z "$cpu" ] || echo 1 >"$place.status" ;;
  *) [[ "$cpu" == "$kind"* ]] || echo 1 >"$place.status" ;;
  esac
  local row="| $name | $kind | ${cpu:--} |" tool
  for tool in memcheck racecheck initcheck synccheck; do
    local log="${place}_$tool.txt" options=() tool_status=0
    [ "$tool" = racecheck ] && options=(--racecheck-report all)
    timeout -k 5 "$seconds" compute-sanitizer --tool "$tool" "${options[@]}" "$program" "$name" \
      >"$log" 2>&1 </dev/null || tool_status=$?
    row+=" $(verdict "$log" "$tool_status") |"
  done
  echo "$row" >"$place.row"
}
export -f try verdict
export program logs seconds

"$program" --list >"$logs/list.txt"
# Several at a time: each is a process of its own, and most of its time is starting up.
number=0
while IFS=$'\t' read -r name kind; do
  number=$((number + 1))
  printf '%s\0%s\0%s\0' "$number" "$name" "$kind"
done <"$logs/list.txt" | xargs -0 -n 3 -P 4 bash -c 'try "$0" "$1" "$2"'
{
  echo "| planted kernel | kind | CPU machine | memcheck | racecheck | initcheck | synccheck |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
  cat "$logs"/*.row
} >"$table"
missed=$(cat "$logs"/*.status | grep -c 1 || true)
echo "planted_findings.sh: $(wc -l <"$logs/list.txt") kernels, $missed not as planted on the CPU machine;" \
  "table in $table, logs in $logs"
[ "$missed" -eq 0 ]
