#!/usr/bin/env python3
"""Nanoseconds that Latecomer adds to MPI operations: bare and measured runs alternate, medians are compared.

usage: overhead.py BUILD_DIR [--flavour openmpi|mpich] [--runs 11] [--iterations N] [--depth D] [--modes nop,profile,..]

Modes: nop (the wrappers only forward), profile (no clocks), clocks (the default: profile, logical clocks, measured waits, blame),
clocks-mpi (the same over messages), trace (the default with --trace). For each operation: bare time, and per mode
the median of the differences of neighbouring runs, the smallest and the largest beside it, the median in units of one clock_gettime,
and the difference of the fastest runs: a virtual machine moves its cores about (a line from the other core takes 30 ns at one time and
150 at another), so that one difference can be of runs in different states.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

MODES = {
    "nop": {"LATECOMER_MODE": "nop"},
    "profile": {"LATECOMER_CLOCKS": "off"},
    "clocks": {},
    "clocks-mpi": {"LATECOMER_TRANSPORT": "mpi"},
    "trace": {"LATECOMER_TRACE": "1"},
}


def launcher(flavour, ranks):
    if flavour == "mpich":
        return ["mpirun.mpich", "-bind-to", "core", "-n", str(ranks)]
    extra = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun.openmpi", *extra, "--oversubscribe", "--bind-to", "core", "-n", str(ranks)]


def run_once(args, ranks, mode, scratch):
    command = launcher(args.flavour, ranks)
    environment = dict(os.environ)
    if mode != "bare":
        environment.update(MODES[mode])
        out = os.path.join(scratch, "result")
        shutil.rmtree(out, ignore_errors=True)
        command += [os.path.join(args.build, "bin/latecomer"), "run", "-q", "-o", out, "--"]
    command += [os.path.join(args.build, "bin/overhead-ops-" + args.flavour), str(args.iterations), str(args.depth)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"overhead: {' '.join(command)} failed: {done.stderr.strip()}")
    return {name: float(ns) for name, ns in (line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)}


def measure(args, ranks, modes, scratch):
    samples = {mode: [] for mode in ["bare", *modes]}
    for _ in range(args.runs):
        for mode in samples:
            samples[mode].append(run_once(args, ranks, mode, scratch))
    return samples


def print_table(samples, modes):
    clock = statistics.median(s["clock_gettime"] for s in samples["bare"])
    names = [n for n in samples["bare"][0] if n != "clock_gettime"]
    print(f"{'operation':<11}{'bare ns':>9}{'fastest':>9}" + "".join(f"{mode + ' +ns (min..max) clocks fastest':>44}" for mode in modes))
    for name in names:
        fastest = min(s[name] for s in samples["bare"])
        line = f"{name:<11}{statistics.median(s[name] for s in samples['bare']):>9.1f}{fastest:>9.1f}"
        for mode in modes:
            added = [m[name] - b[name] for b, m in zip(samples["bare"], samples[mode])]
            middle = statistics.median(added)
            best = min(m[name] for m in samples[mode]) - fastest
            line += f"{middle:>12.1f} ({min(added):.1f}..{max(added):.1f}) {middle / clock:.2f} {best:.1f}".rjust(44)
        print(line)
    print(f"one clock_gettime: {clock:.1f} ns; {len(samples['bare'])} alternating runs each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--iterations", type=int, default=200000)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--modes", default="nop,profile,clocks")
    args = parser.parse_args()
    modes = args.modes.split(",")
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        parser.error(f"unknown mode {unknown[0]}; there are {', '.join(MODES)}")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in (2, 1):
            title = "two ranks that talk to each other" if ranks == 2 else "one rank that talks to itself (nothing is hidden in waiting)"
            print(f"{args.flavour}: {title}, depth {args.depth}")
            print_table(measure(args, ranks, modes, scratch), modes)
            print()


if __name__ == "__main__":
    main()
