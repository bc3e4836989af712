#!/usr/bin/env bash
# What the site does to pages, and its test of links, tried on a page and a site of their own.
# Usage: site_self_test.sh ROOT
set -euo pipefail
root=$(cd "$1" && pwd)
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
fail() {
  printf '%s\n' "$@"
  exit 1
}

# ---- a page ---------------------------------------------------------------------------------------
mkdir -p "$tree/walkthroughs/one"
cat >"$tree/walkthroughs/one/README.md" <<'PAGE'
# Stage `1`: a page

See [the next](../two/README.md#the-idea), [here](#what-holds), [`code`](../../stages/a.cu), [out](https://x.org/).

<!-- code: stages/a.cu part -->

```cpp
int a[1](b.md);
```

<!-- end -->

![Lanes](../../docs/figures/lanes.svg)

    indented [x](y.md)

### What holds?
With $`a^2`$.
PAGE
cat >"$tree/expected" <<'PAGE'
# Stage 1: a page {#page_walkthroughs_one_README}

See [the next](page_walkthroughs_two_README.html#page_walkthroughs_two_README_the-idea), [here](#page_walkthroughs_one_README_what-holds), [`code`](repository:stages/a.cu), [out](https://x.org/).



```cpp
int a[1](b.md);
```



<div class="figure"><img src="figures/lanes.svg" alt="Lanes"/></div>

    indented [x](y.md)

## What holds? {#page_walkthroughs_one_README_what-holds}
With \f$a^2\f$.
PAGE
(cd "$tree" && bash "$root/docs/site/page_filter.sh" walkthroughs/one/README.md) >"$tree/got"
diff "$tree/expected" "$tree/got" || fail "a page is filtered otherwise"

# ---- links ----------------------------------------------------------------------------------------
mkdir "$tree/site"
echo '<a href="b.html#there">b</a><a href="https://x.org/none">x</a><img src="c.png"/>' >"$tree/site/a.html"
echo '<h1 id="there">B</h1><a href="a.html">a</a><a href="#there">up</a>' >"$tree/site/b.html"
touch "$tree/site/c.png"
bash "$root/docs/site/check_links.sh" "$tree/site" >/dev/null || fail "a right site was refused"
expect_refused() { # LINK
  echo "<a href=\"$1\">x</a>" >"$tree/site/d.html"
  ! bash "$root/docs/site/check_links.sh" "$tree/site" >"$tree/output" || fail "not noticed: $1"
  grep -q '^d.html: ' "$tree/output" || fail "its page was not named: $1"
}
expect_refused none.html
expect_refused b.html#nowhere
expect_refused '#nowhere'
expect_refused repository:stages/a.cu
# ---- the folder: what is no site is left alone ------------------------------------------------------
mkdir "$tree/mine"
touch "$tree/mine/letter"
for folder in "$tree/mine" . ../mine; do # relative ones are the caller's
  if (cd "$tree/mine" && bash "$root/docs/site.sh" "$folder") >"$tree/output" 2>&1; then
    fail "not refused: $folder"
  fi
  grep -q "mine holds files that are no site" "$tree/output" || fail "no reason for $folder:" "$(cat "$tree/output")"
  [ -f "$tree/mine/letter" ] || fail "a letter was deleted in $folder"
done
# An option that there is not makes no folder, and help is help.
for option in --help --hlep; do
  (cd "$tree/mine" && bash "$root/docs/site.sh" "$option") >"$tree/output" 2>&1 || [ "$option" = --hlep ] ||
    fail "$option ends with a failure"
  [ ! -e "$tree/mine/$option" ] || fail "$option was taken for a folder"
done
for script in walkthroughs/tour.sh tests/run.sh docs/site.sh; do
  bash "$root/$script" --help | grep -qi "builds" || fail "$script --help says nothing"
done
echo "the page came out right, every wrong link was noticed, and no folder that is no site was touched"
