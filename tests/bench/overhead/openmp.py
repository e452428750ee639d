#!/usr/bin/env python3
"""What the tool adds to constructs of OpenMP: openmp.py LATECOMER PROGRAM [ROUNDS] [--instructions]. PROGRAM: overhead-openmp.

Times (alone on the machine): ns bare, under the tool, added; medians of the rounds, which take turns, and the range of what is added from
one round to the next. --instructions: instead, instructions that the tool's library executes per construct, on both threads together,
counted by callgrind: the same on any machine, loaded or not (but for threads that look again for a lock that is held)."""
import glob
import os
import statistics
import subprocess
import sys
import tempfile

COUNT = "--instructions" in sys.argv
LATECOMER, PROGRAM, *REST = [word for word in sys.argv[1:] if word != "--instructions"]
LATECOMER, PROGRAM = os.path.abspath(LATECOMER), os.path.abspath(PROGRAM)
ROUNDS = int(REST[0]) if REST else 5
CONSTRUCTS = ("parallel", "barrier", "single", "critical", "task_one_producer", "task_all_produce", "taskwait", "dependence_chain")


def output(words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300, env={**os.environ, **environment})
    return [line.split() for line in done.stdout.splitlines()]


def times(folder):
    values = {"bare": {}, "profile": {}}
    for i in range(ROUNDS):
        for how, words in (("bare", []), ("profile", [LATECOMER, "run", "-q", "-o", f"{folder}/r{i}"])):
            for name, ns in output([*words, PROGRAM]):
                values[how].setdefault(name, []).append(float(ns))
    print(f"{'construct':20} {'bare':>8} {'profile':>8} {'added':>8}   range")
    for name in values["bare"]:
        bare, profile = (statistics.median(values[how][name]) for how in ("bare", "profile"))
        added = [b - a for a, b in zip(values["bare"][name], values["profile"][name])]
        print(f"{name:20} {bare:8.0f} {profile:8.0f} {profile - bare:8.0f}   {min(added):.0f}..{max(added):.0f}")


def own_instructions(path):
    """Instructions of the tool's library itself in a file of callgrind's: lines of numbers, but for those behind calls=."""
    names, inside, skip, total = {}, False, False, 0
    with open(path) as lines:
        for line in lines:
            if line.startswith("ob="):
                number, _, name = line[3:].strip().partition(" ")
                names.setdefault(number, name)
                inside = "liblatecomer-core" in names[number]
            elif line.startswith("cob="):
                number, _, name = line[4:].strip().partition(" ")
                names.setdefault(number, name)
            elif line.startswith("calls="):
                skip = True
            elif line[:1] in "0123456789+-*" and line.strip():
                total += int(line.split()[1]) if inside and not skip else 0
                skip = False
    return total


def instructions(folder, name, samples):
    """Of all processes, and the constructs that ran."""
    for old in glob.glob(f"{folder}/out.*"):
        os.remove(old)
    ran = output(["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/out.%p", LATECOMER, "run", "-q",
                  "-o", f"{folder}/{name}-{samples}", PROGRAM, name, str(samples)], OMP_WAIT_POLICY="passive")
    return sum(own_instructions(path) for path in glob.glob(f"{folder}/out.*")), int(ran[0][1])


def counts(folder):
    print(f"{'construct':20} {'instructions':>12}")
    for name in CONSTRUCTS:
        (few, less), (many, more) = instructions(folder, name, 1), instructions(folder, name, 3)
        print(f"{name:20} {(many - few) / (more - less):12.0f}")


with tempfile.TemporaryDirectory() as scratch:
    (counts if COUNT else times)(scratch)
