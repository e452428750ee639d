#!/usr/bin/env python3
"""Instructions per call of MPI that finding loops costs, under callgrind: those of callpath/loops.c and loops.h, and of the line of hot.h that asks whether
there is a loop. Of a loop that was found and goes on, beyond the iterations that are all kept: the difference of a long run and a short one, so that start and end are
left out.

usage: loops_cost.py BUILD_DIR [--flavour openmpi|mpich] [--iterations 50000,150000]
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402


def lines_that_ask():
    """Numbers of the lines of hot.h that have to do with loops."""
    text = (HERE.parents[2] / "src/measure/hot/hot.h").read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(text, 1) if "gap_loop" in line}


def of_loops(profile, asking):
    """Self cost of the lines in question; inlined code has the file that it is of (fi=, fe=). The line after calls= is the callee's."""
    names, file, callee, number, total = {}, "", False, 0, 0
    for line in pathlib.Path(profile).read_text(encoding="utf-8").splitlines():
        named = re.match(r"(fl|fi|fe|cfl|cfi)=\((\d+)\)(?: (.*))?", line)
        if named:
            names.setdefault(named[2], named[3])
            if not named[1].startswith("c"):
                file = names[named[2]]
        elif line.startswith("calls="):
            callee = True
        elif re.match(r"[+\-*\d]", line):
            at, cost = line.split()[:2]
            number = number if at == "*" else number + int(at) if at[0] in "+-" else int(at)
            mine = file.endswith(("/callpath/loops.c", "/callpath/loops.h")) or (file.endswith("/hot/hot.h") and number in asking)
            total += int(cost) if mine and not callee else 0
            callee = False
    return total


def run(args, scratch, iterations):
    """Instructions and calls, of one rank."""
    out = f"{scratch}/{iterations}"
    os.makedirs(out)
    words = [*mpirun(args.flavour, 1), f"{args.build}/bin/latecomer", "run", "-q", "--sample=off", "--max-overhead=off", "-o", f"{out}/exp", "--", "valgrind", "-q",
             "--tool=callgrind", f"--callgrind-out-file={out}/count.%p", str(next(pathlib.Path(args.build).rglob(f"call_paths-found_loops-{args.flavour}"))), "no_work",
             str(iterations)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience(300), check=False)
    if done.returncode != 0:
        sys.exit(f"loops_cost.py: status {done.returncode}: {(done.stdout + done.stderr)[-1000:]}")
    result = json.loads(subprocess.run([f"{args.build}/bin/latecomer", "show", "--json", f"{out}/exp"], check=True, capture_output=True, text=True).stdout)
    if not any(loop["count"] > 0.99 * iterations for loop in result["pop"]["iterations"]):
        sys.exit(f"loops_cost.py: no loop of {iterations} iterations")
    counted = [of_loops(path, lines_that_ask()) for path in pathlib.Path(out).glob("count.*")]
    return max(counted), result["meta"]["coverage"]["calls"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi")
    parser.add_argument("--iterations", default="50000,150000")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        few, many = (run(args, scratch, int(n)) for n in args.iterations.split(","))
    each = (many[0] - few[0]) / (many[1] - few[1])
    print(f"{few[0]} instructions of {few[1]} calls, {many[0]} of {many[1]}: {each:.1f} for each further call")
    figure("call", each, "instructions")


if __name__ == "__main__":
    main()
