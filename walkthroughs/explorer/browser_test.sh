#!/usr/bin/env bash
# Writes the interactive page, opens it in a browser without a window, and lets it click through itself.
# Usage: browser_test.sh EXPLORER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/page.html"
if grep -nE '(src|href)="?(https?:)?//' "$folder/page.html"; then
  echo "the page wants something from the network"
  exit 1
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "skipped: no chromium to open the page in; the page itself was written"
  exit 0
}
dump() { # URL: the page as it is when its scripts have run
  "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
    --virtual-time-budget=60000 --dump-dom "$1"
}
dump "file://$folder/page.html#selftest" >"$folder/dom.html" 2>"$folder/log" || {
  tail -n 5 "$folder/log"
  if dump about:blank >/dev/null 2>&1; then
    echo "the browser opens an empty page, and not this one"
    exit 1
  fi
  echo "skipped: the browser does not start here"
  exit 0
}
result=$(awk '/<pre id="selftest">/ { inside = 1; sub(/.*<pre id="selftest">/, "") }
  inside { last = sub(/<\/pre>.*/, ""); print; if (last) exit }' "$folder/dom.html")
echo "${result:-the page wrote no result}"
[[ $result == "selftest passed: "* ]]
