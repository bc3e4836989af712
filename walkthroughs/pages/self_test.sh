#!/usr/bin/env bash
# The program `pages` on a small tree of its own: it fills blocks, sees what went stale, and names the
# place of every mistake.
# Usage: self_test.sh PAGES
set -euo pipefail
pages="$1"
tree=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -r "$tree"' EXIT
mkdir "$tree/folder"
page="$tree/folder/page.md"
run() { "$pages" --root "$tree" "$@"; }

cat >"$tree/source.cu" <<'SOURCE'
int before;
  // [outer]
  int one;
  // [inner]
    int two;
  // [/inner]

#pragma unroll
  int three;
  // [/outer]
int after;
SOURCE
cat >"$tree/results.json" <<'RESULTS'
{"device": "A", "commit": "c", "method": "by hand", "results": [
  {"shape": "1 x 1k", "variant": "v1", "us": 33.51, "type": "f16"},
  {"shape": "1 x 1k", "variant": "v2", "us": 1234.5, "type": "f16"},
  {"shape": "8 x 1k", "variant": "v2", "us": 1.25, "type": "f16"},
  {"shape": "1 x 1k", "variant": "v1", "us": 7, "type": "e4m3"}]}
RESULTS
cat >"$page" <<'PAGE'
# A page

<!-- code: source.cu outer -->
<!-- end -->

<!-- run: cat source.cu | head -n 1; echo "to stderr" >&2; false -->
<!-- end -->

<!-- run lines=2-3: seq 5 -->
<!-- end -->

<!-- measured: results.json type=f16 shape=1_x_1k,8_x_1k rows=shape columns=variant value=us -->
<!-- end -->

<!-- mutants: zoo -->
another program's
<!-- end -->
PAGE
cat >"$tree/expected.md" <<'PAGE'
# A page

<!-- code: source.cu outer -->

From [source.cu](../source.cu):

```cpp
int one;
  int two;

#pragma unroll
int three;
```

<!-- end -->

<!-- run: cat source.cu | head -n 1; echo "to stderr" >&2; false -->

```console
$ cat source.cu | head -n 1; echo "to stderr" >&2; false
int before;
to stderr
[exit status 1]
```

<!-- end -->

<!-- run lines=2-3: seq 5 -->

```console
$ seq 5
...
2
3
...
```

<!-- end -->

<!-- measured: results.json type=f16 shape=1_x_1k,8_x_1k rows=shape columns=variant value=us -->

| shape | v1 | v2 |
| --- | --- | --- |
| 1 x 1k | 33.5 | 1234 |
| 8 x 1k | - | 1.2 |

us by variant; A, commit c; by hand ([results.json](../results.json))

<!-- end -->

<!-- mutants: zoo -->
another program's
<!-- end -->
PAGE

fail() {
  printf '%s\n' "$@"
  exit 1
}
# Runs pages, which must end with this status and say this.
expect() { # STATUS TEXT ARGUMENTS...
  local status=0 output
  output=$(run "${@:3}" 2>&1) || status=$?
  [ "$status" -eq "$1" ] || fail "exit status $status, not $1, of ${*:3}" "$output"
  [[ "$output" == *"$2"* ]] || fail "'$2' is missing in what ${*:3} says:" "$output"
}

expect 1 "folder/page.md:4: the block 'code: source.cu outer' of line 3 says" --check "$page"
expect 0 "" --write "$page"
diff "$tree/expected.md" "$page" || fail "blocks are filled otherwise"
expect 0 "" --check "$page"
expect 0 "" --write "$page"
diff "$tree/expected.md" "$page" || fail "a second time changes the page"

sed -i 's/int two/int second/' "$tree/source.cu"
expect 1 "folder/page.md:9: the block 'code: source.cu outer' of line 3 says
    int two;
and should say
    int second;" --check "$page"
expect 1 "build/bin/pages --write folder/page.md" --check "$page"

# Numbers of the page's own sentences.
said() { # STATUS TEXT WHAT THE PAGE SAYS, AND THE MARK
  printf '<!-- run: echo 3 rows, 1.1117 times, limit = 10 -->\n%s\n<!-- end -->\n\n%s\n' \
    "$(printf '\n```console\n$ echo 3 rows, 1.1117 times, limit = 10\n3 rows, 1.1117 times, limit = 10\n```\n\n')" "$3" >"$page"
  "$pages" --root "$tree" --write "$page"
  expect "$1" "$2" --check "$page"
}
said 0 "" $'There are `3 rows`: 1.11 times, or\n1 times; 10 s at most.\n\n<!--said 3 rows | 1.11 times | 1 times | limit = 10 => 10 s-->'
said 1 "folder/page.md:11: '4 rows' does not stand in the block before it (of line 1)" $'4 rows.\n<!--said 4 rows-->'
said 0 "" $'A factor of 1.112 times.\n<!--said 1.112 times-->'
said 1 "'1.111 times' does not stand" $'1.111 times.\n<!--said 1.111 times-->'
said 1 "'1.12 times' does not stand" $'1.12 times.\n<!--said 1.12 times-->'
said 1 "'1.111700 times' does not stand" $'1.111700 times.\n<!--said 1.111700 times-->'
said 1 "'2 times' does not stand" $'2 times.\n<!--said 2 times-->'
said 1 "'row' does not stand" $'A row.\n<!--said row-->'
said 1 "'imit = 10' is not said" $'The limit = 10.\n<!--said imit = 10-->'
for longer in 13 .3 1,3 -3 1.3; do
  said 1 "'3 rows' is not said on the page" "There are $longer rows."$'\n<!--said 3 rows-->'
done
for nothing in '<!--said-->' '<!--said -->' '<!--said 3 rows | -->' '<!--said | 3 rows-->' '<!--said => 3 rows-->' \
  '<!--said 3 rows =>-->'; do
  said 1 "says nothing" "There are 3 rows."$'\n'"$nothing"
done
said 1 "'11 times' does not stand" $'11 times.\n<!--said 11 times-->'
said 1 "'limit = 1' does not stand" $'1 s.\n<!--said limit = 1 => 1 s-->'
said 1 "'3 rows' is not said on the page" $'Some rows.\n<!--said 3 rows-->'
said 1 "'20 s' has a number that 'limit = 10' has not" $'20 s.\n<!--said limit = 10 => 20 s-->'
rounds() { # STATUS, WHAT A RUN PRINTS, WHAT IS SAID
  printf '<!-- run: echo %s x -->\n<!-- end -->\n\nIt is %s x.\n<!--said %s x-->\n' "$2" "$3" "$3" >"$page"
  run --write "$page"
  expect "$1" "" --check "$page"
}
rounds 0 9.996 10.00
rounds 0 9.996 10
rounds 1 9.996 9
rounds 0 0.125 0.13
rounds 0 99.5 100
rounds 0 4.7706e-05 4.77e-05
rounds 1 4.7706e-05 4.77e-06
rounds 1 1179 179
rounds 1 1.179 179
rounds 1 1,179 179
rounds 1 -179 179
printf '<!-- run: echo 3 rows -->\n<!-- end -->\n3 rows\n<!--said 3 rows\n' >"$page"
expect 2 "folder/page.md:4: '<!--said 3 rows' does not end in '-->'" --check "$page"
printf '<!-- run: echo 3 rows -->\n\n3 old rows\n\n<!-- end -->\n<!-- code: source.cu inner -->\n<!-- end -->\n' >"$page"
expect 1 "folder/page.md:7: the block 'code" --check "$page" --without-runs-of "echo 3"
expect 1 "folder/page.md:3: the block 'run" --check "$page" --without-runs-of "echo 4"
printf '<!--said 3 rows-->\n<!-- run: echo 3 rows -->\n<!-- end -->\n' >"$page"
expect 2 "folder/page.md:1: there is no block before it" --check "$page"

# One mistake in a page of one block, and what is said about it.
expect_mistake() { # BLOCK'S FIRST LINE, TEXT
  printf 'text\n%s\n<!-- end -->\n' "$1" >"$page"
  expect 2 "$2" --check "$page"
}
expect_mistake '<!-- cod: x y -->' "folder/page.md:2: there is no kind of block 'cod'"
expect_mistake '<!-- code: none.cu x -->' "folder/page.md:2: cannot read"
expect_mistake '<!-- code: source.cu middle -->' \
  "folder/page.md:2: source.cu has 0 lines '// [middle]' and 0 lines '// [/middle]'"
expect_mistake '<!-- code: source.cu -->' "folder/page.md:2: a code block takes a file and a marker"
expect_mistake '<!-- run: build/bin/no-such-program -->' \
  "folder/page.md:2: 'build/bin/no-such-program' does not start"
expect_mistake '<!-- run: kill -9 $$ -->' 'ended by signal 9'
expect_mistake '<!-- run lines=7-: seq 3 -->' "prints 3 lines"
expect_mistake '<!-- run lines=3-2: seq 3 -->' "no range"
expect_mistake '<!-- run line=3: seq 3 -->' "lines=2-5"
expect_mistake '<!-- measured: results.json type=f8 rows=shape columns=variant value=us -->' "no result"
expect_mistake '<!-- measured: results.json rows=shape columns=variant value=us -->' "one cell"
expect_mistake '<!-- measured: results.json rows=size columns=variant value=us -->' "no key 'size'"
expect_mistake '<!-- measured: source.cu rows=shape columns=variant value=us -->' "no file of results"
expect_mistake '<!-- measured: results.json -->' "rows=KEY"
expect_mistake '<!-- stages: source.cu -->' "source.cu is no file of results"
expect_mistake '<!-- stages: none.json -->' "cannot read"
expect_mistake '<!-- stages: results.json -->' "there is no walkthroughs/01_naive_paged_gather/README.md"
mkdir -p "$tree/walkthroughs/01_naive_paged_gather" "$tree/stages"
touch "$tree/walkthroughs/01_naive_paged_gather/README.md" "$tree/stages/stage_01_naive_paged_gather.cu"
expect_mistake '<!-- stages: results.json -->' "no time of stage naive-paged-gather at 1 x 1k"
expect_mistake '<!-- mutants: zoo -->' "no block of code"
printf '<!-- run: true -->\n' >"$page"
expect 2 "folder/page.md:1: the block 'run: true' has no line" --check "$page"
expect 2 "there is no such file" --check "$tree/none.md"
expect 2 "say --write FILE... or --check FILE..."
expect 2 "'--wirte' is no option" --wirte "$page"
echo "every block was filled, and every mistake named"
