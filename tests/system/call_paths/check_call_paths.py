"""Runs a program of this directory under `latecomer run` and checks the result.

check_call_paths.py LATECOMER FLAVOUR CHECK PROGRAM [ARGS..]   CHECK: a key of CHECKS
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

EXACT = 1e-5  # seconds, in virtual time
READ_S = 1e-6  # that a reading of the clock takes (clock_of_reads.c)


def run(latecomer, flavour, command, extra, scratch):
    out = os.path.join(scratch, "result")
    line = [*mpirun(flavour, 1), latecomer, "run", "-o", out, "--", *command]
    extra = extra() if callable(extra) else extra
    done = subprocess.run(line, env={**os.environ, **extra}, text=True, capture_output=True, timeout=patience(240), check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    shown = subprocess.run([latecomer, "show", "--json", out], text=True, capture_output=True, timeout=patience(60), check=True)
    result = json.loads(shown.stdout)
    result["text"] = subprocess.run([latecomer, "show", "--full", out], text=True, capture_output=True, timeout=patience(60), check=True).stdout
    return done.stdout, result


def visits_of(result):
    """Calls per MPI function, over all call paths and locations."""
    counts = {}
    for path, values in result["metrics"]["visits"]["callpaths"].items():
        name = path.rsplit("/", 1)[-1]
        counts[name] = counts.get(name, 0) + sum(values)
    return counts


class Wrong(Exception):
    """A check failed."""


def expect(ok, what):
    if not ok:
        raise Wrong(what)


def check_counts(output, result):
    counts = visits_of(result)
    wanted = [line.split() for line in output.splitlines() if line.startswith("MPI_")]
    expect(wanted, "the program printed no counts")
    for name, number in wanted:
        expect(counts.get(name) == int(number), f"{name}: {counts.get(name)} counted, {number} made")
    expect(result["meta"]["coverage"]["calls_lost"] == 0, "calls were lost")


def output_count(output, name):
    return next(int(line.split()[1]) for line in output.splitlines() if line.startswith(name + " "))


def check_stacks(output, result):
    check_counts(output, result)
    paths = result["meta"]["callpath"]
    calls = int(output.split()[1])
    expect(paths["checked"] >= calls, f"only {paths['checked']} of {calls} paths were checked")
    expect(paths["frames_checked"] >= 3 * calls, f"only {paths['frames_checked']} frames of {calls} paths were compared with libunwind")
    expect(paths["wrong"] == 0, f"{paths['wrong']} of {paths['checked']} paths are wrong")


def exclusive_times(result):
    """Seconds of each call path without its children."""
    total = {p: sum(v) for p, v in result["metrics"]["time"]["callpaths"].items()}
    own = dict(total)
    for path, value in total.items():
        parent = path.rpartition("/")[0]
        if parent:
            own[parent] = own.get(parent, 0) - value
    return own


def check_code(output, result):
    own = exclusive_times(result)
    wanted = {line.split()[0]: float(line.split()[1]) for line in output.splitlines()}
    rest = wanted.pop("off") + wanted.pop("before")
    others = wanted.pop("rest") # time of the program that was no nap
    for path, seconds in wanted.items():
        if path == "main":  # the time while off, before the first call and our own work are the root's, shown with main
            expect(own[path] >= seconds + rest - EXACT, f"{path}: {own[path]} s, at least {seconds + rest} s were spent")
            continue
        have = own.get(path, 0.0)
        expect(seconds - EXACT <= have <= seconds + others + EXACT, f"{path}: {have} s, {seconds} s were spent, {others} s elsewhere")
    visits = {p: sum(v) for p, v in result["metrics"]["visits"]["callpaths"].items()}
    for path in ("main/with_region/phase", "main/with_region/phase/inner"):
        if path in wanted:
            expect(visits.get(path) == 2, f"{path}: {visits.get(path)} visits")
    off_calls = visits_of(result)["MPI_Barrier"]
    expect(off_calls == 2 + 7 + 2 + 1 + 1, f"MPI_Barrier: {off_calls} calls counted, 13 were made while measurement was on")
    expect(result["meta"]["coverage"]["switches"] == 2, "switches")


def check_stripped(output, result):
    """Threads of a stripped program: their start function is not main, which only the first thread runs."""
    check_counts(output, result)
    threads = [location["thread"] for location in result["locations"]]
    for path, values in result["metrics"]["visits"]["callpaths"].items():
        first = {thread == 0 for thread, value in zip(threads, values) if value}
        expect(not first or first == {path.startswith("main/")}, f"{path}: visited by {values}")


def check_data(output, result):
    """A register that only looks like a frame pointer makes no new call paths."""
    check_counts(output, result)
    unwinds = result["meta"]["callpath"]["unwinds"]
    expect(unwinds < 20, f"{unwinds} stacks were unwound for one call path")


NO_ROOM = "call paths did not fit into memory"


def check_recycled(output, result):
    """More call paths than memory: they come back, cost time, and the result says so."""
    check_counts(output, result)
    paths = result["meta"]["callpath"]
    expect(paths["recycled"] > 10000, f"recycled: {paths['recycled']}")
    expect(paths["made_again"] > 10000, f"made again: {paths['made_again']}")
    expect(paths["made_again_s"] > 0, "forgotten call paths were unwound again in no time")
    expect(NO_ROOM in result["text"], "no warning, though call paths did not fit into memory")


def check_kept(output, result):
    """As many as fit are unwound once."""
    check_counts(output, result)
    paths = result["meta"]["callpath"]
    expect(paths["recycled"] == 0 and paths["unwinds"] < 1100, f"call paths: {paths}")
    expect(NO_ROOM not in result["text"], "warns of memory, though all call paths fit")


MANY = "main/.../shared/MPI_Wtime"
SPREAD = {f"main/spread/{way}/shared/MPI_Wtime" for way in ("first", "second", "third")}


def check_full(output, result):
    """Within the budget, or without one: all call paths."""
    check_counts(output, result)
    expect("reduced" not in result["meta"]["overhead"], f"reduced: {result['meta']['overhead']}")
    visits = {p: sum(v) for p, v in result["metrics"]["visits"]["callpaths"].items() if p.endswith("/MPI_Wtime")}
    total = sum(visits.values())
    expect(set(visits) == SPREAD, f"call paths of MPI_Wtime: {visits}")
    expect(visits["main/spread/first/shared/MPI_Wtime"] * 2 == total, f"visits: {visits}")
    expect("--max-overhead" not in result["text"], "says that something was left out")


def check_budget(output, result):
    """Above the budget: every call is still counted, what was left out is said, and it cost less. By a clock that only stamps of the tool move, so
    shares are the same on any machine."""
    check_counts(output, result)
    overhead = result["meta"]["overhead"]
    expect(abs(overhead["budget"] - 0.01) < 1e-9, f"budget: {overhead}")
    steps = {(step["function"], step["how"]) for step in overhead["reduced"]}
    expect(steps == {("MPI_Wtime", "counted"), ("MPI_Comm_rank", "counted")}, f"steps: {overhead['reduced']}")
    calls = result["meta"]["coverage"]["calls"]
    # two of three calls, from where the budget is used up
    print(f"counted only: {overhead['calls_counted_only']} of {calls}")
    expect(0.3 * calls < overhead["calls_counted_only"] < 2 / 3 * calls, f"counted only: {overhead['calls_counted_only']} of {calls}")
    for step in overhead["reduced"]:
        expect(step["call_sites"] == 1 and step["ranks"] == 1 and step["text"] in " ".join(result["text"].split()), f"not said: {step}")
    expect("the tool itself took" in result["text"], "more than the budget, and nothing says so")
    visits = {p: sum(v) for p, v in result["metrics"]["visits"]["callpaths"].items()}
    paths = {path for path in visits if path.endswith("/MPI_Wtime")}
    expect(paths == {MANY} | SPREAD, f"call paths of MPI_Wtime: {paths}")
    print(f"MPI_Wtime: {visits[MANY]} of {output_count(output, 'MPI_Wtime')} counted where all call paths are one")
    expect(visits[MANY] > 0.5 * output_count(output, "MPI_Wtime"), f"{MANY}: {visits[MANY]} visits")
    paths = {path for path in visits if path.endswith("/MPI_Sendrecv")}
    expect(paths == {path.replace("MPI_Wtime", "MPI_Sendrecv") for path in SPREAD}, f"call paths of MPI_Sendrecv: {paths}")


def check_own(output, result):
    """The tool's own work at the ends of calls is no work of the program: by a clock that only stamps of the tool move, the program between two
    calls takes no time, in the profile and in the clocks, and no time is lost by it."""
    check_counts(output, result)
    pop, calls = result["pop"], result["meta"]["coverage"]["calls"]
    useful_s = pop["parallel_efficiency"] * pop["elapsed_s"]
    booked_s = sum(seconds for path, seconds in exclusive_times(result).items() if "/MPI_" not in path)
    print(f"of {calls} calls and {pop['elapsed_s']} s useful: {useful_s} s, outside of MPI: {booked_s} s")
    expect(calls > 100000 and pop["elapsed_s"] > calls * READ_S, f"{calls} calls in {pop['elapsed_s']} s")
    for seconds in (useful_s, booked_s):
        expect(seconds < 0.05 * calls * READ_S, f"{seconds} s of the program, with {calls} calls")


def check_beyond(output, result):
    """Where the path of MPI_Finalize cannot be kept, finding out there what a call costs unwinds no stack that the program's calls did not: that
    would be told as what the run lost, and findings that are worth less would not be told."""
    check_counts(output, result)
    paths, calls = result["meta"]["callpath"], result["meta"]["coverage"]["calls"]
    expect(paths["uncacheable"] >= 20, f"{paths['uncacheable']} paths were not kept")
    expect(paths["unwinds"] <= calls + 5, f"{paths['unwinds']} stacks unwound in {calls} calls")


def check_polls(output, result):
    """Of polls above the budget some are timed: all are counted, where the program made them, and MPI says what it says to the bare program."""
    check_counts(output, result)
    flavour, command = sys.argv[2], sys.argv[4:]
    bare = subprocess.run([*mpirun(flavour, 1), *command], text=True, capture_output=True, timeout=patience(240), check=True).stdout
    gave, wanted = ([line for line in text.splitlines() if line.startswith("gave")] for text in (output, bare))
    expect(gave == wanted and len(gave) == 1, f"the program got {gave}, bare {wanted}")
    steps = {(step["function"], step["how"]) for step in result["meta"]["overhead"]["reduced"]}
    polls = {(name, "some") for name in ("MPI_Test", "MPI_Iprobe", "MPI_Request_get_status")}
    expect(steps >= polls, f"steps: {steps}")
    counted, calls = result["meta"]["overhead"]["calls_counted_only"], result["meta"]["coverage"]["calls"]
    print(f"not timed: {counted} of {calls}")
    expect(counted > 0.2 * calls, f"not timed: {counted} of {calls}")
    visits = {path: sum(values) for path, values in result["metrics"]["visits"]["callpaths"].items()}
    rounds, in_vain = int(command[1]), 10
    for path, n in (("main/cancelled/in_vain/test/MPI_Test", in_vain), ("main/message/in_vain/test/MPI_Test", in_vain), ("main/message/look/MPI_Iprobe", in_vain),
                    ("main/nothing/to_the_end/test/MPI_Test", 1), ("main/again/in_vain/test/MPI_Test", in_vain)):
        expect(visits.get(path) == n * rounds, f"{path}: {visits.get(path)} of {n * rounds} visits, {visits}")


def check_polls_beside_openmp(output, result):
    """Polls that are not timed end before an event of OpenMP: no time is useful twice."""
    check_counts(output, result)
    steps = {(step.get("function"), step["how"]) for step in result["meta"]["overhead"]["reduced"]}
    expect(("MPI_Iprobe", "some") in steps, f"steps: {steps}")
    pop = result["pop"]
    print(f"parallel efficiency {pop['parallel_efficiency']}, identity error {pop['identity_error']}")
    expect(pop["parallel_efficiency"] <= 1, f"parallel efficiency {pop['parallel_efficiency']}")
    expect(pop["identity_error"] < 1e-9, f"identity error {pop['identity_error']}")


def own_of_reads():
    return {"LATECOMER_MAX_OVERHEAD": "off", **enough_of_reads()}


def budget_of_reads():
    """The library is the last argument, which the program does not look at."""
    return {"LATECOMER_MAX_OVERHEAD": "1%", **enough_of_reads()}


def enough_of_reads():
    """6,000 calls: some 20 ms of the 50 that a short run may cost."""
    preloaded = " ".join(filter(None, (os.environ.get("LD_PRELOAD"), os.path.abspath(sys.argv[-1]))))
    return {"LATECOMER_CLOCK": "monotonic", "LATECOMER_SAMPLE": "off", "LD_PRELOAD": preloaded}


CHECKS = {"data": (check_data, {}), "recycled": (check_recycled, {"LATECOMER_MAX_OVERHEAD": "off"}),
          "kept": (check_kept, {"LATECOMER_MAX_OVERHEAD": "off"}), "full": (check_full, {"LATECOMER_MAX_OVERHEAD": "off"}),
          "enough": (check_full, enough_of_reads), "budget": (check_budget, budget_of_reads),
          "polls": (check_polls, budget_of_reads), "polls_beside_openmp": (check_polls_beside_openmp, budget_of_reads),
          "own": (check_own, own_of_reads), "beyond": (check_beyond, {"LATECOMER_MAX_OVERHEAD": "off"}),
          "stripped": (check_stripped, {}), "stacks": (check_stacks, {"LATECOMER_CHECK_PATHS": "1"}), "threads": (check_counts, {}), "code": (check_code, virtual_time)}


def main():
    latecomer, flavour, name, *command = sys.argv[1:]
    check, extra = CHECKS[name]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            check(*run(latecomer, flavour, command, extra, scratch))
        except Wrong as wrong:
            sys.exit(f"wrong: {wrong}")


if __name__ == "__main__":
    main()
