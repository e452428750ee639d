#!/usr/bin/env python3
"""Tests of the root-cause analysis against exact data.

    root_causes.py oracle GOLDEN                     the oracle against all exact golden results
    root_causes.py golden DUMP GOLDEN WORK           the analysis against them, and the thesis' tables to the digit
    root_causes.py random DUMP WORK COUNT JUDGED [FIRST]
                                                     COUNT random traces (seeds from FIRST, usually 0): invariants; JUDGED of them against the oracle
    root_causes.py ranks DUMP WORK LAUNCHER COUNT WRITE_TRACE
                                                     bit for bit the same with 2, 3 and 8 ranks as with one: random traces, and two with wrong clocks
    root_causes.py memory BYTES_PER_RANK MAKE_TRACE WORK LAUNCHER
                                                     with 8 ranks each has its share of the memory, and not more than the forecast says

DUMP is the program dump_results, WORK a directory of its own.
"""

import filecmp
import glob
import json
import os
import shutil
import subprocess
import sys

import invariants
import linear_cost
import oracle
import random_trace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402

# Tables 3.1 to 3.3 of the thesis as the definitions give them: (metric, call path, rank): (proportional, wait-first).
THESIS = {
    "thesis_table_3_1": {
        ("delay_latesender", "main/MPI_Recv", 1): ("0.333", "0.000"),
        ("delay_latesender", "main/f", 0): ("0.667", "0.667"),
        ("delay_latesender", "main/g", 0): ("1.333", "1.333"),
        ("delay_latesender_longterm", "main/f", 0): ("0.222", "0.333"),
        ("delay_latesender_longterm", "main/g", 0): ("0.444", "0.667"),
        ("mpi_wait_direct_latesender", "main/MPI_Recv", 2): ("0.333", "0.000"),
        ("mpi_wait_indirect_latesender", "main/MPI_Recv", 2): ("0.667", "1.000"),
    },
    "thesis_table_3_2": {
        ("delay_latesender", "main/MPI_Recv", 1): ("1.000", "1.000"),
        ("delay_latesender", "main/f", 0): ("0.667", "0.667"),
        ("delay_latesender", "main/g", 0): ("1.333", "1.333"),
        ("delay_latesender_longterm", "main/f", 0): ("0.667", "0.667"),
        ("delay_latesender_longterm", "main/g", 0): ("1.333", "1.333"),
        ("mpi_wait_direct_latesender", "main/MPI_Recv", 2): ("1.000", "1.000"),
        ("mpi_wait_indirect_latesender", "main/MPI_Recv", 2): ("2.000", "2.000"),
    },
    "thesis_table_3_3": {
        ("delay_latesender", "main/MPI_Recv", 1): ("0.600", "0.333"),
        ("delay_latesender", "main/g", 1): ("1.200", "0.667"),
        ("delay_latesender", "main/f", 0): ("0.667", "0.667"),
        ("delay_latesender", "main/g", 0): ("1.333", "1.333"),
        ("delay_latesender_longterm", "main/f", 0): ("0.400", "0.667"),
        ("delay_latesender_longterm", "main/g", 0): ("0.800", "1.333"),
        ("mpi_wait_direct_latesender", "main/MPI_Recv", 2): ("1.800", "1.000"),
        ("mpi_wait_indirect_latesender", "main/MPI_Recv", 2): ("1.200", "2.000"),
    },
}


# The most expensive wait state of the code of rank 0 and whom it made wait, by hand: (call path, [(rank, call path, part)]).
# B waits 2 s for A, of which g has 4/3. Of what C waits (3 s, or 1 s in table 3.1) B's wait gets w 2/(D + 2) = 6/5 or 2/3, wait-first min(w, 2);
# g has two thirds of that.
CHAINS = {
    ("thesis_table_3_3", ""): ("main/g", [(1, "main/MPI_Recv", "1.333"), (2, "main/MPI_Recv", "0.800")]),
    ("thesis_table_3_3", "_waitfirst"): ("main/g", [(1, "main/MPI_Recv", "1.333"), (2, "main/MPI_Recv", "1.333")]),
    ("thesis_table_3_1", ""): ("main/g", [(1, "main/MPI_Recv", "1.333"), (2, "main/MPI_Recv", "0.444")]),
    ("thesis_table_3_1", "_waitfirst"): ("main/g", [(1, "main/MPI_Recv", "1.333"), (2, "main/MPI_Recv", "0.667")]),
}


def thesis_chain_faults(name, result):
    """The first two victims of the first cause on rank 0."""
    for suffix in "", "_waitfirst":
        if (name, suffix) not in CHAINS:
            continue
        path, victims = CHAINS[name, suffix]
        cause = [c for c in result["root_causes"]["root_causes" + suffix] if c["rank"] == 0 and c["callpath"] == path][0]
        found = [(v["rank"], v["callpath"], "%.3f" % v["cost_s"]) for v in cause["chain"][:len(victims)]]
        if found != victims:
            yield "%s%s: chain %r, by hand %r" % (name, suffix, found, victims)


def exact_results(golden):
    """(directory of an archive, file with its exact results, relative and absolute tolerance)."""
    cases = [(os.path.dirname(f), f, 1e-9, 1e-12) for f in glob.glob(golden + "/synthetic/*/expected.json")]
    cases += [(os.path.dirname(f), f, 1e-6, 1e-9) for f in glob.glob(golden + "/*/spec.json")]
    if len(cases) < 60:
        sys.exit("only %d exact results below %s" % (len(cases), golden))
    return sorted(cases)


def compare(result, expected, relative, absolute):
    lines = oracle.differences(result["metrics"], expected["metrics"], relative, absolute)
    return lines + ["mpi_only " + l for l in oracle.differences(result["mpi_only"], expected["mpi_only"], relative,
                                                                absolute)]


def chain_faults(result):
    """What a chain shows adds up: parts of waiting to at most the chain's costs, these are at most the cause's; the cause's wait states at
    least one. A first victim without passed-on costs has all of the chain."""
    for model, suffix in (("", ""), (" (wait-first)", "_waitfirst")):
        yield from faults_of(result["root_causes"]["root_causes" + suffix], costs_by_place(result["metrics"], suffix), model)


def costs_by_place(metrics, suffix):
    """(rank, call path): delay costs of all kinds in one model; ranks have one thread each."""
    costs = {}
    for name, metric in metrics.items():
        if name.startswith("delay_") and name.endswith("_waitfirst") == bool(suffix):
            for path, row in metric["callpaths"].items():
                for rank, value in enumerate(row):
                    costs[rank, path] = costs.get((rank, path), 0) + value
    return costs


def faults_of(causes, costs, model):
    largest = sorted((c for c in costs.values() if c > 0), reverse=True)[:50]
    if len(causes) != len(largest) or any(abs(a["cost_s"] - b) > 1e-9 * b + 1e-15 for a, b in zip(causes, largest)):
        yield "causes%s cost %r, the metrics say %r" % (model, [c["cost_s"] for c in causes], largest)
    for cause in causes:
        chain, whole = cause["chain"], cause["chain_cost_s"] * (1 + 1e-9) + 1e-15
        where = "rank %d %s%s" % (cause["rank"], cause.get("callpath"), model)
        if abs(cause["cost_s"] - costs[cause["rank"], cause["callpath"]]) > 1e-9 * cause["cost_s"] + 1e-15:
            yield "%s: costs %r, the metrics say %r" % (where, cause["cost_s"], costs[cause["rank"], cause["callpath"]])
        parts = [victim["cost_s"] for victim in chain]
        if sum(parts) > whole:
            yield "%s: the chain's parts %r are more than its costs %r" % (where, parts, cause["chain_cost_s"])
        if cause["chain_cost_s"] > cause["cost_s"] * (1 + 1e-9) + 1e-15:
            yield "%s: a chain costs %r of %r" % (where, cause["chain_cost_s"], cause["cost_s"])
        for victim in chain:
            if not 0 <= victim["cost_s"] <= victim["waiting_s"] * (1 + 1e-9) + 1e-15:
                yield "%s: %r of waiting %r" % (where, victim["cost_s"], victim["waiting_s"])
        if len(chain) == 1 and chain[0]["kind"] != "other" and abs(parts[0] - cause["chain_cost_s"]) > 1e-9 * whole + 1e-15:
            yield "%s: one victim has %r of the chain's %r" % (where, parts[0], cause["chain_cost_s"])
        if cause["chain_cost_s"] > 0 and not chain:
            yield "%s: no chain" % where


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def finish(failures, checked):
    for line in failures[:50]:
        print(line)
    print("%d checked, %d differences" % (checked, len(failures)))
    return 1 if failures or not checked else 0


def judge_oracle(golden):
    failures, cases = [], exact_results(golden)
    for directory, file, relative, absolute in cases:
        result = oracle.Analysis(oracle.Trace(directory + "/traces.otf2")).result()
        failures += ["%s: %s" % (directory, l) for l in compare(result, load(file), relative, absolute)]
    return finish(failures, len(cases))


def judge_golden(dump, golden, work):
    failures, cases = [], exact_results(golden)
    shutil.rmtree(work, ignore_errors=True)
    copies = []
    for i, (directory, _, _, _) in enumerate(cases):
        copies.append(os.path.join(work, str(i)))
        shutil.copytree(directory, copies[-1], copy_function=shutil.copyfile)
    subprocess.run([dump, "result.json"] + copies, check=True)
    for copy, (directory, file, relative, absolute) in zip(copies, cases):
        result = load(copy + "/result.json")
        name = os.path.basename(directory)
        failures += ["%s: %s" % (name, l) for l in compare(result, load(file), relative, absolute)]
        failures += ["%s: invariant: %s" % (name, l) for l in result["invariants"]["broken"]
                     if name != "npb_cg_s"]  # its clocks are wrong
        failures += ["%s: chain: %s" % (name, l) for l in chain_faults(result)]
        failures += thesis_chain_faults(name, result)
        for (metric, path, rank), values in THESIS.get(name, {}).items():
            for suffix, value in zip(("", "_waitfirst"), values):
                row = result["metrics"][metric + suffix]["callpaths"].get(path, [0] * 3)
                if "%.3f" % row[rank] != value:
                    failures.append("%s: %s%s %s: %.3f, the table has %s" % (name, metric, suffix, path, row[rank], value))
    return finish(failures, len(cases))


def make_random(work, count, skewed_too, first=0):
    """Archives of random programs; every tenth (if asked for) has a wrong clock."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    directories = []
    for seed in range(first, first + count):
        program = random_trace.Program(seed)
        if skewed_too and seed % 10 == 9:
            program.skew()
        directories.append(os.path.join(work, str(seed)))
        program.write(directories[-1])
    return directories


def judge_random(dump, work, count, judged, first):
    directories = make_random(work, count, True, first)
    for i in range(0, count, 250):
        subprocess.run([dump, "result.json"] + directories[i:i + 250], check=True)
    failures, states, indirect = [], 0, 0
    for seed, directory in enumerate(directories, first):
        result = load(directory + "/result.json")
        right_clocks = seed % 10 != 9
        failures += ["%d: %s" % (seed, l) for l in invariants.broken(result, result["wall_time"], right_clocks)]
        if right_clocks:
            failures += ["%d: invariant: %s" % (seed, l) for l in result["invariants"]["broken"]]
        failures += ["%d: chain: %s" % (seed, l) for l in chain_faults(result)]
        states += result["invariants"]["wait_states_with_cause"]
        indirect += result["invariants"]["indirect_wait_states"]
        if seed < first + judged:
            expected = oracle.Analysis(oracle.Trace(directory + "/traces.otf2")).result()
            failures += ["%d: %s" % (seed, l) for l in compare(result, expected, 1e-9, 1e-15)]
        shutil.rmtree(directory)
    print("%d wait states, %.1f %% of them indirect" % (states, 100 * indirect / states))
    if indirect < 0.2 * states:
        failures.append("less than a fifth of the wait states is indirect: the traces are too simple")
    return finish(failures, count)


CIRCLES = 30


def circles():
    """Two pairs of processes whose clocks are wrong: each receives before the other has sent, and waits for it all the time, so that either
    waits because of the other; in between each receives from one of the other pair. All four waits of an iteration are in a circle."""
    yield from ["process 1"] * 4
    yield from ["region 2 1 main", "region 4 1 MPI_Send", "region 4 1 MPI_Recv", "comm 0 1 2 3"]
    for l in range(4):
        yield f"{l} 0 enter 0"
        for t in range(0, 100 * CIRCLES, 100):
            for what in (f"{t + 10 + l} enter 2", f"{t + 50} recv {l ^ 1} 0 3 8", f"{t + 50} leave 2",
                         f"{t + 60 + l} enter 1", f"{t + 60 + l} send {l ^ 1} 0 3 8", f"{t + 62 + l} leave 1",
                         f"{t + 70 + l} enter 2", f"{t + 95} recv {(l + 2) % 4} 0 4 8", f"{t + 95} leave 2",
                         f"{t + 96} enter 1", f"{t + 96} send {(l + 2) % 4} 0 4 8", f"{t + 97} leave 1"):
                yield f"{l} {what}"
        yield f"{l} {100 * CIRCLES} leave 0"


def make_wrong_clocks(work, write_trace):
    """Circles; and intervals with hundreds of waits, to which costs are handed over block by block."""
    traces = {"circles": circles(), "never_synchronised": linear_cost.never_synchronised(200)}
    for name, lines in traces.items():
        subprocess.run([write_trace, os.path.join(work, name)], input="\n".join(lines) + "\n", text=True, check=True)
    return [os.path.join(work, name) for name in traces]


def judge_ranks(dump, work, flavour, count, write_trace):
    directories = make_random(work, count, True) + make_wrong_clocks(work, write_trace)
    subprocess.run([dump, "1.json"] + directories, check=True)
    expected = f"wait states that pass costs on in a circle: {4 * CIRCLES}"
    broken = load(os.path.join(work, "circles", "1.json"))["invariants"]["broken"]
    failures = [] if expected in broken else [f"circles: {broken}, not {expected}"]
    preloaded = [f"LD_PRELOAD={words}" for words in (os.environ.get("LC_PRELOADED_BY_RANKS"),) if words]  # of a build under sanitizers
    for ranks in (2, 3, 8):
        name = "%d.json" % ranks
        words = mpirun(flavour, ranks, "--mca", "mpi_yield_when_idle", "1") + ["env", *preloaded, dump, name] + directories
        subprocess.run(words, check=True)
        failures += ["%s: differs with %d ranks" % (d, ranks) for d in directories
                     if not filecmp.cmp(d + "/1.json", os.path.join(d, name), shallow=False)]
    return finish(failures, 3 * len(directories))


# Of the rank with the most; the buffers of the messages between the ranks are the same on all, and the more the smaller a trace is.
MOST_OF_MEAN = 1.25


def judge_memory(bytes_per_rank, make_trace, work, flavour):
    ranks, failures = 8, []
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run([make_trace, "-r", "16", "-e", "3e5", "-i", "2", work], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run(mpirun(flavour, ranks, "--mca", "mpi_yield_when_idle", "1") + [bytes_per_rank, work], check=True, capture_output=True, text=True)
    result = json.loads(out.stdout)
    print(out.stdout)
    if result["wait_states"] < 5000 or len(result["root_causes_bytes"]) != ranks:
        failures.append("the trace is too simple")
    mean = sum(result["root_causes_bytes"]) / ranks
    failures += ["rank %d has %d bytes, all have %d on the mean" % (r, n, mean) for r, n in enumerate(result["root_causes_bytes"]) if n > MOST_OF_MEAN * mean]
    failures += ["rank %d has %d bytes of root causes and %d of gains, the forecast said %d" % (r, *needs) for r, needs in
                 enumerate(zip(result["root_causes_bytes"], result["gains_bytes"], result["forecast_bytes"])) if not max(needs[:2]) <= needs[2] <= 3 * max(needs[:2])]
    return finish(failures, ranks)


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "oracle":
        return judge_oracle(args[0])
    if what == "golden":
        return judge_golden(*args)
    if what == "random":
        return judge_random(args[0], args[1], *map(int, args[2:4]), int(args[4]) if len(args) > 4 else 0)
    if what == "ranks":
        return judge_ranks(args[0], args[1], args[2], int(args[3]), args[4])
    if what == "memory":
        return judge_memory(*args)
    return 2


if __name__ == "__main__":
    sys.exit(main())
