#!/usr/bin/env bash
# The tour: builds, runs every stage on a real decode step and checks it against the reference.
# Prints the table of steps and writes build/tour.html, and build/explorer.html, a page to step through the
# kernels' accesses.
set -euo pipefail
# shellcheck source=tests/set_up.sh
. "$(dirname "$0")/../tests/set_up.sh"
help_if_asked "$@"
set_up paged tour explorer
"$build/bin/explorer" "$build/explorer.html"
exec "$build/bin/tour" --html "$build/tour.html" "$@"
