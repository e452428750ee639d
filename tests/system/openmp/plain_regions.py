#!/usr/bin/env python3
"""Regions of one thread that are measured as a whole on GCC's own runtime: plain_regions.py LATECOMER PROGRAM CLOCK-OF-READS

The clock moves only where the tool reads it, so the budget is used up after as many regions on any machine. The program does as bare; each region is
one visit; its constructs are told up to where the budget took them, all alike, those of regions of two threads always; `openmp_tasks` are those told."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, PROGRAM, CLOCK = map(os.path.abspath, sys.argv[1:4])
ROUNDS, TEAMS, TEAM_TASKS = 2000, 40, 4
ENV = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_MAX_ACTIVE_LEVELS": "3"}
OF_READS = {"LATECOMER_OPENMP": "native", "LATECOMER_CLOCK": "monotonic", "LATECOMER_SAMPLE": "off", "LATECOMER_MAX_OVERHEAD": "1%",
            "LD_PRELOAD": " ".join(filter(None, (os.environ.get("LD_PRELOAD"), CLOCK)))}
ALONE = {"single": 1, "critical": 1, "for": 1, "sections": 1, "task": 4, "taskwait": 1, "taskgroup": 1}  # of a region


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(env, *prefix):
    return subprocess.run([*prefix, PROGRAM, str(ROUNDS)], capture_output=True, text=True, timeout=patience(200), check=True, env=env).stdout


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    bare, measured = run(ENV), run({**ENV, **OF_READS}, LATECOMER, "run", "-q", "-o", "result")
    check(measured == bare, f"{bare} bare, {measured} measured")
    result = json.loads(subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True).stdout)
    reduced, tasks = result["meta"]["overhead"].get("reduced", []), result["meta"]["openmp_tasks"]
    check({step["how"] for step in reduced} & {"plain regions", "counted regions"}, reduced)
    visits = {re.sub(r" @[^/]*", "", path): 0 for path in result["metrics"]["visits"]["callpaths"]}
    for path, numbers in result["metrics"]["visits"]["callpaths"].items():
        visits[re.sub(r" @[^/]*", "", path)] += sum(filter(None, numbers))
    region = "main/alone/!$omp parallel"
    told = visits[f"{region}/!$omp single"]
    print(f"{told} of {ROUNDS} regions were told with what is in them, {tasks} tasks")
    check(visits[region] == ROUNDS and 0 < told < ROUNDS, visits)
    for construct, n in ALONE.items():
        check(visits[f"{region}/!$omp {construct}"] == n * told, f"{construct}: {visits}")
    team = "main/team/!$omp parallel"
    check(visits[team] == 2 * TEAMS and visits[f"{team}/!$omp single"] == TEAMS and visits[f"{team}/!$omp task"] == TEAM_TASKS * TEAMS, visits)
    check(visits["main/nested/!$omp parallel"] == TEAMS and visits["main/nested/!$omp parallel/!$omp parallel"] == 2 * TEAMS, visits)
    check(tasks == ALONE["task"] * told + TEAM_TASKS * TEAMS == result["metrics"]["omp_tasks_created"]["total"], f"{tasks} tasks told of {visits}")
