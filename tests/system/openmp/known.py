#!/usr/bin/env python3
"""OpenMP programs of known factors: known.py LATECOMER PROGRAM RUNTIME THREADS PATTERN.., or with MPI:
known.py LATECOMER PROGRAM mpi:FLAVOUR THREADS hybrid hybrid_loop hybrid_tasks.

Expected values come from the durations that the program measured itself, and from the edges that it promised to have; the tool must
agree within 1 % of the run time and 2 ms, and its identities must hold exactly. Programs without MPI switch measurement on when they have
started, since nobody can tell what of the start is useful; the pattern `serial` is measured whole, and what its start took is tolerated."""
import json
import os
import shutil
import subprocess
import sys

import attempts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, PROGRAM, KIND, THREADS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
TOLERANCE = 0.01
ENV = dict(os.environ, OMP_WAIT_POLICY="passive")  # threads that spin take cores from those that work
WHAT_IF = ("omp=0", "tasks=infinite", "mpi=0", "mpi=0,omp=0,tasks=infinite")
RANKS = 2 if KIND.startswith("mpi:") else 1


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def without_tasks(name):
    """Critical paths if the code of tasks took no time, for the construct by line and for all of its kind."""
    words = [LATECOMER, "run", "-q", "--start-stopped", f"--what-if={name}=0", "--what-if=!$omp task=0", "-o", "without", PROGRAM, "tasks", str(THREADS), "switched"]
    shutil.rmtree("without", ignore_errors=True)
    subprocess.run(words, capture_output=True, timeout=patience(120), check=True, env=ENV)
    show = subprocess.run([LATECOMER, "show", "--json", "without"], capture_output=True, text=True, timeout=patience(60), check=True)
    scenarios = json.loads(show.stdout)["pop"]["what_if"]
    check(all(each["unknown"] == [] for each in scenarios), f"{scenarios}")
    return [each["critical_path_s"] for each in scenarios]


def launch(pattern):
    words = [LATECOMER, "run", "-q", *(f"--what-if={spec}" for spec in WHAT_IF), "-o", "result", PROGRAM, pattern.split(":")[-1], str(THREADS)]
    if pattern.startswith("phase:"):
        words.append("phase")
    elif RANKS == 1 and pattern != "serial":
        words = [*words[:2], "--start-stopped", *words[2:], "switched"]
    if RANKS > 1:
        words = [*mpirun(KIND[4:], RANKS), *words]
    return subprocess.run(words, capture_output=True, text=True, timeout=patience(120), check=False, env=ENV)


def parse(text):
    useful, values = {}, {"CP": [], "TACP": [], "PROCESS": [], "T": [], "START": [0.0], "WORK": [], "ONE": []}
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
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True)
    result = json.loads(show.stdout)
    pop = result["pop"]
    elapsed = pop["elapsed_s"]
    off = []

    def near(name, got, expected, times=1):
        if abs(got - expected) > times * TOLERANCE * max(elapsed, expected) + 2e-3 + want["START"]:
            off.append(f"{pattern} ({KIND}, {THREADS} threads): {name}: {got:.4f}, not {expected:.4f} (T {elapsed:.4f})")

    count = len(useful)
    average, most = sum(useful.values()) / count, max(useful.values())
    per_process = [max(value for (rank, _), value in useful.items() if rank == r) for r in range(RANKS)]

    def judge_factors(of):
        near("load balance * max U", of["load_balance"] * most, average)
        near("parallel efficiency * T", of["parallel_efficiency"] * elapsed, average)
        near("serialisation * CP", of["serialisation_efficiency"] * want["CP"], most)
        near("MPI serialisation * CP", of["mpi"]["serialisation_efficiency"] * want["CP"], want["PROCESS"])
        near("MPI load balance * max U", of["mpi"]["load_balance"] * most, sum(per_process) / RANKS)
        for factor in ("load_balance", "serialisation_efficiency", "transfer_efficiency", "parallel_efficiency"):
            check(all(0 < each[factor] <= 1.0001 for each in (of, of["mpi"], of["omp"])), f"{pattern}: {factor} {of}")
            check(abs(of["mpi"][factor] * of["omp"][factor] - of[factor]) < 1e-9, f"{pattern}: {factor} {of}")

    def judge_loop(loop):
        """Found in the run; each iteration is as all others, the first may be missing."""
        of, mpi, omp = loop["factors"], loop["mpi"], loop["omp"]
        check(loop["count"] in (14, 15, 16) and loop["ranks"] == RANKS, f"{pattern}: {loop}")
        near("load balance of the loop * max U", of["load_balance"] * most, average)
        near("MPI load balance of the loop * max U", mpi["load_balance"] * most, sum(per_process) / RANKS)
        for paradigm in ("mpi", "omp"):
            near(f"communication of the loop, {paradigm}", loop[paradigm]["communication_efficiency"] * elapsed,
                 pop[paradigm]["communication_efficiency"] * elapsed, times=2)
        for factor in of:
            check(abs(mpi[factor] * omp[factor] - of[factor]) < 1e-9 and 0 < of[factor] <= 1, f"{pattern}: {factor} {loop}")

    if pattern.startswith("phase:"):  # beside another phase
        phases = {phase["name"]: phase for phase in pop["phases"]}
        check(phases["before"]["critical_path_s"] > 0.039, f"{pattern}: {phases['before']}")  # also of a thread that it makes
        phase = phases["pattern"]
        elapsed = phase["elapsed_s"]
        near("elapsed", elapsed, want["T"])
        near("critical path", phase["critical_path_s"], want["CP"])
        if RANKS == 1:
            near("task-centric critical path", phase["task_critical_path_s"], want["TACP"])
        for loop in pop["iterations"]:  # time in regions is outside of MPI
            check(loop["factors"]["parallel_efficiency"] > 0.3, f"{pattern}: {loop}")
        judge_factors({**phase["factors"], "mpi": phase["mpi"], "omp": phase["omp"]})
        return off
    check(result["meta"]["complete"] is True, f"{pattern}: complete")
    check(result["meta"]["threads"] == [THREADS] * RANKS, f"{pattern}: threads {result['meta']['threads']}")
    near("elapsed", elapsed, want["T"])
    near("critical path", pop["critical_path_s"], want["CP"])
    if RANKS == 1:
        near("task-centric critical path", pop["task_critical_path_s"], want["TACP"])
    free_omp, infinite, free_mpi, only_tasks = pop["what_if"]
    near("tasks=infinite", infinite["critical_path_s"], want["TACP"])
    near("tasks=infinite: run time", infinite["predicted_s"], elapsed - (want["CP"] - want["TACP"]))
    near("omp=0", free_omp["predicted_s"], pop["omp"]["transfer_efficiency"] * elapsed)
    near("omp=0 and mpi=0 together", (elapsed - free_omp["predicted_s"]) + (elapsed - free_mpi["predicted_s"]), elapsed - want["CP"])
    near("all", only_tasks["predicted_s"], want["TACP"])
    if RANKS == 1:
        near("omp=0: the critical path is left", free_omp["predicted_s"], want["CP"])
        near("mpi=0: nothing changes", free_mpi["predicted_s"], elapsed)
    constructs = result["task_constructs"]
    check(len(constructs) == {"tasks": 1, "depend": 2, "nested": 2, "hybrid_tasks": 1}.get(pattern, 0), f"{pattern}: {constructs}")
    if RANKS == 1 and constructs:
        near("work of tasks", sum(each["work_s"] for each in constructs), want["WORK"])
        check(all("!$omp task @known.c:" in each["callpath"] and 1 <= each["at_once"] <= THREADS for each in constructs), f"{pattern}: {constructs}")
    if pattern == "tasks":
        near("span of tasks", constructs[0]["span_s"], want["ONE"])
        by_line, of_kind = without_tasks(constructs[0]["callpath"].split("/")[-1])
        check(abs(by_line - of_kind) < 1e-9, f"{pattern}: without the tasks of the line {by_line}, without any {of_kind}")
        if not 0.06 <= by_line <= 0.08:  # work(20) after them, and their creation
            off.append(f"{pattern}: critical path without the code of tasks: {by_line}")
        check(constructs[0]["created"] == 12 and constructs[0]["at_once"] >= 2, f"{pattern}: {constructs}")  # a thread may get no core
    check(pop["task_critical_path_s"] <= pop["critical_path_s"] * (1 + 1e-9), f"{pattern}: TaCP above ThrCP")
    judge_factors(pop)
    if pattern == "hybrid_loop":
        judge_loop(max(pop["iterations"], key=lambda loop: loop["elapsed_s"]))
    check(pop["identity_error"] < 1e-9, f"{pattern}: identities off by {pop['identity_error']}")
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
