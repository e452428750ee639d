"""Traces that a table of calls describes, and what `latecomer analyze` finds in them beside what was worked out by hand."""
import json
import math
import os
import subprocess
import sys
import tarfile

from otf2.enums import Paradigm, RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, WRITE_TRACE = sys.argv[1:3]


def paradigm_and_role(name):
    role = {"parallel": RegionRole.PARALLEL, "barrier": RegionRole.BARRIER, "task": RegionRole.TASK, "taskgroup": RegionRole.TASK_WAIT}.get(name)
    return (4, 1) if name.startswith("MPI") else (Paradigm.OPENMP.value, role.value) if role else (2, 1)


def script(*locations, definitions=(), threads=(), ends=()):
    """Per location calls inside of main, in ms: (region, from, to, what happens in it ..), of which each is a call or the text of a
    record, "time record arguments". threads: of each process; workers have no main. ends: of main on each location, 105 if not given."""
    regions, lines = ["main"], []

    def add(location, what):
        if isinstance(what, str):
            lines.append(f"{location} {what}")
            return
        name, begin, end, *inside = what
        if name not in regions:
            regions.append(name)
        lines.append(f"{location} {begin} enter {regions.index(name)}")
        for inner in inside:
            add(location, inner)
        lines.append(f"{location} {end} leave {regions.index(name)}")

    threads = threads or [1] * len(locations)
    masters = {sum(threads[:process]) for process in range(len(threads))}
    for location, calls in enumerate(locations):
        for what in [("main", 0, ends[location] if ends else 105, *calls)] if location in masters else calls:
            add(location, what)
    defined = [f"process {n}" for n in threads] + ["region %d %d %s" % (*paradigm_and_role(name), name) for name in regions]
    return "\n".join([*defined, "comm " + " ".join(map(str, range(len(threads)))), *definitions, *lines]) + "\n"


def rows(n, *places):
    """(call path, rank, ms)"""
    table = {}
    for path, rank, ms in places:
        row = table.setdefault("main/" + path, [0.0] * n)
        row[rank] = float(ms) / 1000
    return table


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def analyse(name, text, tmp, *options):
    archive = f"{tmp}/{name}"
    subprocess.run([WRITE_TRACE, archive], input=text, text=True, check=True, timeout=patience(60))
    run = lambda *args: subprocess.run([LATECOMER, *args], check=True, capture_output=True, text=True, timeout=patience(60)).stdout
    run("-q", "analyze", "-n", "1", *options, "-o", f"{archive}.cubex", archive)
    with tarfile.open(f"{archive}.cubex") as tar:
        causes = json.load(tar.extractfile("root_causes.json"))
    return json.loads(run("show", "--json", f"{archive}.cubex")), causes["root_causes"], lambda: run("show", f"{archive}.cubex")


def has_models(metric):
    return metric.startswith("delay_") or any(f"_wait_{class_}_" in metric for class_ in ("direct", "indirect", "propagating", "terminal"))


def metric_faults(result, expected):
    """expected: {metric: places}, or {metric: {model: places}} where the models differ."""
    n = len(result["locations"])
    for metric, places in expected.items():
        for model in ("", "_waitfirst") if has_models(metric) else ("",):
            wanted = rows(n, *(places[model] if isinstance(places, dict) else places))
            got = result["metrics"].get(metric + model, {}).get("callpaths")
            if got is None or set(got) != set(wanted) or not all(same(a, b) for path in wanted for a, b in zip(got[path], wanted[path])):
                yield f"{metric + model}: {got}, not {wanted}"
