#!/usr/bin/env bash
# Includes point one way: reference <- kernels <- stages <- tests/harness <- tests, walkthroughs.
# Prints every include that doesn't, and fails if there is one.
# Usage: include_direction.sh ROOT
set -euo pipefail
cd "$1"

# How far a file may look: the number of its layer; a file may include its own layer and below.
layer_of() {
  case "$1" in
    reference/*) echo 1 ;;
    kernels/*) echo 2 ;;
    stages/*) echo 3 ;;
    tests/harness/*) echo 4 ;;
    tests/* | walkthroughs/*) echo 5 ;;
    *) echo 0 ;;
  esac
}

wrong=0
while IFS=: read -r file line include; do
  included=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
  from=$(layer_of "$file")
  to=$(layer_of "$included")
  if [ "$to" -eq 0 ]; then
    echo "$file:$line: includes \"$included\", which doesn't start at the repository's root"
    wrong=$((wrong + 1))
  elif [ "$to" -gt "$from" ]; then
    echo "$file:$line: includes \"$included\" from a layer above its own"
    wrong=$((wrong + 1))
  elif [[ $file == tests/* && $included == walkthroughs/* ]] ||
    [[ $file == walkthroughs/* && $included == tests/* && $included != tests/harness/* ]]; then
    echo "$file:$line: includes \"$included\"; walkthroughs use the harness, not the tests"
    wrong=$((wrong + 1))
  fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
  --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
  reference kernels stages tests walkthroughs 2>/dev/null | sed -E 's/^([^:]+):([0-9]+):/\1:\2:/')
[ "$wrong" -eq 0 ] || {
  echo "$wrong includes point the wrong way"
  exit 1
}
echo "all includes point one way"
