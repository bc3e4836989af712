#!/usr/bin/env bash
# No text of the repository, recorded results and runs in pages among them, names a folder of the
# machine that it was made on.
# Usage: bash machine_paths.sh REPOSITORY_ROOT
set -euo pipefail
cd "$1"
# A path from the root at the beginning of a text or after a blank or a sign, in one of the folders that
# people and programs work in. A source that says where something may be (/tmp of a test) makes the path.
pattern='(^|[" =(:`'"'"'])/(home|root|work|tmp|mnt|data|Users)/[^" )]*'
texts() { # of a clone, those that are its own, where there is git to ask
  if [ -e .git ] && command -v git >/dev/null; then git ls-files -z; else find . \( -name .git -o -name 'build*' -o -name .deps \) -prune -o \( -type f -o -type l \) -print0; fi
}
# A link leads nowhere on another machine, unless it leads to a place in the repository.
links=$(texts | xargs -0 -I FILE find FILE -maxdepth 0 -type l -lname '/*' -printf '%p: leads to %l\n')
if [ -n "$links" ]; then
  echo "$links"
  echo "the links above lead to a place of one machine"
  exit 1
fi
if texts | xargs -0 grep -InoE "$pattern"; then
  echo "the places above name a folder of one machine"
  exit 1
fi
echo "no text names a folder of one machine"
