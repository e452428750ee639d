#!/usr/bin/env python3
"""What the tool adds where a program has many of something: openmp_extremes.py LATECOMER PROGRAM [ROUNDS]. PROGRAM: extremes-openmp or -native.

1,000 regions inside of one, 10,000 threads that end after a region, and ten million tasks one after the other: ns added to each (medians of the rounds),
and the memory that grows from a tenth of them on (KB; one place each suffices for all that come one after the other)."""
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402

LATECOMER, PROGRAM, ROUNDS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3
MANY = {"nested": 1000, "threads": 10000, "tasks": 10000000}


def run(kind, *before):
    done = subprocess.run([*before, PROGRAM, kind, str(MANY[kind])], capture_output=True, text=True, check=True, timeout=600,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return [float(word) for word in done.stdout.split()]


if not os.path.exists(PROGRAM):
    print(f"{PROGRAM} is not built: the compiler may lack OpenMP")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    for kind in MANY:
        bare, measured = [], []
        for number in range(ROUNDS):
            bare.append(run(kind))
            measured.append(run(kind, LATECOMER, "run", "-q", "-o", f"{scratch}/{kind}-{number}", "--"))
        before, with_it = (statistics.median(ns for ns, _, _ in rows) for rows in (bare, measured))
        print(f"{kind}: {before:.0f} ns each, {with_it:.0f} under the tool")
        figure(kind, with_it - before, "ns")
        figure(f"{kind}.memory", max(most - early for _, early, most in measured), "KB")
