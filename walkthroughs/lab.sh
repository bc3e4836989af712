#!/usr/bin/env bash
# Labs: makes starters, checks a student's folder, grades many. Arguments go to build/bin/paged_lab:
#   lab.sh list
#   lab.sh new LAB DIR
#   lab.sh check DIR [--hint 1|2|3]
#   lab.sh grade DIR... [--lab LAB] [--json FILE] [--gradescope FILE]
set -euo pipefail
# shellcheck source=tests/set_up.sh
. "$(dirname "$0")/../tests/set_up.sh"
set_up paged_lab >&2
exec "$build/bin/paged_lab" "$@"
