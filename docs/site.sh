#!/usr/bin/env bash
# The site: walkthroughs, guides, measurements and the API, to be read in a browser without a network.
# Installs what is missing, builds, checks every link, and says where to look.
# Usage: bash docs/site.sh [SITE_FOLDER]; default build/site
set -euo pipefail
# shellcheck source=tests/set_up.sh
. "$(dirname "$0")/../tests/set_up.sh"
help_if_asked "$@"
# Everything in the folder is deleted: it must be new, empty, or one that this script has filled.
site=$(realpath -m -- "${1:-$build/site}")
marker=.paged-attention-lab-site
if [[ "${1:-}" == -* ]]; then fail "'$1' is no option; a folder of that name is ./$1"; fi
if [ -e "$site" ] && [ ! -d "$site" ]; then fail "$site is no folder"; fi
if [ $# -gt 0 ] && [ -d "$site" ] && [ -n "$(ls -A -- "$site")" ] && [ ! -f "$site/$marker" ]; then
  fail "$site holds files that are no site of this lab, and a site replaces all that a folder holds: name a new or an empty one"
fi
# What the site needs beside nothing of the build: no program is compiled for it.
# shellcheck disable=SC2034  # install_missing reads it
packages=(doxygen doxygen-awesome-css libjs-mathjax)
theme=/usr/share/doxygen-awesome-css
mathjax=/usr/share/javascript/mathjax

mkdir -p "$build"
install_missing
if ! command -v doxygen >/dev/null || [ ! -d "$theme" ] || [ ! -d "$mathjax" ]; then
  fail "The site needs the packages ${packages[*]} (Debian's and Ubuntu's names)"
fi

cd "$root"
mkdir -p -- "$site"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find "$site" -mindepth 1 -delete
touch "$site/$marker"

title_of() { sed -n '/^# /{s/^# //;s/[`*]//g;s/&/\&amp;/g;s/"/\&quot;/g;p;q;}' "$1"; }
tab() { # FILE TITLE
  printf '<tab type="user" url="%s.html" title="%s"/>\n' "$(bash docs/site/page_filter.sh --label "$1")" "$2"
}
tabs_of() { # FILE...
  local file
  for file in "$@"; do [ ! -f "$file" ] || tab "$file" "$(title_of "$file")"; done
}
# The pages that another one links to, in its order.
pages_linked_in() { # FILE
  [ -f "$1" ] || return 0
  grep -oE '\]\([A-Za-z0-9_/.-]+\.md\)' "$1" | sed -E 's/^\]\((.*)\)$/\1/' | awk '!seen[$0]++' |
    while IFS= read -r link; do
      case "$link" in ../*) ;; *) printf '%s/%s\n' "$(dirname "$1")" "$link" ;; esac
    done
}

# ---- navigation: what there is to read, then the code ----------------------------------------
mapfile -t walkthroughs < <(pages_linked_in walkthroughs/README.md)
mapfile -t labs < <(find walkthroughs/labs -name '*.md' 2>/dev/null | sort)
mapfile -t guides < <(find docs -maxdepth 1 -name "*.md" | sort; ls docs/figures/README.md)
mapfile -t measurements < <(find docs/measurements -name '*.md' | sort)
{
  echo '<doxygenlayout version="1.0"><navindex>'
  echo '<tab type="mainpage" visible="yes" title="The lab"/>'
  if [ "${#walkthroughs[@]}" -gt 0 ]; then
    printf '<tab type="usergroup" url="%s.html" title="Walkthroughs">\n' \
      "$(bash docs/site/page_filter.sh --label walkthroughs/README.md)"
    tabs_of "${walkthroughs[@]}"
    echo '</tab>'
  fi
  # Built by the tour; the site itself compiles nothing.
  if [ -x "$build/bin/explorer" ] && "$build/bin/explorer" "$site/explorer.html" >/dev/null; then
    echo '<tab type="user" url="explorer.html" title="Step through the kernels"/>'
  fi
  if [ "${#labs[@]}" -gt 0 ]; then
    echo '<tab type="usergroup" title="Labs">'
    tabs_of "${labs[@]}"
    echo '</tab>'
  fi
  echo '<tab type="usergroup" title="Guides">'
  tabs_of "${guides[@]}" kernels/simt/README.md
  echo '</tab><tab type="usergroup" title="Measurements">'
  tabs_of "${measurements[@]}"
  echo '</tab><tab type="usergroup" title="API"><tab type="filelist" visible="yes" title="Files"/>'
  echo '<tab type="classlist" visible="yes" title="Classes"/>'
  echo '<tab type="namespacemembers" visible="yes" title="Functions and constants"/></tab>'
  echo '</navindex></doxygenlayout>'
} >"$work/layout.xml"

# ---- the page's frame: Doxygen's own, with the theme's scripts ---------------------------------
(cd "$work" && doxygen -w html header.html footer.html style.css)
extras=
for script in darkmode-toggle fragment-copy-button paragraph-link interactive-toc; do
  cp "$theme/doxygen-awesome-$script.js" "$site/"
  extras+="<script src=\"\$relpath^doxygen-awesome-$script.js\"></script>"
done
extras+='<script>DoxygenAwesomeDarkModeToggle.init();DoxygenAwesomeFragmentCopyButton.init();'
extras+='DoxygenAwesomeParagraphLink.init();DoxygenAwesomeInteractiveToc.init();</script></head>'
sed -i "s|</head>|${extras//&/\\&}|" "$work/header.html"

# ---- MathJax: what SVG formulas take, so that no network is needed -----------------------------
mkdir -p "$site/mathjax/jax/output"
cp "$mathjax/MathJax.js" "$site/mathjax/"
cp -r "$mathjax/extensions" "$mathjax/config" "$site/mathjax/"
cp -r "$mathjax/jax/element" "$mathjax/jax/input" "$site/mathjax/jax/"
mkdir -p "$site/mathjax/jax/output/SVG/fonts"
find "$mathjax/jax/output/SVG" -maxdepth 1 -type f -exec cp {} "$site/mathjax/jax/output/SVG/" \;
cp -r "$mathjax/jax/output/SVG/autoload" "$site/mathjax/jax/output/SVG/"
cp -r "$mathjax/jax/output/SVG/fonts/TeX" "$site/mathjax/jax/output/SVG/fonts/"
mkdir -p "$site/mathjax/localization" && cp -r "$mathjax/localization/en" "$site/mathjax/localization/"

# ---- the site -----------------------------------------------------------------------------------
{
  cat docs/site/Doxyfile
  printf 'OUTPUT_DIRECTORY = "%s"\nLAYOUT_FILE = "%s/layout.xml"\n' "$site" "$work"
  printf 'HTML_HEADER = "%s/header.html"\nMATHJAX_RELPATH = mathjax\n' "$work"
  printf 'GENERATE_TAGFILE = "%s/tags.xml"\n' "$work"
  printf 'HTML_EXTRA_STYLESHEET = "%s/doxygen-awesome.css" ' "$theme"
  printf '"%s/doxygen-awesome-sidebar-only.css" ' "$theme"
  printf '"%s/doxygen-awesome-sidebar-only-darkmode-toggle.css" docs/site/site.css\n' "$theme"
  # From 1.9.5 on Doxygen has dark colours of its own, which the theme does without.
  if [ "$(printf '1.9.5\n%s\n' "$(doxygen --version | cut -d' ' -f1)" | sort -V | head -n 1)" = 1.9.5 ]; then
    echo 'HTML_COLORSTYLE = LIGHT'
  fi
} >"$work/Doxyfile"
doxygen "$work/Doxyfile" 2>"$work/warnings" || {
  head -n 40 "$work/warnings" >&2
  fail "Doxygen finds $(grep -c 'warning\|error' "$work/warnings") mistakes in the documentation (above)"
}
# Doxygen 1.9 links the summary of a class to its private classes, which it then leaves out.
{ grep -rlF 'href="#nested-classes"' "$site" --include='*.html' || true; } | # none: nothing to mend
  xargs -r grep -LF 'name="nested-classes"' | xargs -r sed -i 's|<a href="#nested-classes">[^<]*</a> *&#124;||'
[ ! -d docs/figures ] || cp -r docs/figures "$site/figures"
bash docs/site/finish_links.sh "$site" "$work/tags.xml"
bash docs/site/check_links.sh "$site"
say "The site: ${site#"$root"/}/index.html"
