#!/usr/bin/env bash
# Builds the site in a folder of its own, where what it needs is installed.
# Usage: site_builds.sh ROOT
set -euo pipefail
if ! command -v doxygen >/dev/null || [ ! -d /usr/share/doxygen-awesome-css ] ||
  [ ! -d /usr/share/javascript/mathjax ]; then
  echo "skipped: the site needs the packages doxygen, doxygen-awesome-css and libjs-mathjax"
  exit 0
fi
site=$(mktemp -d)
trap 'rm -r "$site"' EXIT
bash "$1/docs/site.sh" "$site"
