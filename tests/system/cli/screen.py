#!/usr/bin/python3
"""The first screen of `show`: lines keep to the width, the heaviest call paths are opened down to where they divide, no line stands twice.
Usage: screen.py LATECOMER MAKE_CUBEX GOLDEN SCRATCH_DIR"""
import glob
import json
import os
import re
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)


def screen(file, columns=100):
    return output([LATECOMER, "show", file], 0, COLUMNS=str(columns), LC_ALL="C.UTF-8")


def inclusive(paths):
    """Inclusive times of all call paths from own times per rank."""
    time = {}
    for path, row in paths.items():
        for end in [i for i, c in enumerate(path) if c == "/"] + [len(path)]:
            up = time.setdefault(path[:end], [0.0] * len(row))
            time[path[:end]] = [a + b for a, b in zip(up, row)]
    return time


def profile(name, own, waits=None, late=(), pop=None, modules=None, **meta):
    """own: call path -> seconds per rank, without what it calls; waits: of a barrier. late: (rank, call path, seconds, first site, last site).
    modules: libraries of functions that samples found."""
    n = len(next(iter(own.values())))
    time = inclusive(own)
    wall = max(sum(row[r] for row in own.values()) for r in range(n))
    factors = dict(dialect="clocks", elapsed_s=wall, critical_path_s=wall, parallel_efficiency=0.6, load_balance=0.6, communication_efficiency=0.7,
                   serialisation_efficiency=0.7, transfer_efficiency=0.7)
    content = dict(modules=modules or {}, meta={"program": "made", "ranks": n, "wall_time_s": wall, "complete": True, "cores": [64], **meta}, pop={**factors, **(pop or {})},
                   locations=[dict(rank=r, thread=0) for r in range(n)],
                   metrics={"time": {"callpaths": time}, "visits": {"callpaths": {path: [1] * n for path in own}},
                            **({"mpi_barrier_wait": {"callpaths": waits}} if waits else {})})
    head = "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\n"
    made.make(MAKE, content, f"{name}/profile.cubex",
              blame_tsv=head + "".join(f"{next(iter(waits))}\t{rank}\t{path}\t{begin}\t{end}\t{seconds}\t0.1\n" for rank, path, seconds, begin, end in late))
    return name


def heaviest(shown):
    """Lines of the table: (call path, TIME %, MPI %, WAIT %)."""
    lines = shown.split("\nHeaviest call paths")[1].splitlines()[1:]
    rows = []
    for line in lines[:lines.index("")]:
        words = line.replace("█", " ").replace("▒", " ").replace("░", " ").split()
        rows.append((" ".join(words[:-5]), *map(float, words[-3:])))
    return rows


# `main/run` calls one function after the other, of which each has nearly all of its time; below stand kernels and calls of MPI, which are what is shown.
CHAIN = "main/LAMMPS::Run::command/LAMMPS::Verlet::run"
rows = heaviest(screen(profile("chain", {
    "main/read": [3.0] * 2, "main/setup/a": [2.0] * 2, "main/setup/b": [2.0] * 2, "main/output": [4.0] * 2, "main/check": [3.0] * 2, "main/delete": [3.0] * 2,
    f"{CHAIN}/PairLJ::compute": [41.0, 21.0], f"{CHAIN}/Comm::exchange/MPI_Send": [1.0, 21.0], f"{CHAIN}/Neighbor::build": [29.0] * 2, f"{CHAIN}/Fix::run": [12.0] * 2},
    waits={f"{CHAIN}/Comm::exchange/MPI_Send": [0.0, 20.0]})))
check([(row[0].split("/")[-1], *row[1:]) for row in rows] == [("PairLJ::compute", 31.0, 0.0, 0.0), ("Neighbor::build", 29.0, 0.0, 0.0), ("Fix::run", 12.0, 0.0, 0.0),
                                                              ("MPI_Send", 11.0, 11.0, 10.0), ("output", 4.0, 0.0, 0.0)], f"a chain is opened: {rows}")
# A chain that never divides is one line, at its begin; unless it ends in a call of MPI.
rows = heaviest(screen(profile("alone", {"main/nap/clock_nanosleep/(off CPU)": [6.0] * 2, "main/other": [2.0] * 2, "main/sum/reduce/MPI_Allreduce": [2.0] * 2})))
check([row[0] for row in rows] == ["main/nap", "main/other", "main/sum/reduce/MPI_Allreduce"], f"chains that do not divide: {rows}")
# ... or of OpenMP: threads that are idle below a main that called on, so that it is not on the stack, were not in main's own code.
rows = heaviest(screen(profile("idle", {"main/!$omp idle": [3.0] * 2, "run/read": [2.0] * 2, "run/solve/!$omp parallel @a.c:3/!$omp implicit barrier @a.c:3": [4.0] * 2,
                                        "run/write/flush": [1.0] * 2})))
check([row[0] for row in rows] == [".../!$omp implicit barrier @a.c:3", "main/!$omp idle", "run/read", "run/write"], f"constructs: {rows}")
# What a function takes itself is a line beside what it calls; start and end of MPI are none.
rows = heaviest(screen(profile("itself", {"main/solve": [6.0] * 2, "main/solve/kernel": [3.0] * 2, "main/solve/MPI_Barrier": [1.0] * 2, "main/MPI_Init": [50.0] * 2})))
check([row[:3] for row in rows] == [("main/solve itself", 60.0, 0.0), ("main/solve/kernel", 30.0, 0.0), ("main/solve/MPI_Barrier", 10.0, 10.0)], f"itself: {rows}")
# Who loses the processor outside of MPI and OpenMP loses it inside, too: a low transfer is not theirs alone then.
for lost, more, told in ((0.2, {}, "MPI itself"), (2.0, {}, "MPI, or no processor"), (0.2, dict(mpi_calls=0), "the OpenMP runtime itself"), (2.0, dict(mpi_calls=0), "OpenMP, or no processor")):
    slow = profile("lost", {"main/solve": [4.0] * 2, "main/solve/(preempted)": [lost] * 2, "main/other": [2.0] * 2}, pop=dict(transfer_efficiency=0.5), **more)
    check(f"<- {told}\n" in screen(slow), f"{lost} s lost: {screen(slow)}")
    words = " ".join(output([LATECOMER, "show", "--only", "efficiency", slow], 0, LC_ALL="C.UTF-8").split())
    check(("without a processor, which others took there" in words) == (lost > 1), f"{lost} s lost: {words}")
# The time of MPI_Init and MPI_Finalize is told apart, and nothing of what was not called.
ENDS = {"main/work": [4.0] * 2}
for called, told in {"Init Finalize": "start and end of MPI apart: MPI_Init 3 s, MPI_Finalize 1 s per rank", "Init": "start of MPI apart: MPI_Init 3 s per rank",
                     "Finalize": "start and end of MPI apart: MPI_Finalize 1 s per rank"}.items():
    text = screen(profile("ends", {**ENDS, **{f"main/MPI_{name}": [3.0 if name == "Init" else 1.0] * 2 for name in called.split()}}))
    check(f"  {told} (" in text, f"{called}: {text}")
# But waiting in MPI_Finalize for a late rank is one.
rows = heaviest(screen(profile("late_to_end", {"main/work": [9.0, 7.0], "main/MPI_Finalize": [0.5, 2.5]}, waits={"main/MPI_Finalize": [0.0, 2.0]})))
check(rows == [("main/work", 88.9, 0.0, 0.0), ("main/MPI_Finalize", 11.1, 11.1, 11.1)], f"waiting at the end: {rows}")

# What the C library did below a function is a word in tables and findings, and one line where there are several ways to it; frame by frame with --full and
# in the metrics of the JSON. A function of it that calls the program back stays.
C_LIBRARY = {name: "/lib/x86_64-linux-gnu/libc.so.6" for name in
             ("__nanosleep", "usleep", "clock_nanosleep", "_IO_fread", "__memcpy_avx", "qsort", "msort_with_tmp", "abs", "__clock_gettime")} | {"[vdso]": "linux-vdso.so.1"}
SLEEPS = ["main/uneven/__nanosleep/clock_nanosleep/(off CPU)", "main/uneven/usleep/clock_nanosleep/(off CPU)"]
napping = profile("napping", {
    SLEEPS[0]: [28.0, 4.0], SLEEPS[1]: [8.0, 4.0], "main/uneven/usleep/(preempted)": [2.0, 2.0], "main/uneven": [3.0, 3.0], "main/uneven/(off CPU)": [2.0, 2.0],
    "main/load/_IO_fread/__memcpy_avx": [6.0] * 2, "main/load/_IO_fread/(kernel)": [5.0] * 2, "main/load": [3.0] * 2, "main/MPI_Barrier": [1.0, 29.0],
    "main/sort/qsort/compare_rows": [7.0] * 2, "main/sort/qsort/msort_with_tmp": [4.0] * 2, "main/sort/abs": [4.0] * 2,
    "main/spin/__clock_gettime/[vdso]": [2.0] * 2, "main/spin/__clock_gettime": [1.0] * 2, "main/spin": [1.0] * 2},
    waits={"main/MPI_Barrier": [0.0, 28.0]}, late=[(0, SLEEPS[0], 20.0, "a.c:1", "a.c:2"), (0, SLEEPS[1], 8.0, "a.c:1", "a.c:2")], modules=C_LIBRARY)
tree = output([LATECOMER, "show", "--only", "tree", napping], 0, COLUMNS="120", LC_ALL="C.UTF-8").splitlines()
lines = {line.split("─")[-1]: float(line.split()[2]) for line in tree if "─" in line}
wanted = {"(off CPU: sleeping)": 28.6, "(preempted)": 2.6, "(off CPU)": 2.6, "(C library: reading a file)": 7.8, "(kernel: reading a file)": 6.5, "qsort": 14.3,
          "compare_rows": 9.1, "(C library: sorting)": 5.2, "(C library)": 5.2, "(C library: reading the clock)": 3.9}
check({name: lines.get(name) for name in wanted} == wanted and not set(C_LIBRARY) - {"qsort"} & set(lines), f"words for the C library: {lines}")
late = output([LATECOMER, "show", "--only", "late", napping], 0, COLUMNS="120", LC_ALL="C.UTF-8")
check("28 s  rank 0" in late and "main/uneven (off CPU: sleeping)" in late and late.count(" rank ") == 1, f"one code, one line: {late}")
data = json.loads(output([LATECOMER, "show", "--json", napping]))
first = data["findings"][0]
check(first["kind"] == "late_rank" and first["callpath"] == "main/uneven/(off CPU: sleeping)" and abs(first["severity_s"] - 28.0) < 1e-9, f"finding: {first}")
check([late["callpath"] for late in data["late"]] == SLEEPS and set(SLEEPS) < set(data["metrics"]["time"]["callpaths"]), "frame by frame in JSON")
full = output([LATECOMER, "show", "--full", "--only", "tree", napping], 0, LC_ALL="C.UTF-8")
check("clock_nanosleep" in full and "sleeping" not in full, "frame by frame with --full")

# Names of any length and number: lines keep to the width, and no line stands twice.
LONG = "Foam::fvMatrix<Foam::Vector<double> >::solve(Foam::dictionary const&, Foam::GeometricField<Foam::Vector<double>, Foam::fvPatchField, Foam::volMesh>&)"
DEEP = "/".join(f"level_{i}_of_a_call_path_that_is_deep" for i in range(12))
TWINS = [f"main/{'x' * 40}{i}{'y' * 60}/{'z' * 100}" for i in range(6)]
SITE = "a_source_file_with_quite_a_long_name_of_its_own.cpp:12345"
hostile = profile("hostile", {**{twin: [5.0, 1.0] for twin in TWINS}, f"main/{LONG}/{LONG}": [20.0, 10.0], f"main/{DEEP}": [9.0, 2.0], "main/MPI_Barrier": [0.0, 30.0],
                              "main/" + "\u00fc" * 150: [4.0, 4.0], "main/\x1b[31m" + "r" * 90: [3.0, 3.0]},
                  waits={"main/MPI_Barrier": [0.0, 30.0]}, mpi="An MPI Library of a Vendor With a Long Name, Version 2024.11.3 (release candidate 7, build 20241118)",
                  late=[(0, f"main/{LONG}/{LONG}", 12.0, SITE, SITE + "6"), (0, f"main/{DEEP}", 8.0, SITE, "")] + [(0, twin, 2.0, SITE, SITE) for twin in TWINS],
                  command=["made"] + ["--an-option=with-a-value"] * 30, binding=[f"{i}-{i + 63}" for i in range(2)], exit_status=3, threads=[1, 1],
                  programs=["a_program_" * 12, "another_one"], program_of_rank=[0, 1], sampling=dict(why="the kernel does not let this user sample " * 4))
archives = sorted(glob.glob(f"{GOLDEN}/cubex/*.cubex"))
for file in [hostile, "chain", "itself", *archives]:
    for columns in 60, 72, 80, 99, 100, 120, 160:
        shown = screen(file, columns)
        for line in shown.splitlines():
            named = file in archives and os.path.basename(file) in line  # a file is never cut
            check(len(line) <= columns or named, f"{len(line)} columns of {columns}: {line!r}")
        check(not re.search(r"\d\n *(s|ms|us|ns|min|h|%)(?=[ ,.;:)\n])", shown), f"a number without its unit at {columns} columns:\n{shown}")
        rows = [row[0] for row in heaviest(shown)]
        check(len(set(rows)) == len(rows), f"twice: {rows}")
        found = shown.split("\nFindings")[1].split("\nEfficiency")[0].replace("\n                  ", " ").splitlines()[1:] if file == hostile and columns >= 80 else []
        check(len(set(found)) == len(found), f"a finding stands twice: {found}")
print("screen: all as expected")
