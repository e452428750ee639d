#!/usr/bin/env python3
"""Dilation of real programs: LAMMPS (melt) and HPCC (Open MPI), FastTree (C) and xtb (Fortran) on two threads of OpenMP. Bare and measured runs alternate, the
minima are compared; of traces also events and bytes.

usage: dilation.py BUILD_DIR [--program lammps|hpcc|fasttree|xtb] [--modes profile,trace] [--ranks 2] [--runs 5] [--steps 2000]

All times are of the launcher, so that what the tool does after the program's end (names, writing the archive) is in them; the program's own time,
as the result states it, is printed below.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "../../system/real")
sys.path.insert(0, REAL)
import openmp_inputs  # noqa: E402

OPENMP = {"fasttree": ["fasttreeMP", "-nt", "-quiet", "in.fa"], "xtb": ["xtb", "waters.xyz", "--gfn", "2"]}
OPTIONS = {"profile": [], "trace": ["--trace"]}


def run_s(args, words, scratch):
    program = ["hpcc"]
    if args.program == "lammps":
        program = ["lmp", "-in", os.path.join(REAL, "melt.in"), "-log", "none", "-screen", "none", "-var", "steps", str(args.steps)]
    launcher = mpirun("openmpi", args.ranks)
    if args.program in OPENMP:
        launcher, program = [], OPENMP[args.program]
    begin = time.monotonic()
    subprocess.run([*launcher, *words, *program], cwd=scratch, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600,
                   env={**os.environ, "OMP_NUM_THREADS": "2"} if args.program in OPENMP else None)
    return time.monotonic() - begin


def of_program(latecomer, out):
    """Seconds from the start of the program to its end, as the result states it."""
    shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, check=True).stdout
    return float(re.search(r'"wall_time_s": ([0-9.e+-]+)', shown)[1])


def size(out):
    shown = subprocess.run(["otf2-print", "-G", os.path.join(out, "traces.otf2")], capture_output=True, text=True, check=True).stdout
    events = sum(int(n) for n in re.findall(r"^LOCATION .*# Events: (\d+)", shown, re.M))
    files = os.path.join(out, "traces")
    return events, sum(os.path.getsize(os.path.join(files, f)) for f in os.listdir(files) if f.endswith(".evt"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--program", choices=["lammps", "hpcc", *OPENMP], default="lammps")
    parser.add_argument("--modes", default="profile")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    latecomer = os.path.abspath(os.path.join(args.build, "bin/latecomer"))
    modes = args.modes.split(",")
    bare, whole, inner, sizes = [], {m: [] for m in modes}, {m: [] for m in modes}, {}
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(os.path.join(REAL, "hpccinf.txt"), scratch)
        openmp_inputs.sequences(os.path.join(scratch, "in.fa"), 80, 500)
        openmp_inputs.waters(os.path.join(scratch, "waters.xyz"), 20)
        out = os.path.join(scratch, "result")
        for _ in range(args.runs):
            bare.append(run_s(args, [], scratch))
            for mode in modes:
                shutil.rmtree(out, ignore_errors=True)
                whole[mode].append(run_s(args, [latecomer, "run", "-q", *OPTIONS[mode], "-o", out, "--"], scratch))
                inner[mode].append(of_program(latecomer, out))
                if mode == "trace":
                    sizes[mode] = size(out)
    print(f"{args.program}, {'2 threads' if args.program in OPENMP else f'{args.ranks} ranks'}; seconds, every run; dilation: of the minima")
    print("bare      ", " ".join(f"{s:.3f}" for s in bare))
    for mode in modes:
        dilation = 100 * (min(whole[mode]) / min(bare) - 1)
        print(f"{mode:<10}", " ".join(f"{s:.3f}" for s in whole[mode]), f"  {dilation:+.2f} % with writing the result")
        figure(mode, dilation, "%")
        print("  of these the program, without launcher and writing", " ".join(f"{s:.3f}" for s in inner[mode]))
        if mode in sizes:
            events, written = sizes[mode]
            print(f"  {events} events, {written} bytes, {written / max(events, 1):.1f} bytes per event")


if __name__ == "__main__":
    main()
