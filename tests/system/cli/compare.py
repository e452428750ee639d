#!/usr/bin/python3
"""`compare` of made results whose difference is known; how often it is wrong.
Usage: compare.py LATECOMER MAKE_CUBEX RECIPE SCRATCH_DIR"""
import copy
import json
import math
import os
import random
import subprocess
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, RECIPE, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)
ITERATIONS, PAIRS = 60, 15
random.seed(20261122)


def run(*args, code=0):
    return output([LATECOMER, "compare", *args], code, also=(3,))


def compare(*args, code=0):
    return json.loads(run("--json", *args, code=code))


def write(content, name):
    made.make(MAKE, content, f"{name}/profile.cubex")
    return name


def result(paths, ranks=2, wait=0.5, calls=100, iterations=None, program="made", other=0.3):
    """paths: own seconds on every rank; `wait` of rank 0 in a barrier; T is the sum."""
    own, time = sum(paths.values()) + other, {}
    for path, seconds in paths.items():
        for end in [i for i, c in enumerate(path) if c == "/"] + [len(path)]:
            time.setdefault(path[:end], 0.0)
        for up in list(time):
            if path == up or path.startswith(up + "/"):
                time[up] += seconds
    time["main"] = own + wait
    time["main/MPI_Barrier"] = wait
    elapsed = own + wait
    pop = dict(dialect="clocks", elapsed_s=elapsed, critical_path_s=own * 1.02, parallel_efficiency=own / elapsed, load_balance=0.99,
               communication_efficiency=0.9, serialisation_efficiency=0.97, transfer_efficiency=own * 1.02 / elapsed)
    if iterations:
        pop["phases"] = [dict(name="step", count=len(iterations), kept=len(iterations), elapsed_s=sum(iterations),
                              each=dict(block=1, elapsed_s=iterations))]
    return dict(meta=dict(program=program, ranks=ranks, wall_time_s=elapsed + 1, complete=True), pop=pop, locations=[dict(rank=r, thread=0) for r in range(ranks)],
                metrics={"time": {"callpaths": {p: [t] * ranks for p, t in time.items()}},
                         "visits": {"callpaths": {"main/MPI_Barrier": [calls] * ranks}},
                         "mpi_barrier_wait": {"callpaths": {"main/MPI_Barrier": [wait] * ranks}}})


def noisy(slower=0.0, noise=lambda: random.uniform(-0.1, 0.1)):
    """60 iterations: `kernel` takes 9/10 of one, and all of the noise."""
    kernel = [0.009 * (1 + noise()) * (1 + slower) for _ in range(ITERATIONS)]
    return result({"main/step/kernel": sum(kernel), "main/step/other": 0.001 * ITERATIONS}, iterations=[k + 0.001 for k in kernel])


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def words(*args, code=0):
    return " ".join(run(*args, code=code).split())


# One run a side: it can differ, but that tells nothing of the programs, and the gate does not fail on it. The parts add up.
write(result({"main/work": 1.0, "main/io": 1.0}), "a")
write(result({"main/work": 1.2, "main/io": 1.0}), "b")
got = compare("a", "b")
check((got["verdict"], got["differs"], got["runs_needed"], got["significance"], got["ratio_low"]) == ("cannot tell", "slower", 3, "none", None), f"one sample: {got}")
check(close(got["ratio"], 3.0 / 2.8) and close(got["b_s"] - got["a_s"], 0.2), f"ratio {got['ratio']}")
check(close(sum(got["parts"].values()), 0.2) and close(got["parts"]["useful"], 0.2), f"parts {got['parts']}")
check(got["callpaths"][0]["path"] == "main/work" and close(got["callpaths"][0]["delta_s"], 0.2) and got["callpaths"][0]["low_s"] is None, f"{got['callpaths'][0]}")
check(close(sum(p["delta_s"] for p in got["callpaths"]), 0.2), "call paths add up to the whole")
check("differs in this pair: +7.1 %, run time 2.8 s -> 3 s; at least 2 more runs on each side would tell" in words("a", "b"), words("a", "b"))
check("one sample each: no significance can be given; what differs by a threshold of 5 %" in words("a", "b"), "honest text")
check(compare("b", "a")["differs"] == "faster" and compare("a", "a")["differs"] is None, "the other way round")
check(compare("--threshold=10%", "a", "b")["differs"] is None and "not different in this pair: +7.1 %" in words("--threshold=10%", "a", "b"), "threshold")
check("more than chance" not in words("a", "b"), "one run a side tells nothing about chance")
run("--gate", "a", "b")
told = subprocess.run([LATECOMER, "compare", "--gate", "a", "b"], capture_output=True, text=True, check=True).stderr
check("--gate: not decided: give 3 runs on each side" in told, f"what the gate needs: {told}")

# Waiting that grows is named behind the code that got slower.
write(result({"main/work": 1.05, "main/io": 1.0}, wait=2.0), "waits")
got = compare("a", "waits")
check([p["path"] for p in got["callpaths"]][0] == "main/work" and close(got["callpaths"][0]["waiting_delta_s"], 0), f"{got['callpaths'][:2]}")

# Runs: intervals from their spread.
fast = [write(result({"main/work": w, "main/io": 1.0}), f"f{i}") for i, w in enumerate((1.0, 1.02, 0.98))]
slow = [write(result({"main/work": w, "main/io": 1.0}), f"s{i}") for i, w in enumerate((1.2, 1.22, 1.18))]
got = compare(*fast, "--", *slow)
half = 2.7764451051977987 * math.sqrt(2 * 0.0004 / 3)
check((got["significance"], got["verdict"], got["runs_needed"]) == ("runs", "slower", None), f"runs: {got}")
check(close(got["ratio_low"] * 2.8, 3.0 - half) and close(got["ratio_high"] * 2.8, 3.0 + half), f"runs: {got}")
first = got["callpaths"][0]
check(first["path"] == "main/work" and close(first["low_s"], 0.2 - half) and close(first["high_s"], 0.2 + half), f"a path: {first}")
check("from 3 and 3 runs" in words(*fast, "--", *slow), "basis in words")
run("--gate", *fast, "--", *slow, code=3)
run("--gate", *slow, "--", *fast)
check(compare(*slow, "--", *fast)["verdict"] == "faster", "the other way round")
# Equal ones: the interval is within 5 %, but not within 1 %.
check(compare(*fast, "--", *fast)["verdict"] == "same" and compare("--threshold", "1", *fast, "--", *fast)["verdict"] == "cannot tell", "same is less than the threshold")
# Whether they took turns is known by when they began; a time that is not one is not known.
def begun(name, side, minutes, text="2026-11-24T{:02}:{:02}:00+0100"):
    return [write(dict(content, meta=dict(content["meta"], begin=text.format(*divmod(minute + 540, 60)))), f"{name}{i}")
            for i, (minute, content) in enumerate(zip(minutes, (result({"main/work": w + 0.2 * side, "main/io": 1.0}) for w in (1.0, 1.02, 0.98))))]


for name, (a_min, b_min), turns in ("one_side", ((0, 1, 2), (3, 4, 5)), False), ("new_first", ((3, 4, 5), (0, 1, 2)), False), ("turns", ((0, 2, 4), (1, 3, 5)), True):
    sides = *begun(name + "_a", 0, a_min), "--", *begun(name + "_b", 1, b_min)
    got = compare(*sides)
    check((got["in_turns"], got["verdict"]) == (turns, "slower"), f"{name}: {got['in_turns']}, {got['verdict']}")
    for text in words(*sides), words("--markdown", *sides):
        check(("The runs did not take turns" in text) != turns, f"{name}: {text}")
# The same instants, on another zone's clock.
sides = *begun("zone_a", 0, (0, 1, 2)), "--", *begun("zone_b", 1, (-59, -57, -55), "2026-11-24T{:02}:{:02}:30+0000")
check(compare(*sides)["in_turns"] is True, "other zones")
check(compare(*begun("wrong_a", 0, (0, 1, 2), "yesterday"), "--", *begun("wrong_b", 1, (3, 4, 5)))["in_turns"] is None and compare("a", "b")["in_turns"] is None
      and compare(*fast, "--", *slow)["in_turns"] is None, "not known")
# Two runs a side are too few, whatever they say.
got = compare(fast[0], fast[1], "--", slow[0], slow[1])
check((got["verdict"], got["differs"], got["significance"], got["runs_needed"]) == ("cannot tell", "slower", "runs", 3), f"two runs: {got}")
check("differs in these few runs: +7.1 %" in words("--gate", fast[0], fast[1], "--", slow[0], slow[1]), "two runs in words")
# Runs that scatter: 3, 4, 5 s and 3.5, 4.5, 5.5 s: variance 1 each, 0.5 s apart: 106 runs by the formula of docs/definitions/compare.md.
wild = [[write(result({"main/work": w - 0.8}), f"w{side}{w}") for w in (base, base + 1, base + 2)] for side, base in enumerate((3.0, 3.5))]
got = compare(*wild[0], "--", *wild[1])
check((got["verdict"], got["differs"], got["runs_needed"]) == ("cannot tell", None, 106), f"scatter: {got}")
check("cannot tell: the runs scatter by 25 %; 103 more runs on each side would decide: +12.5 % (95 %: " in words(*wild[0], "--", *wild[1]), words(*wild[0], "--", *wild[1]))
run("--gate", *wild[0], "--", *wild[1])
uneven = *wild[0], *fast, "--", *wild[1]
check(f"; {compare(*uneven)['runs_needed']} runs on each side would decide: " in words(*uneven), "unequal sides: " + words(*uneven))

# Parts of the run time, path by path. A: rank 0 works 3 s in `a`, rank 1 1 s there and 1 s in `b`; the critical path has 2.5 s of `a` and 1 s of `b`; T = 4 s.
# B: rank 0 works 5 s in `a`, rank 1 as before; the path has 5 s of `a` and 0.5 s of `b`; T = 7 s. MPI itself: a quarter in MPI_Send, the rest in MPI_Bcast.
def parted(name, a, b, path_a, path_b, elapsed):
    ranks = [x + y for x, y in zip(a, b)]
    mean, most, critical = sum(ranks) / 2, max(ranks), path_a + path_b
    calls = [elapsed - work for work in ranks]
    mpi = {"main/MPI_Send": [c / 4 for c in calls], "main/MPI_Bcast": [3 * c / 4 for c in calls]}
    content = dict(meta=dict(program="made", ranks=2, wall_time_s=elapsed, complete=True), locations=[dict(rank=r, thread=0) for r in range(2)],
                   pop=dict(dialect="clocks", elapsed_s=elapsed, critical_path_s=critical, parallel_efficiency=mean / elapsed, load_balance=mean / most,
                            communication_efficiency=most / elapsed, serialisation_efficiency=most / critical, transfer_efficiency=critical / elapsed),
                   metrics={"time": {"callpaths": {"main": [elapsed] * 2, "main/a": a, "main/b": b, **mpi}}, "visits": {"callpaths": {p: [1, 1] for p in mpi}},
                            "critical_path_useful": {"callpaths": {"main/a": [path_a, 0.0], "main/b": [0.0, path_b]}}})
    return write(content, name)


parted("before_parts", [3.0, 1.0], [0.0, 1.0], 2.5, 1.0, 4.0)
parted("after_parts", [5.0, 1.0], [0.0, 1.0], 5.0, 0.5, 7.0)
got = compare("before_parts", "after_parts")
paths = {p["path"]: p["parts"] for p in got["callpaths"]}
# a: mean 2 -> 3; the longest rank has 1 -> 2 more than that; the path -0.5 -> 0 more than that one. b: mean 0.5, longest 0, path 1 -> 0.5. Rest 0.5 -> 1.5.
wanted = {"main/a": (1.0, 1.0, 0.5, 0.0), "main/b": (0.0, 0.0, -0.5, 0.0), "main/MPI_Send": (0.0, 0.0, 0.0, 0.25), "main/MPI_Bcast": (0.0, 0.0, 0.0, 0.75)}
for path, values in wanted.items():
    check(all(close(got, want) for got, want in zip(paths[path].values(), values)), f"{path}: {paths[path]}, not {values}")
for key, value in got["parts"].items():
    check(close(sum(p[key] for p in paths.values()), value), f"parts of the call paths add up: {key}")
check("of the run time: work +1 s, imbalance +1 s, waiting in turn +500 ms" in words("before_parts", "after_parts"), words("before_parts", "after_parts"))
check(set(compare("a", "b")["callpaths"][0]["parts"].values()) == {None}, "not known without the critical path per call path")

# Other programs, ranks, work.
write(result({"main/work": 1.0}, program="other"), "other")
write(result({"main/work": 1.0}, ranks=4), "four")
write(result({"main/work": 1.2, "main/io": 1.0}, calls=150), "more")
died = result({"main/work": 1.0})
del died["pop"]
write(died, "died")
check("not the same program" in run("a", "other") and "number of ranks" in run("a", "four") and "did not reach MPI_Finalize" in run("a", "died"), "not comparable")
check("cannot be compared" in run("--gate", "a", "four", code=1), "gate")
got = compare("a", "more")
check(got["verdict"] == "different work" and "200 MPI calls in A, 300 in B" in got["why"], f"{got['why']}")
run("--gate", "a", "more")
run("--gate", *["a"] * 3, "--", *["more"] * 3, code=3)
for wrong in ([], ["a"], ["a", "b", "a"], ["a", "--"], ["--", "a", "b"], ["--json", "--markdown", "a", "b"], ["--threshold", "x", "a", "b"]):
    run(*wrong, code=2)

# Call paths that were renamed or moved.
before = result({"main/a/old_name": 1.0, "main/b": 0.5})
after = result({"main/a/new_name": 1.3, "main/b": 0.5})
for content, name in (before, "old_name"), (after, "new_name"):
    content["metrics"]["visits"]["callpaths"][f"main/a/{name}/MPI_Send"] = [7, 7]
    content["metrics"]["time"]["callpaths"][f"main/a/{name}/MPI_Send"] = [0.1, 0.1]
write(before, "before")
write(after, "after")
first = compare("before", "after")["callpaths"][0]
check((first["path"], first["path_a"]) == ("main/a/new_name", "main/a/old_name") and close(first["delta_s"], 0.3), f"renamed: {first}")
moved = result({"main/c/old_name": 1.3, "main/a": 0.0, "main/b": 0.5})
moved["metrics"]["visits"]["callpaths"]["main/c/old_name/MPI_Send"] = [7, 7]
moved["metrics"]["time"]["callpaths"]["main/c/old_name/MPI_Send"] = [0.1, 0.1]
write(moved, "moved")
first = compare("before", "moved")["callpaths"][0]
check((first["path"], first["path_a"]) == ("main/c/old_name", "main/a/old_name") and close(first["delta_s"], 0.3), f"moved: {first}")
after["metrics"]["visits"]["callpaths"]["main/a/new_name/MPI_Send"] = [8, 8]
write(after, "rewritten")
paths = {p["path"]: p for p in compare("before", "rewritten")["callpaths"]}
check(close(paths["main/a/old_name"]["b_s"], 0.0) and close(paths["main/a/new_name"]["a_s"], 0.0), "other counts: another function")

# Iterations tell what differs in a pair: equals are called different in one pair of twenty (more than 9 of 15: 1e-8), 5 % are found in 97 of 100
# (fewer than 9 of 15: 2e-7) and named. How well the intervals keep their level: tests/unit/base/test_student.c.
alarms = found = 0
for pair in range(PAIRS):
    base = write(noisy(), "base")
    alarms += compare(base, write(noisy(), "again"))["differs"] is not None
    got = compare(base, write(noisy(0.05), "slower"))
    first = got["callpaths"][0]
    found += got["differs"] == "slower" and first["path"] == "main/step/kernel" and first["low_s"] > 0
    check(got["verdict"] == "cannot tell" and got["runs_needed"] >= 3, f"one run a side: {got}")
print(f"of {PAIRS} pairs of equals {alarms} called different; of {PAIRS} with a kernel 5 % slower {found} found and named")
check(alarms <= 9, f"{alarms} false alarms")
check(found >= 9, f"only {found} found")
got = compare("base", "slower")
check(got["significance"] == "iterations" and got["phase"] == "step" and got["iterations"] == [60, 60], f"{got['significance']}")
check("iterations of `step` (95 %: " in words("base", "slower") and "how much runs differ is not in it" in words("base", "slower"), "basis in words")
for columns in "60", "80", "100":
    widest = max(output([LATECOMER, "compare", "base", "slower"], COLUMNS=columns).splitlines(), key=len)
    check(len(widest) <= int(columns), f"{len(widest)} wide at {columns} columns: {widest}")
# A loop is called by its call path, whole.
LOOP = "main/" + "/".join(f"Namespace::Solver::iterate_{i}" for i in range(6)) + "/MPI_Allreduce"
for name, factor in ("loop", 1.0), ("loop2", 1.2):
    content = result({"main/step": 60.0 * factor}, iterations=[factor * (1.1 if i % 2 else 0.9) for i in range(60)])
    content["pop"]["iterations"] = content["pop"].pop("phases")
    content["pop"]["iterations"][0]["callpath"] = LOOP
    del content["pop"]["iterations"][0]["name"]
    # one that lasts longer, but covers less
    content["pop"]["iterations"].append(dict(content["pop"]["iterations"][0], callpath="main/edges", elapsed_s=content["pop"]["iterations"][0]["elapsed_s"] * 1.1))
    write(content, name)
got = compare("loop", "loop2")
check(got["phase"] == LOOP and len(LOOP) > 64, f"the loop: {got['phase']}")
check(f"60 and 60 iterations of `{LOOP}`" in words("loop", "loop2") and f"`{LOOP}`" in run("--markdown", "loop", "loop2"), run("loop", "loop2"))
drifting = copy.deepcopy(noisy())
drifting["pop"]["phases"][0]["each"]["block"] = 4
check(compare("base", write(drifting, "blocks"))["significance"] == "none", "blocks of other sizes are not compared")

# Markdown, and the recipe for continuous integration.
text = run("--markdown", "a", "b")
for wanted in ("### Performance: differs in this pair: +7.1 %, run time 2.8 s -> 3 s", "| part | change |", "| useful work, mean of the ranks | +200 ms |", "| `main/work` | 1 s | 1.2 s | +200 ms |"):
    check(wanted in text, f"markdown lacks {wanted}:\n{text}")
if os.path.exists(RECIPE):
    environment = dict(os.environ, PATH=os.path.dirname(LATECOMER) + ":" + os.environ["PATH"])
    for pair, code in ((*fast, "--", *slow), 3), ((*slow, "--", *fast), 0), (("a", "b"), 0), (("a", "four"), 1):
        environment["GITHUB_STEP_SUMMARY"] = "summary.md"
        if os.path.exists("summary.md"):
            os.remove("summary.md")
        done = subprocess.run(["sh", RECIPE, *pair], capture_output=True, text=True, env=environment)
        check(done.returncode == code, f"recipe {pair}: exit {done.returncode}: {done.stdout}{done.stderr}")
        check("### Performance" in done.stdout and open("summary.md").read() == done.stdout, f"recipe {pair}: {done.stdout}")
    done = subprocess.run(["sh", RECIPE, "a", "nowhere"], capture_output=True, text=True, env=environment)
    check(done.returncode == 1, f"recipe without a result: exit {done.returncode}")
print("compare: all as expected")
