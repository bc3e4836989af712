#!/usr/bin/env bash
# Doxygen's filter for Markdown pages: prints a page of the repository as the site wants it.
# Usage: page_filter.sh FILE, in the repository's root; page_filter.sh --label FILE prints the page's label.
#
#   # Heading              gets a label made of the path, so that many README.md can live together
#   ## Heading             gets one of the page's label and GitHub's anchor
#   [text](path#anchor)    leads to page or section; other files to repository:path, for finish_links.sh
#   ![text](path.svg)      and <picture>: a plain image, from the site's folder figures
#   $`formula`$, ```math   a formula
set -euo pipefail

label_of() { # path from the root
  local path=${1%.md}
  if [ "$path" = README ]; then echo index; else echo "page_${path//[^A-Za-z0-9]/_}"; fi
}

if [ "$1" = --label ]; then
  label_of "$2"
  exit
fi
file=${1#"$PWD"/}
folder=$(dirname "$file")
[ "$folder" != . ] || folder=""

# A page without a title of its own has its file's name.
if ! grep -m 1 -v '^[[:space:]]*$' "$1" | grep -q '^# '; then
  printf '# %s {#%s}\n\n' "$(basename "$file" .md | tr _ ' ')" "$(label_of "$file")"
  titled=1
fi

awk -v titled="${titled:-}" -v deepest="${titled:-0}" -v label="$(label_of "$file")" -v folder="$folder" '
  # What a link from this folder leads to, from the root, without "." and "..".
  function from_root(path,    parts, kept, n, i, top, result) {
    n = split(folder == "" ? path : folder "/" path, parts, "/")
    top = 0
    for (i = 1; i <= n; i++) {
      if (parts[i] == "" || parts[i] == ".") continue
      if (parts[i] == ".." && top > 0) top--
      else kept[++top] = parts[i]
    }
    result = kept[1]
    for (i = 2; i <= top; i++) result = result "/" kept[i]
    return result
  }
  function page_label(path) {
    sub(/\.md$/, "", path)
    if (path == "README") return "index"
    gsub(/[^A-Za-z0-9]/, "_", path)
    return "page_" path
  }
  # The anchor that GitHub gives a heading.
  function anchor_of(heading) {
    heading = tolower(heading)
    gsub(/\[|\]\([^)]*\)/, "", heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
  }
  function target_of(link,    hash, anchor) {
    if (link ~ /^[a-z]+:/) return link
    hash = index(link, "#")
    anchor = hash > 0 ? substr(link, hash + 1) : ""
    if (hash > 0) link = substr(link, 1, hash - 1)
    if (link == "") return "#" label "_" anchor
    link = from_root(link)
    if (link !~ /\.md$/) return "repository:" link
    link = page_label(link)
    return link ".html" (anchor == "" ? "" : "#" link "_" anchor)
  }
  # Rewrites links of a piece of text without code; a link may contain code in its text.
  function with_links(text,    result, begin, close_, target) {
    result = ""
    while (match(text, /\]\([^() ]+\)/)) {
      target = substr(text, RSTART + 2, RLENGTH - 3)
      begin = RSTART
      close_ = RSTART + RLENGTH
      result = result substr(text, 1, begin) "(" target_of(target) ")"
      text = substr(text, close_)
    }
    return result text
  }
  function image(alt, path) {
    path = from_root(path)
    sub(/^docs\/figures\//, "figures/", path)
    return "<div class=\"figure\"><img src=\"" path "\" alt=\"" alt "\"/></div>"
  }
  function attribute(text, name) {
    if (!match(text, name "=\"[^\"]*\"")) return ""
    return substr(text, RSTART + length(name) + 2, RLENGTH - length(name) - 3)
  }
  /^ *```math *$/ { print "\\f["; in_math = 1; next }
  in_math && /^ *``` *$/ { print "\\f]"; in_math = 0; next }
  in_math { print; next }
  /^ *```/ {
    if (in_code) { in_code = 0; print; next }
    in_code = 1
    sub(/```(console|text|sh)? *$/, "```{.unparsed}")
    print
    next
  }
  in_code { print; next }
  /^    / && (before ~ /^ *$/ || indented) { indented = 1; print; next }  # code, too
  { indented = 0; before = $0 }
  /^<!--.*-->$/ { print ""; next }
  /^ *<\/?picture>|^ *<source / { next }
  /^ *<img / { print image(attribute($0, "alt"), attribute($0, "src")); next }
  /^!\[[^]]*\]\([^)]*\)$/ {
    text = $0
    match(text, /\]\(/)
    print image(substr(text, 3, RSTART - 3), substr(text, RSTART + 2, length(text) - RSTART - 2))
    next
  }
  /^#+ / {
    heading = $0
    sub(/^#+ /, "", heading)
    level = length($0) - length(heading) - 1
    own = level == 1 && !titled ? label : label "_" anchor_of(heading)
    titled = titled || level == 1
    if (own in used) own = own "-" used[own]++
    used[own] = 1
    gsub(/`/, "", heading)
    gsub(/\[|\]\([^)]*\)/, "", heading)
    if (level > deepest + 1) level = deepest + 1  # Doxygen takes no level without the one above
    deepest = level
    print substr("######", 1, level) " " heading " {#" (own == "index" ? "mainpage" : own) "}"
    next
  }
  {
    text = $0
    while (match(text, /\$`[^`]*`\$/))
      text = substr(text, 1, RSTART - 1) "\\f$" substr(text, RSTART + 2, RLENGTH - 4) "\\f$" \
             substr(text, RSTART + RLENGTH)
    print with_links(text)
  }
' "$1"
