#!/usr/bin/env python3
"""What the tool adds to constructs of OpenMP: openmp.py LATECOMER PROGRAM [ROUNDS], or openmp.py LATECOMER PROGRAM --instructions [CONSTRUCT..].
PROGRAM: overhead-openmp, or overhead-native (GCC's runtime).

Times (alone on the machine): ns bare; what an OMPT tool adds that does nothing (the least that the runtime's reports cost; not on GCC's runtime, which has no such tools),
what the profile adds, and what a trace adds to the profile: figures of the medians. The ways take turns. --instructions: instead,
instructions per construct, on both threads together, until the measurement ends, counted by callgrind with a clock that does not depend on its speed: those of the tool's library without samples, the
same on any machine, loaded or not (but for threads that look again for a lock that is held), mutexes that it takes, and beside them instructions of the runtime, bare, with the tool that does nothing, and
measured (these waver: threads that wait look again)."""
import collections
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
ROUNDS = int(REST[0]) if REST and not COUNT else 5
NAMES = REST if COUNT else []
LOCKS = "mutexes that the library takes"
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


def instructions_of(path):
    """Instructions per object itself in a file of callgrind's: lines of numbers, but for those behind calls=; and LOCKS, mutexes that the tool's library takes."""
    names, functions, inside, called, skip, sums = {}, {}, None, "", False, collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition("=")
            if key in ("ob", "cob", "fn", "cfn"):
                number, _, name = value.strip().partition(" ")
                (names if key.endswith("ob") else functions).setdefault(number, os.path.basename(name))
                inside = number if key == "ob" else inside
                called = functions[number] if key == "cfn" else called
            elif key == "calls":
                sums[LOCKS] += int(value.split()[0]) if names.get(inside, "").startswith("liblatecomer") and called.startswith("pthread_mutex_lock") else 0
                skip = True
            elif line[:1] in "0123456789+-*" and line.strip():
                sums[names.get(inside, "")] += int(line.split()[1]) if not skip else 0
                skip = False
    return sums


def run_counted(folder, name, samples, way):
    """Instructions of the library, mutexes that it takes, and instructions of the program's runtime, before the result is gathered; and the constructs that ran."""
    for old in glob.glob(f"{folder}/out.*"):
        os.remove(old)
    beside = os.path.dirname(PROGRAM)
    words = ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/out.%p", "--dump-before=lc_parts_finalize"]
    environment = {"OMP_WAIT_POLICY": "passive"}
    if way == "profile":
        # samples: as many as time passes
        words += [LATECOMER, "run", "-q", "--sample=off", "-o", f"{folder}/{name}-{samples}"]
        environment |= {"LATECOMER_CLOCK": "monotonic", "LD_PRELOAD": f"{beside}/libeven-clock.so"}
    elif way == "empty":
        environment["OMP_TOOL_LIBRARIES"] = f"{beside}/libempty-tool.so"
    ran = output([*words, PROGRAM, name, str(samples)], **environment)
    sums = collections.Counter()
    for path in glob.glob(f"{folder}/out.*.1" if way == "profile" else f"{folder}/out.*"):
        sums.update(instructions_of(path))
    library = sum(n for of, n in sums.items() if of.startswith("liblatecomer"))
    runtime = sum(n for of, n in sums.items() if of.startswith(("libomp.so", "libgomp.so")))
    return library, sums[LOCKS], runtime, int(ran[0][1])


def counted(folder, name, way):
    """Per construct, on all threads together."""
    less, more = (run_counted(folder, name, samples, way) for samples in (1, 3))
    return [(many - few) / (more[-1] - less[-1]) for few, many in zip(less[:-1], more[:-1])]


def counts(folder):
    ways = ["bare", "empty", "profile"] if not PROGRAM.endswith("-native") else ["bare", "profile"]
    print(f"{'construct':20} {'library':>8} {'mutexes':>8}   runtime: " + "".join(f" {way:>8}" for way in ways))
    for name in NAMES or CONSTRUCTS:
        of = {way: counted(folder, name, way) for way in ways}
        print(f"{name:20} {of['profile'][0]:8.0f} {of['profile'][1]:8.2f}            " + "".join(f" {of[way][2]:8.0f}" for way in ways), flush=True)


if not os.path.exists(PROGRAM):
    print(f"{PROGRAM} is not built: clang may lack OpenMP")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    (counts if COUNT else times)(scratch)
