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

{
  echo "| planted kernel | kind | CPU machine | memcheck | racecheck | initcheck | synccheck |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
} >"$table"
status=0
"$program" --list >"$logs/list.txt"
number=0
while IFS=$'\t' read -r name kind; do
  number=$((number + 1))
  cpu_log="$logs/$(printf '%03d' "$number")_cpu.txt"
  timeout -k 5 "$seconds" "$program" --cpu "$name" >"$cpu_log" 2>&1 </dev/null || status=1
  cpu=$(sed -n 's/^\([a-z -]*\) at \([^ ]*:[0-9]*\) in.*/\1, \2/p;t;s/^\([a-z -]*\) in [^:]*:.*/\1/p' "$cpu_log" |
    paste -sd ';')
  case "$kind" in
  clean*) [ -z "$cpu" ] || status=1 ;;
  *) [[ "$cpu" == "$kind"* ]] || status=1 ;;
  esac
  row="| $name | $kind | ${cpu:--} |"
  for tool in memcheck racecheck initcheck synccheck; do
    log="$logs/$(printf '%03d' "$number")_$tool.txt"
    options=()
    [ "$tool" = racecheck ] && options=(--racecheck-report all)
    tool_status=0
    timeout -k 5 "$seconds" compute-sanitizer --tool "$tool" "${options[@]}" "$program" "$name" \
      >"$log" 2>&1 </dev/null || tool_status=$?
    row+=" $(verdict "$log" "$tool_status") |"
  done
  echo "$row" >>"$table"
done <"$logs/list.txt"
echo "planted_findings.sh: $number kernels; table in $table, logs in $logs"
exit $status
