#!/bin/sh
# Compares two results, or two sets of runs, and fails where the new one is slower:
#   gate.sh BASE NEW        gate.sh BASE.. -- NEW..
# The summary goes to standard output, to performance.md, and to the summary of a job of GitHub Actions.
# Exit status: 0 not slower, 3 slower, 1 cannot be compared.
latecomer compare --gate --markdown "$@" > performance.md
code=$?
cat performance.md
[ -z "$GITHUB_STEP_SUMMARY" ] || cat performance.md >> "$GITHUB_STEP_SUMMARY"
exit $code
