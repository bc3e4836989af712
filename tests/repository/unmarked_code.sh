#!/usr/bin/env bash
# C++ on a Markdown page comes from a tested source, by a block that the program `pages` fills: nobody
# would notice when code that was pasted goes stale. Prints each piece that does not.
# Usage: unmarked_code.sh ROOT
set -euo pipefail
cd "$1"
{ find README.md reference kernels stages tests walkthroughs docs -name '*.md' 2>/dev/null || true; } | sort | xargs awk '
  FNR == 1 { marked = 0; fenced = 0 }
  /^<!-- (code|run)[ :]/ { marked = 1 }
  /^<!-- end -->/ { marked = 0 }
  /^ *```/ {
    if (fenced) { fenced = 0; next }
    fenced = 1
    if (!marked && $0 ~ /``` *(c|cc|cpp|c\+\+|cuda|cu|CUDA|C\+\+) *$/) {
      print FILENAME ":" FNR ": code that is in no block of the program pages"
      wrong++
    }
  }
  END {
    if (wrong) exit 1
    print "all C++ of the pages comes from sources"
  }'
