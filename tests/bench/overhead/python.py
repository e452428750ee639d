#!/usr/bin/python3
"""What a call of MPI from Python (mpi4py, Get_size: the cheapest there is) costs more under the tool, by depth of Python functions: with
full call paths, and with the calling function alone, which looks at no Python function.

usage: python.py BUILD_DIR [--runs 5]     (with the Python that has mpi4py)"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402

PROGRAM = """
import sys, time
from mpi4py import MPI
def calls(n):
    call = MPI.COMM_SELF.Get_size
    begin = time.perf_counter_ns()
    for _ in range(n):
        call()
    return (time.perf_counter_ns() - begin) / n
def nested(depth, n):
    return calls(n) if depth == 0 else nested(depth - 1, n)
print(*(min(nested(depth, 100000) for _ in range(7)) for depth in (0, 4, 9, 19)))
"""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    tool = [f"{args.build}/bin/latecomer", "run", "--max-overhead=off", "-o"]
    least = {}
    with tempfile.TemporaryDirectory() as scratch:
        for run in range(args.runs):
            for name, words in {"bare": [], "caller": [*tool, f"{scratch}/c{run}", "--callpath=caller", "--"], "full": [*tool, f"{scratch}/f{run}", "--"]}.items():
                done = subprocess.run([*words, sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
                now = [float(word) for word in done.stdout.split()]
                least[name] = [min(pair) for pair in zip(now, least.get(name, now))]
    print("ns per call, least of", args.runs)
    print(f"{'Python functions':>20}{'bare':>10}{'+ caller':>10}{'+ full':>10}")
    for i, depth in enumerate((4, 8, 13, 23)):  # with <module>, <genexpr>, nested and calls
        bare, caller, full = (least[name][i] for name in ("bare", "caller", "full"))
        print(f"{depth:>20}{bare:>10.1f}{caller - bare:>10.1f}{full - bare:>10.1f}")
        if depth == 8:
            figure("caller", caller - bare, "ns")
            figure("full", full - bare, "ns")


main()
