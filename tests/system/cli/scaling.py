#!/usr/bin/python3
"""`latecomer scaling` of made results with answers by hand: slide 8's table and its colours, indicators of the analyses, partitions and their sizes, the
call paths that lost most. Usage: scaling.py LATECOMER MAKE_CUBEX GOLDEN SCRATCH_DIR"""
import json
import math
import os
import pty
import subprocess
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)
FACTORS = "parallel_efficiency", "load_balance", "communication_efficiency", "serialisation_efficiency", "transfer_efficiency"


def text(*args, **environment):
    return output([LATECOMER, "scaling", *args], 0, **{"COLUMNS": "100", **environment})


def lines(*args):
    return [" ".join(line.split()) for line in text(*args).splitlines()]


def scaling(*args):
    return json.loads(output([LATECOMER, "scaling", "--json", *args]))


def is_close(row, **wanted):
    for key, value in wanted.items():
        same = math.isclose(row[key], value, rel_tol=1e-9, abs_tol=1e-12) if isinstance(value, float) and row[key] is not None else row[key] == value
        check(same, f"{key} is {row[key]}, not {value}: {json.dumps(row)}")


def factors(values):
    return dict(zip(FACTORS, (v / 100 for v in values)))


def inclusive(paths):
    """Inclusive times of all call paths from own times per location."""
    time, n = {}, len(next(iter(paths.values())))
    for path, row in paths.items():
        for end in [i for i, c in enumerate(path) if c == "/"] + [len(path)]:
            up = time.setdefault(path[:end], [0.0] * n)
            for r in range(n):
                up[r] += row[r]
    return time


def result(folder, own, pop=None, threads=1, analysis=None, metrics=None):
    """own: call path -> seconds per location; the longest location is the run time. analysis: metrics of the analysis.cubex beside it."""
    n = len(next(iter(own.values())))
    wall = max(sum(row[r] for row in own.values()) for r in range(n))
    content = dict(meta=dict(program="made", ranks=n // threads, wall_time_s=wall, complete=True, cores=[64]),
                   pop=pop or dict(dialect="clocks", elapsed_s=wall, critical_path_s=wall, **factors((50, 50, 100, 100, 100))),
                   locations=[dict(rank=l // threads, thread=l % threads) for l in range(n)],
                   metrics={"time": {"callpaths": inclusive(own)}, "visits": {"callpaths": {path: [1] * n for path in own}}, **(metrics or {})})
    made.make(MAKE, content, f"{folder}/profile.cubex")
    if analysis:
        made.make(MAKE, {**{k: v for k, v in content.items() if k != "pop"}, "metrics": {"time": content["metrics"]["time"], **analysis}}, f"{folder}/analysis.cubex")
    return folder


# Slide 8, whole: 64 and 1024 cores, 12 threads a rank (here 2).
SLIDE = {"small": (2, 81.4, (83.5, 98.7, 84.6, 85.9, 98.5), (97.5, 98.9, 98.6, 98.6, 100.0)),
         "large": (8, 15.9, (17.3, 90.3, 19.1, 46.4, 41.2), (92.1, 97.7, 94.3, 94.3, 100.0))}
for name, (ranks, all_of_it, mpi, omp) in SLIDE.items():
    pop = dict(dialect="clocks", elapsed_s=1.0, critical_path_s=1.0, **factors((all_of_it, 97.6, 83.4, 84.7, 98.5)), mpi=factors(mpi), omp=factors(omp))
    result(name, {"main/work": [1.0] * (2 * ranks)}, pop=pop, threads=2)
shown = lines("large", "small")
for wanted in ("EFFICIENCY, % 2x2 8x2", "Parallel efficiency 81.4 15.9", "MPI parallel efficiency 83.5 17.3", "MPI load balance 98.7 90.3", "MPI communication efficiency 84.6 19.1",
               "MPI serialisation efficiency 85.9 46.4", "MPI transfer efficiency 98.5 41.2", "OpenMP parallel efficiency 97.5 92.1", "OpenMP load balance 98.9 97.7",
               "OpenMP communication efficiency 98.6 94.3", "OpenMP serialisation efficiency 98.6 94.3", "OpenMP transfer efficiency 100.0 100.0"):
    check(wanted in shown, f"no line '{wanted}':\n" + "\n".join(shown))
check("\033" not in text("small", "large"), "colours only on a terminal")


def on_terminal(*args, **environment):
    master, slave = pty.openpty()
    done = subprocess.Popen([LATECOMER, "scaling", *args], stdout=slave, env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **environment})
    os.close(slave)
    read = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        read += piece
    os.close(master)
    check(done.wait() == 0, f"on a terminal: {read}")
    return read.decode()


coloured = on_terminal("small", "large", TERM="xterm")
GREEN, YELLOW, RED = "\033[32m", "\033[33m", "\033[31m"
for value, colour in ("83.5", GREEN), ("46.4", RED), ("92.1", GREEN):
    check(f"{colour}" in coloured.split(value)[0][-20:], f"{value} is not coloured as it should: {coloured!r}")
check("\033" not in on_terminal("small", "large", TERM="xterm", NO_COLOR="1"), "NO_COLOR")

# Without analysis: no indicators, and nothing that says 0.
check("INDICATORS" not in text("small", "large"), "a profile has no indicators")
is_close(scaling("small")["runs"][0]["indicators"], critical_path_s=None, critical_path_imbalance_s=None, inter_partition_s=None, delay_costs_s=None, partitions=[])


# Call paths that lost: 2 ranks and 4. 10 s of work stay 10 s; an all-to-all grows from 1 s to 7 s, a serial part from 2 s to 4 s, a halo shrinks by 1 s.
def grown(ranks, alltoall, serial, halo, work):
    return {"main/solve/work": [work / ranks] * ranks, "main/transpose/MPI_Alltoall": [alltoall / ranks] * ranks, "main/setup": [serial / ranks] * ranks,
            "main/solve/MPI_Waitall": [halo / ranks] * ranks, "main/MPI_Init": [float(ranks)] * ranks}


result("two", grown(2, 1.0, 2.0, 3.0, 10.0))
result("four", grown(4, 7.0, 4.0, 2.0, 10.0))
lost = scaling("four", "two")["lost"]
check(math.isclose(lost["lost_s"], 7.0), f"lost in all: {lost['lost_s']}")
paths = {row["callpath"]: row for row in lost["callpaths"]}
is_close(paths["main/transpose/MPI_Alltoall"], first_s=1.0, last_s=7.0, lost_s=6.0, share=0.75)
is_close(paths["main/setup"], first_s=2.0, last_s=4.0, lost_s=2.0, share=0.25)
is_close(paths["main/solve/MPI_Waitall"], lost_s=-1.0, share=0.0)
check([row["callpath"] for row in lost["callpaths"]][:2] == ["main/transpose/MPI_Alltoall", "main/setup"] and "main/MPI_Init" not in paths, f"order: {lost}")
shown = lines("four", "two")
check("own time of all ranks and threads, by which 4 take more than 2: 7 s in all" in " ".join(shown), "\n".join(shown))
check("6 s 75.0 1 s 7 s main/transpose/MPI_Alltoall" in shown and not any("Waitall" in line for line in shown), "\n".join(shown))
# Weak: the work may double. Work of 10 s should be 20, the all-to-all 2, setup 4, the halo 6.
paths = {row["callpath"]: row for row in scaling("--weak", "four", "two")["lost"]["callpaths"]}
is_close(paths["main/transpose/MPI_Alltoall"], lost_s=5.0, share=1.0)
is_close(paths["main/solve/work"], lost_s=-10.0)
check(scaling("two", "two")["lost"]["callpaths"] == [], "runs of one size lose nothing with scale")


# Figure 9: a mesh on 2 ranks, particles on 6. 528 points: the particles limit; 616: the mesh does. The same run time, other causes.
def mpmd(folder, sizes, mesh, particles):
    """Seconds of each rank. The critical path is on the first rank of the partition that takes longer."""
    n, m = sum(sizes), sizes[0]
    own = {"main/mesh": [mesh] * m + [0.0] * sizes[1], "main/particles": [0.0] * m + [particles] * sizes[1]}
    wall = max(mesh, particles)
    limits, at = ("main/mesh", 0) if mesh > particles else ("main/particles", m)
    on_path = {limits: [wall if r == at else 0.0 for r in range(n)]}
    across = {limits: [n * wall - mesh * m - particles * sizes[1] if r == at else 0.0 for r in range(n)]}
    zero = {path: [0.0] * n for path in own}
    waits = [wall - sum(own[path][r] for path in own) for r in range(n)]
    analysis = {"critical_path": {"callpaths": on_path}, "critical_path_imbalance": {"callpaths": {limits: [wall - sum(own[limits]) / n if r == at else 0.0 for r in range(n)]}},
                "critical_path_activities": {"callpaths": own}, "non_critical_path_activities": {"callpaths": zero},
                "intra_partition_imbalance": {"callpaths": zero}, "inter_partition_imbalance": {"callpaths": across},
                "delay_latesender": {"callpaths": across}, "delay_latesender_longterm": {"callpaths": {limits: [0.25 if r == at else 0.0 for r in range(n)]}},
                "delay_latesender_waitfirst": {"callpaths": {path: [0.75 * v for v in row] for path, row in across.items()}},
                "delay_latesender_longterm_waitfirst": {"callpaths": {limits: [0.5 if r == at else 0.0 for r in range(n)]}}}
    return result(folder, {**own, "main/MPI_Barrier": waits}, analysis=analysis, metrics={"critical_path_useful": {"callpaths": on_path}, "mpi_barrier_wait": {"callpaths": {"main/MPI_Barrier": waits}}})


mpmd("528", (2, 6), 3.0, 6.0)
mpmd("616", (2, 6), 6.0, 5.0)
table = scaling("528", "616")["runs"]
is_close(table[0]["indicators"], critical_path_s=6.0, allocation_s=48.0, critical_path_imbalance_s=6.0 - 36.0 / 8, intra_partition_s=0.0, inter_partition_s=6.0, delay_costs_s=6.0,
         delay_costs_longterm_s=0.25, delay_costs_waitfirst_s=4.5, delay_costs_longterm_waitfirst_s=0.5)
parts = [{part["name"]: part for part in run["indicators"]["partitions"]} for run in table]
is_close(parts[0]["particles"], ranks=6, work_s=36.0, longest_s=6.0, critical_path_s=6.0, inter_partition_s=6.0, intra_partition_s=0.0)
is_close(parts[0]["mesh"], ranks=2, work_s=6.0, critical_path_s=0.0, inter_partition_s=0.0)
is_close(parts[1]["mesh"], ranks=2, work_s=12.0, critical_path_s=6.0, inter_partition_s=6.0)
is_close(parts[1]["particles"], work_s=30.0, critical_path_s=0.0, inter_partition_s=0.0)
shown = lines("528", "616")
for wanted in ("INDICATORS 8 8", "Critical path, s 6 6", "imbalance on it, s 1.5 4.5", "imbalance on it, % 25 75", "Allocation time, s 48 48", "imbalance costs within partitions, s 0 0",
               "imbalance costs across partitions, s 6 6", "delay costs, direct, s 6 6", "delay costs, through other waiting, s 0.25 0.25", "the same, wait-first: direct, s 4.5 4.5", "the same, wait-first: through other, s 0.5 0.5", "on the critical path, s 0 6", "on the critical path, s 6 0",
               "work of all its ranks, s 6 12", "imbalance costs across, s 0 6", "imbalance costs across, s 6 0"):
    check(wanted in shown, f"no line '{wanted}':\n" + "\n".join(shown))

# `compare` tells them apart, too; the mean of a side where there are several, nothing of what one of them does not know.
def compared(*args):
    return json.loads(output([LATECOMER, "compare", "--json", *args]))["indicators"]


mpmd("640", (2, 6), 8.0, 4.0)
got = compared("528", "616")
is_close(got["a"], critical_path_imbalance_s=1.5, inter_partition_s=6.0, delay_costs_s=6.0, delay_costs_longterm_s=0.25)
is_close(got["b"], critical_path_imbalance_s=4.5, inter_partition_s=6.0)
is_close(got["b"]["partitions"][0], name="mesh", ranks=2, work_s=12.0, critical_path_s=6.0, inter_partition_s=6.0)
shown = [" ".join(line.split()) for line in output([LATECOMER, "compare", "528", "616"]).splitlines()]
for wanted in ("+3 s 1.5 s -> 4.5 s imbalance on the critical path", "+0 6 s -> 6 s imbalance costs across partitions", "+6 s 0 -> 6 s mesh: on the critical path",
               "+6 s 0 -> 6 s mesh: imbalance costs across", "-6 s 6 s -> 0 particles: imbalance costs across", "-6 s 36 s -> 30 s particles: work"):
    check(wanted in shown, f"compare: no line '{wanted}':\n" + "\n".join(shown))
check("| mesh: imbalance costs across | 0 | 6 s | +6 s |" in output([LATECOMER, "compare", "--markdown", "528", "616"]), "in Markdown")
got = compared("528", "--", "616", "640")["b"]
is_close(got, inter_partition_s=(6.0 + 24.0) / 2, critical_path_s=7.0)
is_close(got["partitions"][1], name="particles", work_s=27.0, critical_path_s=0.0)
result("plain", {"main/mesh": [6.0] * 2 + [0.0] * 6, "main/particles": [0.0] * 2 + [5.0] * 6}, metrics={"critical_path_useful": {"callpaths": {"main/mesh": [6.0] + [0.0] * 7}}})
got = compared("528", "--", "616", "plain")["b"]
is_close(got, inter_partition_s=None, delay_costs_s=None)
is_close(got["partitions"][0], work_s=12.0, critical_path_s=6.0, inter_partition_s=None)
check("Imbalance and what it costs" not in output([LATECOMER, "compare", "two", "two"]), "nothing to say of profiles of one program")

# Sizes: 12 s of mesh and 18 s of particles on 8 ranks. 2 + 6: 6 s; 3 + 5: 4 s; 4 + 4: 4.5 s; 7 + 1: 18 s. From the nearest other run: what it says
# of itself is no prediction. Of 4 + 4 by 2 + 6, with the mesh on the path: max(3, 4.5) = 4.5 s, as measured.
mpmd("s26", (2, 6), 6.0, 3.0)
mpmd("s44", (4, 4), 3.0, 4.5)
sweeps = scaling("s26", "s44")["sweeps"]
check(len(sweeps) == 1 and sweeps[0]["partitions"] == ["mesh", "particles"] and sweeps[0]["ranks"] == 8, f"{sweeps}")
splits = {tuple(split["ranks"]): split for split in sweeps[0]["splits"]}
check(sorted(splits) == [(i, 8 - i) for i in range(1, 8)], f"all splits: {sorted(splits)}")
is_close(splits[2, 6], measured_s=6.0, predicted_s=6.0, runs=1, best=False)
is_close(splits[4, 4], measured_s=4.5, predicted_s=4.5, runs=1, best=False)
is_close(splits[3, 5], measured_s=None, predicted_s=4.0, runs=0, best=True)
is_close(splits[1, 7], measured_s=None, predicted_s=12.0)
is_close(splits[7, 1], measured_s=None, predicted_s=18.0)
shown = lines("s26", "s44")
for wanted in "2 + 6 6 s 6 s +0.0", "3 + 5 4 s - - least", "7 + 1 18 s - -":
    check(wanted in shown, f"no line '{wanted}':\n" + "\n".join(shown))
# What was measured beside what was predicted; two runs of one split are one row.
mpmd("s35", (3, 5), 4.0, 3.6)
splits = {tuple(split["ranks"]): split for split in scaling("s26", "s44", "s35", "s35")["sweeps"][0]["splits"]}
is_close(splits[3, 5], measured_s=4.0, predicted_s=4.0, runs=2, best=True)
is_close(splits[5, 3], measured_s=None, predicted_s=6.0)
# One run predicts all others, not itself; three partitions: C(5, 2) ways; other partitions or numbers of ranks are sweeps of their own.
splits = {tuple(split["ranks"]): split for split in scaling("s26")["sweeps"][0]["splits"]}
is_close(splits[2, 6], measured_s=6.0, predicted_s=None)
mpmd("s11", (2, 2), 3.0, 4.5)
check([sweep["ranks"] for sweep in scaling("s26", "s11")["sweeps"]] == [4, 8], "sweeps by number of ranks")
result("three", {"main/a": [3.0, 3.0] + [0.0] * 4, "main/b": [0.0] * 2 + [2.0, 2.0] + [0.0] * 2, "main/c": [0.0] * 4 + [1.0, 1.0]},
       metrics={"critical_path_useful": {"callpaths": {"main/a": [3.0] + [0.0] * 5}}})
splits = {tuple(split["ranks"]): split for split in scaling("three")["sweeps"][0]["splits"]}
check(len(splits) == 10 and len(scaling("three")["sweeps"][0]["splits"]) == 10 and all(sum(sizes) == 6 and min(sizes) > 0 for sizes in splits), f"all ways: {sorted(splits)}")
is_close(splits[3, 2, 1], predicted_s=2.0, best=True)
is_close(splits[1, 1, 4], predicted_s=6.0)
# Too many ways to list: three partitions of 40 ranks each have 7,021. Those measured, and the best by moving one rank at a time: 360 s of work, 3 s if it could be spread evenly. On the way
# two partitions limit at once: 60 + 20 + 40.
EACH = 40
result("many", {f"main/{name}": [0.0] * (EACH * i) + [seconds] * EACH + [0.0] * (EACH * (2 - i)) for i, (name, seconds) in enumerate((("a", 6.0), ("b", 2.0), ("c", 1.0)))},
       metrics={"critical_path_useful": {"callpaths": {"main/a": [6.0] + [0.0] * (3 * EACH - 1)}}})
splits = {tuple(split["ranks"]): split for split in scaling("many")["sweeps"][0]["splits"]}
check(len(splits) == 2, f"measured and best: {sorted(splits)}")
is_close(splits[40, 40, 40], measured_s=6.0, predicted_s=None)
is_close(splits[79, 27, 14], measured_s=None, predicted_s=240 / 79, best=True)
check("Partition sizes" not in text("two", "four") and scaling("two", "four")["sweeps"] == [], "no partitions, no sizes")

# Analyses alone: factors are not known.
done = subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", "-o", "golden.cubex", f"{GOLDEN}/synthetic/mpmd_partitions"], capture_output=True, text=True)
check(done.returncode == 0, done.stderr)
run = scaling("golden.cubex")["runs"][0]
check(run["pop"] is None and run["useful_s"] is None and run["global_efficiency"] is None, f"factors of an analysis: {run['useful_s']}")
is_close(run["indicators"], inter_partition_s=8.0, intra_partition_s=2.0)
check("EFFICIENCY" not in text("golden.cubex") and "EFFICIENCY" in text("golden.cubex", "two"), "factors where there are any")
check([line for line in lines("golden.cubex", "two") if line.startswith("Load balance")] == ["Load balance 50.0 -"], "unknown is not 1")
print("scaling: all as expected")
