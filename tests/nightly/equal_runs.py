#!/usr/bin/python3
"""`latecomer compare --gate` on real runs that are equal: three runs of one program on each side, in turn, must not be told apart more often than the
level of 5 % gives (a bound that is missed by chance once in a thousand calls).

equal_runs.py LATECOMER FLAVOUR PROGRAM TURN PAIRS FILE

FILE: has a line for each pair of every turn: turn, pair, and 1 if its sides were told apart. The pairs of a turn that stand there are not run again,
so that a call that was cut off goes on; what is judged is all pairs of the file, since those of one turn tell little of 5 %.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from figure import most_allowed, tally  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LEVEL, RUNS, SLOWER = 0.05, 6, 3
UNIT_MS = "5"  # of work of the program: a run takes 0.6 s, of which other work on the machine changes much


def called(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=patience(100), check=False)


def rows_of(lines):
    """(turn, pair, told apart) of all lines that are whole."""
    if not os.path.exists(lines):
        return []
    with open(lines, encoding="ascii") as file:
        return [tuple(int(word) for word in line.split()) for line in file if line.endswith("\n") and len(line.split()) == 3]


def is_told_apart(latecomer, flavour, program, folder):
    runs = [f"{folder}/{run}" for run in range(RUNS)]
    for run in runs:
        done = called(*mpirun(flavour, 2), latecomer, "run", "-q", "-o", run, "--", program, UNIT_MS)
        if done.returncode != 0:
            sys.exit(f"the run ended with {done.returncode}: {done.stderr}")
    done = called(latecomer, "compare", "--gate", *runs[::2], "--", *runs[1::2])
    if done.returncode not in (0, SLOWER):
        sys.exit(f"compare ended with {done.returncode}: {done.stderr}")
    if done.returncode == SLOWER:
        print(done.stdout.strip(), flush=True)
    return done.returncode == SLOWER


def main():
    latecomer, flavour, program = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    turn, pairs, lines = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]
    known = {pair for each, pair, _ in rows_of(lines) if each == turn}
    for pair in sorted(set(range(pairs)) - known):
        with tempfile.TemporaryDirectory() as folder:
            apart = is_told_apart(latecomer, flavour, program, folder)
        with open(lines, "a", encoding="ascii") as file:
            file.write(f"{turn}\t{pair}\t{int(apart)}\n")
    rows = rows_of(lines)
    own = [apart for each, _, apart in rows if each == turn]
    tally("equal", own.count(0), len(own))
    alarms, allowed = sum(apart for _, _, apart in rows), most_allowed(len(rows), LEVEL)
    print(f"{alarms} of {len(rows)} pairs of equals are told apart, {allowed} are allowed")
    return alarms > allowed


if __name__ == "__main__":
    sys.exit(main())
