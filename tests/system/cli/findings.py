#!/usr/bin/python3
"""Findings of made results whose answer is known, and the first screen of `show`: lines, widths, colour, sections.
Usage: findings.py LATECOMER MAKE_CUBEX SCRATCH_DIR"""
import json
import math
import os
import re
import subprocess
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, SCRATCH = map(os.path.abspath, sys.argv[1:4])
enter(SCRATCH)
BLAME_HEAD = "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\n"


def make(content, cubex, **members):
    made.make(MAKE, content, cubex, **members)


def run(*args, code=0, **environment):
    return output([LATECOMER, *args], code, **{"COLUMNS": "", **environment})


def result(own, waits, critical, mpi=0.0, path="main/work", call="main/MPI_Barrier", wait="mpi_barrier_wait", **meta):
    """Ranks work in `path` for own[r], wait waits[r] in `call`, and are in it for `mpi` more; all of it takes as long on all."""
    n = len(own)
    extra = mpi if isinstance(mpi, list) else [mpi] * n
    wall = own[0] + waits[0] + extra[0]
    check(all(math.isclose(o + w + m, wall) for o, w, m in zip(own, waits, extra)), "every rank takes as long")
    time = {"main": [wall] * n, path: own, call: [w + m for w, m in zip(waits, extra)]}
    return dict(meta={"program": "made", "command": ["made"], "ranks": n, "wall_time_s": wall, "complete": True, "cores": [64], **meta},
                pop=dict(dialect="clocks", elapsed_s=wall, critical_path_s=sum(critical), parallel_efficiency=sum(own) / n / wall, load_balance=0.9,
                         communication_efficiency=0.7, serialisation_efficiency=0.8, transfer_efficiency=0.9),
                locations=[dict(rank=r, thread=0) for r in range(n)],
                metrics={"time": {"callpaths": time}, "visits": {"callpaths": {call: [100] * n}},
                         wait: {"callpaths": {call: waits}}, "critical_path_useful": {"callpaths": {path: critical}}})


def blame(*rows):
    return BLAME_HEAD + "".join(f"main/MPI_Barrier\t{rank}\tmain/work\twork.c:10\twork.c:20\t{seconds}\t0.1\n" for rank, seconds in rows)


def findings(name, content, *rows, file="profile.cubex"):
    make(content, f"{name}/{file}", **({"blame_tsv": blame(*rows)} if rows else {}))
    return json.loads(run("show", "--json", f"{name}/{file}"))["findings"]


def is_close(finding, **wanted):
    for key, value in wanted.items():
        got = finding[key]
        same = math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-12) if isinstance(value, float) and got is not None else got == value
        check(same, f"{finding['kind']}: {key} is {got}, not {value}: {json.dumps(finding, indent=1)}")


# One rank takes twice as long: as fast as the others, it saves its excess.
LATE = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0])
found = findings("late", LATE, (3, 3.0))
check(len(found) == 1, f"one finding: {found}")
is_close(found[0], kind="late_rank", severity_s=3.0, share=3.0 / 8, certainty="measured", callpath="main/work", ranks=[3], gain_s=1.0, gain_low_s=0.0,
         gain_high_s=1.0, because=None, between=["work.c:10", "work.c:20"], evidence={"metric": "mpi_barrier_wait", "callpath": "main/MPI_Barrier"})
check(found[0]["text"] == "rank 3 is late: others wait 3 s for it (37.5 % of all time)" and "Find out why" in found[0]["advice"], found[0]["text"])
# Others wait for this code on another rank, too: what they wait for the rank that is named is told.
mixed = findings("mixed", LATE, (3, 2.4), (0, 0.6))
check([(f["kind"], f["ranks"]) for f in mixed] == [("late_rank", [3])], f"{mixed}")
is_close(mixed[0], severity_s=3.0, rank_s=2.4)
check(mixed[0]["text"] == "rank 3 is late: others wait 3 s for this code, 2.4 s of it for this rank (37.5 % of all time)", mixed[0]["text"])
is_close(found[0], rank_s=3.0)

# Advice fits what samples found the late code in, and the call for which the others wait.
for at, first in {"nap/__nanosleep/clock_nanosleep/(off CPU)": "Find out what it sleeps for",
                  "load/_IO_fread/__read/(off CPU)": "Let all ranks read a part each", "log/fflush/__write/(off CPU)": "Let all ranks write a part each",
                  "turn/__lll_lock_wait/(off CPU)": "Hold the lock for less time", "turn/pthread_mutex_lock/futex_wait/(off CPU)": "Hold the lock for less time",
                  "join/pthread_join/futex_wait/(off CPU)": "Find out which of the threads that it waits for is the last", "wait/poll/(off CPU)": "Find out what it waits for outside of MPI",
                  "fill/memset/(kernel)": "Find out what the kernel does for it", "load/_IO_fread/__read/(kernel)": "Let all ranks read a part each",
                  "log/fflush/__write/(kernel)": "Let all ranks write a part each", "(off CPU)": "Find out what it waits for outside of MPI", "reading": "Find out why this rank"}.items():
    where = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], path=f"main/{at}")
    make(where, f"advice{len(at)}/profile.cubex", blame_tsv=blame((3, 3.0)).replace("\tmain/work\t", f"\tmain/{at}\t"))
    told = json.loads(run("show", "--json", f"advice{len(at)}/profile.cubex"))["findings"]
    check(len(told) == 1 and told[0]["kind"] == "late_rank" and told[0]["advice"].startswith(first), f"advice for {at}: {told}")
    check(first in " ".join(run("show", "--only", "findings", f"advice{len(at)}/profile.cubex").split()), f"advice for {at} in words")
ROOT = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], call="main/MPI_Bcast", wait="mpi_latebroadcast")
make(ROOT, "root/profile.cubex", blame_tsv=blame((3, 3.0)).replace("MPI_Barrier", "MPI_Bcast"))
told = json.loads(run("show", "--json", "root/profile.cubex"))["findings"]
check([f["advice"][:14] for f in told] == ["Let the root d"], f"advice for a root: {told}")

# Ordered loops and critical sections, which are in one metric: a finding each.
turns = result([1.0] * 4, [0.5] * 4, [1.0] + [0.0] * 3, call="main/!$omp critical @a.c:3", wait="omp_lock_contention_critical")
turns["metrics"]["time"]["callpaths"].update({"main": [2.25] * 4, "main/!$omp ordered @a.c:5": [0.75] * 4})
turns["metrics"]["omp_lock_contention_critical"]["callpaths"]["main/!$omp ordered @a.c:5"] = [0.75] * 4
told = [f for f in findings("turns", turns) if f["kind"] == "lock_contention"]
check([(f["text"], f["callpath"], f["advice"][:20]) for f in told]
      == [("threads wait 3 s (33.3 % of all time) for their turn in ordered loops", "main/!$omp ordered @a.c:5", "Do what need not be "),
          ("threads wait 2 s (22.2 % of all time) for critical sections", "main/!$omp critical @a.c:3", "Hold the lock for le")], f"locks: {told}")

# Half of its excess is not on the critical path: then half of it is saved. What another rank does not wait for is not saved either.
half = findings("half", result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]), (3, 3.0))
is_close(half[0], kind="late_rank", gain_s=0.5, gain_high_s=1.0)
busy = findings("busy", result([1.0, 1.0, 1.4, 2.0], [1.0, 1.0, 0.6, 0.0], [0.0, 0.0, 0.0, 2.0]), (3, 2.6))
is_close(busy[0], kind="late_rank", gain_s=0.6, gain_high_s=0.6)
# Where that leaves less than half of what evening out saves, another rank is as late: both are named, though one has all of the blame.
second = findings("second", result([1.0, 1.0, 1.8, 2.0], [1.0, 1.0, 0.2, 0.0], [0.0, 0.0, 0.0, 2.0]), (3, 2.2))
is_close(second[0], kind="imbalance", ranks=[3, 2], gain_s=0.55, gain_high_s=0.55)
check(second[0]["text"].startswith("ranks 3 and 2 are late: others wait 2.2 s"), second[0]["text"])

# What-if clocks of the run replace estimates: of the call path itself, or of the code around it where that has the same excess.
GAINS_HEAD = "without\tlate_rank\tcallpath\tseconds\tleast_seconds\tmost_seconds\texcess_seconds\n"


def clocked(name, content, costs, *rows):
    text = GAINS_HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows)
    make(content, f"{name}/profile.cubex", blame_tsv=blame(*costs), gains_tsv=text)
    return json.loads(run("show", "--json", f"{name}/profile.cubex"))["findings"][0]


is_close(clocked("clocked", LATE, [(3, 3.0)], ("late_rank", 3, "main/work", 0.7, 0.6, 0.9, 1.0), ("imbalance", 3, "main/work", 0.5, 0.4, 0.8, 0.75)),
         kind="late_rank", gain_s=0.7, gain_low_s=0.6, gain_high_s=0.9, gain_by="what-if clock of the run without this cause")
is_close(clocked("around", LATE, [(3, 3.0)], ("late_rank", 3, "main", 0.7, 0.6, 1.9, 1.05)), gain_s=0.7, gain_low_s=0.6, gain_high_s=1.05)
is_close(clocked("most_excess", LATE, [(3, 3.0)], ("late_rank", 3, "main", 1.05, 1.0, 1.9, 1.08)), gain_s=1.05, gain_low_s=1.0, gain_high_s=1.08)
is_close(clocked("half_excess", LATE, [(3, 3.0)], ("late_rank", 3, "main", 1.4, 1.2, 1.9, 2.0)), gain_s=0.7, gain_low_s=0.6, gain_high_s=1.0)
is_close(clocked("other_excess", LATE, [(3, 3.0)], ("late_rank", 3, "main", 0.7, 0.6, 0.9, 5.0)), gain_s=1.0, gain_low_s=0.0)
is_close(clocked("other_rank", LATE, [(3, 3.0)], ("late_rank", 2, "main/work", 0.7, 0.6, 0.9, 1.0)), gain_s=1.0, gain_low_s=0.0)
# Where none did, the finding says that the gain is an estimate, and why: for each reason that docs name.
TOLD = {"carried": "no what-if clock was carried for most of it", "none wanted": "nothing made others wait for 1 %", "few operations": "fewer than 4 barriers",
        "scenarios named": "--what-if names the what-if clocks", "threads": "a rank has several threads", "no clocks between nodes": "clocks did not travel between nodes",
        "costly": "more than 0.5 % of the run", "switched": "switched on and off", "lost": "did not hear in time", "no room": "for want of memory"}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/result-format.md"), encoding="utf-8") as text:
    [line] = re.findall("^- `chosen_clocks`: .*", text.read(), re.M)
check(re.findall("`([^`]+)`", line)[1:] == list(TOLD), f"docs name these reasons: {line}")
for why, told in TOLD.items():
    content = {**LATE, "pop": {**LATE["pop"], "chosen_clocks": why}}
    estimated = clocked(f"why_{why}", content, [(3, 3.0)], ("late_rank", 2, "main/work", 0.7, 0.6, 0.9, 1.0))
    check(told in estimated["gain_estimated"] and estimated["gain_by"].startswith("excess over"), f"why {why}: {estimated}")
    check("an estimate: " + estimated["gain_estimated"] in " ".join(run("show", "--only", "findings", f"why_{why}/profile.cubex").split()), f"why {why} in words")
    exact = clocked(f"not_{why}", content, [(3, 3.0)], ("late_rank", 3, "main/work", 0.7, 0.6, 0.9, 1.0))
    check("gain_estimated" not in exact, f"not {why}: {exact}")
# Nothing is said to gain more than the waiting that it cures; the upper bound may be more, as a rank may be late for several causes.
is_close(clocked("cured", result([1.0, 2.0], [1.0, 0.0], [0.0, 2.0]), [(1, 0.249)], ("late_rank", 1, "main/work", 0.437, 0.4, 0.9, 1.0)),
         severity_s=0.249, gain_s=0.249, gain_low_s=0.249, gain_high_s=0.9)
# Another rank turns out to be as late: evening out gains more than twice as much.
is_close(clocked("as_late", LATE, [(3, 3.0)], ("late_rank", 3, "main/work", 0.2, 0.1, 0.9, 1.0), ("imbalance", 3, "main/work", 0.5, 0.4, 0.6, 0.75)),
         kind="imbalance", gain_s=0.5, gain_low_s=0.4, gain_high_s=0.6)

short = result([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0], cores=[2])
short["metrics"]["time"]["callpaths"].update({"main/work": [1.0, 1.0, 1.9, 2.0]}) # without cores enough time in MPI does not tell, own time does
is_close([f for f in findings("short", short, (3, 2.2)) if f["callpath"] == "main/work"][0], kind="imbalance", ranks=[3, 2])

# Time in MPI that is no waiting stays, but only where cores are enough to tell; it is never above the bound.
for cores, gain in (64, 0.6), (2, 1.0):
    kept = findings(f"kept{cores}", result([1.0, 1.0, 1.0, 2.0], [0.6, 0.6, 0.6, 0.0], [0.0, 0.0, 0.0, 2.0], mpi=[0.4, 0.4, 0.4, 0.0], cores=[cores]), (3, 1.8))
    is_close([f for f in kept if f["kind"] == "late_rank"][0], gain_s=gain, gain_high_s=1.0)

# Two ranks in turn: the work spread evenly saves the critical path less the mean.
turn = findings("turn", result([3.0, 3.0, 1.0, 1.0], [1.0, 1.0, 3.0, 3.0], [2.0, 2.0, 0.0, 0.0]), (0, 4.0), (1, 4.0))
is_close(turn[0], kind="imbalance", ranks=[0, 1], severity_s=8.0, gain_s=2.0, gain_high_s=2.0)
check(turn[0]["text"].startswith("ranks 0 and 1 are late: others wait 8 s"), turn[0]["text"])
alike = findings("alike", result([2.0] * 4, [1.0] * 4, [0.75] * 4), *((r, 1.0) for r in range(4)))
is_close(alike[0], kind="imbalance", ranks=[], n_ranks=0, gain_s=1.0, gain_high_s=1.0)
check(alike[0]["text"].startswith("all ranks are late in turn: others wait 4 s"), alike[0]["text"])

# One after another: all work of all ranks is on one chain.
chain = findings("chain", result([1.0] * 4, [3.0] * 4, [1.0] * 4), *((r, 3.0) for r in range(4)))
is_close(chain[0], kind="serialisation_chain", gain_s=3.0)
check("the chain takes 4 s, no single rank more than 1 s" in chain[0]["text"], chain[0]["text"])

# Ranks that begin at different times: what is before a rank's first event is on the path, and makes no chain.
begin = findings("begin", result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 2.6, 2.0]), (3, 3.0))
is_close(begin[0], kind="late_rank", ranks=[3], severity_s=3.0, gain_s=1.0, gain_high_s=1.0)

# What was not traced made others wait, but is no code that somebody could change.
NOT_TRACED = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], path="main/(not traced)")
make(NOT_TRACED, "window/profile.cubex", blame_tsv=blame((3, 3.0)).replace("main/work", "main/(not traced)"))
check(json.loads(run("show", "--json", "window/profile.cubex"))["findings"] == [], "a finding where nothing was traced")

# Little waiting, or little to gain from it: nothing is said.
check(findings("calm", result([2.0] * 4, [0.01] * 4, [0.505] * 4), *((r, 0.01) for r in range(4))) == [], "nothing to say")
check(findings("noisy", dict(LATE, meta=dict(LATE["meta"], overhead={"total_s": 4.0})), (3, 3.0)) == [], "less than what the tool itself takes")
# But what it takes in calls that only ask makes nobody wait: a rank that polls asks less often. 400 of them, 10 ms or 1 ms each.
POLLED = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], call="main/MPI_Test", wait="mpi_poll_wait")
# Where calls were counted only, these have what the timed ones leave: 300 of the 400 take 13 ms each.
for call_ns, counted, n_found in ((1e7, 0, 1), (1e6, 0, 0), (1e6, 300, 1)):
    own = {"total_s": 4.0, "call_ns": call_ns, "budget": 0.05, "calls_counted_only": counted}
    polled = findings("polled", dict(POLLED, meta=dict(POLLED["meta"], overhead=own)), (3, 3.0))
    check([f["kind"] for f in polled] == ["late_rank"] * n_found, f"of polls, {call_ns} ns each, {counted} counted: {polled}")
    text = " ".join(run("show", "--full", "polled/profile.cubex").split())
    check(("the tool itself took 81.8 %" in text) == (n_found == 0) and ("4 s of it while ranks polled, and lost nothing" in text) == (n_found == 1), text[:1500])

# MPI itself: only where cores are enough to tell.
mpi = findings("mpi", result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0))
is_close(mpi[0], kind="mpi_cost", severity_s=4.0, gain_s=1.0, gain_high_s=1.0, callpath="main/MPI_Barrier")
check("400 calls of 10 ms" in mpi[0]["text"], mpi[0]["text"])
once = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0)
once["metrics"]["visits"]["callpaths"]["main/MPI_Barrier"] = [1, 0, 0, 0]
check(findings("once", once)[0]["text"].endswith(": 1 call of 4 s"), "one call")
unknown = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0)
del unknown["metrics"]["mpi_barrier_wait"], unknown["pop"]
check(findings("unknown", unknown) == [], "a profile of another tool: what of MPI is waiting is not known")
small = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0)
small["metrics"].update(comms_send={"callpaths": {"main/MPI_Barrier": [1000] * 4}}, bytes_sent={"callpaths": {"main/MPI_Barrier": [36000] * 4}})
is_close(findings("small", small)[0], kind="many_small_messages", gain_s=1.0)
check("4000 messages of 36 bytes on average cost 4 s" in findings("small", small)[0]["text"], "small messages")
# What the tool took in other calls does not count against them: of 9 s it took 7 in calls, 1 us in each of these 400, and 2 in samples.
overhead = {"call_ns": 1000.0, "rare_s": 0.0, "sampling_s": 2.0, "openmp_s": 0.0, "total_s": 9.0}
is_close(findings("small", dict(small, meta=dict(small["meta"], overhead=overhead)))[0], kind="many_small_messages", severity_s=4.0)
check("9 s in all (112.50 % of the time), without what samples add to switches in calls" in " ".join(run("show", "--full", "small/profile.cubex").split()), "own overhead")
check(findings("small", dict(small, meta=dict(small["meta"], overhead=dict(overhead, call_ns=1e7)))) == [], "less than what the tool took in these calls, and in samples")
check(findings("small", dict(small, meta=dict(small["meta"], overhead=dict(overhead, sampling_s=4.5)))) == [], "less than what samples took")
check(findings("small", dict(small, meta=dict(small["meta"], overhead={"total_s": 9.0}))) == [], "what a call takes is not known")
# Who is without a processor outside of MPI is so inside, too: half of 8 s there, so 2.5 s of 5; with 2 s of waiting 3 s are left, with 3 s 2 s.
for waits, kinds in ((2.0, ["preempted", "mpi_cost"]), (3.0, ["preempted"])):
    robbed = result([2.0] * 4, [waits / 4] * 4, [2.0, 0.0, 0.0, 0.0], mpi=(5.0 - waits) / 4)
    robbed["metrics"]["time"]["callpaths"]["main/(preempted)"] = [1.0] * 4
    robbed["metrics"]["critical_path_useful"]["callpaths"] = {"main/work": [1.0, 0.0, 0.0, 0.0], "main/(preempted)": [1.0, 0.0, 0.0, 0.0]}
    check([f["kind"] for f in findings("robbed", robbed)] == kinds, f"{waits} s of waiting: {findings('robbed', robbed)}")
for busy, crowd in (([2] * 4, "; 8 threads compute on 6 cores"), ([1] * 4, "")):
    robbed["meta"].update(cores=[6], busy_threads=busy, oversubscribed=False)
    found, = (f for f in findings("crowded", robbed) if f["kind"] == "preempted")
    check(found["text"].endswith(f"1 s of it on the critical path{crowd}"), f"{busy} threads: {found}")
died = {key: value for key, value in robbed.items() if key != "pop"}  # then there is no critical path
died["metrics"] = {key: value for key, value in robbed["metrics"].items() if key != "critical_path_useful"}
found, = (f for f in findings("robbed_died", died) if f["kind"] == "preempted")
check(found["text"] == "all ranks lost the processor to other threads for 4 s (30.8 % of all time)" and found["gain_s"] is None, f"died: {found}")
few = findings("few", result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0, cores=[2]))
check([f["kind"] for f in few] == ["oversubscribed"] and few[0]["gain_s"] is None, f"what cannot be told: {few}")
# OMP_NUM_THREADS was set, and no team was made: two ranks had a core each; not so with more threads, or if it is not known what they did.
for busy, kinds in (([1, 1], ["mpi_cost"]), ([2, 1], ["oversubscribed"]), ([0, 1], ["oversubscribed"]), ([], ["oversubscribed"])):
    wanted = result([1.0] * 2, [0.0] * 2, [1.0, 0.0], mpi=1.0, cores=[2], threads_wanted=2, oversubscribed=True, busy_threads=busy)
    check([f["kind"] for f in findings("wanted", wanted)] == kinds, f"{busy}: {findings('wanted', wanted)}")
    check(("2 ranks of 2 threads on 2 cores" in run("show", "wanted")) == (kinds == ["oversubscribed"]), f"{busy}: {run('show', 'wanted')}")
# The same of a run that died, of which no more is known than that.
for threads, wide in (([1, 1], False), ([2, 1], True)):
    died = result([1.0] * 2, [0.0] * 2, [1.0, 0.0], mpi=1.0, cores=[2], threads_wanted=2, oversubscribed=True, threads=threads, openmp=True, complete=False, ending="exit")
    kinds, shown = [f["kind"] for f in findings("wanted", died)], run("show", "wanted")
    check(("oversubscribed" in kinds) == ("oversubscribed:" in shown) == ("computes with 2 threads" in shown) == wide, f"{threads}: {kinds} {shown}")
alone = result([4.0], [0.0], [4.0], cores=[2])
alone["metrics"]["time"]["callpaths"]["main/(preempted)"] = [1.0]
alone["metrics"]["critical_path_useful"]["callpaths"] = {"main/work": [3.0], "main/(preempted)": [1.0]}
check([f["text"].split(" lost")[0] for f in findings("alone", alone)] == ["the program"], f"one thread: {findings('alone', alone)}")
narrow = findings("narrow", result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=1.0, binding=["0"] * 4, busy_threads=[2] * 4))
check([f["kind"] for f in narrow] == ["bound_narrowly"], f"bound narrowly: {narrow}")
# As many cores as the machine has: it is not the binding.
free = findings("free", result([1.0], [0.0], [1.0], mpi=1.0, binding=["0-1"], busy_threads=[3], cores=[2], oversubscribed=False))
shown = " ".join(run("show", "free").split())
check(free == [] and "oversubscribed: rank 0 computes with 3 threads on 2 cores" in shown and "map-by" not in shown, f"not bound: {free}: {shown}")
check("bound too narrowly: rank 0 computes with 2 threads and may use 1 core:" in " ".join(run("show", "narrow").split()), "bound narrowly in words")

# Late receivers: where nothing is known of the late one; not beside a late rank that explains them.
send = result([1.0] * 4, [0.5, 0.5, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], call="main/MPI_Send", wait="mpi_latereceiver")
is_close(findings("send", send)[0], kind="late_receiver", severity_s=2.0, callpath="main/MPI_Send")
LATE_SEND = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], wait="mpi_latereceiver")
check([f["kind"] for f in findings("send2", LATE_SEND, (3, 3.0))] == ["late_rank"], "a cause, and not its symptom")

# Calls that never returned are no cost of MPI: what they were for is not known. MPI_Abort is not to return.
for ending, when in {"signal 15": "the run ended", "running": "the run was looked at"}.items():
    hung = result([4.0, 1.0, 1.0, 1.0], [0.0] * 4, [4.0, 0.0, 0.0, 0.0], mpi=[0.0, 3.0, 3.0, 3.0], call="main/MPI_Recv", complete=False, ending=ending)
    hung["metrics"]["time"]["callpaths"]["main/MPI_Abort"] = [3.0, 0.0, 0.0, 0.0]
    hung["metrics"]["mpi_unfinished"] = {"callpaths": {"main/MPI_Recv": [0.0, 2.0, 2.0, 0.0], "main/MPI_Abort": [3.0, 0.0, 0.0, 0.0]}}
    found = {f["kind"]: f for f in findings("hung", hung) if f["callpath"] == "main/MPI_Recv"}
    check(list(found) == ["mpi_cost", "unfinished_call"] or list(found) == ["unfinished_call", "mpi_cost"], f"a call that never returned: {found}")
    is_close(found["unfinished_call"], severity_s=4.0, gain_s=None, ranks=[1, 2], certainty="measured",
             text=f"ranks 1 and 2 had called MPI_Recv, which had not returned when {when}: 4 s (25.0 % of all time) until then")
    is_close(found["mpi_cost"], severity_s=5.0)
    check(not [f for f in findings("hung", hung) if f["kind"] == "unfinished_call" and f["callpath"] == "main/MPI_Abort"], "MPI_Abort does not return")
# A lack of cores does not explain them. Nor are they a cost of MPI's end: where ranks hang in MPI_Finalize, that is part of all time, of which it is a share.
hung = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], mpi=3.0, call="main/MPI_Finalize", complete=False, ending="signal 15", oversubscribed=True)
hung["metrics"]["mpi_unfinished"] = {"callpaths": {"main/MPI_Finalize": [2.0, 2.0, 2.0, 0.0]}}
hung["metrics"]["time"]["callpaths"]["main/MPI_Recv"] = [0.0, 0.0, 0.0, 3.0]
hung["metrics"]["time"]["callpaths"]["main/MPI_Finalize"] = [3.0, 3.0, 3.0, 0.0]
hung["metrics"]["mpi_unfinished"]["callpaths"]["main/MPI_Recv"] = [0.0, 0.0, 0.0, 2.5]
found = {f["kind"]: f for f in findings("hung_end", hung) if f["callpath"] != "main/MPI_Recv"}
is_close(found["unfinished_call"], severity_s=6.0, text="ranks 0, 1 and 2 had called MPI_Finalize, which had not returned when the run ended: 6 s (46.2 % of all time) until then")
is_close(found["oversubscribed"], severity_s=0.5)
shown = run("show", "hung_end")
check("MPI_Finalize 750 ms per rank" in shown, f"the end of MPI, without calls that had not returned: {shown}")

# Time in MPI with processes that MPI_Comm_spawn started may be waiting for them: no cost of MPI, but for starting them.
for spawned, what in ((1, "1 process that MPI_Comm_spawn started is"), (3, "3 processes that MPI_Comm_spawn started are")):
    parent = result([1.0], [0.0], [1.0], mpi=3.0, call="main/MPI_Recv", coverage={"processes_spawned": spawned})
    parent["metrics"]["time"]["callpaths"].update({"main/MPI_Recv": [2.0], "main/MPI_Comm_spawn": [1.0]})
    parent["metrics"]["visits"]["callpaths"]["main/MPI_Comm_spawn"] = [1]
    parent["pop"].update(transfer_efficiency=0.5, communication_efficiency=0.4)
    found = {f["kind"]: f for f in findings("parent", parent)}
    check(sorted(found) == ["mpi_cost", "unmeasured_processes"], f"spawned processes: {found}")
    is_close(found["unmeasured_processes"], severity_s=2.0, gain_s=None, text=f"{what} not in this result: 2 s in MPI (50.0 % of all time) may be waiting for what they do")
    is_close(found["mpi_cost"], severity_s=1.0, callpath="main/MPI_Comm_spawn")
    check("MPI, or spawned processes" in run("show", "parent"), "spawned processes at the lowest factor")

# Iterations, clocks, losses.
slow = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0])
slow["pop"]["phases"] = [dict(name="step", count=50, kept=50, elapsed_s=1.0,
                              iterations=dict(elapsed_s=dict(first=0.01, best=0.01, best_at=2, median=0.015, worst=0.1, worst_at=7, drift=0.0)))]
is_close(findings("slow", slow)[0], kind="variability", gain_s=0.085)
slow["pop"]["phases"][0]["iterations"]["elapsed_s"]["worst_at"] = 1
check(findings("warm", slow) == [], "the first iteration warms up")
# Loops found without annotation: the costliest group of slow iterations of the longest loop.
looped = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0])
spread = dict(first=0.01, best=0.01, best_at=2, median=0.01, worst=0.02, worst_at=40, drift=0.0)
looped["pop"]["iterations"] = [dict(found_by="recurring calls", callpath="main/work", ranks=4, count=300, kept=300, start_s=0.1, elapsed_s=0.9, warm_up=2,
                                    factors=dict(parallel_efficiency=0.8, load_balance=0.9, communication_efficiency=0.9),
                                    each=dict(block=2, elapsed_s=[0.01]), iterations=dict(parallel_efficiency=spread, elapsed_s=spread),
                                    outliers=[{"from": 211, "to": 230, "times_median": 1.8, "excess_s": 0.16, "rank": 3}])]
is_close(findings("looped", looped)[0], kind="variability", gain_s=0.16, gain_low_s=0.16, gain_high_s=0.16, callpath="main/work", ranks=[3],
         text="iterations differ: no. 211 to 230 of 300 took 1.8 times the median; rank 3 worked longest")
shown = run("show", "--full", "looped")
check("loop in main/work, found by recurring calls: 300 iterations in 900 ms, from 100 ms on: efficiency 80.0 %" in shown
      and "warm-up: the first 2 iterations take longer" in shown and "iterations 211 to 230 took 1.8 times the median, 160 ms more in all; rank 3 worked longest" in shown,
      f"a loop:\n{shown}")
# Where every other one takes as long they are no exceptions; where every fifth one does they are.
for distance, many in ((2, 0), (5, 1)):
    often = json.loads(json.dumps(looped))
    often["pop"]["iterations"][0].update(count=100, each=dict(block=1, elapsed_s=[0.17 if i % distance == 0 else 0.01 for i in range(100)]),
                                         outliers=[{"from": 11, "to": 11, "times_median": 17, "excess_s": 0.16, "rank": 3}])
    check(len(findings("looped_often", often)) == many, f"one of {distance} iterations is slow")
# Code below that took longer there: the finding is at that code, and says whose loop it is.
looped["pop"]["iterations"][0].update(callpath="main", outliers=[{"from": 7, "to": 7, "times_median": 17, "excess_s": 0.16, "rank": 2, "callpath": "main/work"}])
is_close(findings("looped_below", looped)[0], kind="variability", callpath="main/work", ranks=[2],
         text="iterations differ: no. 7 of 300 in main took 17 times the median; rank 2 worked longest, here")
# Without a processor nobody works; a name of C++ is a function's, without the types of its parameters, and one that is long ends as it does.
LONG = "a_function_whose_name_fills_more_than_half_of_the_line_that_names_it"
for home, name in {"std::vector<int> Timbl::Test(std::__cxx11::basic_string<char, std::char_traits<char> > const&)": "Timbl::Test",
                   LONG: f"{LONG[:23]}..{LONG[-23:]}"}.items():
    for code, did in {"(preempted)": "took longest, here", "(off CPU)": "took longest, here", "work": "worked longest, here"}.items():
        named = result([1.0] * 4, [0.0] * 4, [1.0, 0.0, 0.0, 0.0], path=f"main/{home}")
        named["metrics"]["time"]["callpaths"][f"main/{home}/{code}"] = [0.5] * 4
        named["pop"]["iterations"] = [dict(looped["pop"]["iterations"][0], callpath=f"main/{home}", outliers=[
            {"from": 7, "to": 7, "times_median": 17, "excess_s": 0.16, "rank": 2, "callpath": f"main/{home}/{code}"}])]
        told = [f["text"] for f in findings("looped_named", named) if f["kind"] == "variability"]
        check(told == [f"iterations differ: no. 7 of 300 in {name} took 17 times the median; rank 2 {did}"], f"{home}, {code}: {told}")
# A call of MPI took longer: not by what the rank did that worked longest.
looped["pop"]["iterations"][0].update(callpath="main", outliers=[{"from": 7, "to": 7, "times_median": 1309.6, "excess_s": 0.16, "rank": 2, "callpath": "main/MPI_Barrier"}])
is_close(findings("looped_in_mpi", looped)[0], kind="variability", callpath="main/MPI_Barrier", ranks=[],
         text="iterations differ: no. 7 of 300 in main took 1310 times the median, longer than usual here")
looped["pop"]["iterations"][0]["outliers"][0].update(times_median=17, callpath="main/work")
# The first loop counts, which covers most: another one that lasts longer has most of that in one iteration.
looped["pop"]["iterations"].append(dict(looped["pop"]["iterations"][0], callpath="main/MPI_Barrier", count=13, elapsed_s=0.95,
                                        outliers=[{"from": 7, "to": 7, "times_median": 99, "excess_s": 0.3, "rank": 1}]))
is_close(findings("looped_twice", looped)[0], kind="variability", callpath="main/work", ranks=[2])
shown = run("show", "--full", "looped_twice")
check(0 < shown.find("loop in main, found by") < shown.find("loop in main/MPI_Barrier, found by"), f"two loops:\n{shown}")
looped["pop"]["iterations"].pop()
# Where they are most of the loop they are what it is for, not slow.
looped["pop"]["iterations"][0]["outliers"][0]["excess_s"] = 0.46
check(findings("looped_for_one", looped) == [], "one iteration has most of the time")
looped["pop"]["iterations"][0]["outliers"][0]["excess_s"] = 0.16
looped_once = looped["pop"]["iterations"][0]
looped["pop"]["iterations"] = []
make(looped, "unlooped/profile.cubex")
for screen in ["--full"], []:
    check(run("show", *screen, "unlooped").count("no loop of 10 iterations or more was found") == 1, f"no loop: {screen}")
# A window is worth a trace where it has clearly more waiting than its share of the time; else iterations that are like those of a loop with most of the
# waiting; else none. All wait 3 s, in 2 s.
def window(name, *rows, elapsed_s, phase=None):
    """The iterations and the phase listed, and what `show` says: of a loop in which rank r waits rows[r][i] in iteration i; phase: its shares of waiting and time."""
    content, rows = json.loads(json.dumps(LATE)), [*rows, *[[0.0] * len(rows[0])] * (4 - len(rows))]
    content["pop"]["iterations"] = [dict(looped_once, callpath="main/work", count=len(rows[0]), kept=len(rows[0]), outliers=[],
                                         by_rank=dict(ranks=1, block=1, waiting_s=rows, elapsed_s=[[elapsed_s] * len(rows[0])] * 4))]
    if phase is not None:
        for metric, path, values in (("time", "main/user phase", [2 * phase[1]] * 4), *((metric, path, [share, share, share, 0.0]) for metric in ("time", "mpi_barrier_wait")
                                     for path, share in (("main/MPI_Barrier", 1 - phase[0]), ("main/user phase/MPI_Barrier", phase[0])))):
            content["metrics"][metric]["callpaths"][path] = values
    make(content, f"{name}/profile.cubex", blame_tsv=blame((3, 3.0)))
    listed = json.loads(run("show", "--json", name))["trace_windows"]
    return listed[-1], listed[0], " ".join(run("show", "--only", "next", name).split())


one, _, text = window("concentrated", *[[0.005] * 29 + [0.07] * 10 + [0.005] * 11] * 3, elapsed_s=0.038)
is_close(dict(one, kind="window"), window="iterations 30-39", advised_for="more waiting", waiting_share=0.7, time_share=0.19, loop_share=0.9)
check("or `--trace='iterations 30-39'` alone, of the loop in main/work: 70 % of the waiting in 19 % of the time" in text, text)
# The one with most waiting has no more than 1.4 times its share. The others are more like the loop: 0.012 s for a mean of 0.0136 s.
one, _, text = window("typical", *[[0.012] * 19 + [0.06] * 2 + [0.012] * 39] * 3, elapsed_s=0.03)
is_close(dict(one, kind="window"), window="iterations 10-19", advised_for="typical iterations", waiting_share=0.12, time_share=0.15, loop_share=0.816)
check("alone, of the loop in main/work, which has 82 % of the waiting: they are like its other iterations, in 15 % of the time" in text, text)
# Other ranks wait in the second half: those in the middle stand for both.
one, _, _ = window("two_halves", [0.06] * 20 + [0.0] * 20, [0.0] * 20 + [0.06] * 20, elapsed_s=0.045)
is_close(dict(one, kind="window"), window="iterations 16-25", advised_for="typical iterations")
# The last two have 2 % of the waiting in 5 % of the time; a loop with a quarter of the waiting is no example of it; most of the run is no window.
for name, rows, elapsed_s in ("last", [0.1] * 9 + [0.01] * 2, 0.05), ("small", [0.005] * 50, 0.038), ("whole", [0.045] * 20, 0.11):
    one, _, text = window(name, *[rows] * 3, elapsed_s=elapsed_s)
    check(one["window"].startswith("iterations 10-") and one["advised_for"] is None and "or `--trace=" not in text and "Root causes: run with" in text, f"{name}: {one}: {text}")
for shares, why in ((0.95, 0.9), None), ((0.6, 0.35), "more waiting"), ((0.08, 0.05), None):
    _, one, text = window("phase", [0.005] * 50, elapsed_s=0.038, phase=shares)
    is_close(dict(one, kind="window"), window="user phase", advised_for=why, waiting_share=shares[0], time_share=shares[1], loop_share=None)
    check(("or `--trace='user phase'` alone: 60 % of the waiting in 35 % of the time" in text) == (why is not None) == ("or `--trace=" in text), f"{shares}: {text}")
clocks = findings("clocks", result([1.0] * 4, [0.0] * 4, [1.0] * 4, piggyback={"order_violations": 3},
                                   clock_sync={"nodes": 2, "largest_violation_s": 1e-5}, clock_error_s=2e-5))
check([f["kind"] for f in clocks] == ["clock_violations"] and "3 events come before their cause, by up to 10 us" in clocks[0]["text"], f"{clocks}")
dead = findings("dead", dict(LATE, meta=dict(LATE["meta"], complete=False, ending="signal 9")), (3, 3.0))
check([f["kind"] for f in dead] == ["late_rank", "incomplete"], f"{dead}")
for ending, told in {"signal 9": "the program ended by signal 9", "MPI_Abort": "the program ended by MPI_Abort", "running": "the program went on after it", "unknown": "the program ended by something unknown"}.items():
    dead = findings("dead", dict(LATE, meta=dict(LATE["meta"], complete=False, ending=ending)), (3, 3.0))
    check(dead[1]["text"] == f"the measurement is incomplete: {told}", f"{ending}: {dead[1]}")

# Threads that OpenMP did not start: the first one of each rank waits for the end of the second, unseen, so neither the critical path nor a replay leads to the
# code that is late. It is named, with its thread, and its gain is not known; with OpenMP none of that is unseen.
APART = dict(LATE, pop=dict(LATE["pop"], elapsed_s=2.0), locations=[dict(rank=r, thread=t) for r in range(2) for t in range(2)], metrics={
    "time": {"callpaths": {"main": [2.0, 1.9, 2.0, 2.0], "main/join": [1.9, 0.0, 2.0, 0.0], "main/worker": [0.1, 1.9, 0.0, 2.0],
                           "main/worker/nap": [0.1, 1.5, 0.0, 0.0], "main/worker/MPI_Recv": [0.0, 0.4, 0.0, 2.0]}},
    "mpi_latesender": {"callpaths": {"main/worker/MPI_Recv": [0.0, 0.0, 0.0, 1.5]}}, "critical_path_useful": {"callpaths": {"main/join": [1.9, 0.0, 0.0, 0.0]}}})
APART["meta"] = dict(LATE["meta"], ranks=2, wall_time_s=2.0)
NAPS = BLAME_HEAD + "main/worker/MPI_Recv\t0\tmain/worker/nap\t\t\t1.5\t1\n"


def apart(name, content, cubex="profile.cubex", **members):
    make(content, f"{name}/{cubex}", **members)
    return json.loads(run("show", "--json", f"{name}/{cubex}"))["findings"]


found = apart("apart", APART, blame_tsv=NAPS)[0]
is_close(found, kind="late_rank", ranks=[0], thread=1, severity_s=1.5, gain_s=None, gain_estimated="who waits for the end of a thread that is not OpenMP's is not seen")
check(found["text"].startswith("rank 0 thread 1 is late: others wait 1.5 s") and "gain_by" not in found, f"threads apart: {found}")
told = " ".join(run("show", "--only", "findings", "apart/profile.cubex").split())
check("gain unknown: who waits for the end of a thread" in told, f"threads apart, in words: {told}")
analysed = dict(APART, metrics={**{m: APART["metrics"][m] for m in ("time", "mpi_latesender")}, "critical_path": APART["metrics"]["critical_path_useful"],
                                "delay_latesender": {"callpaths": {"main/worker/nap": [0.0, 1.5, 0.0, 0.0]}}})
for then, gain in (2.0, None), (1.0, 1.0):  # not so where the replay knows that something is gained
    gains = [dict(without="late_rank", callpath="main/worker/nap", rank=0, now_s=2.0, then_s=then)]
    found = apart("apart", analysed, "analysis.cubex", critical_path_json=json.dumps({"gains": gains}))[0]
    is_close(found, kind="late_rank", ranks=[0], thread=1, severity_s=1.5, gain_s=gain)
    teams = dict(analysed["metrics"], omp_time={"callpaths": {"main/join": [0.1, 0.0, 0.1, 0.0]}})
    openmp = [f for f in apart("teams", dict(analysed, metrics=teams), "analysis.cubex", critical_path_json=json.dumps({"gains": gains})) if f["kind"] == "late_rank"]
    check(gain is not None or openmp == [], f"OpenMP: {openmp}")
    check(all("thread" not in f and f["text"].startswith("rank 0 is late") for f in openmp), f"OpenMP: {openmp}")
# It stands by what those who wait for it wait, before smaller gains that are known; code that itself waits for threads is behind all others.
gains = [dict(without=kind, callpath=path, rank=0, now_s=2.0, then_s=then) for kind, path, then in
         (("late_rank", "main/worker/nap", 2.0), ("late_rank", "main/other", 1.8), ("late_rank", "main/join/pthread_join/(off CPU)", 1.0))]
times = dict(APART["metrics"]["time"]["callpaths"], **{"main/other": [0.5, 0.0, 0.0, 0.0], "main/join/pthread_join": [1.9, 0.0, 2.0, 0.0], "main/join/pthread_join/(off CPU)": [1.9, 0.0, 2.0, 0.0]})
delays = {"main/worker/nap": [0.0, 1.5, 0.0, 0.0], "main/other": [0.4, 0.0, 0.0, 0.0], "main/join/pthread_join/(off CPU)": [1.8, 0.0, 0.0, 0.0]}
late = [f for f in apart("order", dict(analysed, metrics=dict(analysed["metrics"], time={"callpaths": times}, delay_latesender={"callpaths": delays})), "analysis.cubex",
                         critical_path_json=json.dumps({"gains": gains})) if f["kind"] in ("late_rank", "imbalance")]
check([(f["callpath"], f["gain_s"] is None) for f in late] == [("main/worker/nap", True), ("main/other", False), ("main/join/pthread_join/(off CPU)", True)], f"order: {late}")
several = dict(APART, metrics=dict(APART["metrics"], time={"callpaths": dict(APART["metrics"]["time"]["callpaths"], **{"main/worker/nap": [0.7, 1.5, 0.0, 0.0]})}))
check("thread" not in apart("both", several, blame_tsv=NAPS)[0], "both threads work there")

# The analysis of the same run sharpens a profile: costs that are exact, gains no larger than what the others wait.
analysis = dict(LATE, metrics={"time": LATE["metrics"]["time"], "mpi_barrier_wait": LATE["metrics"]["mpi_barrier_wait"],
                               "critical_path": LATE["metrics"]["critical_path_useful"],
                               "delay_barrier": {"callpaths": {"main/work": [0.0, 0.0, 0.0, 1.8]}},
                               "delay_barrier_longterm": {"callpaths": {"main/work": [0.0, 0.0, 0.0, 0.6]}}})
own = findings("late", analysis, file="analysis.cubex")
is_close(own[0], kind="late_rank", severity_s=2.4, certainty="exact from trace", gain_s=0.8, gain_high_s=1.0, ranks=[3])
both = json.loads(run("show", "--json", "late"))["findings"]
is_close(both[0], kind="late_rank", severity_s=2.4, certainty="exact from trace", gain_s=0.8, between=["work.c:10", "work.c:20"])
# Gains that a replay of the trace found take the place of estimates; where another rank is as late, it is no single one.
def replayed(**then):
    gains = [dict(without=kind, callpath="main/work", now_s=2.0, then_s=seconds, **({"rank": 3} if kind == "late_rank" else {})) for kind, seconds in then.items()]
    make(analysis, "late/analysis.cubex", critical_path_json=json.dumps({"gains": gains}))
    return json.loads(run("show", "--json", "late"))["findings"][0]


is_close(replayed(late_rank=1.3, imbalance=1.5), kind="late_rank", gain_s=0.7, gain_low_s=0.7, gain_high_s=0.7, gain_by="replay of the trace without this cause")
is_close(replayed(late_rank=1.9, imbalance=1.5), kind="imbalance", gain_s=0.5)
is_close(replayed(imbalance=1.5), kind="late_rank", gain_s=0.8)
# Neither the late rank nor even work would save much, but not to wait for messages of the code: a pipeline.
is_close(replayed(late_rank=1.98, imbalance=1.99, serialisation_chain=1.4), kind="pipeline", gain_s=0.6, severity_s=2.4, n_ranks=0, gain_by="replay of the trace without this cause")
is_close(replayed(late_rank=1.7, imbalance=1.8, serialisation_chain=1.4), kind="late_rank", gain_s=0.3)
make(analysis, "late/analysis.cubex")
with open("late/analysis.cubex", "r+b") as file:
    file.truncate(1000)
is_close(json.loads(run("show", "--json", "late"))["findings"][0], severity_s=3.0, certainty="measured")
os.remove("late/analysis.cubex")
# Where a rank sleeps in functions of the C library, which are one word here, its waiting is told once, too.
ASLEEP = "main/nap/__nanosleep/clock_nanosleep/(off CPU)"
asleep = dict(result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], path=ASLEEP),
              modules={name: "/lib/x86_64-linux-gnu/libc.so.6" for name in ("__nanosleep", "clock_nanosleep")})
make(asleep, "asleep/profile.cubex", blame_tsv=blame((3, 3.0)).replace("\tmain/work\t", f"\t{ASLEEP}\t"))
asleep_analysed = dict(asleep, metrics={**{name: asleep["metrics"][name] for name in ("time", "mpi_barrier_wait")},
                                        "critical_path": asleep["metrics"]["critical_path_useful"], "delay_barrier": {"callpaths": {ASLEEP: [0.0, 0.0, 0.0, 2.4]}}})
for modules in asleep["modules"], {}:  # none: an analysis of a trace without them
    make(dict(asleep_analysed, modules=modules), "asleep/analysis.cubex", samples_tsv="callpath\n")
    both = json.loads(run("show", "--json", "asleep"))["findings"]
    check([(f["kind"], f["callpath"], f["severity_s"]) for f in both] == [("late_rank", "main/nap/(off CPU: sleeping)", 2.4)], f"asleep: {both}")

# The first screen: at most 40 lines at 100 columns, nothing wider than the terminal, whatever there is to say.
loaded = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], exit_status=3, complete=False, ending="signal 9", openmp=True,
                threads_wanted=4, binding=["0"] * 4, cores=[2], missing_symbols=["a", "b"], unnamed_functions=7)
deep = "main/" + "/".join(f"Space::Name{i}::function_of_a_long_name<int, double>(int, double)" for i in range(12))
for i in range(9):
    loaded["metrics"]["time"]["callpaths"].update({f"{deep}/part{i}": [0.1] * 4, f"{deep}/part{i}/MPI_Send": [0.05] * 4})
make(loaded, "loaded/profile.cubex", blame_tsv=blame((3, 3.0)))
for columns in "80", "100", "120", "60":
    for name in "late", "loaded", "mpi", "small", "chain", "alike", "typical":
        lines = run("show", name, COLUMNS=columns).splitlines()
        widest = max(lines, key=len)
        check(len(widest) <= int(columns) or "latecomer" in widest, f"{name} at {columns} columns: {len(widest)}: {widest}")
        check(len(lines) <= 40 or int(columns) < 100, f"{name} at {columns} columns has {len(lines)} lines")
unnamed = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], path="main/app+0x10", missing_symbols=["/no/such/place/app", *"abcd"], unnamed_functions=2)
make(unnamed, "unnamed/profile.cubex")
text = " ".join(run("show", "unnamed").split())
check("2 call paths without a name: no symbols in app, a, b and 2 more. For names, compile with -g" in text, f"how to get the names that are missing:\n{text}")
check("no symbols in app, a, b, c, d. For names," in " ".join(run("show", "--full", "unnamed").split()), "all of them")
check("without a name" not in run("show", "loaded"), "all that is shown has names")
text = run("show", "late")
for wanted in ("1 s (50 %)      rank 3 is late: others wait 3 s for it (37.5 % of all time)\n                  main/work, work.c:10 to work.c:20\n", "Parallel efficiency", "<- ranks wait in turn",
               "Heaviest call paths", "  main/work ", "show --full late`; in parts: --only", "run with `latecomer run --trace`"):
    check(wanted in text, f"the first screen lacks '{wanted}':\n{text}")
check("nothing exceeds the accuracy of this measurement" in run("show", "calm"), "no findings")
# Much waiting of which no cause is known that would make the run shorter: it is said, and not that nothing was measured.
check(findings("pipeline", result([1.0] * 4, [1.0] * 4, [0.25] * 4, cores=[1]), *((r, 1.0) for r in range(4))) == [], "nothing that would make the run shorter")
text = " ".join(run("show", "pipeline").split())
check("no single cause: 50.0 % of the time is waiting, but of none of its causes is it known that the run would be shorter without it; who is late: --only late" in text, f"a pipeline:\n{text}")
make(result([1.0] * 4, [1.0] * 4, [0.25] * 4, cores=[1]), "unknown/profile.cubex")
check("nothing exceeds the accuracy of this measurement" in run("show", "unknown"), "nothing is said of causes that are not known")

# Colour and characters of the terminal.
check("\033" not in text and "\033[1m" in run("show", "--color", "always", "late"), "colour only when asked for, or on a terminal")
check("\033" not in run("show", "--color=never", "late") and "always or never" in run("show", "--color=red", "late", code=2), "colour off, and wrong")
check("█" in run("show", "late", LC_ALL="C.UTF-8") and run("show", "late", LC_ALL="C").isascii(), "bars of the terminal's characters")
for how in ("auto", "\033[1m"), ("never", "Findings  ("):
    seen = subprocess.run(["script", "-qec", f"{LATECOMER} show --color {how[0]} late", "/dev/null"], capture_output=True, text=True).stdout
    check(how[1] in seen, f"colour {how[0]} on a terminal: {seen!r}")
seen = subprocess.run(["script", "-qec", f"env NO_COLOR=1 {LATECOMER} show late", "/dev/null"], capture_output=True, text=True).stdout
check("\033" not in seen and "Findings" in seen, f"NO_COLOR: {seen!r}")

# Threads of one process: one is late at a barrier, and runs alone; waiting for a lock is another finding.
TEAM = "main/!$omp parallel @a.c:1"
threads = result([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0], path=TEAM, call=TEAM + "/!$omp barrier @a.c:2", wait="omp_ebarrier_wait")
threads["meta"]["ranks"] = 1
threads["locations"] = [dict(rank=0, thread=t) for t in range(4)]
threads["metrics"]["time"]["callpaths"].update({TEAM: [2.0] * 4, "main": [3.0] * 4, "main/!$omp idle": [0.0] + [1.0] * 3,
                                                TEAM + "/!$omp critical @a.c:3": [0.1] * 4})
threads["metrics"]["omp_idle_threads"] = {"callpaths": {"main/!$omp idle": [0.0, 1.0, 1.0, 1.0]}}
late = [(TEAM + "/!$omp barrier @a.c:2", 3, TEAM, 3.0), ("main/!$omp idle", 0, "main", 3.0), (TEAM + "/!$omp critical @a.c:3", 2, TEAM, 0.3)]
make(threads, "threads/profile.cubex", blame_tsv=BLAME_HEAD.replace("\n", "\tlate_thread\n")
     + "".join(f"{waiting}\t0\t{path}\t\t\t{seconds}\t0.1\t{thread}\n" for waiting, thread, path, seconds in late))
shown = json.loads(run("show", "--json", "threads"))
check([(row["rank"], row["thread"], row["callpath"]) for row in shown["late"]] == [(0, 3, TEAM), (0, 0, "main"), (0, 2, TEAM)], f"{shown['late']}")
found = {finding["kind"]: finding for finding in shown["findings"]}
check(set(found) == {"thread_imbalance", "serial_part"}, f"{found}")
is_close(found["thread_imbalance"], severity_s=3.0, share=3.0 / 12, callpath=TEAM, gain_s=0.75, gain_low_s=0.0, gain_high_s=0.75,
         text="threads of a team wait 3 s (25.0 % of all time) for thread 3", evidence={"metric": "omp_ebarrier_wait", "callpath": late[0][0]})
is_close(found["serial_part"], severity_s=3.0, callpath="main", gain_s=0.75,
         text="threads are idle for 3 s (25.0 % of all time), while thread 0 is outside parallel regions")

check("severity_low_s" not in found["serial_part"] and found["serial_part"]["certainty"] == "measured", "the other threads are idle outside of regions only")
# Two codes that run alone, 6 s and 3 s of 9, and of these 4.5 in regions of fewer threads: half of each is outside of them, all of the 4.5 at most, and of the first one 1.5 s at least.
IDLE = "main/!$omp idle"
threads["metrics"]["time"]["callpaths"].update({"main": [10.0] * 4, "main/other": [1.0] * 4, "main/other/!$omp idle": [0.0] + [1.0] * 3, IDLE: [0.0] + [2.0] * 3})
threads["metrics"]["omp_idle_threads"] = {"callpaths": {IDLE: [0.0, 2.0, 2.0, 2.0], "main/other/!$omp idle": [0.0, 1.0, 1.0, 1.0]}}
threads["metrics"]["omp_limited_parallelism"] = {"callpaths": {IDLE: [0.0, 1.5, 1.5, 1.5]}}
threads["meta"]["wall_time_s"] = threads["pop"]["elapsed_s"] = 10.0
make(threads, "parts/profile.cubex", blame_tsv=BLAME_HEAD.replace("\n", "\tlate_thread\n")
     + "".join(f"{waiting}\t0\t{path}\t\t\t{seconds}\t0.1\t0\n" for waiting, path, seconds in ((IDLE, "main", 6.0), ("main/other/!$omp idle", "main/other", 3.0))))
found = json.loads(run("show", "--json", "parts"))["findings"]
parts = {finding["callpath"]: finding for finding in found if finding["kind"] == "serial_part"}
check(set(parts) == {"main", "main/other"}, f"{found}")
is_close(parts["main"], severity_s=3.0, severity_low_s=1.5, severity_high_s=4.5, certainty="estimated", gain_s=0.75, gain_low_s=0.0, gain_high_s=1.125,
         text="threads are idle for 3 s (1.5 s to 4.5 s; 7.5 % of all time), while thread 0 is outside parallel regions")
is_close(parts["main/other"], severity_s=1.5, severity_low_s=0.0, severity_high_s=3.0, certainty="estimated", gain_s=0.375, gain_low_s=0.0, gain_high_s=0.75,
         text="threads are idle for 1.5 s (0 to 3 s; 3.8 % of all time), while thread 0 is outside parallel regions")

# Sections at length.
only = run("show", "--only", "findings,tree", "late")
check("Call tree" in only and "Efficiency" not in only and "do    Find out why" in " ".join(only.split("\n")), f"two sections:\n{only}")
check("gain between 0 and 1 s" in " ".join(only.split()) and "see   mpi_barrier_wait in main/MPI_Barrier" in only, f"evidence:\n{only}")
check("did you mean tree?" in run("show", "--only", "tre", "late", code=2), "a section that is none")
everything = run("show", "--full", "late")
check(all(title in everything for title in ("Findings", "Who is late", "Largest wait states", "Critical path", "Call tree", "Ranks", "dialect")
          if title != "dialect"), f"--full:\n{everything}")
check(run("show", "--only=all", "late").count("\n") > 40, "all is more than a screen")

# Frames of an interpreter are one line; those of the program, and single ones, stay.
frames = ["Py_BytesMain", "pymain_run_python", "_PyRun_AnyFileObject", "python3.11+0x1234", "PyEval_EvalCode", "_PyEval_EvalFrameDefault", "_PyFunction_Vectorcall"]
python = result([1.0] * 2, [1.0] * 2, [1.0] * 2, path="/".join(["main", *frames, "step"]), call="/".join(["main", *frames, "step", *frames[4:], "solver_step", "PyObject_Call", "MPI_Barrier"]))
for up in range(2, 9):
    python["metrics"]["time"]["callpaths"]["/".join(["main", *frames][:up])] = [2.0] * 2
python["metrics"]["time"]["callpaths"]["/".join(["main", *frames, "step"])] = [2.0] * 2
for extra in range(1, 5):
    python["metrics"]["time"]["callpaths"]["/".join(["main", *frames, "step", *frames[4:], "solver_step"][:9 + extra])] = [1.0] * 2
make(python, "python/profile.cubex")
text = run("show", "--only", "waits,tree", "python", COLUMNS="200")
check("(7 frames of Python)/step/(3 frames of Python)/solver_step/PyObject_Call/MPI_Barrier" in text, f"a path:\n{text}")
tree = text.split("Call tree")[1]
check(tree.count("frames of Python") == 2 and len(tree.splitlines()) < 12 and "_PyEval" not in tree and "Pyramid" not in tree, f"a tree:\n{text}")
whole = run("show", "--full", "python")
check("frames of Python" not in whole and "_PyFunction_Vectorcall" in whole, "--full folds nothing")
check(re.search(r"\(7 frames of Python\)", run("show", "python", COLUMNS="120")), "the first screen folds, too")
print("findings: all as expected")
