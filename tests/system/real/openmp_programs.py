#!/usr/bin/env python3
"""OpenMP programs from Debian, unchanged, built with GCC: same trees of the same sequences as without the tool, and a useful profile.

usage: openmp_programs.py LATECOMER fasttree|iqtree"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2")


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def sequences(path, count, length):
    """A family: each sequence is an earlier one with 8 % of its letters changed."""
    rng = random.Random(7)
    family = [[rng.choice("ACGT") for _ in range(length)]]
    while len(family) < count:
        family.append([rng.choice("ACGT") if rng.random() < 0.08 else letter for letter in rng.choice(family)])
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f">t{i}\n{''.join(letters)}\n" for i, letters in enumerate(family))


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=patience(250), check=False, env=ENV, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def fasttree(prefix, _ranks):
    return run(*prefix, "fasttreeMP", "-nt", "-quiet", "in.fa")


def iqtree(prefix, ranks):
    # bound to one core it refuses two threads
    run(*mpirun("openmpi", ranks, "--bind-to", "none"), *prefix, "iqtree2-mpi", "-s", "in.fa", "-m", "GTR+G", "-nt", "2", "-seed", "1", "-n", "2",
        "-redo", "-pre", "out", "-quiet")
    with open("out.treefile", encoding="ascii") as file:
        return file.read()


def one(program, ranks, *options):
    bare = program([], ranks)
    check(bare.count("t") >= 16, f"no tree: {bare}")
    shutil.rmtree("result", ignore_errors=True)
    measured = program([LATECOMER, "run", "-q", *options, "-o", "result", "--"], ranks)
    check(measured == bare, f"{measured} is not {bare}")
    result = json.loads(run(LATECOMER, "show", "--json", "result"))
    meta, pop, metrics = result["meta"], result["pop"], result["metrics"]
    check(meta["complete"] is True and meta["threads"] == [2] * ranks, f"{meta}")
    check("openmp_runtime" in meta and meta["openmp_edges_lost"] == 0, f"{meta}")
    check(pop["identity_error"] < 1e-9, f"identities off by {pop['identity_error']}")
    paths = metrics["time"]["callpaths"]
    check(any("!$omp parallel @" in path for path in paths), f"no region in {list(paths)[:5]}")
    check(metrics["omp_ibarrier_wait"]["total"] > 0 and metrics["omp_idle_threads"]["total"] > 0, "nobody waits")
    print(f"{ranks} x 2 {' '.join(options)}: PE {pop['parallel_efficiency']:.3f} MPI {pop['mpi']['parallel_efficiency']:.3f} "
          f"OpenMP {pop['omp']['parallel_efficiency']:.3f}, idle {metrics['omp_idle_threads']['total']:.3f} s, "
          f"barriers {metrics['omp_ibarrier_wait']['total']:.3f} s of {metrics['time']['total']:.3f} s")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    sequences("in.fa", 16, 400)
    if sys.argv[2] == "fasttree":
        one(fasttree, 1)
        one(fasttree, 1, "--trace")
    else:
        one(iqtree, 1)
        one(iqtree, 2)
