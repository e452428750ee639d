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
import tarfile
import tempfile
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

latecomer, program, flavour = sys.argv[1:4]
PAGE = sys.argv[5] if sys.argv[4:5] == ["--document"] else None
TABLE = [f"{pattern}:{ranks}{way}" for way in ("", ":mpi") for pattern, sizes in (("chain", range(2, 9)), ("ring", (3, 5, 8)), ("stencil", (4, 6, 8)),
         ("wavefront", (4, 6, 8)), ("master", (3, 4, 8)), ("mixed", (4, 8))) for ranks in sizes]
CASES = sys.argv[6 if PAGE else 4:] or TABLE
ROUNDS = 24


def tail(path):
    names = path.split("/")
    return "/".join(names[names.index("main"):] if "main" in names else names)


def is_mpi(path):
    return path.rsplit("/", 1)[-1].startswith("MPI_")


def table(result, member):
    with tarfile.open(f"{result}/profile.cubex") as tar:
        lines = tar.extractfile(member).read().decode().rstrip("\0").splitlines()
    assert all(lines), f"{member}: an empty line"
    head, *rows = [line.split("\t") for line in lines]
    return [dict(zip(head, row)) for row in rows]


def show(*options):
    return json.loads(subprocess.run([latecomer, "show", "--json", *options], check=True, capture_output=True, text=True).stdout)


def of_profile(result, known):
    """Calls that are only counted are not in the trace: what they take is their caller's there."""
    costs = defaultdict(float)
    for row in table(result, "costs.tsv"):
        path = tail(row["late_callpath"])
        while path not in known and "/" in path:
            path = path.rsplit("/", 1)[0]
        costs[int(row["late_rank"]), path] += float(row["seconds"])
    return costs


def of_analysis(analysis):
    costs = defaultdict(float)
    for path, values in analysis["metrics"]["delay_waitfirst"]["callpaths"].items():
        for location, value in zip(analysis["locations"], values):
            costs[location["rank"], tail(path)] += value
    return costs


def check(case, tmp):
    pattern, ranks, *transport = case.split(":")
    result = f"{tmp}/{case.replace(':', '-')}"
    options = ["--transport=mpi"] if transport == ["mpi"] else []
    subprocess.run([*mpirun(flavour, int(ranks)), latecomer, "-q", "run", "--trace", "--sample=off", *options, "-o", result, program, pattern,
                    str(ROUNDS)], check=True, capture_output=True, text=True, timeout=patience(120), env={**os.environ, **virtual_time()})
    subprocess.run([latecomer, "-q", "analyze", "-n", "1", result], check=True, capture_output=True, timeout=patience(120))
    profile = show(result)
    sums, late = profile["meta"]["waiting_costs"], profile["late"]
    unknown = sums["unknown_direct_s"] + sums["unknown_indirect_s"]
    analysis = show("--analysis", result)
    have = of_profile(result, {tail(path) for path in analysis["metrics"]["visits"]["callpaths"]})
    want = of_analysis(analysis)
    waits = sum(want.values())
    worst = max(set(have) | set(want), key=lambda key: abs(have[key] - want[key]))
    print(f"{case}: waits {sums['waits_s']:.4f} s, costs {sums['costs_s']:.4f} s ({sums['direct_s']:.4f} direct, {sums['indirect_s']:.4f} indirect, "
          f"{unknown:.4f} unknown); analysis {waits:.4f} s; largest difference {abs(have[worst] - want[worst]) / waits:.1%} of all waiting: "
          f"rank {worst[0]} in {worst[1]}, {have[worst]:.4f} s, analysis {want[worst]:.4f} s")
    FOUND[case] = (waits, sums["indirect_s"] / sums["costs_s"], unknown / sums["costs_s"], abs(have[worst] - want[worst]) / waits,
                   sum(abs(have[key] - want[key]) for key in set(have) | set(want)) / 2 / waits, f"{worst[0]} in `{worst[1].rsplit('/', 1)[-1]}`")
    if os.environ.get("VERBOSE"):
        for key in sorted(set(have) | set(want), key=lambda key: -max(have[key], want[key]))[:14]:
            print(f"    {key[0]:3} {have[key]:9.4f} {want[key]:9.4f}  {key[1]}")
    if abs(sums["waits_s"] - sums["costs_s"]) > 2e-9:
        yield "costs are not waits"
    parts = sums["direct_s"] + sums["indirect_s"] + unknown
    if any(abs(row["direct_s"] + row["indirect_s"] - row["seconds"]) > 1e-12 for row in late) or abs(sum(row["seconds"] for row in late) - sums["waits_s"]) > 1e-6:
        yield "the rows of `late` are not the waits"
    if abs(parts - sums["costs_s"]) > 4e-9 or abs(sum(have.values()) + unknown - sums["costs_s"]) > 1e-6:
        yield f"the parts are {parts}, the rows {sum(have.values())}"
    if int(ranks) > 2 and sums["indirect_s"] < 0.1 * sums["costs_s"]:
        yield "nothing was passed on"
    if abs(waits - sums["waits_s"]) > 0.05 * waits:
        yield "the analysis finds other waiting"
    if abs(have[worst] - want[worst]) > 0.05 * waits:
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
    for case, (waits, indirect, unknown, worst, wrong, where) in FOUND.items():
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
