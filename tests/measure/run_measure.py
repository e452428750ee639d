"""Runs a program of this directory under `latecomer run` and checks the result.

run_measure.py LATECOMER FLAVOUR CHECK PROGRAM [ARGS..]   CHECK: torture, threads, code, functions
"""
import json
import os
import subprocess
import sys
import tempfile


def run(latecomer, flavour, command, extra, scratch):
    launcher = ["mpirun.mpich", "-n", "1"]
    if flavour == "openmpi":
        launcher = ["mpirun.openmpi", "--oversubscribe", "-n", "1"]
        if os.geteuid() == 0:
            launcher.insert(1, "--allow-run-as-root")
    out = os.path.join(scratch, "result")
    line = [*launcher, latecomer, "run", "-o", out, "--", *command]
    done = subprocess.run(line, env={**os.environ, **extra}, text=True, capture_output=True, timeout=240, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    shown = subprocess.run([latecomer, "show", "--json", out], text=True, capture_output=True, timeout=60, check=True)
    return done.stdout, json.loads(shown.stdout)


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


def check_torture(output, result):
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
            expect(own[path] >= seconds + rest - 1e-3, f"{path}: {own[path]} s, at least {seconds + rest} s were spent")
            continue
        have = own.get(path, 0.0)
        expect(seconds - 1e-4 <= have <= seconds + others + 1e-4, f"{path}: {have} s, {seconds} s were spent, {others} s elsewhere")
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


CHECKS = {"stripped": (check_stripped, {}), "torture": (check_torture, {"LATECOMER_CHECK_PATHS": "1"}), "threads": (check_counts, {}), "code": (check_code, {})}


def main():
    latecomer, flavour, name, *command = sys.argv[1:]
    check, extra = CHECKS[name]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            check(*run(latecomer, flavour, command, extra, scratch))
        except Wrong as wrong:
            sys.exit(f"wrong: {wrong}")


main()
