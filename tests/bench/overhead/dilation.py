#!/usr/bin/env python3
"""Dilation of LAMMPS (melt, 2 ranks, Open MPI): bare and measured runs alternate, the minima are compared.

usage: dilation.py BUILD_DIR [--runs 5] [--steps 2000]
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MELT = os.path.join(HERE, "../../real/melt.in")


def run_s(prefix, steps, scratch):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    command = ["mpirun.openmpi", *root, "-n", "2", *prefix, "lmp", "-in", MELT, "-log", "none", "-screen", "none",
               "-var", "steps", str(steps)]
    begin = time.monotonic()
    subprocess.run(command, cwd=scratch, check=True, stdin=subprocess.DEVNULL, timeout=600)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    latecomer = os.path.abspath(os.path.join(args.build, "bin/latecomer"))
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result")
        bare, measured = [], []
        for _ in range(args.runs):
            bare.append(run_s([], args.steps, scratch))
            shutil.rmtree(out, ignore_errors=True)
            measured.append(run_s([latecomer, "run", "-q", "-o", out, "--"], args.steps, scratch))
    print("bare s:    ", " ".join(f"{s:.3f}" for s in bare))
    print("measured s:", " ".join(f"{s:.3f}" for s in measured))
    print(f"dilation of the minima: {100 * (min(measured) / min(bare) - 1):+.2f} %")


if __name__ == "__main__":
    main()
