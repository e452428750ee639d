#!/usr/bin/env python3
"""Nanoseconds that Latecomer adds to MPI operations: bare and measured runs alternate, slices of a millisecond are compared.

usage: overhead.py BUILD_DIR [--flavour openmpi|mpich] [--runs 11] [--iterations N] [--depth D] [--modes nop,profile,..]

Modes: nop (the wrappers only forward), no-minima (plain statistics per call: no shortest calls, no classes of sizes), no-loops (loops are not found), profile (no clocks), clocks (the default: profile,
logical clocks, measured waits, blame), what-if (that and as many what-if clocks as the library carries when it chooses call paths itself), sampled (that and 500 samples per second), clocks-mpi (the same over messages), clocks-mpi-apart (no clocks of collectives reduced together), trace (clocks with --trace). A virtual machine moves its cores about: a line from the other
core takes 30 ns at one time and 120 at another. So each slice is measured together with the time that a line takes before and after it,
and compared with bare slices of the same kind: near cores (a line takes less than twice the shortest time seen), far cores. For each
operation and mode: difference of the medians, of the lower quartiles in brackets, that median in units of one clock_gettime, and the
number of slices. With no-minima and profile: by how much of a call (with plain statistics) minima make it longer; with no-loops and profile: nanoseconds that
finding loops takes. With clocks and what-if: nanoseconds that carrying what-if clocks takes. With clocks and sampled: nanoseconds that samples take per call of MPI.

--instructions: instead, for each operation and mode, what callgrind counts on the simulated MPI (tests/sim): instructions of the tool's own
library, and its own calls of MPI, per operation and rank. It is the same on any machine, loaded or not: messages take LATENCY_NS there, and calls no time. With
--functions N: the N functions of the library with the most instructions of their own. With --ranks N: collectives of N ranks.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

MODES = {
    "nop": {"LATECOMER_MODE": "nop"},
    "no-minima": {"LATECOMER_CLOCKS": "off", "LATECOMER_MODE": "no-minima"},
    "no-loops": {"LATECOMER_CLOCKS": "off", "LATECOMER_MODE": "no-loops"},
    "profile": {"LATECOMER_CLOCKS": "off"},
    "clocks": {},
    "what-if": {"LATECOMER_WHAT_IF": ";".join(["mpi=0"] * 6)},
    "sampled": {"LATECOMER_SAMPLE": "500"},
    "clocks-mpi": {"LATECOMER_TRANSPORT": "mpi"},
    "what-if-mpi": {"LATECOMER_TRANSPORT": "mpi", "LATECOMER_WHAT_IF": ";".join(["mpi=0"] * 6)},
    "clocks-mpi-apart": {"LATECOMER_TRANSPORT": "mpi", "LATECOMER_TEST_COMPOSED": "off"},
    "trace": {"LATECOMER_TRACE": "1"},
}


def run_once(args, ranks, mode, scratch):
    command = mpirun(args.flavour, None, "--bind-to", "core") + (["-bind-to", "core"] if args.flavour == "mpich" else []) + ["-n", str(ranks)]
    environment = dict(os.environ, LATECOMER_MAX_OVERHEAD="off")
    if mode != "bare":
        environment.update(MODES[mode])
        out = os.path.join(scratch, "result")
        shutil.rmtree(out, ignore_errors=True)
        command += [os.path.join(args.build, "bin/latecomer"), "run", "-q", "-o", out, "--"]
    command += [os.path.join(args.build, "bin/overhead-ops-" + args.flavour), str(args.iterations), str(args.depth)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"overhead: {' '.join(command)} failed: {done.stderr.strip()}")
    slices, clock = {}, None
    for words in (line.split() for line in done.stdout.splitlines()):
        if len(words) == 5 and words[0] == "slice":
            slices.setdefault(words[1], []).append(tuple(map(float, words[2:])))
        elif len(words) == 2 and words[0] == "clock_gettime":
            clock = float(words[1])
    return slices, clock


def measure(args, ranks, modes, scratch):
    """{operation: {mode: [(ns, ns per line before, after)]}}, ns of one clock_gettime"""
    slices, clocks = {}, []
    for _ in range(args.runs):
        for mode in ["bare", *modes]:
            found, clock = run_once(args, ranks, mode, scratch)
            for name, values in found.items():
                slices.setdefault(name, {}).setdefault(mode, []).extend(values)
            if mode == "bare":
                clocks.append(clock)
    return slices, statistics.median(clocks)


def by_distance(slices):
    """{"near": .., "far": ..}: {operation: {mode: [ns]}}; slices during which the cores were moved are left out"""
    lines = sorted(max(s[1:]) for modes in slices.values() for values in modes.values() for s in values)
    limit = 2 * lines[len(lines) // 100]
    kinds = {"near": lambda s: max(s[1:]) <= limit, "far": lambda s: min(s[1:]) > limit}
    return {kind: {name: {mode: sorted(s[0] for s in values if is_it(s)) for mode, values in modes.items()} for name, modes in slices.items()}
            for kind, is_it in kinds.items()}


def by_samples(tables):
    """ns that samples add to a call of MPI: the median over operations and kinds of cores. Of lower quartiles: in these slices hardly a sample falls, and what a
    sample itself takes is told by samples_cost.py."""
    few, added = 20, []
    for found in tables:
        for name, modes in found.items():
            without, with_them = (sorted(modes.get(mode, [])) for mode in ("clocks", "sampled"))
            if min(len(without), len(with_them)) >= few:
                low = with_them[len(with_them) // 4] - without[len(without) // 4]
                added.append(low / len(calls_of_program(name)))
    return statistics.median(added) if added else None


def print_table(slices, modes, clock, kind):
    """kind: of the cores, for the figures; None: of one rank, no figures."""
    few, figures = 20, {}
    print(f"{'operation':<11}{'bare ns (quartile) slices':>28}" + "".join(f"{mode + ' +ns (quartile) clocks slices':>40}" for mode in modes))
    for name, found in slices.items():
        bare = found.get("bare", [])
        if len(bare) < few:
            print(f"{name:<11}{'too few slices':>28}")
            continue
        middle, low = statistics.median(bare), bare[len(bare) // 4]
        line = f"{name:<11}" + f"{middle:.1f} ({low:.1f}) {len(bare)}".rjust(28)
        for mode in modes:
            values = found.get(mode, [])
            added = statistics.median(values) - middle if len(values) >= few else None
            if kind and added is not None:
                figures[f"{kind}.{name}.{mode}"] = added, "ns"
            line += ("too few slices" if added is None else
                     f"{added:.1f} ({values[len(values) // 4] - low:.1f}) {added / clock:.2f} {len(values)}").rjust(40)
        print(line)
        plain, without, whole, clocks, carried = (figures.get(f"{kind}.{name}.{mode}", (None,))[0]
                                                  for mode in ("no-minima", "no-loops", "profile", "clocks", "what-if"))
        if plain is not None and whole is not None:
            figures[f"{kind}.{name}.minima"] = 100 * (whole - plain) / (middle + plain), "%"
        if without is not None and whole is not None:
            figures[f"{kind}.{name}.loops"] = whole - without, "ns"
        if clocks is not None and carried is not None:
            figures[f"{kind}.{name}.carried"] = carried - clocks, "ns"
    for name, (value, unit) in figures.items():
        figure(name, value, unit)


LATENCY_NS = 200
OPERATIONS = {"pair": 2, "allreduce": 1, "barrier": 1, "bcast": 1, "waitall": 1}  # operations in an iteration


def calls_of_program(operation):
    """MPI calls of an iteration, by rank on average: the library makes them for the program."""
    return {"pair": ("Send", "Recv"), "waitall": ("Irecv", "Isend", "Waitall"), "self": ("Irecv", "Send", "Wait")}.get(operation, (operation.capitalize(),))


def count(path, functions, calls):
    """Of a file of callgrind: adds instructions of the tool's library by function, and its calls of MPI by function; the line after calls= is the callee's."""
    names, inside, function, called, callee_ob = {"ob": {}, "fn": {}}, False, None, None, None
    callee = False
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        named = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
        if named:
            known = names[named[2]]
            if named[4]:
                known[named[3]] = named[4]
            name = known[named[3]]
            if named[2] == "ob" and not named[1]:
                inside = "liblatecomer" in name
            elif named[2] == "ob":
                callee_ob = name
            elif named[1]:
                called = name
            else:
                function, callee_ob = name, None
        elif line.startswith("calls="):
            callee = True
            if inside and called.startswith("PMPI_") and "latecomer" not in (callee_ob or ""):
                calls[called[5:]] = calls.get(called[5:], 0) + int(line[6:].split()[0])
            callee_ob = None
        elif re.match(r"[+\-*\d]", line):
            if inside and not callee:
                functions[function] = functions.get(function, 0) + int(line.split()[1])
            callee = False


def instructions(args, mode, operation, n, scratch):
    """Of all ranks: instructions by function, calls of MPI by function."""
    for old in pathlib.Path(scratch).glob("count.*"):
        old.unlink()
    shutil.rmtree(os.path.join(scratch, "result"), ignore_errors=True)
    command = [os.path.join(args.build, "bin/sim-mpirun"), "-n", str(args.ranks), "--seed", "1", "--latency", str(LATENCY_NS), "--call", "0",
               os.path.join(args.build, "bin/latecomer"), "run", "-q", "-o", os.path.join(scratch, "result"), "--",
               "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={scratch}/count.%p",
               os.path.join(args.build, "bin/overhead-ops-mpich"), str(n), str(args.depth), operation]
    done = subprocess.run(command, env=dict(os.environ, LATECOMER_MAX_OVERHEAD="off", LATECOMER_SAMPLE="off", **MODES[mode]), capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"overhead: {' '.join(command)} failed: {done.stderr.strip()}")
    functions, calls = {}, {}
    for path in pathlib.Path(scratch).glob("count.*"):
        count(path, functions, calls)
    return functions, calls


def print_instructions(args, modes):
    few, many = args.iterations * 7 // 10, args.iterations
    for operation in args.operations.split(",") if args.operations else OPERATIONS:
        for mode in modes:
            with tempfile.TemporaryDirectory() as scratch:
                less, more = (instructions(args, mode, operation, n, scratch) for n in (few, many))
            per = args.ranks * (many - few) * OPERATIONS[operation]
            functions, calls = ({name: (value - less[i].get(name, 0)) / per for name, value in more[i].items()} for i in (0, 1))
            for name in calls_of_program(operation):
                calls[name] = calls.get(name, 0) - 1 / OPERATIONS[operation]
            own = ", ".join(f"{name} {value:.2f}" for name, value in sorted(calls.items(), key=lambda call: -call[1]) if value >= 0.005)
            print(f"{operation:<11}{mode:<12}{sum(functions.values()):8.0f} instructions; own calls: {own or 'none'}", flush=True)
            for name, value in sorted(functions.items(), key=lambda function: -function[1])[:args.functions]:
                print(f"{'':<11}{value:8.1f} {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--iterations", type=int, default=200000)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--modes", default="nop,profile,clocks")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--operations")
    parser.add_argument("--functions", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    modes = args.modes.split(",")
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        parser.error(f"unknown mode {unknown[0]}; there are {', '.join(MODES)}")
    if args.instructions:
        print_instructions(args, modes)
        return
    tables = []
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in (2, 1):
            title = "two ranks that talk to each other" if ranks == 2 else "one rank that talks to itself (nothing is hidden in waiting)"
            slices, clock = measure(args, ranks, modes, scratch)
            for kind, table in by_distance(slices).items():
                if ranks == 1 and kind == "far":
                    continue
                tables.append(table)
                print(f"{args.flavour}: {title}, depth {args.depth}" + (f"; {kind} cores" if ranks > 1 else ""))
                print_table(table, modes, clock, kind if ranks > 1 else None)
                print()
        print(f"one clock_gettime: {clock:.1f} ns")
    added = by_samples(tables)
    if added is not None:
        figure("call.sampled", added, "ns")


if __name__ == "__main__":
    main()
