#!/usr/bin/env python3
"""What samples cost LAMMPS (melt, Open MPI), or a team of OpenMP: bare runs, measured ones without and with samples in turn.

usage: samples_cost.py BUILD_DIR [--ranks 2] [--rounds 9] [--most 30] [--steps 2000] [--rate R] [--team PROGRAM]

PROGRAM: of OpenMP, in place of LAMMPS. Without --rate the samples are those of the default, at the rate that what one takes allows.

More rounds than --rounds are run, up to --most, until it is known to half a point what samples add: half of the 95 % interval of the median of the differences
of both runs of a round.

Printed, median with smallest and largest of the rounds: the program's run time and how much longer it is than the bare one of the same round;
processor time of the parent (`latecomer run`) while the program ran, in percent of a core per rank; ns per measured MPI call and the time that reading
samples took, as the result states them.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MELT = os.path.join(HERE, "../../system/real/melt.in")


def parents_cpu_s(latecomer, seen):
    """Processor time so far of each process that runs the command, its children not counted."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != latecomer:
                continue
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError: # it has ended
            continue
        seen[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(args, words, latecomer, scratch):
    """Seconds of the launcher; the parents' processor time."""
    launcher, program = mpirun("openmpi", args.ranks), ["lmp", "-in", MELT, "-log", "none", "-screen", "none", "-var", "steps", str(args.steps)]
    if args.team:
        launcher, program = [], [args.team]
    seen, ended = {}, threading.Event()

    def watch():
        while not ended.wait(0.2):
            parents_cpu_s(latecomer, seen)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.monotonic()
    try:
        subprocess.run([*launcher, *words, *program], cwd=scratch, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, timeout=600)
        seconds = time.monotonic() - begin
    finally:
        ended.set()
        watcher.join()
    return seconds, sum(seen.values())


def spread(values, unit, digits=2):
    return f"{statistics.median(values):.{digits}f} {unit} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def resolution(values):
    """Half of the 95 % interval of the median, from order statistics: whatever the distribution; infinite below 6 values."""
    values, n, k, tail = sorted(values), len(values), 0, 0.5 ** len(values)
    while tail <= 0.025:
        k += 1
        tail += math.comb(n, k) * 0.5 ** n
    return (values[n - k] - values[k - 1]) / 2 if k > 0 else math.inf


def differences(rows):
    return [b[1] - a[1] for a, b in zip(rows["without samples"], rows["with samples"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rate")
    parser.add_argument("--team", type=os.path.realpath)
    args = parser.parse_args()
    latecomer = os.path.realpath(os.path.join(args.build, "bin/latecomer"))
    os.environ.pop("LATECOMER_SAMPLE", None)
    kinds = {"without samples": ["--sample=off"], "with samples": [f"--sample={args.rate}"] if args.rate else []}
    rows = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result")
        for number in range(max(args.rounds, args.most)):
            if number >= args.rounds and resolution(differences(rows)) <= 0.5:
                break
            bare, _ = run(args, [], latecomer, scratch)
            for kind in sorted(kinds, reverse=number % 2 == 1):
                shutil.rmtree(out, ignore_errors=True)
                words = [latecomer, "run", "-q", *kinds[kind], "-o", out, "--"]
                seconds, parent = run(args, words, latecomer, scratch)
                shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, check=True).stdout
                meta = json.loads(shown)["meta"]
                rows[kind].append((seconds, 100 * (seconds / bare - 1), 100 * parent / seconds / args.ranks, meta["overhead"]["call_ns"],
                                   100 * meta["overhead"].get("sampling_s", 0) / meta["wall_time_s"] / args.ranks, meta.get("sample_rate", 0)))
    difference = differences(rows)
    what = os.path.basename(args.team) if args.team else f"LAMMPS, {args.ranks} ranks, {args.steps} steps"
    print(f"{what}, {len(difference)} rounds")
    for kind, runs in rows.items():
        seconds, longer, parent, call_ns, reading, rate = zip(*runs)
        print(f"{kind}: run time {spread(seconds, 's')}, {spread(longer, '%')} longer than bare; parent {spread(parent, '% of a core per rank')}; "
              f"{spread(call_ns, 'ns', 1)} per call; reading samples {spread(reading, '% of the run time')}; {spread(rate, 'per second', 0)}")
    calls = [b[3] - a[3] for a, b in zip(*rows.values())]
    print(f"samples: {spread(difference, 'points')} of dilation, the median to {resolution(difference):.2f}; {spread(calls, 'ns', 1)} per call")
    figure("dilation", statistics.median(difference), "%")
    figure("resolution", resolution(difference), "%")
    figure("call", statistics.median(calls), "ns")


if __name__ == "__main__":
    main()
