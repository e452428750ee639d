#!/usr/bin/env python3
"""A program of GCC under the variables of OpenMP, measured on its own runtime: output and exit status as bare. The table is generated: every
value of a variable beside every value of every other one.
environment.py LATECOMER PROGRAM (PROGRAM: environment.c)"""
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, PROGRAM = map(os.path.abspath, sys.argv[1:3])
CPUS = sorted(os.sched_getaffinity(0))
A, B = CPUS[0], CPUS[-1]
VALUES = {  # None: not set
    "OMP_PROC_BIND": [None, "true", "false", "close", "spread"],
    "OMP_PLACES": [None, "threads", "cores", f"{{{B}}},{{{A}}}"],
    "GOMP_CPU_AFFINITY": [None, f"{B} {A}"],
    "OMP_SCHEDULE": [None, "static", "static,3", "dynamic,2", "guided", "monotonic:dynamic"],
    "OMP_NESTED": [None, "true", "false"],
    "OMP_WAIT_POLICY": [None, "passive", "active"],
    "OMP_DYNAMIC": [None, "true", "false"],
    "OMP_MAX_ACTIVE_LEVELS": [None, "1", "3"],
    "OMP_NUM_THREADS": [None, "2", "3,2"],
}


def table():
    """Rows until each pair of values is in one: of some random rows always that with most new pairs."""
    rng, names, rows = random.Random(1), list(VALUES), []

    def pairs(row):
        return {((a, row[a]), (b, row[b])) for a, b in itertools.combinations(names, 2)}

    left = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in VALUES[a] for y in VALUES[b]}
    while left:
        (a, x), (b, y) = min(left, key=str)
        tries = [{**{name: rng.choice(VALUES[name]) for name in names}, a: x, b: y} for _ in range(40)]
        rows.append(max(tries, key=lambda row: len(pairs(row) & left)))
        left -= pairs(rows[-1])
    return rows


def run(words, row):
    environment = {name: value for name, value in os.environ.items() if name not in VALUES}
    environment.update({name: value for name, value in row.items() if value is not None})
    return subprocess.run(words, capture_output=True, text=True, timeout=patience(60), check=False, env=environment)


def judge(row):
    shutil.rmtree("result", ignore_errors=True)
    bare, tool = run([PROGRAM], row), run([LATECOMER, "run", "-q", "--openmp=native", "-o", "result", PROGRAM], row)
    if (bare.returncode, bare.stdout, bare.stderr) != (tool.returncode, tool.stdout, tool.stderr) or bare.returncode != 7:
        return f"bare {bare.returncode}:\n{bare.stdout}{bare.stderr}measured {tool.returncode}:\n{tool.stdout}{tool.stderr}"
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True)
    meta = json.loads(show.stdout)["meta"]
    return None if meta.get("openmp_runtime") == "libgomp" and meta["complete"] is True else f"{meta}"


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rows = table()
    failed = [f"{ {name: value for name, value in row.items() if value is not None} }: {wrong}" for row in rows if (wrong := judge(row))]
    print(f"{len(rows)} rows, {len(failed)} failed")
    if failed:
        raise SystemExit("FAILED: " + "\n".join(failed))
