#!/usr/bin/env python3
"""Cost of waiting goes to where it began, while the program runs: against the analysis of the trace of the same run, in virtual time.

inherited_waits.py LATECOMER PROGRAM openmpi|mpich [--document PAGE] [PATTERN:RANKS[:mpi]..]
- per cause (rank and call path of code), the costs of the profile are the delay costs (wait-first) of `analyze` within 5 % of all
  waiting; with :mpi the clocks travel by messages;
- the costs add up to all waiting, in the sums that the result prints and in its table.
--document: rows of the table in PAGE (docs/clocks.md) take what was found, and rows that are not there yet are put in; without cases, all of TABLE.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("programs", "analysis")]
from cost_rows import Apart  # noqa: E402
from launch import virtual_time  # noqa: E402

latecomer, program, flavour = sys.argv[1:4]
PAGE = sys.argv[5] if sys.argv[4:5] == ["--document"] else None
TABLE = [f"{pattern}:{ranks}{way}" for way in ("", ":mpi") for pattern, sizes in (("chain", range(2, 9)), ("ring", (3, 5, 8)), ("stencil", (4, 6, 8)),
         ("wavefront", (4, 6, 8)), ("master", (3, 4, 8)), ("mixed", (4, 8)), ("threads", (3, 6))) for ranks in sizes
         if (pattern, way) != ("threads", ":mpi")]
CASES = sys.argv[6 if PAGE else 4:] or TABLE
ROUNDS = 24


def show(*options):
    return json.loads(subprocess.run([latecomer, "show", "--json", *options], check=True, capture_output=True, text=True).stdout)


def check(case, tmp):
    pattern, ranks, *transport = case.split(":")
    result = f"{tmp}/{case.replace(':', '-')}"
    options = ["--transport=mpi"] if transport == ["mpi"] else []
    subprocess.run([*mpirun(flavour, int(ranks)), latecomer, "-q", "run", "--trace", "--sample=off", *options, "-o", result, program, pattern,
                    str(ROUNDS)], check=True, capture_output=True, text=True, timeout=patience(120), env={**os.environ, **virtual_time()})
    subprocess.run([latecomer, "-q", "analyze", "-n", "1", result], check=True, capture_output=True, timeout=patience(120))
    profile = show(result)
    apart, late = Apart(result, profile, show("--analysis", result)), profile["late"]
    sums, unknown, worst = apart.sums, apart.unknown, apart.worst
    print(f"{case}: {apart.text()}")
    FOUND[case] = (sums["indirect_s"] / sums["costs_s"], unknown / sums["costs_s"], apart.off(worst), apart.in_wrong_rows(),
                   f"{worst[0]} in `{worst[1].rsplit('/', 1)[-1]}`")
    if os.environ.get("VERBOSE"):
        print(apart.rows())
    if abs(sums["waits_s"] - sums["costs_s"]) > 2e-9:
        yield "costs are not waits"
    parts = sums["direct_s"] + sums["indirect_s"] + unknown
    if any(abs(row["direct_s"] + row["indirect_s"] - row["seconds"]) > 1e-12 for row in late) or abs(sum(row["seconds"] for row in late) - sums["waits_s"]) > 1e-6:
        yield "the rows of `late` are not the waits"
    if abs(parts - sums["costs_s"]) > 4e-9 or abs(sum(apart.have.values()) + unknown - sums["costs_s"]) > 1e-6:
        yield f"the parts are {parts}, the rows {sum(apart.have.values())}"
    if int(ranks) > 2 and sums["indirect_s"] < 0.1 * sums["costs_s"]:
        yield "nothing was passed on"
    if abs(apart.waits - sums["waits_s"]) > 0.05 * apart.waits:
        yield "the analysis finds other waiting"
    if apart.off(worst) > 0.05:
        yield "differs from the analysis"


def key_of(case):
    pattern, ranks, *way = case.split(":")
    return pattern, int(ranks), "messages" if way else "memory"


def document():
    """| pattern | ranks | clocks by | then five columns of each MPI."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    begin = text.index("| pattern | ranks | clocks by |")
    end = text.index("\n\n", begin)
    head, rows = text[begin:end].split("\n")[:2], {}
    for line in text[begin:end].split("\n")[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0], int(cells[1]), cells[2]] = cells[3:]
    place = 0 if flavour == "openmpi" else 4
    for case, (indirect, unknown, worst, wrong, where) in FOUND.items():
        row = rows.setdefault(key_of(case), ["-"] * 8)
        row[place:place + 4] = [f"{100 * indirect:.1f}", f"{100 * unknown:.1f}", f"{100 * worst:.1f} {where}" if worst >= 0.0005 else "0.0", f"{100 * wrong:.1f}"]
    order = {key_of(case): i for i, case in enumerate(TABLE)}
    lines = [" ".join(["|", " | ".join(map(str, (*key, *row))), "|"]) for key, row in sorted(rows.items(), key=lambda item: order.get(item[0], len(order)))]
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(text[:begin] + "\n".join([*head, *lines]) + text[end:])


FOUND = {}
bad = 0
with tempfile.TemporaryDirectory() as directory:
    for name in CASES:
        for what in check(name, directory):
            bad += 1
            print(f"{name}: {what}")
if PAGE:
    document()
print(f"{len(CASES)} cases, {bad} faults")
sys.exit(bad > 0)
