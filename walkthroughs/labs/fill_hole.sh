# shellcheck shell=bash
# Sourced: replaces the text between a file's markers by standard input.
fill_hole() {
  local content
  content=$(mktemp)
  cat >"$content"
  awk -v content="$content" '
    /^ *\/\/ \[[a-z-]*\]$/ { print; while ((getline line < content) > 0) print line; skip = 1; next }
    /^ *\/\/ \[\/[a-z-]*\]$/ { skip = 0 }
    !skip' "$1" >"$1.new"
  mv "$1.new" "$1"
  rm -f "$content"
}
