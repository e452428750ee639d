#!/usr/bin/env python3
"""OpenMP programs of known waiting: waits.py LATECOMER PROGRAM COMPILER PATTERN..

Expected values are those that the program computed from its own instants; the tool must agree within 1 % of the run time and 2 ms per
thread, and name the thread that was late, and where. Counts of tasks are exact. LLVM's runtime does not know which barriers of programs
built with GCC are explicit: there all count as implicit."""
import json
import os
import shutil
import subprocess
import sys

import attempts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, PROGRAM, COMPILER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
ENV = dict(os.environ, OMP_WAIT_POLICY="passive")  # threads that spin take cores from those that work
COUNTS = ("omp_tasks_created", "omp_tasks_stolen")
# where others wait, where the thread is that they wait for (ends of call paths), and the metric that this thread alone has none of
LATE = {
    "barrier": ("!$omp barrier", "!$omp parallel", "omp_ebarrier_wait"),
    "taskwait": ("!$omp taskwait", "!$omp task", "omp_taskwait_wait"),
    "taskgroup": ("!$omp taskgroup", "!$omp task", "omp_taskwait_wait"),
    "idle": ("!$omp idle", "main", "omp_idle_threads"),
    "critical": ("!$omp critical", "!$omp parallel", "omp_lock_contention_critical"),
    "doacross": ("!$omp ordered", "!$omp for", "omp_lock_contention_critical"),
    "lock": ("!$omp omp_set_lock", "!$omp parallel", "omp_lock_contention_api"),
}
if COMPILER == "gcc":
    del LATE["barrier"]


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def per_thread(metric, threads):
    rows = list(metric["callpaths"].values())
    return [sum(row[i] for row in rows) for i in range(threads)]


def check_late(pattern, result, threads):
    """The largest row of blame that waits in the construct names the thread that did not wait itself."""
    waiting, place, metric = LATE[pattern]
    rows = [row for row in result["late"] if row["waiting_callpath"].split("/")[-1].startswith(waiting)]
    check(rows, f"{pattern}: nobody is late in {waiting}: {result['late']}")
    values = per_thread(result["metrics"][metric], threads)
    check(rows[0]["thread"] == values.index(min(values)) and rows[0]["rank"] == 0, f"{pattern}: {rows[0]}, not one of {values}")
    check(rows[0]["callpath"].split("/")[-1].startswith(place), f"{pattern}: {rows[0]['callpath']} is not {place}")
    text = subprocess.run([LATECOMER, "show", "--full", "result"], capture_output=True, text=True, timeout=patience(60), check=True).stdout
    named = text.split("Who is late")[1].split("Largest wait states")[0]
    check(f"thread {rows[0]['thread']}\n" in named or "threads " in named, f"{pattern}: thread {rows[0]['thread']} is not named: {text}")


def attempt(pattern):
    shutil.rmtree("result", ignore_errors=True)
    done = subprocess.run([LATECOMER, "run", "-q", "-o", "result", PROGRAM, pattern], capture_output=True, text=True, timeout=patience(100), check=False,
                          env=ENV)
    check(done.returncode == 0 and done.stdout, f"{pattern}: {done}")
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True)
    result = json.loads(show.stdout)
    metrics, elapsed, threads, off = result["metrics"], result["pop"]["elapsed_s"], result["meta"]["threads"][0], []
    wanted = {}
    for line in done.stdout.splitlines():
        kind, name, *values = line.split()
        name = "omp_ibarrier_wait" if COMPILER == "gcc" and name == "omp_ebarrier_wait" else name
        wanted[kind, name] = [a + float(b) for a, b in zip(wanted.get((kind, name), [0.0] * len(values)), values)]
    for (kind, name), values in wanted.items():
        values = sorted(values)
        got = sorted(per_thread(metrics[name], threads))
        if kind == "MOST":
            if not 0 < metrics[name]["total"] <= values[0] * (1 + 1e-3):
                off.append(f"{pattern}: {name}: {metrics[name]['total']}, not at most {values[0]}")
            continue
        check(len(got) == len(values), f"{pattern}: {threads} threads, not {len(values)}")
        within = 1e-9 if name in COUNTS else 0.01 * elapsed + 2e-3
        if any(abs(a - b) > within for a, b in zip(got, values)):
            off.append(f"{pattern}: {name}: {got}, not {values} (T {elapsed:.4f})")
    for name in ("omp_management", "omp_fork", "omp_task_wait", "omp_time"):
        low = min((min(row) for row in metrics[name]["callpaths"].values()), default=0)
        check(low >= 0, f"{pattern}: {name} {low}")
    check(metrics["omp_fork"]["total"] <= metrics["omp_management"]["total"] * (1 + 1e-9), f"{pattern}: a fork is more than management")
    waits = sum(metrics[name]["total"] for name in ("omp_ibarrier_wait", "omp_ebarrier_wait", "omp_taskwait_wait",
                                                    "omp_lock_contention_critical", "omp_lock_contention_api"))
    check(waits <= metrics["omp_time"]["total"] * (1 + 1e-9), f"{pattern}: waits {waits} of {metrics['omp_time']['total']} in the runtime")
    if pattern in LATE and not off:
        check_late(pattern, result, threads)
    print(f"{pattern:14} T {elapsed:.3f} " + " ".join(f"{n} {m['total']:.4f}" for n, m in metrics.items() if n.startswith("omp_") and m["total"]))
    return off


attempts.judge(sys.argv[4:], attempt)
