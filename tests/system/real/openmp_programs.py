#!/usr/bin/env python3
"""OpenMP programs from Debian, unchanged, built with GCC: same trees of the same sequences, or energies of the same molecules, as without the tool,
also where threads are bound to cores, and a useful profile.

usage: openmp_programs.py LATECOMER fasttree|iqtree|xtb"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import openmp_inputs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2")
CPUS = sorted(os.sched_getaffinity(0))


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(*words, **bound):
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience(250), check=False, env=ENV | bound, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def tree(text):
    check(text.count("t") >= 16, f"no tree: {text}")
    return text


def fasttree(prefix, _ranks, **bound):
    return tree(run(*prefix, "fasttreeMP", "-nt", "-quiet", "in.fa", **bound))


def iqtree(prefix, ranks, **bound):
    # bound to one core it refuses two threads
    run(*mpirun("openmpi", ranks, "--bind-to", "none"), *prefix, "iqtree2-mpi", "-s", "in.fa", "-m", "GTR+G", "-nt", "2", "-seed", "1", "-n", "2",
        "-redo", "-pre", "out", "-quiet", **bound)
    with open("out.treefile", encoding="ascii") as file:
        return tree(file.read())


def xtb(prefix, _ranks, **bound):
    found = re.search(r"TOTAL ENERGY +(-\d+\.\d+) Eh", run(*prefix, "xtb", "waters.xyz", "--gfn", "2", **bound))
    check(found is not None, "no energy")
    return float(found.group(1))


def same(a, b):
    """Energies differ in their last digits from run to run, also without the tool."""
    return abs(a - b) < 1e-8 if isinstance(a, float) else a == b


def one(program, ranks, *options, **bound):
    bare = program([], ranks, **bound)
    shutil.rmtree("result", ignore_errors=True)
    measured = program([LATECOMER, "run", "-q", *options, "-o", "result", "--"], ranks, **bound)
    check(same(measured, bare), f"{measured} is not {bare}")
    result = json.loads(run(LATECOMER, "show", "--json", "result"))
    meta, pop, metrics = result["meta"], result["pop"], result["metrics"]
    check(meta["complete"] is True and meta["threads"] == [2] * ranks, f"{meta}")
    check("openmp_runtime" in meta and meta["openmp_edges_lost"] == 0, f"{meta}")
    check(pop["identity_error"] < 1e-9, f"identities off by {pop['identity_error']}")
    paths = metrics["time"]["callpaths"]
    check(any("!$omp parallel @" in path for path in paths), f"no region in {list(paths)[:5]}")
    check(metrics["omp_ibarrier_wait"]["total"] > 0 and metrics["omp_idle_threads"]["total"] > 0, "nobody waits")
    print(f"{ranks} x 2 {' '.join(options)} {bound}: PE {pop['parallel_efficiency']:.3f} MPI {pop['mpi']['parallel_efficiency']:.3f} "
          f"OpenMP {pop['omp']['parallel_efficiency']:.3f}, idle {metrics['omp_idle_threads']['total']:.3f} s, "
          f"barriers {metrics['omp_ibarrier_wait']['total']:.3f} s of {metrics['time']['total']:.3f} s")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    openmp_inputs.sequences("in.fa", 16, 400)
    openmp_inputs.waters("waters.xyz", 1)
    spread = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}
    if sys.argv[2] == "fasttree":
        one(fasttree, 1)
        one(fasttree, 1, "--trace", OMP_PROC_BIND="true", OMP_PLACES=f"{{{CPUS[-1]}}},{{{CPUS[0]}}}")
    elif sys.argv[2] == "xtb":
        one(xtb, 1)
        one(xtb, 1, **spread)
    else:
        one(iqtree, 1, **spread)
        one(iqtree, 2)
