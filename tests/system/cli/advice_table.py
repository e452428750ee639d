#!/usr/bin/python3
"""The table of kinds in docs/definitions/findings.md: kinds, thresholds and advice are those of the source, the tests that it names are tests, and made
results just below a threshold say nothing, just above it the finding with this advice.
Usage: advice_table.py LATECOMER MAKE_CUBEX SOURCE_DIR SCRATCH_DIR"""
import json
import os
import re
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, ROOT, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)
T, N = 10.0, 4  # seconds, ranks or threads
HEAD = "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\tlate_thread\n"
BARRIER, TEAM = "main/MPI_Barrier", "main/!$omp parallel @a.c:1"


def text_of(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def table():
    """kind -> (threshold in %, begin of the advice, tests)."""
    text = text_of("docs", "definitions", "findings.md").split("### Kinds, their thresholds and advice")[1].split("\n### ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")]
    return {kind.strip("`"): (float(threshold.split()[0]) if threshold != "-" else 0.0, advice, re.findall(r"`([\w.]+)`", tests))
            for kind, _, threshold, advice, tests in rows}


def source():
    """The same of finding_kinds.c, with the whole advice."""
    kinds = {}
    for chunk in re.split(r"\[LC_[A-Z_]+\] =", text_of("src", "report", "finding_kinds.c").split("kinds[] = {")[1].split("\n};")[0])[1:]:
        fields = [""]
        for literal, other in re.findall(r'"((?:[^"\\]|\\.)*)"|(,|\d+\.\d+)', chunk):
            if other == ",":
                fields.append("")
            else:
                fields[-1] += literal or other
        kinds[fields[0]] = (100 * float(fields[3]), fields[2])
    return kinds


def result(time, waits=None, critical=None, threads=False, meta=None, pop=None, **metrics):
    """Ranks, or threads of one, whose `time` is their own by call path (main has what is left of T); waits: in BARRIER, which they are part of."""
    row = {path: list(values) for path, values in time.items()}
    row["main"] = [T] * N
    waits = waits or [0.0] * N
    if not threads:
        row.setdefault(BARRIER, waits)
    where = dict(locations=[dict(rank=0, thread=i) for i in range(N)] if threads else [dict(rank=i, thread=0) for i in range(N)])
    content = {"time": row, "visits": {BARRIER: [100] * N}, "critical_path_useful": critical or {"main": [T, 0.0, 0.0, 0.0]}, **metrics}
    if not threads:
        content.setdefault("mpi_barrier_wait", {BARRIER: waits})
    path = sum(sum(values) for values in content["critical_path_useful"].values())
    return dict(meta={"program": "made", "command": ["made"], "ranks": 1 if threads else N, "wall_time_s": T, "complete": True, "cores": [64], **(meta or {})},
                pop={"dialect": "clocks", "elapsed_s": T, "critical_path_s": path, "parallel_efficiency": 0.8, "load_balance": 0.9, "communication_efficiency": 0.9,
                     "serialisation_efficiency": 0.9, "transfer_efficiency": 0.9, **(pop or {})},
                metrics={name: {"callpaths": rows} for name, rows in content.items()}, **where)


def blamed(content, *rows):
    """rows: who is late, in which call path, seconds, where the others wait, which thread (ranks: "")."""
    return content, HEAD + "".join(f"{waiting}\t{rank}\t{path}\ta.c:1\ta.c:2\t{seconds}\t0.1\t{thread}\n" for rank, path, seconds, waiting, thread in rows)


# Each has one cause whose severity is this share of all time, N T.
def late_rank(share):
    wait = share * N * T / (N - 1)
    return blamed(result({"main/work": [T - wait] * (N - 1) + [T]}, [wait] * (N - 1) + [0.0], {"main/work": [0.0] * (N - 1) + [T]}), (N - 1, "main/work", share * N * T, BARRIER, ""))


def imbalance(share):
    return blamed(result({"main/work": [T - share * T] * N}, [share * T] * N, {"main/work": [T / N] * N}), *((r, "main/work", share * T, BARRIER, "") for r in range(N)))


def serialisation_chain(share):
    own = share * T / (N - 1)
    return blamed(result({"main/step": [own] * N, "main/rest": [T - N * own] * N}, [(N - 1) * own] * N, {"main/step": [own] * N, "main/rest": [T - N * own, 0.0, 0.0, 0.0]}),
                  *((r, "main/step", (N - 1) * own, BARRIER, "") for r in range(N)))


def late_receiver(share):
    waits = {"main/MPI_Send": [share * T] * N}
    return result({"main/work": [T - share * T] * N, BARRIER: [0.0] * N, **waits}, mpi_latereceiver=waits), None


def preempted(share):
    lost = {"main/compute/(preempted)": [share * N * T, 0.0, 0.0, 0.0]}
    return result({"main/compute": [T] * N, **lost}, critical={"main/compute": [T - share * N * T, 0.0, 0.0, 0.0], **lost}), None


def mpi_cost(share, **metrics):
    return result({"main/work": [T - share * T] * N, BARRIER: [share * T] * N}, critical={"main/work": [T - share * T, 0.0, 0.0, 0.0]},
                  mpi_barrier_wait={BARRIER: [0.0] * N}, **metrics), None


def many_small_messages(share):
    return mpi_cost(share, comms_send={BARRIER: [1000] * N}, bytes_sent={BARRIER: [36000] * N})


def unfinished_call(share):
    return mpi_cost(share, mpi_unfinished={BARRIER: [share * T] * N})


def oversubscribed(share):
    content, _ = mpi_cost(share)
    content["meta"]["cores"] = [2]
    return content, None


def unmeasured_processes(share):
    content, _ = mpi_cost(share)
    content["meta"]["coverage"] = {"processes_spawned": 2}
    return content, None


def of_threads(metric, share, path, where):
    wait = share * N * T / (N - 1)
    content = result({TEAM: [T] * N, path: [0.0] + [wait] * (N - 1)}, threads=True, **{metric: {path: [0.0] + [wait] * (N - 1)}})
    return blamed(content, (0, where, share * N * T, path, 0)) if where else (content, None)


def thread_imbalance(share):
    return of_threads("omp_ebarrier_wait", share, TEAM + "/!$omp barrier @a.c:2", TEAM)


def serial_part(share):
    return of_threads("omp_idle_threads", share, "main/!$omp idle", "main")


def limited_parallelism(share):
    return of_threads("omp_limited_parallelism", share, "main/!$omp idle", None)


def lock_contention(share):
    return of_threads("omp_lock_contention_critical", share, TEAM + "/!$omp critical @a.c:3", None)


def task_scheduling(share):
    content, _ = of_threads("omp_task_wait", share, TEAM + "/!$omp task @a.c:4", None)
    content["pop"].update(task_critical_path_s=T / 2)
    return content, None


MADE = (late_rank, imbalance, serialisation_chain, late_receiver, preempted, mpi_cost, many_small_messages, unfinished_call, oversubscribed, unmeasured_processes, thread_imbalance, serial_part, limited_parallelism,
        lock_contention, task_scheduling)


def told(make, share):
    content, blame = make(share)
    made.make(MAKE, content, "one/profile.cubex", **({"blame_tsv": blame} if blame else {}))
    return {finding["kind"]: finding for finding in json.loads(output([LATECOMER, "show", "--json", "one"]))["findings"]}


def thread_advice():
    """Of idle time with three quarters in regions of fewer threads, the last quarter is of the serial part; it is none where all are."""
    for inside in (0.75, 1.0):
        def made_of(share, inside=inside):
            content, blame = serial_part(share)
            idle = content["metrics"]["omp_idle_threads"]["callpaths"]
            content["metrics"]["omp_limited_parallelism"] = {"callpaths": {path: [inside * value for value in values] for path, values in idle.items()}}
            return content, blame
        found = told(made_of, 0.2)
        have = {kind: (finding["severity_s"], finding["gain_s"]) for kind, finding in found.items() if kind in ("serial_part", "limited_parallelism")}
        want = {"limited_parallelism": inside * 0.2 * N * T, "serial_part": (1 - inside) * 0.2 * N * T}
        want = {kind: (seconds, seconds / N) for kind, seconds in want.items() if seconds > 0}
        check(have.keys() == want.keys() and all(abs(a - b) < 1e-6 for kind in want for a, b in zip(have[kind], want[kind])), f"idle, {inside} of it limited: {have}, not {want}")


def main():
    rows, kinds = table(), source()
    check(list(rows) == list(kinds), f"the table has {list(rows)}, the source {list(kinds)}")
    cmake = "".join(text_of(folder, "CMakeLists.txt") for folder in ("tests/system/cli", "tests/system/analysis", "tests/sim", "tests/system/samples", "tests/system/run"))
    for kind, (threshold, advice, tests) in rows.items():
        percent, whole = kinds[kind]
        check(abs(threshold - percent) < 1e-9 and whole.startswith(advice), f"{kind}: {threshold} %, '{advice}'; in the source {percent} %, '{whole}'")
        check(tests and all(name in cmake for name in tests), f"{kind}: {tests} are no tests")
    for make in MADE:
        kind, (threshold, advice, _) = make.__name__, rows[make.__name__]
        below, above = told(make, 0.0098 * threshold), told(make, 0.0102 * threshold)
        check(kind not in below and kind in above, f"{kind}: threshold {threshold} %: just below it {list(below)}, just above it {list(above)}")
        check(above[kind]["advice"].startswith(advice) and abs(above[kind]["share"] - 0.0102 * threshold) < 1e-9, f"{kind}: {above[kind]}")
    thread_advice()
    print(f"{len(rows)} kinds are as the table says, {len(MADE)} of them begin at their thresholds")


main()
