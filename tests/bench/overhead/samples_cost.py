#!/usr/bin/env python3
"""What samples cost LAMMPS (melt, Open MPI), or a team of OpenMP: bare runs, measured ones without, with, and with many samples in turn.

usage: samples_cost.py BUILD_DIR [--ranks 2] [--rounds 9] [--most 30] [--steps 2000] [--dense 4000] [--team PROGRAM]

PROGRAM: of OpenMP, in place of LAMMPS.

At the default rate samples lengthen a program by less than two equal runs differ on most machines. So what they add is measured at --dense samples per
second and thread, where it is many times as much, and multiplied by default rate / dense rate: each sample is an interrupt of its own. To read the first sample in a
piece of code takes longer than a further one there; the result states the time of both runs, and what the default takes more than its share is added. This holds
for the time from the first step of LAMMPS to the last, as LAMMPS prints it; for PROGRAM, for its run time. What samples add to start and end does not depend on the
rate: the difference of the rest of the run time.

More rounds than --rounds are run, up to --most, until it is known to half a point what samples add: half of the 95 % interval of the median of the differences
of both runs of a round.

Printed, median with smallest and largest of the rounds: the program's run time and how much longer it is than the bare one of the same round;
processor time of the parent (`latecomer run`) while the program ran, in percent of a core per rank; the time that reading samples took, as the result
states it; samples per second and thread.
"""
import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

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
    """Seconds of the launcher; those of them outside LAMMPS' steps; the parents' processor time."""
    log = os.path.join(scratch, "log")
    launcher, program = mpirun("openmpi", args.ranks), ["lmp", "-in", MELT, "-log", log, "-screen", "none", "-var", "steps", str(args.steps)]
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
    if args.team:
        return seconds, 0, sum(seen.values())
    with open(log, encoding="utf-8") as file:
        return seconds, seconds - float(re.search(r"^Loop time of ([0-9.]+)", file.read(), re.M)[1]), sum(seen.values())


def spread(values, unit, digits=2):
    return f"{statistics.median(values):.{digits}f} {unit} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def interval(values):
    """The 95 % interval of the median, from order statistics: whatever the distribution; infinite below 6 values."""
    values, n, k, tail = sorted(values), len(values), 0, 0.5 ** len(values)
    while tail <= 0.025:
        k += 1
        tail += math.comb(n, k) * 0.5 ** n
    return (values[k - 1], values[n - k]) if k > 0 else (-math.inf, math.inf)


def resolution(values):
    """Half of it."""
    low, high = interval(values)
    return (high - low) / 2


class Bare(NamedTuple):
    seconds: float
    rest: float


class Measured(NamedTuple):
    seconds: float
    rest: float
    longer: float     # the steps, than those of the bare run of the round, in percent
    parent: float     # % of a core per rank
    reading: float    # % of the run time
    rate: float       # per second and thread


def differences(rows):
    """Points that samples at the default rate add, of each round."""
    def of_round(none, usual, dense):
        share = usual.rate / dense.rate
        return share * (dense.longer - none.longer) + usual.reading - share * dense.reading

    return list(map(of_round, *rows.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--dense", type=float, default=4000)
    parser.add_argument("--team", type=os.path.realpath)
    args = parser.parse_args()
    latecomer = os.path.realpath(os.path.join(args.build, "bin/latecomer"))
    os.environ.pop("LATECOMER_SAMPLE", None)
    kinds = {"without samples": ["--sample=off"], "with samples": [], "dense": [f"--sample={args.dense:g}"]}
    rows = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result")
        for number in range(max(args.rounds, args.most)):
            if number >= args.rounds and resolution(differences(rows)) <= 0.5:
                break
            bare = Bare(*run(args, [], latecomer, scratch)[:2])
            for kind in sorted(kinds, reverse=number % 2 == 1):
                shutil.rmtree(out, ignore_errors=True)
                seconds, rest, parent = run(args, [latecomer, "run", "-q", *kinds[kind], "-o", out, "--"], latecomer, scratch)
                shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, check=True).stdout
                meta = json.loads(shown)["meta"]
                rows[kind].append(Measured(seconds, rest, 100 * ((seconds - rest) / (bare.seconds - bare.rest) - 1), 100 * parent / seconds / args.ranks,
                                           100 * meta["overhead"].get("sampling_s", 0) / meta["wall_time_s"] / args.ranks, meta.get("sample_rate", 0)))
    difference = differences(rows)
    what = os.path.basename(args.team) if args.team else f"LAMMPS, {args.ranks} ranks, {args.steps} steps"
    print(f"{what}, {len(difference)} rounds")
    for kind, runs in rows.items():
        seconds, _, longer, parent, reading, rate = zip(*runs)
        print(f"{kind}: run time {spread(seconds, 's')}, {spread(longer, '%')} longer than bare; parent {spread(parent, '% of a core per rank')}; "
              f"reading samples {spread(reading, '% of the run time')}; {spread(rate, 'per second', 0)}")
    print(f"samples at the default rate: {spread(difference, 'points')} of dilation, the median to {resolution(difference):.2f}")
    figure("dilation", statistics.median(difference), "%")
    figure("resolution", resolution(difference), "%")
    if not args.team:
        rest = [1000 * (with_them.rest - none.rest) for none, with_them in zip(rows["without samples"], rows["with samples"])]
        print(f"start and end: {spread(rest, 'ms', 0)}, the median to {resolution(rest):.0f}")
        figure("start_and_end", statistics.median(rest), "ms")


if __name__ == "__main__":
    main()
