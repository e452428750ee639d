#!/usr/bin/env bash
# How sure the gate is: runs it N times on this tree, every other time beside load (tests/nightly/busy.py), and adds a line a run to
# tests/gate_runs.tsv: date, version, load or quiet, seconds, passed, failed, flaky, names of tests that failed or were flaky; and a line for
# each flaky test to tests/flaky.tsv, which gate.py reads: date, version, test, by which commit it was mended (-).
#   tests/gate_check.sh N
# The gate is `./latecomer.sh test`, which builds what is not built. Logs of the runs: build/gate-check. Exit status 1 if a run failed.
set -euo pipefail
cd "$(dirname "$0")/.."

table=tests/gate_runs.tsv
flaky=tests/flaky.tsv
logs=build/gate-check

sum_of() { # WORD LOG: the number before it in the last line
  tail -n 1 "$2" | grep -oE "[0-9]+ $1" | cut -d' ' -f1 || echo 0
}

flaky_of() { # LOG: names below "flaky (..):"
  sed -n '/^flaky (/,/^[^ f]/s/^  \(.*\)  build\/test-logs.*/\1/p' "$1" | tr -d ' '
}

failed_of() { # LOG
  sed -n 's/^FAILED \([^ ]*\( ([a-z]*)\)\?\)  \[.*/\1/p' "$1" | tr -d ' '
}

note() { # LOAD SECONDS LOG
  local version wavered date test
  date=$(date -u +%Y-%m-%dT%H:%MZ)
  version=$(/usr/bin/python3 tests/nightly/nightly.py --version)
  wavered=$( (failed_of "$3"; flaky_of "$3") | sort -u | paste -sd' ')
  [ -e "$table" ] || printf 'date\tversion\tload\tseconds\tpassed\tfailed\tflaky\tnames\n' >"$table"
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$date" "$version" "$1" "$2" "$(sum_of passed "$3")" "$(sum_of failed "$3")" \
    "$(flaky_of "$3" | wc -l)" "${wavered:--}" >>"$table"
  [ -e "$flaky" ] || printf 'date\tversion\ttest\tmended\n' >"$flaky"
  for test in $(flaky_of "$3"); do
    printf '%s\t%s\t%s\t-\n' "$date" "$version" "$test" >>"$flaky"
  done
}

run() { # NUMBER LOAD [COMMAND BEFORE ..]
  local number=$1 load=$2 log=$logs/$1.log begin=$SECONDS status=0
  shift 2
  echo "gate_check.sh: run $number, $load"
  "$@" ./latecomer.sh test >"$log" 2>&1 || status=$?
  note "$load" $((SECONDS - begin)) "$log"
  tail -n 1 "$log"
  return $status
}

# For tests/nightly/self_test.py: the lines that a log gives.
if [ "${1:-}" = --note ]; then
  table=$5 flaky=$6
  note "$2" "$3" "$4"
  exit
fi
[[ "${1:-}" =~ ^[0-9]+$ ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p $logs
bad=0
for ((turn = 1; turn <= $1; turn++)); do
  if ((turn % 2)); then
    run $turn quiet || bad=1
  else
    run $turn load /usr/bin/python3 tests/nightly/busy.py -- || bad=1
  fi
done
tail -n "$1" "$table"
exit $bad
