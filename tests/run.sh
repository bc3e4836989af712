#!/usr/bin/env bash
# Every test: installs what is missing, builds, and runs them all. Ends with CTest's summary.
# Arguments go to CTest, e.g. bash tests/run.sh -R simt
set -euo pipefail
. "$(dirname "$0")/set_up.sh"
set_up
exec ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --progress "$@"
