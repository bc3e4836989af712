#!/usr/bin/env bash
# Every test: installs what is missing, builds, and runs them all. Ends with CTest's summary.
# Arguments go to CTest, e.g. bash tests/run.sh -R simt
set -euo pipefail
# shellcheck source=tests/set_up.sh
. "$(dirname "$0")/set_up.sh"
help_if_asked "$@"
set_up # everything
echo "Testing"
# Passed tests are not worth a line each; failures come with their output, and CTest's summary ends it.
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" "$@" 2>&1 |
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#[0-9]+:.* (Passed|\*\*\*Skipped) )|^$|^Internal ctest'
