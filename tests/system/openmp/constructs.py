#!/usr/bin/env python3
"""A program over all constructs of OpenMP, under the tool as without it: output, exit status, a whole or partial result, identities.
constructs.py [--sanitizer=LIBRARY] LATECOMER PROGRAM [ENDING..]"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import sanitizer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

SANITIZER = sanitizer.library_of(sys.argv)
LATECOMER, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(*words):
    env = {**os.environ, "LATECOMER_MAX_OVERHEAD": "off"}  # all tasks are to be counted, however dear they are on this machine
    return subprocess.run(words, capture_output=True, text=True, timeout=patience(200), check=False, env=env)


def one(ending):
    shutil.rmtree("result", ignore_errors=True)
    words = [PROGRAM, *([ending] if ending else [])]
    bare, done = run(*words), run(*sanitizer.before(SANITIZER, ending == "exit"), LATECOMER, "run", "-q", "-o", "result", *words)
    check(sanitizer.report() is None, f"{ending}: {sanitizer.report()}")
    check(done.returncode == bare.returncode, f"{ending}: {done.returncode}, not {bare.returncode}: {done.stderr}")
    check(done.stdout == bare.stdout and done.stderr == bare.stderr, f"{ending}: {done.stdout}{done.stderr} not {bare.stdout}{bare.stderr}")
    result = json.loads(run(LATECOMER, "show", "--json", "result").stdout)
    meta, pop = result["meta"], result.get("pop")
    print(ending or "return", done.returncode, meta["ending"], meta["threads"], meta.get("openmp_tasks"), meta.get("openmp_edges_lost"))
    if ending in ("kill", "exec"):
        check(meta["complete"] is False and meta["ending"] == ("signal 9" if ending == "kill" else "exit") and pop is None, f"{meta}")
        check(result["metrics"]["omp_tasks_created"]["total"] > 1000, f"{ending}: {result['metrics']['omp_tasks_created']['total']} tasks")
        return
    check(meta["complete"] is True and meta["ending"] == "exit", f"{ending}: {meta}")
    check(meta["openmp_tasks"] > 1000, f"{ending}: {meta['openmp_tasks']} tasks")
    check(meta["openmp_edges_lost"] == 0, f"{ending}: {meta['openmp_edges_lost']} edges lost")
    check(pop["identity_error"] < 1e-9, f"{ending}: identities off by {pop['identity_error']}")
    for factors in (pop, pop["mpi"], pop["omp"]):
        for name in ("load_balance", "serialisation_efficiency", "transfer_efficiency"):
            check(0 < factors[name] <= 1.0001, f"{ending}: {name} {factors}")
    check(pop["task_critical_path_s"] <= pop["critical_path_s"] * (1 + 1e-9), f"{ending}: {pop}")
    curve = pop["task_curve"]
    check([at["threads"] for at in curve] == [2**i for i in range(11)], f"{ending}: {curve}")
    for at in curve:
        least = max(pop["task_critical_path_s"], pop["task_work_s"] / at["threads"])
        check(abs(at["at_least_s"] - least) < 1e-9, f"{ending}: {at}, not {least}")
    check(pop["task_work_s"] >= pop["critical_path_s"] * (1 - 1e-9), f"{ending}: {pop['task_work_s']} s of work, {pop['critical_path_s']} s of it in a chain")
    total = result["metrics"]["time"]["total"]
    for name, metric in result["metrics"].items():
        if metric["unit"] == "sec":
            low = min((min(row) for row in metric["callpaths"].values()), default=0)
            most = float("inf") if name == "omp_task_wait" else total * (1 + 1e-9)  # many tasks are ready at once
            check(low >= 0 and metric["total"] <= most, f"{ending}: {name} {low} {metric['total']} of {total}")
    created, stolen = (result["metrics"][name]["total"] for name in ("omp_tasks_created", "omp_tasks_stolen"))
    check(created >= meta["openmp_tasks"] > 1000 and stolen <= meta["openmp_tasks"], f"{ending}: {created} created, {meta['openmp_tasks']} ran")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for each in sys.argv[3:] or ["", "fork", "exit", "kill", "exec", "pause"]:
        one(each)
