#!/usr/bin/env python3
"""Microseconds that Latecomer adds to MPI operations between hosts: a message of 8 bytes one way, an MPI_Allreduce of one number. Two hosts on
this machine (tests/system/nodes/hosts.py: network namespaces, tcp between them; needs root); bare and measured runs alternate.

usage: between.py BUILD_DIR [--flavour openmpi|mpich] [--runs 9] [--iterations 20000] [--modes profile,clocks] [--delay MS]

Modes: profile (no clocks), clocks (the default: profile, logical clocks, measured waits, blame), apart (the same, but that clocks of collectives in a
row are not reduced together). --delay: what each packet takes between the hosts. For each operation and mode the median over the
runs of the medians of a run, in brackets that of the lower quartiles, and its ratio to the bare one.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NODES = os.path.join(HERE, "../../system/nodes")
sys.path[:0] = [NODES, os.path.join(HERE, "../..")]
from figure import figure  # noqa: E402
import several_hosts  # noqa: E402

MODES = {"profile": {"LATECOMER_CLOCKS": "off"}, "clocks": {}, "apart": {"LATECOMER_TEST_COMPOSED": "off"}}


def run_once(args, mode, scratch):
    words = several_hosts.launcher(args.flavour, 2, spins=True)
    program = [os.path.join(args.build, f"bin/bench-between-{args.flavour}"), str(args.iterations)]
    if mode != "bare":
        options = [f"{name}={value}" for name, value in MODES[mode].items()]
        program = ["env", *options, os.path.join(args.build, "bin/latecomer"), "run", "-q", "-o", os.path.join(scratch, f"result-{len(os.listdir(scratch))}"), "--", *program]
    done = several_hosts.run(words + program, timeout=300)
    if done.returncode != 0:
        sys.exit(f"between: {' '.join(words + program)} failed: {done.stderr.strip()}")
    return {name: (float(middle), float(low)) for name, low, middle in (line.split() for line in done.stdout.splitlines())}


def inside(args):
    modes = ["bare", *args.modes.split(",")]
    found = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as scratch:
        for _ in range(args.runs):
            for mode in modes:
                found[mode].append(run_once(args, mode, scratch))
    for name in found["bare"][0]:
        middle, low = ({mode: statistics.median(run[name][i] for run in runs) for mode, runs in found.items()} for i in (0, 1))
        line = "".join(f"  {mode} {middle[mode]:.2f} ({low[mode]:.2f})" + (f" x {middle[mode] / middle['bare']:.2f} ({low[mode] / low['bare']:.2f})" if mode != "bare" else "")
                       for mode in modes)
        print(f"{args.flavour}: {name}, us:{line}")
        if "clocks" in middle:
            figure(name, middle["clocks"] / middle["bare"], "times")
        if "clocks" in middle and "apart" in middle:
            figure(f"{name}.saved", 100 * (1 - middle["clocks"] / middle["apart"]), "%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--flavour", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--iterations", type=int, default=20000)
    parser.add_argument("--modes", default="profile,clocks")
    parser.add_argument("--delay", default="0")
    args = parser.parse_args()
    unknown = [mode for mode in args.modes.split(",") if mode not in MODES]
    if unknown:
        parser.error(f"unknown mode {unknown[0]}; there are {', '.join(MODES)}")
    if "HOSTS_NAMES" in os.environ:
        inside(args)
        return 0
    return subprocess.run([sys.executable, os.path.join(NODES, "hosts.py"), "--delay", args.delay, sys.executable, os.path.abspath(__file__), *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
