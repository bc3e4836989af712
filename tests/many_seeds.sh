#!/usr/bin/env bash
# `paged check` over many seeds, as many at a time as there are processors: a correct stage must keep its
# promises whatever the numbers are. Says how many were tried, and which were not as stated.
# Usage: bash tests/many_seeds.sh PAGED FIRST LAST [--seconds N] [options of paged check, e.g. --unchecked]
#   PAGED: build/bin/paged; with --seconds no seed is begun after so long
# Exit status: 0 all as stated, 1 some not, 2 the seconds were over first.
set -euo pipefail
[ $# -ge 3 ] || {
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
}
paged=$1 first=$2 last=$3
shift 3
export END=0
if [ "${1:-}" = --seconds ]; then
  END=$(($(date +%s) + $2))
  shift 2
fi
results=$(mktemp -d)
trap 'rm -r "$results"' EXIT
started=$SECONDS

# One seed on one processor, which is quicker for many seeds than all processors for one.
check() { # RESULTS PAGED SEED OPTIONS...
  local results=$1 paged=$2 seed=$3 status=0 processors
  # Those that this process may use, which need not begin at 0.
  mapfile -t processors < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
    awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); ++i) print i }')
  shift 3
  if [ "$END" -ne 0 ] && [ "$(date +%s)" -ge "$END" ]; then return; fi
  taskset -c "${processors[SLOT]}" "$paged" check --seed "$seed" "$@" >"$results/$seed" 2>&1 || status=$?
  echo "$seed $status" >>"$results/done"
  [ "$status" -ne 0 ] || rm "$results/$seed"
}
export -f check
touch "$results/done"
seq "$first" "$last" |
  xargs -P "$(nproc)" --process-slot-var=SLOT -I SEED bash -c 'check "$@"' _ "$results" "$paged" SEED "$@"

done=$(wc -l <"$results/done")
failed=$(awk '$2 != 0' "$results/done" | wc -l)
echo "$done of $((last - first + 1)) seeds from $first on in $((SECONDS - started)) s: $((done - failed)) as stated, $failed not"
for seed in $(awk '$2 != 0 {print $1}' "$results/done" | sort -n | head -n 5); do
  echo "== seed $seed"
  grep -v ' held$\| as stated$' "$results/$seed" | head -n 12
done
[ "$failed" -eq 0 ] || exit 1
[ "$done" -eq $((last - first + 1)) ] || exit 2
