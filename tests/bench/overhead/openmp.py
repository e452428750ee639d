#!/usr/bin/env python3
"""What the tool adds to constructs of OpenMP: openmp.py LATECOMER PROGRAM [ROUNDS] [--instructions]. PROGRAM: overhead-openmp, or overhead-native (GCC's runtime).

Times (alone on the machine): ns bare; what an OMPT tool adds that does nothing (the least that the runtime's reports cost; not on GCC's runtime, which has no such tools),
what the profile adds, and what a trace adds to the profile: figures of the medians. The ways take turns. --instructions: instead,
instructions that the tool's library executes per construct, on both threads together, until the measurement ends, counted by callgrind: the same on any machine, loaded or not
(but for threads that look again for a lock that is held)."""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402

COUNT = "--instructions" in sys.argv
LATECOMER, PROGRAM, *REST = [word for word in sys.argv[1:] if word != "--instructions"]
LATECOMER, PROGRAM = os.path.abspath(LATECOMER), os.path.abspath(PROGRAM)
ROUNDS = int(REST[0]) if REST else 5
CONSTRUCTS = ("parallel", "barrier", "single", "critical", "task_one_producer", "task_all_produce", "taskwait", "dependence_chain")


def output(words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300, env={**os.environ, **environment})
    return [line.split() for line in done.stdout.splitlines()]


def beside(way):
    """What its cost is added to."""
    return "profile" if way == "trace" else "bare"


def times(folder):
    """ns of each construct, per way to run it and round."""
    ways = {"bare": ([], {}), "empty": ([], {"OMP_TOOL_LIBRARIES": os.path.join(os.path.dirname(PROGRAM), "libempty-tool.so")}),
            "profile": ([LATECOMER, "run", "-q", "-o", f"{folder}/profile"], {}),
            "trace": ([LATECOMER, "run", "-q", "--trace", "-o", f"{folder}/trace"], {})}
    if PROGRAM.endswith("-native"):
        del ways["empty"]
    values = {way: {} for way in ways}
    for _ in range(ROUNDS):
        for way, (words, environment) in ways.items():
            for old in glob.glob(f"{folder}/*"):
                shutil.rmtree(old)
            for name, ns in output([*words, PROGRAM], **environment):
                values[way].setdefault(name, []).append(float(ns))
    for label, of in (("medians of the rounds", statistics.median), ("minima of the rounds", min)):
        print(f"{label}\n{'construct':20} {'bare':>8}" + "".join(f" {way:>8}" for way in ways if way != "bare"))
        for name in CONSTRUCTS:
            print(f"{name:20} {of(values['bare'][name]):8.0f}" + "".join(f" {of(values[way][name]) - of(values[beside(way)][name]):+8.0f}" for way in ways if way != "bare"))
    for name in CONSTRUCTS:
        for way in ways:
            added = statistics.median(values[way][name]) - statistics.median(values[beside(way)][name])
            if way != "bare":
                figure(name if way == "profile" else f"{name}.{way}", added, "ns")


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
    """Of the measured process, before it gathers its result; and the constructs that ran."""
    for old in glob.glob(f"{folder}/out.*"):
        os.remove(old)
    ran = output(["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/out.%p", "--dump-before=lc_parts_finalize", LATECOMER, "run", "-q",
                  "-o", f"{folder}/{name}-{samples}", PROGRAM, name, str(samples)], OMP_WAIT_POLICY="passive")
    return sum(own_instructions(path) for path in glob.glob(f"{folder}/out.*.1")), int(ran[0][1])


def counts(folder):
    print(f"{'construct':20} {'instructions':>12}")
    for name in CONSTRUCTS:
        (few, less), (many, more) = instructions(folder, name, 1), instructions(folder, name, 3)
        print(f"{name:20} {(many - few) / (more - less):12.0f}")


if not os.path.exists(PROGRAM):
    print(f"{PROGRAM} is not built: clang may lack OpenMP")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    (counts if COUNT else times)(scratch)
