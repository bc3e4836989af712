#!/usr/bin/env bash
# The test of code on pages, tried on pasted code and on code from a source.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
mkdir -p "$tree/docs"
printf '# Page\n\n<!-- code: a.cu part -->\n\n```cpp\nint a;\n```\n\n<!-- end -->\n\n```console\n$ ls\n```\n' \
  >"$tree/README.md"
bash "$here/unmarked_code.sh" "$tree" >/dev/null || {
  echo "a right page was refused"
  exit 1
}
printf '# Page\n\n```cpp\nint pasted;\n```\n' >"$tree/docs/page.md"
if bash "$here/unmarked_code.sh" "$tree" >"$tree/output"; then
  echo "pasted code was not noticed"
  exit 1
fi
grep -q '^docs/page.md:3: ' "$tree/output" || {
  echo "its place was not named"
  exit 1
}
echo "pasted code was noticed"
