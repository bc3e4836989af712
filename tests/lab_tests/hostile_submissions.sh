#!/usr/bin/env bash
# A course's worst: each gets the points for what it has shown, none of them harms anything, and one
# line says what it was.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"

bash "$(dirname "$0")/../../walkthroughs/labs/example_submissions.sh" "$work/s" "$lab" >"$work/said"
grep -qF "lab.sh grade $work/s/* --lab 1" "$work/said" || complain "not said how to grade: $(cat "$work/said")"

# More that is told by its text, or soon after, and costs little to try.
folder=""
submission() { # NAME: the starter of lab 1, in $folder
  folder="$work/s/$1"
  "$lab" new 1 "$folder" >"$work/new"
}
hole() { # NAME: a submission with standard input in its hole
  submission "$1"
  fill_hole "$(file_of "$folder")"
}
submission missing
rm "$(file_of "$folder")"
submission link
ln -sf /etc/passwd "$(file_of "$folder")"
submission two_files
mkdir "$folder/copy"
mv "$(file_of "$folder")" "$folder/copy/"
cp -r "$folder/copy" "$folder/other"
submission download
mv "$(file_of "$folder")" "$folder/stage_01_naive_paged_gather (1).cu"
# A zip, unpacked into a folder of its own; and what a Mac puts beside it.
hole nested <<<'  float logit = ;'
mv "$folder" "$work/my_lab"
mkdir -p "$folder/__MACOSX/my_lab"
mv "$work/my_lab" "$folder"
cp "$(file_of "$folder/my_lab")" "$folder/__MACOSX/my_lab"
submission huge
head -c 1000000 /dev/zero >>"$(file_of "$folder")"
hole syntax <<<'  float logit = ;'
hole includes <<<'#include "/etc/passwd"'
hole unwatched <<<'  auto f = [] __attribute__((no_sanitize("thread"))) () {};'
hole assembly <<<'  asm("");'
hole atomics <<<'  atomicAdd(weights, 1.0F);'
hole of_host <<<'  std::vector<float> mine(8);'
hole floods <<<'  for (;;) printf("0123456789012345678901234567890123456789\n");'
hole throws <<<'  throw 1;'
long_name=one_whose_name_is_longer_than_any_column_of_a_table
hole "$long_name" <<<'  asm("");'

grade "$work"/s/* --seconds-per-run 1 --json "$work/json" --gradescope "$work/gradescope"
expect right '^100 of 100 '
expect wrong '^  0 of 100 .*single-token on .*: uninitialised read at stage_01_naive_paged_gather.cu:[0-9]+ '
expect empty '^  0 of 100  empty +stage_01_naive_paged_gather.cu is empty$'
expect endless '^  0 of 100 .*did not come to an end within 1 s: an endless loop, or much too slow\?'
expect crashing '^  0 of 100 .*division of whole numbers by zero'
expect exits '^  0 of 100 .*stage_01_naive_paged_gather.cu, line [0-9]+: it uses exit, which a kernel has no need of'
expect forks '^  0 of 100 .*gather.cu, line [0-9]+: it uses system, '
expect memory '^  0 of 100 .*out of its 1024 MiB of memory'
expect prints '^  0 of 100 .*single-token on .*: '
expect reference '^  0 of 100 .*gather.cu, line [0-9]+: it uses paged::decode_attention'
expect missing '^  0 of 100 .*has no file stage_01_naive_paged_gather.cu; it '
expect link '^  0 of 100 .*gather.cu is a link, and no regular file of the submission'
expect two_files '^  0 of 100 .*more than once: copy/.*gather.cu, other/.*gather.cu; if this is a folder of submissions, name them: two_files/\*'
expect download "^  0 of 100 .*'stage_01_naive_paged_gather .1..cu' is not taken for it: rename it"
expect nested '^  0 of 100 .*it does not compile'
expect huge '^  0 of 100 .*has more than 256 KB'
expect syntax '^  0 of 100 .*it does not compile'
expect includes '^  0 of 100 .*line [0-9]+: a submission may not use preprocessor directives'
expect unwatched '^  0 of 100 .*may not use attributes'
expect assembly '^  0 of 100 .*may not use assembly'
expect atomics '^  0 of 100 .*gather.cu, line [0-9]+: atomic operations are not allowed'
expect of_host '^  0 of 100 .*line [0-9]+: a submission may not use std::vector, which takes memory of the host'
expect floods '^  0 of 100 .*did not come to an end within 1 s: it prints without end'
expect throws '^  0 of 100 .*line [0-9]+: a submission may not use exceptions: a kernel cannot throw'
expect "$long_name" '^  0 of 100 .*may not use assembly'
expect syntax 'it does not compile: .*stage_01_naive_paged_gather.cu:[0-9]+:[0-9]+: error: '

# Nothing is cut, and every line has at most 100 columns.
expect wrong 'block \(0,0,0\), thread \(0,0,0\) \(warp 0, lane 0\)'
! grep -n '\.\.\.$' "$work/wrapped" || complain "these are cut"
! grep -nE '^.{101}' "$work/wrapped" || complain "these are too long"

# The labs' page quotes this: its ten submissions are among these.
page="$(dirname "$0")/../../walkthroughs/labs/README.md"
sed -n '/^\$ bash .*example_grading.sh/,/^```$/p' "$page" | sed '1d;$d' >"$work/quoted"
[ "$(grep -c ' of 100  ' "$work/quoted")" -eq 10 ] || complain "$page does not quote ten submissions"
while IFS= read -r line; do
  grep -qxF -- "$line" "$work/wrapped" || complain "$page quotes what is not said: $line"
done <"$work/quoted"

# What programs read says the same.
[ "$(grep -c '"submission":' "$work/json")" -eq 25 ] || complain "the JSON has not all submissions"
for name in right wrong; do
  for key in score max_score tests output execution_time; do
    grep -q "\"$key\":" "$work/gradescope/$name.json" || complain "Gradescope's $name has no $key"
  done
done
grep -q '^  "score": 100' "$work/gradescope/right.json" || complain "Gradescope's right has not 100"
grep -q '^  "score": 0' "$work/gradescope/wrong.json" || complain "Gradescope's wrong has not 0"

says() { # NAME TEXT: Gradescope's file of NAME has it
  grep -qF -- "$2" "$work/gradescope/$1.json" || complain "Gradescope's $1 does not say '$2'"
}
says syntax '"output": "not tried: it does not compile: '
says syntax 'error: expected primary-expression before'
[ "$(grep -c 'does not compile' "$work/gradescope/syntax.json")" -eq 2 ] || complain "the same is said of every step"
says missing '"output": "not tried: the submission has no file stage_01_naive_paged_gather.cu; it '
says wrong '"output": "not tried: one before it failed"'
says right 'worked-example-3-address-walk, global load requests: '
# What it printed only the lecturer's file has, and not all of it: students see the other.
grep -q '"printed": "100 of 100, .*more bytes)' "$work/json" || complain "the JSON has not what was printed"
! grep -qE 'all held|printed' "$work/gradescope/prints.json" || complain "students see what was printed"

# Paths that are mistyped.
! "$lab" grade "$work/s/none" --lab 1 2>"$work/error" || complain "nothing was graded"
grep -q "there is no '.*/none' to grade" "$work/error" || complain "a path of nothing: $(cat "$work/error")"
! "$lab" grade "$work/s/link" "$work/s/huge" --gradescope "$work/results.json" 2>"$work/error" ||
  complain "a folder is named as a file"
grep -q "results.json' is to be a folder" "$work/error" || complain "a folder's name: $(cat "$work/error")"

# The page's run_autograder draws another seed each time, and says it to the lecturer.
sed -n '/^\*\*Gradescope\.\*\*/,/^The seed/s/^    //p' "$page" |
  sed 's|bash /autograder/lab/walkthroughs/lab.sh|echo|' >"$work/run_autograder"
for _ in 1 2; do
  bash "$work/run_autograder" >"$work/said"
  seed=$(sed -n 's/^seed \([0-9]\{1,\}\)$/\1/p' "$work/said")
  grep -qF "grade /autograder/submission --lab 2 --seed ${seed:-none} --gradescope " "$work/said" ||
    complain "the page's run_autograder has no seed: $(cat "$work/said")"
  [ "$seed" != "${last_seed:-}" ] || complain "the page's run_autograder has the same seed twice"
  last_seed=$seed
done
"$lab" grade "$work/s/syntax" --seed "$seed" >"$work/said" || complain "$seed is no seed"

# Another lab than the one that was handed in.
[ ! -s "$work/warnings" ] || complain "there is a warning: $(cat "$work/warnings")"
grade "$work/s/missing" "$work/s/link" --lab 2 --json "$work/json"
expect missing '^  0 of 100 .*its lab.txt says 01_page_walk, but it was tried as 02_thread_group_qk'
grep -q 'warning: 2 of 2 submissions were graded as 02_thread_group_qk' "$work/warnings" ||
  complain "no warning that the labs differ: $(cat "$work/warnings")"
grep -q '"other_lab": "01_page_walk"' "$work/json" || complain "the JSON does not say that the labs differ"
echo 2 >"$work/s/missing/lab.txt"
grade "$work/s/missing" --lab 2
[ ! -s "$work/warnings" ] || complain "a lab's number is warned of: $(cat "$work/warnings")"
finish
