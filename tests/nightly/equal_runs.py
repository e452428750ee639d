#!/usr/bin/python3
"""`latecomer compare --gate` on real runs that are equal: three runs of one program on each side, in turn, must not be told apart more often than the
level of 5 % gives (a bound that is missed by chance once in a thousand calls).

equal_runs.py LATECOMER FLAVOUR PROGRAM PAIRS [TALLY]   TALLY: a file with the pairs of earlier calls, which count, too: 20 pairs tell little of 5 %"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from figure import most_allowed  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LEVEL, RUNS, SLOWER = 0.05, 6, 3


def called(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=patience(100), check=False)


def with_earlier(tally, pairs, alarms):
    """The sums of all calls, this one too."""
    with open(tally, "a", encoding="ascii") as file:
        file.write(f"{pairs}\t{alarms}\n")
    with open(tally, encoding="ascii") as file:
        rows = [[int(word) for word in line.split()] for line in file]
    return sum(row[0] for row in rows), sum(row[1] for row in rows)


def main():
    latecomer, flavour, program, pairs = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3]), int(sys.argv[4])
    latecomer, alarms = os.path.abspath(latecomer), 0
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(pairs):
            runs = [f"{folder}/{pair}-{run}" for run in range(RUNS)]
            for run in runs:
                done = called(*mpirun(flavour, 2), latecomer, "run", "-q", "-o", run, "--", program)
                if done.returncode != 0:
                    sys.exit(f"pair {pair}: the run ended with {done.returncode}: {done.stderr}")
            done = called(latecomer, "compare", "--gate", *runs[::2], "--", *runs[1::2])
            if done.returncode not in (0, SLOWER):
                sys.exit(f"pair {pair}: compare ended with {done.returncode}: {done.stderr}")
            if done.returncode == SLOWER:
                alarms += 1
                print(f"pair {pair}: {done.stdout.strip()}")
    if len(sys.argv) > 5:
        pairs, alarms = with_earlier(sys.argv[5], pairs, alarms)
    allowed = most_allowed(pairs, LEVEL)
    print(f"{alarms} of {pairs} pairs of equals are told apart, {allowed} are allowed")
    return alarms > allowed


if __name__ == "__main__":
    sys.exit(main())
