#!/usr/bin/env bash
# The test of recorded paths, tried on paths of a machine and on what only looks like them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
output=$(mktemp)
trap 'rm -r "$tree" "$output"' EXIT
mkdir -p "$tree/docs/measurements"
file="$tree/docs/measurements/results.json"
echo '"command": "decode_benchmark --only 64/8 --json out.json", see build/tmp/x, [page](../tables/a.md)' >"$file"
bash "$here/machine_paths.sh" "$tree" >/dev/null || {
  echo "a right file was refused"
  exit 1
}
for folder in root home tmp; do
  path="/$folder/out/a.json"
  echo "\"command\": \"program --json $path\"" >"$file"
  if bash "$here/machine_paths.sh" "$tree" >"$output"; then
    echo "not noticed: $path"
    exit 1
  fi
  grep -q "$path" "$output" || {
    echo "not named: $path"
    exit 1
  }
done
echo "plain" >"$file"
folder=root
path="/$folder/a/run" # in a page, behind a sign
printf 'planted race at %s/file.cu\n' "file:$path" >"$tree/README.md"
if bash "$here/machine_paths.sh" "$tree" >"$output"; then
  echo "not noticed: a path in a page"
  exit 1
fi
echo "plain" >"$tree/README.md"
ln -s "/$folder/a" "$tree/link"
if bash "$here/machine_paths.sh" "$tree" >"$output"; then
  echo "not noticed: a link"
  exit 1
fi
grep -q 'link: leads to' "$output"
echo "every path of a machine was noticed"
