#!/usr/bin/env bash
# Every lab: its starter fails at the invariant that it should, and is told why; the source's own
# solution has full points.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"

for name in 01 02 03 04 05; do
  "$lab" new "$name" "$work/starter_$name" >"$work/new"
done
for name in 02 03 04 05; do # that of 01 is tried among the hostile submissions
  "$lab" new "$name" "$work/solution_$name" --solution >"$work/new"
done
# All can be made: their mistakes are still where they were. That the harness catches what is of the
# zoo, the zoo's tests show.
for bug in wrong-result race nan hang history; do
  "$lab" new "bug-$bug" "$work/bug_$bug" >"$work/new"
done
grade "$work"/starter_* "$work"/solution_* "$work"/bug_hang "$work"/bug_history "$work"/bug_race
expect starter_01 '^  0 of 100 .*The hole .* is still as it was given: .*single-token on .*: '
expect starter_02 '^  0 of 100 .*reference on .*: .*'
expect starter_03 '^  0 of 100 .*single-token on .*: '
expect starter_04 '^  0 of 100 .*single-token on .*: .* is 0'
expect starter_05 '^  0 of 100 .*partition-invariance on .*: '
for name in 02 03 04 05; do
  expect "solution_$name" '^100 of 100 '
done
expect bug_race '^  0 of 100 .*The files are still as they were given.*no-race on .*: data race at reduction.cuh'
expect bug_hang '^  0 of 100 .*no-barrier-divergence on .*: '
expect bug_history '^  5 of 100 .*alibi on .*: '

# A hint for a cause that there is not is found when the lab's file is read, and so is what was
# meant.
labs="$(dirname "$0")/../../walkthroughs/labs"
for rubric in "$labs"/*.json; do
  "$lab" read "$rubric" >"$work/said" 2>&1 || complain "$rubric: $(cat "$work/said")"
done
sed 's/cause: k-scale/cause: k-scales/' "$labs/02_thread_group_qk.json" >"$work/02_thread_group_qk.json"
! "$lab" read "$work/02_thread_group_qk.json" >"$work/said" 2>&1 || complain "no cause is looked up"
grep -qE "for' has 'cause: k-scales', which is no likely cause; did you mean k-scale" "$work/said" ||
  complain "a misspelt cause: $(cat "$work/said")"
finish
