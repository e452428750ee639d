#!/usr/bin/env python3
"""Many pending receives: what the tool adds per receive, completed in any order; it must not grow with their number.

usage: pending.py BUILD_DIR [--flavour openmpi|mpich] [--ranks 2] [--runs 3] [--counts 1000,10000,100000] [--limit RATIO] [--instructions]

Prints, per order and kind (see pending.c), the bare time per receive and what profile and profile with clocks add, in ns, for each
count: the least of the runs. With --limit: exit status 1 if the most receives cost more than RATIO times as much each as the least
(and more than 1 us each; what MPI itself takes is not counted). With --instructions: instructions of the tool's own libraries per receive
and rank, start and end of the run included, under callgrind (some 50 times slower: choose smaller counts), which no other load changes."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402

ORDERS = ("forward", "reverse", "random", "all", "all_reverse")
KINDS = ("same", "tags", "source", "tag", "any")


def seconds(args, mode, *what):
    words, env = mode
    command = mpirun(args.flavour, args.ranks) + words + [f"{args.build}/bin/pending-{args.flavour}", *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=args.timeout,
                          env={**os.environ, **env})
    try:
        return float(done.stdout.split()[0])
    except (IndexError, ValueError):
        sys.exit(f"pending.py: {' '.join(command)}: {(done.stdout + done.stderr).strip()[-500:]}")


def own_instructions(profile):
    """What a file of callgrind counts inside liblatecomer*: self cost by object; the line after calls= is that of the callee."""
    names, inside, callee, total = {}, False, False, 0
    for line in pathlib.Path(profile).read_text(encoding="utf-8").splitlines():
        named = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
        if named:
            if named[3]:
                names[named[2]] = named[3]
            if not named[1]:
                inside = "liblatecomer" in names[named[2]]
        elif line.startswith("calls="):
            callee = True
        elif re.match(r"[+\-*\d]", line):
            total += 0 if callee or not inside else int(line.split()[1])
            callee = False
    return total


def instructions(args, scratch, *what):
    """The mean of the ranks."""
    for old in pathlib.Path(scratch).glob("count.*"):
        old.unlink()
    words = [f"{args.build}/bin/latecomer", "run", "-q", "-o", f"{scratch}/exp", "--", "valgrind", "-q", "--tool=callgrind",
             f"--callgrind-out-file={scratch}/count.%p"]
    seconds(args, (words, {}), *what)
    counted = [own_instructions(p) for p in pathlib.Path(scratch).glob("count.*")]
    return sum(counted) / len(counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--counts", default="1000,10000,100000")
    parser.add_argument("--orders", default=",".join(ORDERS))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--limit", type=float)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    counts = [int(n) for n in args.counts.split(",")]
    bad = 0
    if args.instructions:
        with tempfile.TemporaryDirectory() as scratch:
            for order in args.orders.split(","):
                for kind in args.kinds.split(","):
                    each = [instructions(args, scratch, str(n), order, kind) / n for n in counts]
                    print(f"{order:<12}{kind:<8}" + "".join(f"{n:>10}: {x:>8.0f}" for n, x in zip(counts, each)), flush=True)
        return
    print(f"{'order':<12}{'kind':<8}" + "".join(f"{n:>10} bare   profile    clocks" for n in counts))
    with tempfile.TemporaryDirectory() as scratch:
        tool = [f"{args.build}/bin/latecomer", "run", "-q", "-o", f"{scratch}/exp"]
        modes = (([], {}), ([*tool, "--"], {"LATECOMER_CLOCKS": "off"}), ([*tool, "--"], {}))
        for order in args.orders.split(","):
            for kind in args.kinds.split(","):
                row, added = "", []
                for n in counts:
                    each = [min(seconds(args, mode, str(n), order, kind) for _ in range(args.runs)) / n * 1e9 for mode in modes]
                    row += f"{each[0]:>15.0f}{each[1] - each[0]:>10.0f}{each[2] - each[0]:>10.0f}"
                    added.append(max(each[2] - each[0], 1.0))
                grown = args.limit and added[-1] > 1000 and added[-1] > args.limit * added[0]
                bad += bool(grown)
                print(f"{order:<12}{kind:<8}{row}{'  grows' if grown else ''}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
