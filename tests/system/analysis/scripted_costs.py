#!/usr/bin/python3
"""Delay costs in scripted traces, worked out by hand: MPI_Finalize, windows, files, neighbours.

scripted_costs.py LATECOMER WRITE_TRACE
"""
import sys
import tempfile
from fractions import Fraction

from scripted import analyse, metric_faults, same, script

NONE = 0xFFFFFFFF
ALLGATHER, FENCE = "6", "0"


def all_terminal(kind, waits, wait_metric, costs):
    """Waiting that code alone causes and that delays nobody."""
    return {wait_metric: waits, f"delay_{kind}": costs, f"delay_{kind}_longterm": [], f"mpi_wait_direct_{kind}": waits,
            f"mpi_wait_indirect_{kind}": [], f"mpi_wait_propagating_{kind}": [], f"mpi_wait_terminal_{kind}": waits}


CASES = {}  # name: (trace, {metric: places, or those of each model}, finding: (call path, rank, severity, gain) in ms, or None)

# Rank 1 works until 100, rank 2 until 60, rank 0 until 20: they wait 80 and 40 ms for rank 1, which works 80 and 40 ms longer. As fast
# as the mean of the others it would work 30 ms (40 without MPI_Init) instead of 90 (100): rank 2 is the last then, 40 ms earlier.
INIT = ("MPI_Init", 0, 10)
WAITS = [("MPI_Finalize", 0, 80), ("MPI_Finalize", 2, 40)]
CASES["finalize"] = (script([INIT, ("work", 10, 20), ("MPI_Finalize", 20, 105)], [INIT, ("work", 10, 100), ("MPI_Finalize", 100, 105)],
                            [INIT, ("work", 10, 60), ("MPI_Finalize", 60, 105)]),
                     all_terminal("finalize", WAITS, "mpi_finalize_wait", [("work", 1, 120)]), ("work", 1, 120, 40))

# Rank 1 waits 60 ms in a receive for the `origin` of rank 2, then works 28 ms. Rank 0 waits 90 ms for it in MPI_Finalize: 60 of these
# are due to rank 2, 2 to the rest of the receive. Rank 2, which met rank 1 in that message (until 71), waits 29 ms.
CASES["finalize_chain"] = (
    script([INIT, ("MPI_Finalize", 10, 105)],
           [INIT, ("MPI_Recv", 10, 72, "72 recv 2 0 0 8"), ("work", 72, 100), ("MPI_Finalize", 100, 105)],
           [INIT, ("origin", 10, 70), ("MPI_Send", 70, 71, "70 send 1 0 0 8"), ("MPI_Finalize", 71, 105)]),
    dict(mpi_finalize_wait=[("MPI_Finalize", 0, 90), ("MPI_Finalize", 2, 29)],
         delay_finalize=[("MPI_Recv", 1, 3), ("work", 1, 56)], delay_finalize_longterm=[("origin", 2, 60)],
         mpi_wait_direct_finalize=[("MPI_Finalize", 0, 30), ("MPI_Finalize", 2, 29)],
         mpi_wait_indirect_finalize=[("MPI_Finalize", 0, 60)], mpi_wait_propagating_finalize=[],
         mpi_wait_terminal_finalize=[("MPI_Finalize", 0, 90), ("MPI_Finalize", 2, 29)],
         # what the other kinds have is what they have without it
         mpi_latesender=[("MPI_Recv", 1, 60)], delay_latesender=[("origin", 2, 60)], delay_latesender_longterm=[],
         mpi_wait_propagating_ls=[], mpi_wait_terminal_ls=[("MPI_Recv", 1, 60)]),
    ("origin", 2, 120, 60))


def late(call, *begin, end=None):
    """Rank 1 is late to what all do together, as above."""
    together = lambda start: (call, start, 101, *(f"{start} {record}" for record in begin), *([f"101 {end}"] if end else []))
    return [[("work", 0, start), together(start)] for start in (20, 100, 60)]


for name, metric, kind, calls, definitions in (
        ("fence", "mpi_rma_wait_at_fence", "rma", late("MPI_Win_fence", "rma_begin", end=f"rma_end {FENCE} 0"), ["window 0"]),
        ("file", "mpi_io_collective_wait", "io", late("MPI_File_write_all", "io 0"), ["file 0"]),
        ("neighbours", "mpi_neighbor_wait", "neighbor",
         late("MPI_Neighbor_allgather", "begin", end=f"end {ALLGATHER} 0 {NONE} 8 8"), ["cart 0 3 0"])):
    waits = [(calls[0][1][0], 0, 80), (calls[0][1][0], 2, 40)]
    CASES[name] = (script(*calls, definitions=definitions), all_terminal(kind, waits, metric, [("work", 1, 120)]), ("work", 1, 120, 40))

# Ranks 1 and 2 meet in a fence of their own, where rank 1 waits 60 ms for the `origin` of rank 2 (its rest: 1 ms), then works 29 ms.
# Rank 0 has 30 ms of its own and waits 60 ms for rank 1 in a fence of all: excess work 29, fence 1, and 60 ms of waiting. Of the 60 ms
# the first model blames 30/90 on rank 1's code and 60/90 on its waiting, the other one all on its waiting. Rank 2, which met rank 1
# until 71, waits 29 ms for its work.
FENCES = {"definitions": ["comm 1 2", "window 0", "window 1"]}
fence = lambda start, end, window: ("MPI_Win_fence", start, end, f"{start} rma_begin", f"{end} rma_end {FENCE} {window}")
CASES["fence_chain"] = (
    script([("work", 0, 10), ("own", 10, 40), fence(40, 101, 0)],
           [("work", 0, 10), fence(10, 71, 1), ("work", 71, 100), fence(100, 101, 0)],
           [("work", 0, 10), ("origin", 10, 70), fence(70, 71, 1), fence(71, 101, 0)], **FENCES),
    {"mpi_rma_wait_at_fence": [("MPI_Win_fence", 0, 60), ("MPI_Win_fence", 1, 60), ("MPI_Win_fence", 2, 29)],
     "delay_rma": {"": [("origin", 2, 60), ("work", 1, 29 + Fraction(58, 3)), ("MPI_Win_fence", 1, Fraction(2, 3))],
                   "_waitfirst": [("origin", 2, 60), ("work", 1, 29)]},
     "delay_rma_longterm": {"": [("origin", 2, 40)], "_waitfirst": [("origin", 2, 60)]},
     "mpi_wait_direct_rma": {"": [("MPI_Win_fence", 0, 20), ("MPI_Win_fence", 1, 60), ("MPI_Win_fence", 2, 29)],
                             "_waitfirst": [("MPI_Win_fence", 1, 60), ("MPI_Win_fence", 2, 29)]},
     "mpi_wait_indirect_rma": {"": [("MPI_Win_fence", 0, 40)], "_waitfirst": [("MPI_Win_fence", 0, 60)]},
     "mpi_wait_propagating_rma": {"": [("MPI_Win_fence", 1, 40)], "_waitfirst": [("MPI_Win_fence", 1, 60)]},
     "mpi_wait_terminal_rma": {"": [("MPI_Win_fence", 0, 60), ("MPI_Win_fence", 1, 20), ("MPI_Win_fence", 2, 29)],
                               "_waitfirst": [("MPI_Win_fence", 0, 60), ("MPI_Win_fence", 2, 29)]}},
    ("origin", 2, 100, 60))

# Rank 0 posts at 50, for which rank 1 waits 30 ms in MPI_Win_start; these two synchronise until 51. From there rank 0 waits 9 ms for
# the MPI_Win_complete of rank 1, which works as long (from the beginning on it would have been 1 ms of MPI_Win_start and a wait).
CASES["epoch"] = (
    script([("work", 0, 50), ("MPI_Win_post", 50, 51, "50 rma_group 0 2"), ("MPI_Win_wait", 51, 62, "51 rma_group 0 2")],
           [("work", 0, 20), ("MPI_Win_start", 20, 51, "20 rma_group 0 1"), ("work", 51, 60),
            ("MPI_Win_complete", 60, 61, "60 rma_group 0 1")], definitions=["comm 0", "comm 1", "window 0"]),
    {"mpi_rma_sync_late_post": [("MPI_Win_start", 1, 30)], "mpi_rma_early_wait": [("MPI_Win_wait", 0, 9)],
     "delay_rma": [("work", 0, 30), ("work", 1, 9)], "delay_rma_longterm": [],
     "mpi_wait_direct_rma": [("MPI_Win_start", 1, 30), ("MPI_Win_wait", 0, 9)], "mpi_wait_indirect_rma": [],
     "mpi_wait_propagating_rma": [], "mpi_wait_terminal_rma": [("MPI_Win_start", 1, 30), ("MPI_Win_wait", 0, 9)]},
    ("work", 0, 39, 21))

# Rank 0 looks for a message from 20 on that rank 1 sends at 70. MPI_Mprobe waits 50 ms, for what rank 1 did more;
# MPI_Probe does by its metric, and for root causes it is code of rank 0.
probed = lambda probe, receive: (("work", 0, 20), (probe, 20, 71), (receive, 71, 72, "72 recv 1 0 0 8"))
SENDS_AT_70 = ("slow", 0, 70), ("MPI_Send", 70, 71, "70 send 0 0 0 8")
CASES["matched_probe"] = (
    script(probed("MPI_Mprobe", "MPI_Mrecv"), SENDS_AT_70, ends=(72, 72)),
    all_terminal("probe", [("MPI_Mprobe", 0, 50)], "mpi_probe_wait", [("slow", 1, 50)]), ("slow", 1, 50, 50))
CASES["probe"] = (
    script(probed("MPI_Probe", "MPI_Recv"), SENDS_AT_70, ends=(72, 72)),
    {"mpi_probe_wait": [("MPI_Probe", 0, 50)], "delay_p2p": [], "mpi_latesender": []}, None)
# The probe found another message: the one of the next receive was sent later, and that receive waits for it.
CASES["probe_of_another"] = (
    script([("work", 0, 20), ("MPI_Mprobe", 20, 40), ("MPI_Recv", 40, 72, "72 recv 1 0 0 8")], SENDS_AT_70, ends=(72, 72)),
    {"mpi_probe_wait": [], "mpi_latesender": [("MPI_Recv", 0, 30)], "delay_probe": []}, None)

# Rank 1 holds the lock from 10 to 60, for which rank 0 waits 40 ms: excess 48 of `hold`, 1 and 2 in its calls. Rank 0 holds it until
# 71, for which rank 2 waits 62 ms: 11 of `own`, 2 and 1 in the calls, 8 of `hold`, and the 40 ms of waiting.
PART = Fraction(40, 51)
CASES["lock"] = (
    script([("work", 0, 9), ("own", 9, 20), ("MPI_Win_lock", 20, 62, "61 acquire 0 0 0"), ("hold", 62, 70),
            ("MPI_Win_unlock", 70, 71, "71 release 0 0")],
           [("work", 0, 9), ("MPI_Win_lock", 9, 10, "10 acquire 0 0 0"), ("hold", 10, 58), ("MPI_Win_unlock", 58, 61, "60 release 0 0")],
           [("work", 0, 9), ("MPI_Win_lock", 9, 72, "72 acquire 0 0 0"), ("MPI_Win_unlock", 72, 73, "73 release 0 0")],
           definitions=["window 0"]),
    {"mpi_rma_sync_lock_competition": [("MPI_Win_lock", 0, 40), ("MPI_Win_lock", 2, 62)],
     "delay_rma": [("hold", 1, 48 * PART), ("MPI_Win_lock", 1, PART), ("MPI_Win_unlock", 1, 2 * PART), ("own", 0, 11),
                   ("MPI_Win_lock", 0, 2), ("hold", 0, 8), ("MPI_Win_unlock", 0, 1)],
     "delay_rma_longterm": [("hold", 1, 48 * PART), ("MPI_Win_lock", 1, PART), ("MPI_Win_unlock", 1, 2 * PART)],
     "mpi_wait_direct_rma": [("MPI_Win_lock", 0, 40), ("MPI_Win_lock", 2, 22)], "mpi_wait_indirect_rma": [("MPI_Win_lock", 2, 40)],
     "mpi_wait_propagating_rma": [("MPI_Win_lock", 0, 40)], "mpi_wait_terminal_rma": [("MPI_Win_lock", 2, 62)]},
    ("hold", 1, 2 * 48 * PART + 8, None))

# MPI_Win_lock returns without the lock on both ranks, on rank 0 first; rank 1 gets it, and rank 0 waits 40 ms in MPI_Win_flush.
CASES["flush"] = (
    script([("work", 0, 9), ("MPI_Win_lock", 9, 10, "10 acquire 0 0 0"), ("own", 10, 20), ("MPI_Win_flush", 20, 61, "61 complete_remote 0"),
            ("MPI_Win_unlock", 70, 71, "71 release 0 0")],
           [("work", 0, 10), ("MPI_Win_lock", 10, 11, "11 acquire 0 0 0"), ("hold", 11, 58), ("MPI_Win_unlock", 58, 60, "60 release 0 0")],
           definitions=["window 0"]),
    all_terminal("rma", [("MPI_Win_flush", 0, 40)], "mpi_rma_sync_lock_competition",
                 [("work", 1, 0.8), ("hold", 1, 37.6), ("MPI_Win_unlock", 1, 1.6)]), ("hold", 1, 37.6, None))

# The lock is handed over within MPI_Win_unlock, as Open MPI does: MPI_Win_lock of the next returns before the release is recorded. Rank 2
# gets it at 51 from rank 0, whose MPI_Win_unlock ends at 60 only, and lets it go for rank 1 at 53. (The order of releases would have rank 0
# wait for rank 2.)
hold = lambda start, got, unlock, end: [("work", 0, start), ("MPI_Win_lock", start, got, f"{got} acquire 0 0 0"), ("hold", got, unlock),
                                        ("MPI_Win_unlock", unlock, end, f"{end} release 0 0")]
CASES["handover"] = (
    script(hold(9, 10, 50, 60), hold(30, 54, 70, 71), hold(20, 51, 53, 55), definitions=["window 0"]),
    {"mpi_rma_sync_lock_competition": [("MPI_Win_lock", 1, 24), ("MPI_Win_lock", 2, 31)]}, None)

# Two locks in one call, of ranks 1 and 2: it waits for both, and the one that is held longer is the cause.
holder = lambda target, code, release: [("work", 0, 9), ("MPI_Win_lock", 9, 10, f"10 acquire 0 {target} 0"), (code, 10, release),
                                        ("MPI_Win_unlock", release, release + 1, f"{release + 1} release 0 {target}")]
CASES["two_locks"] = (
    script([("work", 0, 9), ("MPI_Win_lock_all", 9, 62, "62 acquire 0 0 1", "62 acquire 0 1 1"),
            ("MPI_Win_unlock_all", 70, 71, "71 release 0 0", "71 release 0 1")], holder(0, "soon", 39), holder(1, "hold", 59), definitions=["window 0"]),
    all_terminal("rma", [("MPI_Win_lock_all", 0, 51)], "mpi_rma_sync_lock_competition",
                 [("hold", 2, 49), ("MPI_Win_lock", 2, 1), ("MPI_Win_unlock", 2, 1)]), None)  # nothing to gain: rank 1 ends as late

# The same by MPI's own call for all of them, and by a holder of all that keeps a rank from one.
CASES["lock_all"] = (
    script([("work", 0, 9), ("MPI_Win_lock_all", 9, 62, f"62 acquire 0 {NONE} 1"), ("MPI_Win_unlock_all", 70, 71, f"71 release 0 {NONE}")],
           holder(0, "soon", 39), holder(1, "hold", 59), [("work", 0, 20), ("MPI_Win_lock", 20, 72, "72 acquire 0 0 0"),
                                                          ("MPI_Win_unlock", 72, 73, "73 release 0 0")], definitions=["window 0"]),
    {"mpi_rma_sync_lock_competition": [("MPI_Win_lock_all", 0, 51), ("MPI_Win_lock", 3, 51)]}, None)

# What rank 1 finds ready when it is `slow` it has to wait for when it is not: its neighbour until 20, who went on at 50 with it; the post
# of 20 (in MPI_Win_start), after which it needs 1, 1 and 53 ms; the lock until 21, then 5 ms until it lets it go and 49 more.
gather = lambda start: ("MPI_Neighbor_allgather", start, 51, f"{start} begin", f"51 end {ALLGATHER} 0 {NONE} 8 8")
lock = lambda start, end: ("MPI_Win_lock", start, end, f"{end} acquire 0 0 0")
unlock = lambda start: ("MPI_Win_unlock", start, start + 1, f"{start + 1} release 0 0")
# Rank 0 needs messages (or data, as a neighbour) of both, and would wait until 40 for the other one (whose epoch ends then) if rank 1 were not
# slow.
for name, metric, places, costs, calls, definitions, gain in (
        ("second_message", "mpi_latesender", [("MPI_Waitall", 0, 40)], {"delay_latesender": [("slow", 1, 40)]},
         ([("work", 0, 10), ("MPI_Waitall", 10, 51, "51 recv 1 0 0 8", "51 recv 2 0 0 8")],
          [("slow", 0, 50), ("MPI_Send", 50, 50, "50 send 0 0 0 8")],
          [("other", 0, 40), ("MPI_Send", 40, 40, "40 send 0 0 0 8")]), [], 50 - 40),
        ("second_neighbour", "mpi_neighbor_wait", [("MPI_Neighbor_allgather", 0, 40), ("MPI_Neighbor_allgather", 2, 10)],
         {"delay_neighbor": [("slow", 1, 50)]},
         ([("work", 0, 10), gather(10)], [("slow", 0, 50), gather(50)], [("other", 0, 40), gather(40)]), ["cart 0 3 1"], 50 - 40),
        ("second_origin", "mpi_rma_early_wait", [("MPI_Win_wait", 0, 40)],
         {"delay_rma": [("slow", 1, 40)]},
         ([("work", 0, 10), ("MPI_Win_post", 10, 10, "10 rma_group 0 2"), ("MPI_Win_wait", 10, 51, "10 rma_group 0 2")],
          [("slow", 0, 50), ("MPI_Win_start", 50, 50, "50 rma_group 0 1"), ("MPI_Win_complete", 50, 50, "50 rma_group 0 1")],
          [("other", 0, 40), ("MPI_Win_start", 40, 40, "40 rma_group 0 1"), ("MPI_Win_complete", 40, 40, "40 rma_group 0 1")]),
         ["comm 0", "comm 1 2", "window 0"], 50 - 40),
        ("neighbour_ready", "mpi_neighbor_wait", [("MPI_Neighbor_allgather", 0, 30)], {"delay_neighbor": [("slow", 1, 30)]},
         ([("work", 0, 20), gather(20)], [("slow", 0, 50), gather(50)]), ["cart 0 2 0"], 105 - (20 + 1 + 54)),
        ("post_ready", "mpi_rma_early_wait", [("MPI_Win_wait", 0, 30)],
         {"delay_rma": [("slow", 1, Fraction(30 * 50, 51)), ("MPI_Win_start", 1, Fraction(30, 51))]},
         ([("work", 0, 20), ("MPI_Win_post", 20, 21, "20 rma_group 0 2"), ("MPI_Win_wait", 21, 53, "21 rma_group 0 2")],
          [("slow", 0, 50), ("MPI_Win_start", 50, 51, "50 rma_group 0 1"), ("MPI_Win_complete", 51, 52, "51 rma_group 0 1")]),
         ["comm 0", "comm 1", "window 0"], 105 - (20 + 1 + 1 + 53)),
        ("lock_ready", "mpi_rma_sync_lock_competition", [("MPI_Win_lock", 0, 26)],
         {"delay_rma": [("slow", 1, Fraction(26 * 50, 54)), ("hold", 1, Fraction(26 * 4, 54))]},
         ([lock(0, 1), ("own", 1, 20), unlock(20), ("own", 21, 30), lock(30, 57), unlock(57)],
          [("slow", 0, 50), lock(50, 51), ("hold", 51, 55), unlock(55)]), ["window 0"], 105 - (21 + 1 + 4 + 1 + 49))):
    CASES[name] = (script(*calls, definitions=definitions, ends=(65, 105) if len(calls) == 2 else (105, 55, 55)), {metric: places, **costs},
                   ("slow", 1, costs[next(iter(costs))][0][2], gain))

# The wait at the end of a taskgroup is recorded at its begin, before the tasks are made. The other thread waits in a barrier for these, runs
# each, and would wait for a thread that waits for it. The group waits when the second task has been made: from 50 to 58.
run_task = lambda number, begin, end: (f"{begin} task_switch 1 0 {number}", ("task", begin, end, f"{end} task_complete 1 0 {number}"), f"{end} task_switch 1 1 0")
CASES["taskgroup"] = (
    script(["0 fork 2", "0 team_begin 1", ("parallel", 0, 95, ("taskgroup", 10, 60, "20 task_create 1 0 1", "50 task_create 1 0 2"), ("barrier", 90, 95)),
            "95 team_end 1", "95 join"],
           ["0 team_begin 1", ("parallel", 0, 95, ("barrier", 5, 95, *run_task(1, 20, 30), *run_task(2, 50, 58))), "95 team_end 1"],
           definitions=["team 0 1"], threads=[2]),
    {"omp_taskwait_wait": [("parallel/taskgroup", 0, 8)]}, None)
HEALTH = {"taskgroup": ["1 wait for tasks recorded before the last of them was made: taken to begin when it was made (first: rank 0, thread 0)"]}

# By the clock of rank 1 its MPI_Wait ends before rank 0 has come to the barrier, 70, which it cannot before 70 and the shortest transfer, 5. What makes up for that lies between
# MPI_Send and the end of MPI_Wait, which begins at 56 then: the message is sent when it was, though the barrier had begun before.
CASES["clock_of_wait"] = (
    script([("MPI_Recv", 2, 25, "25 recv 1 0 0 8"), ("MPI_Ibarrier", 70, 70, "70 request 1"), ("MPI_Wait", 70, 76, f"76 complete 0 0 {NONE} 0 0 1")],
           [("MPI_Ibarrier", 10, 10, "10 request 1"), ("MPI_Send", 20, 21, "20 send 0 0 0 8"), ("MPI_Wait", 40, 50, f"50 complete 0 0 {NONE} 0 0 1")]),
    {"mpi_latesender": [("MPI_Recv", 0, 18)], "mpi_barrier_wait": [("MPI_Wait", 1, 14)]}, None)
OPTIONS = {"clock_of_wait": ["--time-correct=on"]}

# The first root cause of the analysis: (call path, rank, costs, chain of (call path, rank, part of it)).
CHAINS = {"fence_chain": ("main/origin", 2, 100, [("main/MPI_Win_fence", 1, 60), ("main/MPI_Win_fence", 0, 40)])}


def finding_faults(result, screen, path, rank, severity, gain):
    finding = next((f for f in result["findings"] if f["kind"] == "late_rank"), {"callpath": None, "ranks": []})
    if (finding["callpath"], finding["ranks"]) != ("main/" + path, [rank]):
        yield f"{finding}, not rank {rank} in {path}"
    elif not same(finding["severity_s"], float(severity) / 1000) or (gain and not same(finding["gain_s"], gain / 1000)):
        yield f"severity {finding['severity_s']}, gain {finding['gain_s']}, not {severity} and {gain} ms"
    if f"rank {rank} is late" not in screen:
        yield f"not on the first screen:\n{screen}"


def faults(name, text, expected, finding, tmp):
    result, causes, screen = analyse(name, text, tmp, *OPTIONS.get(name, []))
    yield from metric_faults(result, expected)
    health = result["meta"].get("health", [])
    if health != HEALTH.get(name, []):
        yield f"health: {health}"
    checks = result["meta"]["invariants"]
    if checks["broken"] or not same(checks["waiting_without_cause_s"], 0) or not same(checks["delay_costs_s"], checks["waiting_s"]):
        yield f"invariants: {checks}"
    if finding:
        yield from finding_faults(result, screen(), *finding)
    if name in CHAINS:
        first = causes[0]
        path, rank, cost, chain = CHAINS[name]
        parts = [(v["callpath"], v["rank"], round(1000 * v["cost_s"], 9)) for v in first["chain"]]
        if (first["callpath"], first["rank"]) != (path, rank) or not same(first["cost_s"], cost / 1000) or parts != chain:
            yield f"{first}, not {CHAINS[name]}"


with tempfile.TemporaryDirectory() as directory:
    found = [f"{name}: {fault}" for name, case in CASES.items() for fault in faults(name, *case, directory)]
for line in found:
    print(line)
print(f"{len(CASES)} traces, {len(found)} faults")
sys.exit(1 if found else 0)
