#!/usr/bin/env python3
"""OpenMP programs of known factors: known.py LATECOMER PROGRAM RUNTIME THREADS PATTERN.., or with MPI:
known.py LATECOMER PROGRAM mpi:FLAVOUR THREADS hybrid.

Expected values come from the durations that the program measured itself, and from the edges that it promised to have; the tool must
agree within 1 % of the run time and 2 ms, and its identities must hold exactly. Programs without MPI switch measurement on when they have
started, since nobody can tell what of the start is useful; the pattern `serial` is measured whole, and what its start took is tolerated."""
import json
import os
import shutil
import subprocess
import sys

import attempts

LATECOMER, PROGRAM, KIND, THREADS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
TOLERANCE = 0.01
ENV = dict(os.environ, OMP_WAIT_POLICY="passive")  # threads that spin take cores from those that work
RANKS = 2 if KIND.startswith("mpi:") else 1


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def launch(pattern):
    words = [LATECOMER, "run", "-q", "-o", "result", PROGRAM, pattern, str(THREADS)]
    if RANKS == 1 and pattern != "serial":
        words = [*words[:2], "--start-stopped", *words[2:], "switched"]
    if RANKS > 1:
        flavour = KIND[4:]
        more = ["--oversubscribe", "--allow-run-as-root"] if flavour == "openmpi" else []
        words = [f"mpirun.{flavour}", *more, "-n", str(RANKS), *words]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=ENV)


def parse(text):
    useful, values = {}, {"CP": [], "TACP": [], "PROCESS": [], "T": [], "START": [0.0]}
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "U":
            useful[int(words[1]), int(words[2])] = float(words[3])
        elif words and words[0] in values:
            values[words[0]].append(float(words[1]))
    return useful, {name: max(all_of) for name, all_of in values.items()}


def attempt(pattern):
    shutil.rmtree("result", ignore_errors=True)
    done = launch(pattern)
    check(done.returncode == 0, f"{pattern}: {done}")
    useful, want = parse(done.stdout)
    check(len(useful) == RANKS * THREADS, f"{pattern}: {done.stdout}")
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=60, check=True)
    result = json.loads(show.stdout)
    pop = result["pop"]
    elapsed = pop["elapsed_s"]
    off = []

    def near(name, got, expected):
        if abs(got - expected) > TOLERANCE * max(elapsed, expected) + 2e-3 + want["START"]:
            off.append(f"{pattern} ({KIND}, {THREADS} threads): {name}: {got:.4f}, not {expected:.4f} (T {elapsed:.4f})")

    count = len(useful)
    average, most = sum(useful.values()) / count, max(useful.values())
    check(result["meta"]["complete"] is True, f"{pattern}: complete")
    check(result["meta"]["threads"] == [THREADS] * RANKS, f"{pattern}: threads {result['meta']['threads']}")
    near("elapsed", elapsed, want["T"])
    near("critical path", pop["critical_path_s"], want["CP"])
    if RANKS == 1:
        near("task-centric critical path", pop["task_critical_path_s"], want["TACP"])
    check(pop["task_critical_path_s"] <= pop["critical_path_s"] * (1 + 1e-9), f"{pattern}: TaCP above ThrCP")
    near("load balance * max U", pop["load_balance"] * most, average)
    near("parallel efficiency * T", pop["parallel_efficiency"] * elapsed, average)
    near("serialisation * CP", pop["serialisation_efficiency"] * want["CP"], most)
    near("MPI serialisation * CP", pop["mpi"]["serialisation_efficiency"] * want["CP"], want["PROCESS"])
    per_process = [max(value for (rank, _), value in useful.items() if rank == r) for r in range(RANKS)]
    near("MPI load balance * max U", pop["mpi"]["load_balance"] * most, sum(per_process) / RANKS)
    check(pop["identity_error"] < 1e-9, f"{pattern}: identities off by {pop['identity_error']}")
    for name, factors in (("all", pop), ("mpi", pop["mpi"]), ("omp", pop["omp"])):
        for factor in ("load_balance", "serialisation_efficiency", "transfer_efficiency", "parallel_efficiency"):
            check(0 < factors[factor] <= 1.0001, f"{pattern}: {name} {factor} {factors[factor]}")
    paths = result["metrics"]["time"]["callpaths"]
    check(any("!$omp parallel @known.c:" in path for path in paths), f"{pattern}: no region with a line in {sorted(paths)}")
    check(not any("omp_fn" in path or "outlined" in path for path in paths), f"{pattern}: outlined functions in {sorted(paths)}")
    waits = sum(result["metrics"][name]["total"] for name in ("omp_ibarrier_wait", "omp_ebarrier_wait"))
    if pattern == "imbalance" and RANKS == 1:
        near("barrier waiting", waits / THREADS, sum(most - value for value in useful.values()) / THREADS)
    if pattern in ("critical", "lock"):
        name = "omp_lock_contention_critical" if pattern == "critical" else "omp_lock_contention_api"
        check(result["metrics"][name]["total"] > 0.1 * elapsed, f"{pattern}: {name} {result['metrics'][name]['total']}")
    print(f"{pattern:10} T {elapsed:.3f} CP {pop['critical_path_s']:.3f} TaCP {pop['task_critical_path_s']:.3f} "
          f"PE {pop['parallel_efficiency']:.3f} LB {pop['load_balance']:.3f} SerE {pop['serialisation_efficiency']:.3f}")
    return off


attempts.judge(sys.argv[5:], attempt)
