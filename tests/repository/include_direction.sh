#!/usr/bin/env bash
# Includes point one way: reference <- kernels <- stages <- tests/harness <- tests, walkthroughs.
# Prints every include that doesn't, and fails if there is one.
# Usage: include_direction.sh ROOT
set -euo pipefail
cd "$1"

grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
  --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
  reference kernels stages tests walkthroughs 2>/dev/null | awk '
  # How far a file may look: the number of its layer; a file may include its own layer and below.
  function layer_of(path) {
    if (path ~ /^reference\//) return 1
    if (path ~ /^kernels\//) return 2
    if (path ~ /^stages\//) return 3
    if (path ~ /^tests\/harness\//) return 4
    if (path ~ /^(tests|walkthroughs)\//) return 5
    return 0
  }
  function complain(what) {
    print file ":" line ": includes \"" included "\"" what
    ++wrong
  }
  {
    split($0, parts, ":")
    file = parts[1]
    line = parts[2]
    split($0, quoted, "\"")
    included = quoted[2]
    from = layer_of(file)
    to = layer_of(included)
    if (to == 0)
      complain(", which doesn'\''t start at the repository'\''s root")
    else if (to > from)
      complain(" from a layer above its own")
    else if ((file ~ /^tests\// && included ~ /^walkthroughs\//) ||
             (file ~ /^walkthroughs\// && included ~ /^tests\// && included !~ /^tests\/harness\//))
      complain("; walkthroughs use the harness, not the tests")
  }
  END {
    if (wrong) {
      print wrong " includes point the wrong way"
      exit 1
    }
    print "all includes point one way"
  }'
