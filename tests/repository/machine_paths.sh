#!/usr/bin/env bash
# No recorded result names a folder of the machine that it was recorded on.
# Usage: bash machine_paths.sh REPOSITORY_ROOT
set -euo pipefail
cd "$1"
# A path from the root at the beginning of a text or after a blank, in one of the folders that people
# and programs work in.
if grep -rnoE '(^|[" =(])/(home|root|work|tmp|mnt|data|Users)/[^" )]*' docs; then
  echo "the places above name a folder of one machine"
  exit 1
fi
echo "no recorded result names a folder of one machine"
