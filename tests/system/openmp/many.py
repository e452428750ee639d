#!/usr/bin/env python3
"""Very many tasks under the tool: many.py LATECOMER PROGRAM stream|burst N. All run and are counted. One after the other they need no more
memory than the first tenth of them; at once at most 1,000 bytes each more than without the tool, on the same runtime."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, PROGRAM, HOW, N = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
ENV = dict(os.environ, OMP_WAIT_POLICY="passive")
if HOW == "burst":
    ENV["KMP_ENABLE_TASK_THROTTLING"] = "0"
EXCHANGED = {"LD_PRELOAD": "libomp.so.5"} if ENV.get("LATECOMER_OPENMP") == "libomp" else {}  # as the tool does


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(*prefix, **env):
    done = subprocess.run([*prefix, PROGRAM, HOW, str(N)], capture_output=True, text=True, timeout=patience(500), check=True, env={**ENV, **env})
    return [int(word) for word in done.stdout.split()]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    ran, at_once, early, most = run(LATECOMER, "run", "-q", "-o", "result")
    print(f"{ran} tasks, {at_once} at once, {early} KB after a tenth of them, {most} KB at most")
    check(ran == N, f"{ran} tasks ran")
    if HOW == "stream":
        check(most < early + 4096, f"memory grew from {early} to {most} KB")
    else:
        check(at_once == N, f"only {at_once} tasks were there at once")
        _, bare_at_once, _, bare = run(**EXCHANGED)
        print(f"without the tool {bare_at_once} at once, {bare} KB")
        check(bare_at_once == N, "without the tool not all were there at once: another runtime")
        check((most - bare) * 1024 < 1000 * N + 16e6, f"{(most - bare) * 1024 / N} bytes per task")
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True)
    result = json.loads(show.stdout)
    created, tasks = result["metrics"]["omp_tasks_created"]["total"], N + (HOW == "burst")
    check(created == result["meta"]["openmp_tasks"] == tasks, f"{created} created, {result['meta']['openmp_tasks']} ran")
    check(result["pop"]["identity_error"] < 1e-9, f"identities off by {result['pop']['identity_error']}")
