#!/usr/bin/env bash
# Every link of the site that stays on it leads to a file, and to an anchor in it where it names one.
# Usage: check_links.sh SITE
set -euo pipefail
cd "$1"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find . -name '*.html' -not -path './search/*' | sed 's|^\./||' | sort >"$list"
xargs awk '
  function unescaped(text) {
    gsub(/&amp;/, "\\&", text)
    gsub(/%20/, " ", text)
    return text
  }
  FNR == 1 {
    folder = FILENAME
    if (!sub(/\/[^\/]*$/, "/", folder)) folder = ""
  }
  {
    rest = $0
    while (match(rest, /(href|src|id|name)="[^"]*"/)) {
      item = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      kind = item
      sub(/=.*/, "", kind)
      value = unescaped(substr(item, length(kind) + 3, length(item) - length(kind) - 3))
      if (kind == "id" || kind == "name") anchors[FILENAME "#" value] = 1
      else if (value !~ /^([a-z]+:|\/\/)/ && value != "" && value != "#") {
        if (value ~ /^repository:/) continue
        link = value ~ /^#/ ? FILENAME value : folder value
        if (!(link in from)) from[link] = FILENAME
      }
      if (value ~ /^repository:/) { print FILENAME ": a link was not finished: " value; wrong++ }
    }
  }
  END {
    for (link in from) {
      file = link
      hash = index(link, "#")
      if (hash > 0) file = substr(link, 1, hash - 1)
      sub(/\?.*/, "", file)
      while (sub(/[^\/]+\/\.\.\//, "", file));
      if (!(file in known)) known[file] = (getline line < file) >= 0
      close(file)
      links++
      if (!known[file]) { print from[link] ": " link " is no file of the site"; wrong++ }
      else if (hash > 0 && file ~ /\.html$/ && !((file "#" substr(link, hash + 1)) in anchors)) {
        print from[link] ": " link " is no anchor there"
        wrong++
      }
    }
    if (wrong) { print wrong " links lead nowhere"; exit 1 }
    print links " links lead somewhere"
  }' <"$list"
