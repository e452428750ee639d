#!/usr/bin/python3
"""Reports of made results with known contents: JSON comes back as it went in; text says what matters; scaling; delay models.
Usage: reports.py LATECOMER MAKE_CUBEX GOLDEN_DIR SCRATCH_DIR"""
import json
import math
import os
import shutil
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)


def make(content, cubex, **members):
    made.make(MAKE, content, cubex, **members)


def latecomer(*args, code=0):
    return output([LATECOMER, *args], code)


def result(ranks, useful, wall, serial=0.9):
    """A profile: rank r works useful[r] seconds, then waits in a barrier."""
    balance = sum(useful) / ranks / max(useful)
    transfer = max(useful) / serial / wall
    pop = dict(dialect="clocks", parallel_efficiency=sum(useful) / ranks / wall, load_balance=balance,
               communication_efficiency=max(useful) / wall, serialisation_efficiency=serial,
               transfer_efficiency=transfer, critical_path_s=max(useful) / serial,
               task_critical_path_s=max(useful) / serial, not_attributed=0.0)
    ones = dict.fromkeys(("parallel_efficiency", "load_balance", "communication_efficiency",
                          "serialisation_efficiency", "transfer_efficiency"), 1.0)
    pop["mpi"] = {k: pop[k] for k in ones}
    pop["omp"] = ones
    pop["dialects"] = dict(additive=dict(load_balance=1 - (max(useful) - sum(useful) / ranks) / wall, serialisation_efficiency=0.95,
                                         transfer_efficiency=0.8, parallel_efficiency=0.5),
                           talp=dict(load_balance_in=0.75, load_balance_out=0.875, communication_efficiency=0.9, parallel_efficiency=0.590625))
    own = dict(first=0.9, best=0.95, best_at=2, median=0.8, worst=0.6, worst_at=7, drift=-0.3)
    pop["phases"] = [dict(name=name, count=count, kept=8, elapsed_s=elapsed, factors=pop["mpi"],
                          iterations=dict(parallel_efficiency=own, elapsed_s=dict(own, first=0.1, median=0.2, worst=0.4)))
                     for name, count, elapsed in (("setup", 8, 0.5), ("solve", 9, 1.5))]
    waits = [wall - u for u in useful]
    return dict(
        meta=dict(program="stencil", command=["./stencil", "-n", "100"], ranks=ranks, threads=[1] * ranks, wall_time_s=wall,
                  mpi="Open MPI 4.1.4", complete=False, ending="signal 9", cores=2, health=["2 calls could not be matched"],
                  missing_symbols=["stencil"], coverage=dict(calls_seen=123, not_intercepted=["MPI_T_init_thread"])),
        pop=pop, locations=[dict(rank=r, thread=0) for r in range(ranks)],
        metrics={
            "time": {"callpaths": {"main": [wall] * ranks, "main/solve<a%2Fb>": [wall] * ranks,
                                   "main/solve<a%2Fb>/MPI_Barrier": waits}},
            "visits": {"callpaths": {"main/solve<a%2Fb>/MPI_Barrier": [10] * ranks}},
            "mpi_latesender": {"callpaths": {}},
            "mpi_latesender_estimated": {"callpaths": {}},
            "mpi_barrier_wait_estimated": {"callpaths": {"main/solve<a%2Fb>/MPI_Barrier": [1.0] + [0.0] * (ranks - 1)}},
            "mpi_barrier_wait": {"callpaths": {"main/solve<a%2Fb>/MPI_Barrier": waits}}})


BLAME = ("waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\n"
         "main/solve<a%2Fb>/MPI_Barrier\t3\tmain/solve<a%2Fb>\tsolve.c:10\tsolve.c:20\t2.4\t0.8\n"
         "main/solve<a%2Fb>/MPI_Barrier\t1\tmain/solve<a%2Fb>\t\t\t0.6\t0.2\n"
         "main\t2\tno/such/path\n")  # hurt by a careless hand: nothing may break
CLASSES = ("callpath\tlocation\tclass\tcount\tsum_s\tmin_s\tmax_s\tbytes\n"
           "main/MPI_Recv\t0\t9\t100\t1.0\t0.000002\t0.1\t25600\n"
           "main/MPI_Recv\t1\t9\t100\t1.5\t0.012\t0.1\t25600\n")
four = result(4, [1.0, 1.5, 1.0, 2.0], 2.4)
make(four, "four/profile.cubex", blame_tsv=BLAME, size_classes_tsv=CLASSES)

got = json.loads(latecomer("show", "--json", "four"))
for key in ("meta", "pop"):
    check(got[key] == four[key], f"{key} comes back")
for metric, wanted in four["metrics"].items():
    check(got["metrics"][metric]["callpaths"] == wanted["callpaths"], f"{metric} comes back")
check(got["metrics"]["mpi_latesender"] == {"unit": "sec", "kind": "exclusive", "total": 0, "parent": None, "waiting": True, "callpaths": {}}, "zero metrics stay")
check(math.isclose(got["metrics"]["time"]["total"], 4 * 2.4), "time: total of the roots")

text = latecomer("show", "--only", "all", "four")
for wanted in ("stencil -n 100", "4 ranks on 1 node, wall time 2.4 s, Open MPI 4.1.4",
               "incomplete: the program ended by signal 9; times are up to that point\n", "oversubscribed: 4 ranks and threads on 2 cores",
               "! no symbols in stencil. For names, compile with -g and do not strip\n", " 80.0 %     2.4 s  rank 3\n      main/solve<a/b>\n",
               "between solve.c:10 and solve.c:20", "Wait at Barrier", "main/solve<a/b>/MPI_Barrier",
               "dialect additive: losses are shares of the run time and add up", "    Parallel efficiency          50.0 %  avg U / T\n      Load balance",
               "Transfer                 80.0 %  CP / T", "dialect talp", "Balance in nodes           75.0 %  (T - min node M) / (T - min M)\n         <- some ranks have more work than others on the same node",
               "Balance between nodes      87.5 %  (T - avg M) / (T - min node M)\n", "Communication efficiency   90.0 %  (T - min M) / T\n",
               "phase solve, 1.5 s in 8 iterations: efficiency 57.3 %", "there were 9 iterations in all; only the first ones are kept",
               "first 90.0 %, best 95.0 % (no. 2), median 80.0 %, worst 60.0 % (no. 7), falls by 30.0 points from first to last",
               "time per iteration: first 100 ms, median 200 ms, longest 400 ms (no. 7)", "Parallel efficiency", "57.3 %", "<- some ranks have more work", "avg U / max U", "calls seen", "123",
               "2 calls could not be matched", "MPI_Recv (256 bytes and more), rank 1: 12 ms, smallest 2 us on rank 0",
               "up to 1.2 s in 100 calls", "latecomer analyze"):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
check(text.index("Who is late") < text.index("Largest wait states") < text.index("Call tree"), "order of sections")
check(text.index("phase solve") < text.index("phase setup"), "longest phase first")
check(" ".join(text.split()).count("ranks that begin and end at different times lower its transfer") == 1, "why transfer is low in a phase")
check("Wait at Barrier  measured  42.7 %  estimated  10.4 %" in text, f"estimates beside what was measured:\n{text}")

# A rank of which nothing is known has no figures in JSON, not 0.
lost = result(4, [1.0, 1.5, 1.0, 2.0], 2.4)
lost["meta"]["unknown_ranks"] = [1]
make(lost, "lost/profile.cubex")
got = json.loads(latecomer("show", "--json", "lost"))
check([location.get("unknown", False) for location in got["locations"]] == [False, True, False, False], f"who is unknown: {got['locations']}")
for metric, wanted in lost["metrics"].items():
    rows = {path: [None if rank == 1 else value for rank, value in enumerate(row)] for path, row in wanted["callpaths"].items()}
    check(got["metrics"][metric]["callpaths"] == rows, f"{metric} of a rank that is not known: {got['metrics'][metric]['callpaths']}")

# What the first screen says of samples: why there are none, for which threads, what names functions of Python.
TIMER, PYTHON = "or run with --sample=timer, by signals", "functions of Python that call no MPI have names with --sample=timer, by signals"
REFUSED, NEW = "3 threads were not sampled: the kernel has no room for so many", "1 new thread was not sampled"
for program, sampling, coverage, wanted in (
        ("stencil", {"rate": 0, "why": "the kernel forbids it"}, {"threads_refused_samples": 3}, [TIMER]),
        ("stencil", {"rate": 0, "why": "--sample=off"}, {}, []),
        ("stencil", {"rate": 500, "source": "kernel"}, {"threads_refused_samples": 3, "short_threads_not_sampled": 1}, [REFUSED, NEW]),
        ("python3", {"rate": 500, "source": "kernel"}, {}, [PYTHON]),
        ("python3", {"rate": 500, "source": "timer"}, {}, [])):
    sampled = result(4, [1.0, 1.5, 1.0, 2.0], 2.4)
    sampled["meta"].update(program=program, sampling=sampling, samples=int(sampling["rate"]))
    sampled["meta"]["coverage"].update(coverage)
    make(sampled, "sampled/profile.cubex")
    text = " ".join(latecomer("show", "sampled").split())
    check([line for line in (TIMER, PYTHON, REFUSED, NEW) if line in text] == wanted, f"{program}, {sampling}, {coverage}: {wanted} wanted:\n{text}")

# Waits in every profile of OpenMP, phases of equal length and many of them, predictions that change nothing, no minimum above another.
odd = result(4, [1.0, 1.5, 1.0, 2.0], 2.4)
odd["metrics"]["mpi_latesender"] = odd["metrics"]["mpi_barrier_wait"]
odd["meta"]["coverage"].update(region_errors=3, switches=0)
odd["meta"].update(openmp=True, threads_wanted=2, oversubscribed=True, busy_threads=[2] * 4)
odd["pop"]["phases"] = [dict(odd["pop"]["phases"][0], name=f"part {i}", elapsed_s=0.25) for i in range(10)]
odd["pop"]["what_if"] = [dict(spec=s, critical_path_s=2.0, predicted_s=p, measured_s=2.4, unknown=u)
                         for s, p, u in (("a=0.5", 2.39999, []), ("b=0.5", 1.8, ["b"]), ("MPI_Recv=0", 2.4, ["MPI_Recv"]))]
SAME = CLASSES.replace("0.012", "0.000002")
make(odd, "odd/profile.cubex", blame_tsv=BLAME, size_classes_tsv=SAME)
text = latecomer("show", "--only", "all", "odd")
for wanted in ("in all: Late Sender 42.7 %, Wait at Barrier 42.7 %\n", "oversubscribed: 4 ranks of 2 threads on 2 cores", "OpenMP: each rank computes with 2 threads, but only those that call MPI", "phase part 0,", "phase part 7,",
               "(2 more phases: in show --json)", "run time 2.4 s instead of 2.4 s (no change)", "run time 1.8 s instead of 2.4 s (-25.0 %)", "no call path contains b: it is neither a region nor a function seen calling MPI",
               "! MPI_Recv: time in MPI is not useful time", "region errors              3  (regions that ended without beginning"):
    check(wanted in text or wanted in " ".join(text.split()), f"text lacks '{wanted}':\n{text}")
check("What the estimates cannot see" not in text, "nothing that estimates cannot see")
ALIKE = "".join(BLAME.splitlines(True)[:1] + [f"main/solve<a%2Fb>/MPI_Barrier\t{r}\tmain/solve<a%2Fb>\t\t\t1.0\t0.25\n" for r in range(3)]
                + ["main/solve<a%2Fb>/MPI_Barrier\t3\tmain\t\t\t1.0\t0.25\n"])
make(four, "alike/profile.cubex", blame_tsv=ALIKE, size_classes_tsv=CLASSES)
text = latecomer("show", "--only", "all", "alike")
for wanted in (" 75.0 %       3 s  ranks 0, 1, 2, about equally, wait for each other\n      main/solve<a/b>\n", " 25.0 %       1 s  rank 3\n      main\n"):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
check("rank 0" in latecomer("show", "--metric", "mpi_barrier_wait", "four"), "tree of one metric")

# Threads on too few cores: said first, and the advice is not about messages.
hybrid = result(2, [1.0, 2.0], 4.0, serial=1.0)
hybrid["meta"].update(binding=["0-1", "2,4-5"], busy_threads=[4, 2], cores=[8], openmp=False, unnamed_functions=2)
make(hybrid, "hybrid/profile.cubex")
text = " ".join(latecomer("show", "--only", "all", "hybrid").split())
for wanted in ("bound too narrowly: rank 0 computes with 4 threads and may use 2 cores: give each rank a core per thread (Open MPI: --map-by slot:PE=4; Slurm: -c 4)",
               "threads: each rank computes with 4 threads, but only those that call MPI are measured", "threads share cores: give each rank a core per thread before anything else",
               "! 2 call paths without a name: no symbols in stencil."):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
# A share above 1: by the timer, or by more than it may be wrong.
for share, said in ((1.0, []), (1.004, ["due to the resolution of the timer"]), (1.5, ["by more than a timer resolves"])):
    over = result(2, [1.0, 2.0], 4.0)
    over["pop"]["transfer_efficiency"] = share
    make(over, "over/profile.cubex")
    text = " ".join(latecomer("show", "--full", "over").split())
    check([words for words in ("due to the resolution of the timer", "by more than a timer resolves") if words in text] == said, f"{share}: {said} wanted:\n{text}")

# Threads of a library beside few ranks: more than cores, and not measured.
for busy, cores, crowded in (([2, 2], [2], True), ([2, 1], [3], False), ([4, 4], [4, 4], False)):
    beside = result(2, [1.0, 2.0], 4.0, serial=1.0)
    beside["meta"].update(busy_threads=busy, cores=cores, openmp=False, oversubscribed=False)
    make(beside, "beside/profile.cubex")
    text = " ".join(latecomer("show", "--only", "all", "beside").split())
    most = max(busy)
    said = f"threads: each rank computes with {most} threads, {sum(busy)} on {sum(cores)} cores in all, but only those that call MPI are measured"
    check((said in text) == crowded and f"each rank computes with {most} threads" in text, f"{busy} on {cores}:\n{text}")
    check(("more threads than cores compute: this may include waiting for a core" in text) == crowded, f"{busy} on {cores}:\n{text}")

hybrid["meta"].update(binding=["0-3", "4-7"], unnamed_functions=0)
make(hybrid, "wide/profile.cubex")
text = latecomer("show", "--only", "all", "wide")
check("narrowly" not in text and "no symbols" not in text, f"cores enough, all named:\n{text}")

# Critical paths by scope, tasks: their lengths, where they end, the call path that has most; ThrCP, TaCP, difference, in percent.
tasks = result(2, [1.0, 3.0], 4.0)
tasks["pop"].update(critical_path_s=3.2, task_critical_path_s=0.8, elapsed_s=4.0, load_balance=0.667)
tasks["metrics"]["time"]["callpaths"].update({"main": [4.0, 4.0], "main/solve<a%2Fb>": [3.5, 2.0], "main/solve<a%2Fb>/MPI_Barrier": [3.0, 0.5]})
tasks["metrics"]["critical_path_useful"] = {"callpaths": {"main": [0.0, 1.0], "main/solve<a%2Fb>": [0.2, 2.0]}}
tasks["pop"]["paths"] = [dict(scope=scope, counts=counts, length_s=length, rank=rank, thread=thread)
                         for scope, counts, length, rank, thread in (("global", "useful", 3.2, 1, 0), ("process", "useful", 3.0, 1, None),
                                                                     ("thread", "useful", 3.0, 0, 0), ("global", "outside OpenMP", 3.9, 0, 0))]
make(tasks, "tasks/profile.cubex")
# Exclusive times of rank 0: main 0.5, solve 0.5 (the first of equals), MPI_Barrier 3.0; of rank 1: 2.0, 1.5, 0.5.
named = ["main/solve<a%2Fb>", "main", "main", "main/solve<a%2Fb>/MPI_Barrier"]
got = json.loads(latecomer("show", "--json", "tasks"))
check([p["callpath"] for p in got["pop"]["paths"]] == named, f"call paths of paths: {got['pop']['paths']}")
text = latecomer("show", "--only", "efficiency", "tasks")
for wanted in (["useful,", "global", "3.2", "s", "1", "0", "main/solve<a/b>"], ["useful,", "process", "3", "s", "1", "-", "main"],
               ["outside", "OpenMP,", "global", "3.9", "s", "0", "0", "main/solve<a/b>/MPI_Barrier"], ["ThrCP", "TaCP", "DIFF", "DIFF", "%", "LB", "%"],
               ["3.2", "s", "800", "ms", "2.4", "s", "75.0", "66.7"]):
    check(wanted in [line.split() for line in text.splitlines()], f"text lacks {wanted}:\n{text}")
text = latecomer("scaling", "tasks", "four")
check(["2", "66.7", "3.2", "0.8", "2.4", "75.0"] in [line.split() for line in text.splitlines()], "table of tasks:\n" + text)
check("TaCP" not in latecomer("scaling", "four"), "a table of tasks without tasks")

# Perfect strong scaling of the work, twice the ranks: scalability 1; weak: 2. Slower work: 1/1.25.
make(result(8, [0.5, 0.75, 0.5, 1.0] * 2, 1.25), "eight/profile.cubex")
make(result(2, [2.5, 4.375], 5.0), "two/profile.cubex")
table = json.loads(latecomer("scaling", "--json", "eight", "two", "four"))
check([r["ranks"] for r in table["runs"]] == [2, 4, 8], "runs by size")
check(all(math.isclose(r["useful_s"], u) for r, u in zip(table["runs"], (6.875, 5.5, 5.5))), "useful time")
check(all(math.isclose(r["computational_scalability"], s) for r, s in zip(table["runs"], (1, 1.25, 1.25))), "scalability")
weak = json.loads(latecomer("scaling", "--json", "--weak", "two", "four", "eight"))
check(all(math.isclose(r["computational_scalability"], s) for r, s in zip(weak["runs"], (1, 2.5, 5))), "weak scalability")
check(all(math.isclose(r["global_efficiency"], r["computational_scalability"] * r["pop"]["parallel_efficiency"])
          for r in weak["runs"]), "global efficiency")
text = latecomer("scaling", "two", "four", "eight")
check("Computational scalability" in text and "125.0" in text and "57.3" in text, "scaling as text:\n" + text)
os.makedirs("bare")
shutil.copyfile(f"{GOLDEN}/cubex/scorep-profile.cubex", "bare/profile.cubex")
check("has no POP factors" in latecomer("scaling", "bare", code=1), "scaling without factors")
died = {k: v for k, v in four.items() if k != "pop"}
make(died, "died/profile.cubex")
check("did not reach MPI_Finalize" in latecomer("scaling", "died", code=1), "scaling of a run that died")
check("who is late, critical path and efficiency need MPI_Finalize" in " ".join(latecomer("show", "--only", "all", "died").split()), "what a run that died lacks")

# Thesis table 3.3 (golden archive): costs of both models.
spec = json.load(open(f"{GOLDEN}/synthetic/thesis_table_3_3/expected.json"))
def chains(with_parts):
    victims = [{"rank": 1, "thread": 0, "callpath": "main/MPI_Recv", "start_s": 2, "waiting_s": 2.0, "kind": "ls"},
               {"rank": 2, "thread": 0, "callpath": "main/MPI_Recv", "start_s": 4, "waiting_s": 3.0, "kind": "ls"}]
    cause = {"rank": 0, "thread": 0, "callpath": "main/g", "cost_s": 2.0, "chain": victims}
    if with_parts:
        cause.update(chain_cost_s=1.6, wait_states=3)
        victims[0]["cost_s"], victims[1]["cost_s"] = 1.0, 0.6
    first = dict(cause, cost_s=4.0, chain_cost_s=4.0, wait_states=1, chain=[dict(victims[0], cost_s=2.0), dict(victims[1], cost_s=2.0)])
    return json.dumps({"model": "proportional", "root_causes": [cause], "root_causes_waitfirst": [first]})


make(spec, "thesis/analysis.cubex", root_causes_json=chains(True))
text = latecomer("show", "--only", "all", "thesis")
for wanted in ("       2 s  rank 0 costs the others in 3 wait states; the largest costs 1.6 s\n      main/g\n           1 s  rank 1 waits (2 s in all) in main/MPI_Recv\n",
               "      600 ms  rank 2 waits (3 s in all) in main/MPI_Recv\n", "Critical path", "Indicators"):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
check("profile.cubex" not in text, "no hint to a file that is not there")
check(" ".join("all 5 s = 3.8 s direct + 1.2 s indirect 100.0 %".split()) in " ".join(text.split()), f"direct and indirect costs:\n{text}")
check("of waiting in MPI" not in text, f"a result without the sum says nothing of what becomes of waiting:\n{text}")
summed = dict(spec, metrics=dict(spec["metrics"], **{f"mpi_wait_{what}{model}": {"callpaths": {"main/MPI_Recv": row}}
                                                     for model, parts in (("", ([0, 1.2, 0], [0, 0.8, 3.0])), ("_waitfirst", ([0, 2.0, 0], [0, 0.0, 3.0])))
                                                     for what, row in zip(("propagating", "terminal"), parts)}))
make(summed, "summed/analysis.cubex")
for model, wanted in (("proportional", "of waiting in MPI, 1.2 s (24.0 %) makes others wait, 3.8 s nobody"), ("wait-first", "of waiting in MPI, 2 s (40.0 %) makes others wait, 3 s nobody")):
    text = " ".join(latecomer("show", "--only", "causes", "--model", model, "summed").split())
    check(wanted in text, f"{model}: '{wanted}' is not in:\n{text}")
text = " ".join(latecomer("show", "--only", "causes", "--model=wait-first", "thesis").split())
for wanted in ("delay costs in the model wait-first", "all 5 s = 3 s direct + 2 s indirect 100.0 %", "4 s rank 0 costs the others main/g 2 s rank 1 waits in main/MPI_Recv"):
    check(wanted in text, f"text of the model wait-first lacks '{wanted}':\n{text}")
check("give proportional or wait-first" in latecomer("show", "--model", "delay", "thesis", code=2), "an unknown model")
one_model = dict(spec, metrics={name: metric for name, metric in spec["metrics"].items() if not name.endswith("_waitfirst")})
make(one_model, "single/analysis.cubex")
check("no delay costs of the model wait-first" in latecomer("show", "--model=wait-first", "single", code=1), "a result of one model")

# Estimates of MPI_Waitall: in no sum, apart, with what is known of their error. Clocks off, then on.
def exchange(**measured):
    return dict(meta=dict(program="exchange", command=["exchange"], ranks=2, threads=[1, 1], wall_time_s=10.0, complete=True, cores=[8]),
                locations=[dict(rank=r, thread=0) for r in range(2)],
                metrics={"time": {"callpaths": {"main": [10.0] * 2, "main/MPI_Waitall": [8.6] * 2, "main/MPI_Recv": [1.0, 0.0]}},
                         "mpi_latesender_estimated": {"callpaths": {"main/MPI_Recv": [0.5, 0.0]}},
                         "mpi_waitall_estimated": {"callpaths": {"main/MPI_Waitall": [8.46] * 2}}, **measured})


make(exchange(), "off/profile.cubex")
text = " ".join(latecomer("show", "--only", "all", "off").split())
for wanted in ("waiting for others 2.5 % (estimated) MPI_Waitall, Waitany and Waitsome took 86.0 %: how much of that is waiting was not measured",
               "estimated 84.6 %, error up to 84.6 points: these calls took 86.0 %", "in all: Late Sender 2.5 %"):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
check(not [f for f in json.loads(latecomer("show", "--json", "off"))["findings"] if "Waitall" in (f["callpath"] or "")], "no finding of an estimate of MPI_Waitall")
make(dict(exchange(mpi_latesender={"callpaths": {"main/MPI_Waitall": [0.27] * 2, "main/MPI_Recv": [0.4, 0.0]}}), pop=four["pop"]), "on/profile.cubex")
text = " ".join(latecomer("show", "--only", "all", "on").split())
for wanted in ("waiting for others 4.7 %", "estimated 84.6 %, measured 2.7 %: error 81.9 points",
               "Late Sender measured 2.0 % estimated 2.5 %"):
    check(wanted in text, f"text lacks '{wanted}':\n{text}")
check("was not measured" not in text, f"what was measured is whole:\n{text}")

# Indicators in the time that each is: imbalance is a part of the run, the rest is of all ranks together (four imbalances of the paper: 8 ranks, 0.5 s).
static = json.load(open(f"{GOLDEN}/synthetic/imbalance_static/expected.json"))
make(static, "static/analysis.cubex")
text = latecomer("show", "--only", "all", "static/analysis.cubex")
indicators = [" ".join(line.split()) for line in text.split("Indicators")[1].split("\n\n")[0].splitlines()]
check(indicators[1:3] == ["in wall-clock time: by how much the run takes longer", "imbalance on the critical path 500 ms"], f"imbalance:\n{text}")
check(indicators[3:] == ["in allocation time: of all ranks and threads together", "activities on the critical path 24.8 s", "activities off the critical path 0",
                         "waiting caused by imbalance 4 s", "within the ranks that run the code 4 s", "from ranks that never run it 0"], f"allocation time:\n{text}")
check("processor time" not in text, f"no processor time:\n{text}")
make(spec, "old/analysis.cubex", root_causes_json=chains(False))
check("       2 s  rank 0 costs the others\n" in latecomer("show", "--only", "all", "old") and "       3 s  rank 2 waits in main/MPI_Recv" in latecomer("show", "--only", "all", "old"),
      "chains of a result without parts")

# Names: C++ without parameters, functions without names folded, paths that look alike told apart; start and end of MPI apart.
LONG = "Foam::GAMGSolver::Vcycle(Foam::PtrList<Foam::lduMatrix::smoother> const&, Foam::Field<double>&) const"
TOP = f"main/Foam::fvMatrix<double>::solve(Foam::dictionary const&)/{LONG}"
PATHS = [f"{TOP}/Foam::lduMatrix::{half}(int)/Foam::UPstream::waitRequests(int)/{'b' * 40}/MPI_Waitall" for half in ("initMatrix", "updateMatrix")]
OVERLOADS = [f"{TOP}/reduce({kind})/{'c' * 50}/MPI_Allreduce" for kind in ("int", "double")]
HEX = [f"main/fft_plan/libfft.so.3+0x{i}0/libfft.so.3+0x{i}1/MPI_Alltoall" for i in (1, 2)]
ONLY_HEX = "main/app+0x10/app+0x20/MPI_Recv"
waits = {path: [1.0 + 0.1 * i, 0.0] for i, path in enumerate(PATHS + OVERLOADS + HEX + [ONLY_HEX])}
inclusive = {"main": [20.0, 20.0], "main/MPI_Init": [4.0, 4.0], "main/MPI_Finalize": [1.0, 1.0], "user (a b)": [0.5, 0.5]}
for path, values in waits.items():
    inclusive.setdefault(path, values)
make(dict(meta=dict(program="foam", command=["foam"], ranks=2, threads=[1, 1], wall_time_s=20.0, exit_status=3, complete=True),
          pop=four["pop"], locations=[dict(rank=r, thread=0) for r in range(2)],
          metrics={"time": {"callpaths": inclusive}, "mpi_latesender": {"callpaths": waits},
                   "mpi_finalize_wait": {"callpaths": {"main/MPI_Finalize": [0.0, 0.5]}}}), "names/profile.cubex")
text = latecomer("show", "--only", "all", "names")
places = text.split("Largest wait states")[1].split("\n\n")[0].splitlines()[2:]
shown = [line.strip() for line in places if line.startswith("      ")]
check(len(shown) == 8 and len(set(shown)) == 8, f"all paths differ:\n{text}")
check(all(len(line) <= 100 for line in places), f"paths fit into 100 columns:\n{text}")
for wanted in ("Foam::lduMatrix::initMatrix/", "Foam::lduMatrix::updateMatrix/", "/reduce(int)/", "/reduce(double)/",
               "main/fft_plan/libfft.so.3+0x10/(1 unnamed)/MPI_Alltoall", "main/(1 unnamed)/app+0x20/MPI_Recv"):
    check(any(wanted in line for line in shown), f"no path has '{wanted}':\n{text}")
check("start and end of MPI apart: MPI_Init 4 s, MPI_Finalize 750 ms per rank (23.2 % of the run)" in text, f"start and end apart:\n{text}")
tree = text.split("Call tree")[1].split("\n\n")[0]
check("MPI_Init (apart)" in tree and "MPI_Finalize (apart)" in tree and "user (a b)" in tree, f"tree:\n{text}")
check(tree.splitlines()[1].split()[-2:] == ["CALL", "TREE"] and all(line.split()[0].replace(".", "").isdigit() for line in tree.splitlines()[2:]),
      f"numbers stand before the names:\n{text}")
check("! the program ended with exit status 3" in text, f"exit status:\n{text}")
full = latecomer("show", "--full", "names")
check(all(path in full for path in PATHS), f"--full shows whole paths:\n{full}")
models = json.loads(latecomer("compare", "--delay-models", "--json", "thesis"))
for name, pair in models["metrics"].items():
    check(math.isclose(pair["proportional"], spec["metrics"][name]["total"], abs_tol=1e-12), name)
    check(math.isclose(pair["waitfirst"], spec["metrics"][name + "_waitfirst"]["total"], abs_tol=1e-12), name)
check(len(models["metrics"]) == 16, "8 kinds, short and long")
check(math.isclose(models["short_term"]["shifted_to_long_term"], 4.8 - 4.0, abs_tol=1e-9), "shift")
for curve in models["pareto"].values():
    for shares in curve.values():
        check(shares == sorted(shares) and math.isclose(shares[-1], 1.0), "curves end at 1")
costs = [sum(i["proportional"].values()) for i in models["callpaths"]]
check(costs == sorted(costs, reverse=True) and math.isclose(sum(costs), 5.0, abs_tol=1e-9), "sorted by the first model")
check([i["rank"] for i in models["locations"]][:2] == [0, 1], "rank 0 costs most")
text = latecomer("compare", "--delay-models", "thesis")
check("wait-first moves 800 ms" in text, "models as text:\n" + text)
# The tree of metrics: each sum is that of what stands below it, in both models.
tree = models["tree"]
for at, node in enumerate(tree):
    below = [n for n in tree[at + 1:next((i for i in range(at + 1, len(tree)) if tree[i]["depth"] <= node["depth"]), len(tree))] if n["depth"] == node["depth"] + 1]
    for key in ("proportional", "waitfirst"):
        check(not below or math.isclose(node[key], sum(n[key] for n in below), abs_tol=1e-12), f"tree: {node}")
found = {node["metric"]: (node["depth"], round(node["proportional"], 9), round(node["waitfirst"], 9)) for node in tree}
check(found["delay"] == (0, 5, 5) and found["delay_p2p"] == (2, 5, 5) and found["delay_latesender"] == (4, 3.8, 3), f"tree of costs: {found}")
check(found["waitstates_direct_vs_indirect"][1:] == (5, 5) and found["mpi_wait_indirect"] == (1, 1.2, 2) and found["mpi_wait_terminal_ls"] == (2, 3.8, 3), f"tree of wait states: {found}")
lines = [line.split() for line in text.split("Metrics")[1].splitlines()]
check(["Delay", "costs", "5.000", "5.000", "+0.000"] in lines and ["short-term", "3.800", "3.000", "-0.800"] in lines, f"tree as text:\n{text}")
check(models["pareto"]["ranks"] == models["pareto"]["locations"], "curves of ranks without threads are those of locations")
# Direct and indirect, propagating and terminal side by side; the sum of the wait states is the same in both models.
names = {"short_term": "costs: direct (short-term)", "long_term": "costs: indirect (long-term)"}
for kind, pair in {"short_term": (3.8, 3.0), "long_term": (1.2, 2.0), "direct": (3.8, 3.0), "indirect": (1.2, 2.0), "propagating": (1.2, 2.0), "terminal": (3.8, 3.0)}.items():
    found = models["sums"][kind]
    check(math.isclose(found["proportional"], pair[0], abs_tol=1e-9) and math.isclose(found["waitfirst"], pair[1], abs_tol=1e-9), f"{kind}: {found}, by hand {pair}")
    check(any(" ".join(line.split()).startswith(f"{names.get(kind, f'wait states: {kind}')} {pair[0]:.3f} {pair[1]:.3f}")
              for line in text.splitlines()), f"{kind} as text:\n{text}")
check("rank 2 3.000 s 1.800 + 1.200 0.000 + 3.000 1.000 + 2.000 0.000 + 3.000" in " ".join(text.split()), f"waiting of rank 2:\n{text}")
# The mean of two analyses, one of twice the time and with a call path of its own; how far they are apart.
double = dict(spec, metrics={name: dict(metric, callpaths={path.replace("main/h", "main/k"): [2 * v for v in row] for path, row in metric["callpaths"].items()})
                             for name, metric in spec["metrics"].items()})
make(double, "double/analysis.cubex")
mean = json.loads(latecomer("compare", "--delay-models", "--json", "thesis", "double"))
pair = mean["metrics"]["delay_latesender"]
check(mean["analyses"] == 2 and math.isclose(pair["proportional"], 5.7) and math.isclose(pair["waitfirst"], 4.5), f"mean {pair}")
check(math.isclose(pair["least"]["proportional"], 3.8) and math.isclose(pair["most"]["proportional"], 7.6) and math.isclose(pair["most"]["waitfirst"], 6.0), f"spread {pair}")
check(math.isclose(sum(sum(r["proportional"][k] for k in ("short_term", "long_term")) for r in mean["ranks"]), 7.5), "mean costs of the ranks")
paths = {i["callpath"]: i["proportional"]["short_term"] for i in mean["callpaths"]}
check(math.isclose(paths["main/g"], 1.5 * sum(spec["metrics"]["delay_latesender"]["callpaths"]["main/g"])), f"mean costs of a call path: {paths}")
text = " ".join(latecomer("compare", "--delay-models", "thesis", "double").split())
check("delay costs: mean 7.5 s, least 5 s (-33.3 %), most 10 s (+33.3 %)" in text, f"spread as text: {text}")
check([run["delay_costs_s"]["waitfirst"] for run in mean["runs"]] == [5, 10] and [run["file"] for run in mean["runs"]] == ["thesis/analysis.cubex", "double/analysis.cubex"], "runs")
# Threads of a process together.
threads = dict(meta={"program": "threads", "ranks": 2}, locations=[{"rank": r, "thread": t} for r in range(2) for t in range(2)],
               metrics={f"delay_{kind}{term}{model}": {"callpaths": {"main": values}} for model in ("", "_waitfirst")
                        for kind, term, values in (("latesender", "", [1.0, 2.0, 0.5, 0.0]), ("ompbarrier", "", [0.0, 4.0, 0.0, 0.25]), ("latesender", "_longterm", [0.125, 0.0, 0.0, 8.0]))})
make(threads, "threads/analysis.cubex")
ranks = json.loads(latecomer("compare", "--delay-models", "--json", "threads"))["ranks"]
check([(r["rank"], r["proportional"]["short_term"], r["waitfirst"]["long_term"]) for r in ranks] == [(1, 0.75, 8.0), (0, 7.0, 0.125)], f"threads of a rank together: {ranks}")
curves = json.loads(latecomer("compare", "--delay-models", "--json", "threads"))["pareto"]
check(len(curves["locations"]["proportional"]) == 4 and [round(share, 6) for share in curves["ranks"]["proportional"]] == [round(8.75 / 15.875, 6), 1], f"curves: {curves}")
check("has other ranks or threads than" in latecomer("compare", "--delay-models", "thesis", "threads", code=1), "models of runs of two sizes")
check("two sets given" in latecomer("compare", "--delay-models", "thesis", "--", "double", code=2), "models of two sets")
check("has no delay costs in both models" in latecomer("compare", "--delay-models", "four", code=1), "models of a profile")
check("not comparable" in latecomer("compare", "four", "eight"), "other numbers of ranks")
print("reports: all as expected")
