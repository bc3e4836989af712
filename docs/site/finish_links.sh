#!/usr/bin/env bash
# Gives links of pages to files of the repository (repository:path, from page_filter.sh) a target on the
# site: the browsable source that Doxygen made of it, or a copy of the file, or a list of a folder.
# Usage: finish_links.sh SITE TAGFILE, in the repository's root.
set -euo pipefail
site="$1"
tags="$2"

# Source files that Doxygen knows, and the pages that it made of them: "path page" a line.
sources=$(awk '
  /<compound kind="file">/ { name = path = page = "" }
  /<name>/ && name == "" { name = $0; gsub(/.*<name>|<\/name>.*/, "", name) }
  /<path>/ { path = $0; gsub(/.*<path>|<\/path>.*/, "", path) }
  /<filename>/ && page == "" {
    page = $0
    gsub(/.*<filename>|<\/filename>.*/, "", page)
    sub(/\.html$/, "", page)
    sub(/^\.\//, "", path)
    print path name " " page "_source.html"
  }' "$tags")

page_of_source() { # path
  awk -v path="$1" '$1 == path || substr($1, length($1) - length(path)) == "/" path { print $2; exit }' \
    <<<"$sources"
}

# A page that lists a folder.
list_folder() { # path
  local folder="$1" file
  mkdir -p "$site/files/$folder"
  {
    printf '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    printf '<meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title>' "$folder"
    printf '<style>:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;'
    printf 'max-width:40rem;margin:2rem auto;padding:0 1rem}</style></head><body>'
    printf '<h1>%s</h1><p>What is in this folder of the repository:</p><ul>' "$folder"
    (cd "$folder" && find . -mindepth 1 -maxdepth 1 | sort) | while IFS= read -r file; do
      printf '<li>%s</li>' "${file#./}"
    done
    printf '</ul></body></html>\n'
  } >"$site/files/$folder/index.html"
}

# Where on the site a path is to be seen. Makes it so.
place_of() { # path
  local path="$1" page
  if [ -d "$path" ]; then
    if [ -f "$path/README.md" ]; then
      page=$(bash docs/site/page_filter.sh --label "$path/README.md").html
      if [ -f "$site/$page" ]; then
        echo "$page"
        return
      fi
    fi
    list_folder "$path"
    echo "files/$path/index.html"
    return
  fi
  page=$(page_of_source "$path")
  if [ -n "$page" ] && [ -f "$site/$page" ]; then
    echo "$page"
    return
  fi
  [ -f "$path" ] || return 0
  mkdir -p "$site/files/$(dirname "$path")"
  # Browsers show text and JSON; what they would download gets a name that they show.
  local copy="$path"
  case "$path" in *.json | *.txt | *.svg | *.html) ;; *) copy="$path.txt" ;; esac
  cp "$path" "$site/files/$copy"
  echo "files/$copy"
}

wanted=$(grep -rhoE '"repository:[^"]*"' "$site" --include='*.html' | tr -d '"' | sort -u) || true
edits=$(mktemp)
trap 'rm -f "$edits"' EXIT
while IFS= read -r link; do
  [ -n "$link" ] || continue
  path=${link#repository:}
  place=$(place_of "$path")
  if [ -z "$place" ]; then
    echo "a page links to '$path', which the repository does not have"
    exit 1
  fi
  printf 's|"%s"|"%s"|g\n' "$link" "$place" >>"$edits"
done <<<"$wanted"
[ ! -s "$edits" ] ||
  grep -rlE '"repository:' "$site" --include='*.html' | xargs sed -i -f "$edits"
