#!/usr/bin/env python3
"""Programs built with GCC under OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY: every thread may run where it may bare, and omp_get_max_threads
is that of bare, on LLVM's runtime; where that runtime cannot be made to do so the program keeps its own, and one line says so.
bound_threads.py LATECOMER PROGRAM [FLAVOUR] (PROGRAM: bound_threads.c, with MPI if a flavour is given)"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun
from patience import patience  # noqa: E402

LATECOMER, PROGRAM = map(os.path.abspath, sys.argv[1:3])
FLAVOUR = sys.argv[3] if len(sys.argv) > 3 else None
CPUS = sorted(os.sched_getaffinity(0))[:4]
if len(CPUS) == 3:
    CPUS.pop()
A, B = CPUS[0], CPUS[-1]
NAMES = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_NUM_THREADS", "KMP_AFFINITY")
FAILED, NUMBER = [], [0]


def run(words, cpus, variables):
    environment = {name: value for name, value in os.environ.items() if name not in NAMES}
    return subprocess.run(words, capture_output=True, text=True, timeout=patience(60), check=False, env={**environment, **variables},
                          preexec_fn=lambda: os.sched_setaffinity(0, cpus))


def compare(measured, cpus=None, launcher=(), reason="", **variables):
    """measured: whether OpenMP is, which is on LLVM's runtime; reason: a part of the line that says why not."""
    NUMBER[0] += 1
    what = f"{' '.join(launcher)} on {cpus or CPUS} with {variables}"
    bare = run([*launcher, PROGRAM], cpus or CPUS, variables)
    tool = run([*launcher, LATECOMER, "run", "-o", f"r{NUMBER[0]}", PROGRAM], cpus or CPUS, variables)
    said = [line for line in tool.stderr.splitlines() if line.startswith("latecomer: ")]
    why = [line for line in said if "OpenMP is not measured" in line]
    show = subprocess.run([LATECOMER, "show", "--json", f"r{NUMBER[0]}"], capture_output=True, text=True, timeout=patience(60), check=False)
    runtime = json.loads(show.stdout)["meta"].get("openmp_runtime") if show.returncode == 0 else None
    if (bare.returncode, sorted(bare.stdout.splitlines())) != (tool.returncode, sorted(tool.stdout.splitlines())):
        FAILED.append(f"{what}: bare {bare.returncode}:\n{bare.stdout}measured {tool.returncode}:\n{tool.stdout}{tool.stderr}")
    elif (runtime is not None) != measured or len(why) != (0 if measured else 1) or not all(reason in line for line in why):
        FAILED.append(f"{what}: runtime {runtime}, said {said}")


def ask_for_all(launcher, cpus):
    """`cpus`: of the process; a number of threads that its places do not divide is left out: which place gets one more is the runtime's choice."""
    first, last = cpus[0], cpus[-1]
    several = {"OMP_NUM_THREADS": str(len(cpus))}
    for threads in ({}, several, {"OMP_NUM_THREADS": str(2 * len(cpus))}):
        for bind in ("true", "close", "spread"):
            compare(True, cpus, launcher, OMP_PROC_BIND=bind, **threads)
        compare(True, cpus, launcher, OMP_PLACES="threads", **threads)
        compare(True, cpus, launcher, OMP_PLACES=",".join(f"{{{cpu}}}" for cpu in cpus), **threads)
        compare(True, cpus, launcher, GOMP_CPU_AFFINITY=" ".join(map(str, cpus)), **threads)
    compare(True, cpus, launcher)
    compare(True, cpus, launcher, OMP_PLACES="cores", OMP_PROC_BIND="close", **several)
    compare(True, cpus, launcher, OMP_PLACES=f"{{{first}}}")
    compare(True, cpus, launcher, OMP_PLACES=f"{{{last}}},{{{first}}}", OMP_NUM_THREADS="2")
    compare(True, cpus, launcher, OMP_PROC_BIND="false", OMP_PLACES=f"{{{last}}}")
    compare(True, cpus, launcher, GOMP_CPU_AFFINITY=f"{first}-{last}:{max(last - first, 1)}", OMP_PROC_BIND="true", OMP_NUM_THREADS="2")
    compare(True, cpus, launcher, OMP_PROC_BIND="spread,close", OMP_NUM_THREADS="2")


def keep_their_own(launcher):
    """What the two runtimes do differently, and no words make them do alike."""
    compare(False, [A], launcher, GOMP_CPU_AFFINITY=f"{A} {B}" if A != B else f"{A} {A + 1}", reason="GOMP_CPU_AFFINITY=")
    compare(False, None, launcher, GOMP_CPU_AFFINITY="all", reason="GOMP_CPU_AFFINITY=all")
    compare(False, None, launcher, OMP_PLACES="numa_domains", reason="OMP_PLACES=numa_domains")
    compare(False, None, launcher, OMP_PLACES=f"{{{A}}},", reason="OMP_PLACES=")
    compare(False, None, launcher, OMP_PROC_BIND="tight", reason="OMP_PROC_BIND=tight")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    if FLAVOUR is None:
        ask_for_all((), CPUS)
        ask_for_all((), [A])
        keep_their_own(())
    else:
        for binding in ("none", "core"):
            words = mpirun(FLAVOUR, 2, "--bind-to", binding + (":overload-allowed" if binding == "core" else "")) if FLAVOUR == "openmpi" else [*mpirun(FLAVOUR, 2), "-bind-to", binding]
            for asked in ({}, {"OMP_PROC_BIND": "true"}, {"OMP_PLACES": "cores", "OMP_NUM_THREADS": "2"}, {"OMP_PROC_BIND": "spread"}):
                compare(True, CPUS, words, **asked)
if FAILED:
    sys.exit("FAILED: " + "\nFAILED: ".join(FAILED))
print(f"{NUMBER[0]} ways to bind threads: as bare")
if A == B:
    print("left out: several places: this process has one processor")
    sys.exit(77)
