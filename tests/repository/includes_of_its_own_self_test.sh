#!/usr/bin/env bash
# That includes_of_its_own.sh finds names without an include, and accepts what only looks like one.
set -euo pipefail
check=$(dirname "$(realpath "$0")")/includes_of_its_own.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{reference,kernels/simt,stages,tests/harness,walkthroughs}
failures=0

# put PATH < text: puts a file into the tree.
put() { cat > "$tree/$1"; }

# expect WHAT STATUS WORDS...: the check's exit status, and words of what it prints.
expect() {
  local what=$1 status=$2 output got=0
  shift 2
  output=$(bash "$check" "$tree" 2>&1) || got=$?
  if [ "$got" != "$status" ]; then
    echo "$what: exit status $got, not $status: $output"
    failures=$((failures + 1))
  fi
  for word in "$@"; do
    if ! grep -qF -- "$word" <<< "$output"; then
      echo "$what: '$word' is not in: $output"
      failures=$((failures + 1))
    fi
  done
}

put reference/shape.h << 'EOF'
#pragma once
#include <string>
#include <vector>
enum class Kind { one, two };
struct Shape {
  std::vector<int> sizes;
  struct Inner {};
};
inline constexpr int kMostSizes = 4;
EOF
put kernels/launch.h << 'EOF'
#pragma once
#include "reference/shape.h"
// std::map and Unknown in a comment, and "std::set" in a literal, are none.
inline const char* text() { return "std::set of Shape"; }
Shape shape_of(const std::string& name);
EOF
expect "a right tree" 0 "all names have their includes"

put stages/stage.h << 'EOF'
#pragma once
#include "kernels/launch.h"
std::optional<Shape> maybe(Kind kind = Kind::one);
EOF
expect "a header without a standard one" 1 'stages/stage.h:3: std::optional needs <optional>' "1 names lack"

put stages/stage.h << 'EOF'
#pragma once
#include <optional>
std::optional<Shape> maybe();
inline int most() { return kMostSizes; }
EOF
expect "a header without one of ours" 1 'stages/stage.h:3: Shape needs "reference/shape.h"' \
  'stages/stage.h:4: kMostSizes needs "reference/shape.h"' "2 names lack"

put stages/stage.h << 'EOF'
#pragma once
struct Shape;
void take(const Shape& shape);
template <typename Kind, int kMostSizes>
struct Other {
  Kind kind;
  int all() const { return kMostSizes; }
};
EOF
expect "names of its own" 0 "all names have their includes"

put tests/harness/run.cpp << 'EOF'
#include "stages/stage.h"
/* std::map<int, Kind>
   Kind */
const char* const kCode = R"(std::set<Kind>
)";
int run() { return std::max(1, 2); }
EOF
expect "a source" 1 'tests/harness/run.cpp:6: std::max needs <algorithm>' "1 names lack"

put tests/harness/run.cpp << 'EOF'
#include <string>
struct Derived : public Shape {};
EOF
expect "a base class" 1 'tests/harness/run.cpp:2: Shape needs "reference/shape.h"' "1 names lack"

find "$tree" -type f -delete
expect "an empty tree" 1 "nothing was looked at"

[ "$failures" = 0 ] && echo "the check of includes finds what it should"
exit "$((failures > 0))"
