"""Usual patterns (logged_patterns.c) under the tool, judged by the log that the program writes of itself: factors in all dialects, waits per call path,
who was late, the critical path by region, predictions for every region. Usage: logged_patterns.py LATECOMER PROGRAM FLAVOUR PATTERN:RANKS.."""
import os
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import constructed_waits as constructed  # noqa: E402
import launch  # noqa: E402

MODES = {"shm": {"LATECOMER_TRANSPORT": "shm"}, "mpi": {"LATECOMER_TRANSPORT": "mpi"}, "mixed": {"LATECOMER_TEST_NODES": 2}}
EXACT = 1e-5  # seconds: virtual time
# Seconds, on the simulated MPI: what the tool does at the end of a call over records is the program's work to it (docs/clocks.md), and the call's in the log.
OWN_WORK = 1e-6
REGIONS = {"pipeline": ["stage"], "wavefront": ["cell"], "shift": ["slow", "fast"], "tree": ["leaf", "combine"], "master": ["book", "job", "tidy"],
           "stencil": ["border", "inner", "meanwhile"], "overlap": ["late", "early", "between", "behind"], "grid": ["split", "row", "column"],
           "fences": ["before", "epoch", "after"], "prefix": ["part"], "rooted": ["root", "member", "all"], "handshake": ["short", "then", "long"],
           "large": ["slow", "fast", "between"], "others": ["piece", "behind"], "steps": ["most", "least"]}


def scenarios(pattern):
    names = REGIONS[pattern][:4]
    return [{name: 0.5} for name in names] + [{names[0]: 3.0}]


def factors(found, label, judge, result, useful, chain, elapsed, node):
    """All dialects. node: of each rank."""
    pop, size = result["pop"], len(useful)
    late = pop["critical_path_error_s"] / chain  # what the result says of itself
    mean, most = sum(useful) / size, max(useful)
    wanted = {"load_balance": mean / most, "serialisation_efficiency": most / chain, "transfer_efficiency": chain / elapsed,
              "communication_efficiency": most / elapsed, "parallel_efficiency": mean / elapsed}
    add = {"load_balance": 1 - (most - mean) / elapsed, "serialisation_efficiency": 1 - (chain - most) / elapsed, "transfer_efficiency": chain / elapsed,
           "communication_efficiency": most / elapsed, "parallel_efficiency": mean / elapsed}
    inside = judge.inside
    nodes = [[m for m, n in zip(inside, node) if n == which] for which in sorted(set(node))]
    least = min(sum(n) / len(n) for n in nodes)
    talp = {"communication_efficiency": (elapsed - min(inside)) / elapsed, "load_balance_in": (elapsed - least) / (elapsed - min(inside)),
            "load_balance_out": (elapsed - sum(inside) / size) / (elapsed - least), "parallel_efficiency": (elapsed - sum(inside) / size) / elapsed}
    for dialect, is_value, values in (("clocks", pop, wanted), ("additive", pop["dialects"]["additive"], add), ("talp", pop["dialects"]["talp"], talp)):
        for name, value in values.items():
            constructed.near(found, f"{label} {dialect} {name}", is_value[name], value, judge.exact / elapsed + late)
    for name, value in wanted.items():
        constructed.near(found, f"{label} mpi {name}", pop["mpi"][name], value, judge.exact / elapsed + late)
    constructed.near(found, f"{label} identities", pop["identity_error"], 0, 1e-9)


def paths(found, label, judge, result, useful, chain, elapsed):
    """Critical paths by scope and what counts; without threads those of a process are the work of its rank."""
    slack = judge.exact + result["pop"]["critical_path_error_s"]
    told = {(p["scope"], p["counts"]): p for p in result["pop"]["paths"]}
    wanted = {("global", "useful"): chain, ("process", "useful"): max(useful), ("thread", "useful"): max(useful), ("process", "outside MPI"): max(useful)}
    for key, value in wanted.items():
        constructed.near(found, f"{label} {key}", told[key]["length_s"], value, slack)
        if key[0] != "global":
            constructed.near(found, f"{label} work of the rank of {key}", useful[told[key]["rank"]], value, slack)
    outside = told["global", "outside OpenMP"]["length_s"]
    if not chain - slack <= outside <= elapsed + slack:
        found.append(f"{label} outside OpenMP: {outside:.6f}, critical path {chain:.6f}, run {elapsed:.6f}")
    if any(p["thread"] != 0 for p in told.values()):
        found.append(f"{label} paths end in threads that are not there: {told}")


def waits(found, label, judge, result, elapsed, skew):
    measured = defaultdict(float)
    for metric in constructed.KINDS:
        for callpath, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
            for rank, value in enumerate(values):
                measured[rank, callpath, metric] += value
    for key in set(measured) | set(judge.waits):
        constructed.near(found, f"{label} {key}", measured.get(key, 0), judge.waits.get(key, 0), judge.exact + 2 * skew)


def blame(found, label, judge, directory, elapsed):
    """Rows of the blame table against what each rank cost each waiting call path; the named code is a region of the program."""
    told = defaultdict(float)
    with tarfile.open(directory / "profile.cubex") as archive:
        waited = "blame.tsv" in archive.getnames()
        rows = archive.extractfile("blame.tsv").read().decode().splitlines() if waited else [""]
    columns = rows[0].split("\t")
    for row in rows[1:]:
        cells = dict(zip(columns, row.split("\t")))
        if cells["waiting_callpath"].endswith("MPI_Finalize"):  # the programs' logs end before
            continue
        told[cells["waiting_callpath"], int(cells["late_rank"])] += float(cells["seconds"])
    for key in set(told) | set(judge.blame):
        constructed.near(found, f"{label} blame {key}", told.get(key, 0), judge.blame.get(key, 0), judge.exact)


def path_by_region(found, label, judge, pattern, result, chain):
    told = defaultdict(float)
    for callpath, values in result["metrics"]["critical_path_useful"]["callpaths"].items():
        told[callpath.split("/")[-1]] += sum(values)
    wanted = judge.path()
    for name in REGIONS[pattern]:
        constructed.near(found, f"{label} critical path in {name}", told[name], wanted[name], judge.exact + 2 * result["pop"]["critical_path_error_s"])


def predictions(found, label, judge, log, ranks, program, pattern, pop, elapsed):
    for scale, told in zip(scenarios(pattern), pop["what_if"]):
        _, chain, _ = constructed.Judge(log, ranks, program, pattern, scale).result()
        constructed.near(found, f"{label} what if {told['spec']}", told["critical_path_s"], chain, judge.exact * max(1, *scale.values()) + told["error_s"])
        constructed.near(found, f"{label} what if {told['spec']}: run time", told["predicted_s"], chain + elapsed - pop["critical_path_s"],
                         judge.exact * max(1, *scale.values()) + told["error_s"])
        constructed.near(found, f"{label} what if {told['spec']}: edges lost", told["edges_lost"], 0, 0)


def check(work, program, pattern, ranks, mode):
    label, log, found = f"{pattern} {ranks} {work.flavour} {mode}", work.root / f"own-{pattern}-{ranks}-{mode}", []
    directory = f"exp-{pattern}-{ranks}-{mode}"
    words = ";".join(",".join(f"{n}={f}" for n, f in s.items()) for s in scenarios(pattern))
    launch.shutil.rmtree(work.root / directory, ignore_errors=True)
    done = work.run(work.launcher(ranks) + work.tool(directory=directory) + [program, pattern],
                    env=work.environment(PATTERN_LOG=log, LATECOMER_SAMPLE="off", LATECOMER_WHAT_IF=words, **MODES[mode]))
    if done.status != 0:
        return [f"{label}: status {done.status}\n{done.out[-500:]}{done.err[-1500:]}"]
    result = work.show(directory=directory)
    judge = constructed.Judge(log, ranks, program, pattern)
    useful, chain, elapsed = judge.result()
    most = max(len(calls) for _, _, calls in judge.ranks)
    judge.exact = EXACT if not work.simulated else constructed.EXACT + (OWN_WORK * most if mode != "shm" else 0)
    nodes = [r * 2 // ranks for r in range(ranks)] if mode == "mixed" else [0] * ranks
    factors(found, label, judge, result, useful, chain, elapsed, nodes)
    paths(found, label, judge, result, useful, chain, elapsed)
    constructed.near(found, f"{label} critical path", result["pop"]["critical_path_s"], chain, judge.exact + result["pop"]["critical_path_error_s"])
    waits(found, label, judge, result, elapsed, result["meta"]["clock_sync"]["error_s"] if mode == "mixed" else 0)
    blame(found, label, judge, work.root / directory, elapsed)
    path_by_region(found, label, judge, pattern, result, chain)
    predictions(found, label, judge, log, ranks, program, pattern, result["pop"], elapsed)
    meta = result["meta"]
    if meta["messages_matched"] != meta["messages_total"]:
        found.append(f"{label}: {meta['messages_matched']} of {meta['messages_total']} messages matched")
    print(f"{label}: {elapsed:.3f} s, {len(judge.waits)} waits of {sum(judge.waits.values()):.3f} s, "
          + ", ".join(f"{k} {result['pop'][k]:.4f}" for k in ("load_balance", "serialisation_efficiency", "transfer_efficiency"))
          + f", late edges {meta['piggyback']['edges_late']}: {result['pop']['critical_path_error_s']:.4f} s", flush=True)
    return found


def main():
    latecomer, program, flavour, *runs = sys.argv[1:]
    found = []
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=True) as work:
        for run in runs:
            pattern, ranks, *modes = run.split(":")
            for mode in modes or MODES:
                found += check(work, os.path.abspath(program), pattern, int(ranks), mode)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
