#!/usr/bin/python3
"""Findings of runs whose ranks work in different code: partitions that limit, a master that does, ranks without work. Made results with answers by hand,
and golden archives against formulas computed here. Usage: partitions.py LATECOMER MAKE_CUBEX GOLDEN SCRATCH_DIR"""
import json
import math
import os
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)


def run(*args, **environment):
    return output([LATECOMER, *args], 0, **{"COLUMNS": "", **environment})


def findings(file):
    return json.loads(run("show", "--json", file))["findings"]


def profile(name, work, critical, late, meta=None):
    """work: call path -> seconds per rank; what is left until the longest of them all is waiting in a barrier. critical: as work. late: (rank, call
    path, seconds) that others wait for."""
    n = len(next(iter(work.values())))
    own = [sum(row[r] for row in work.values()) for r in range(n)]
    wall = max(own)
    root = meta is None and "main"
    waits = {}
    for r in range(n):
        program = next((path.split("/")[0] for path, row in work.items() if row[r]), "main")
        path = f"{'main' if root else program + '/main'}/MPI_Barrier"
        waits.setdefault(path, [0.0] * n)[r] = wall - own[r]
    time = {"main": [wall] * n, **{path.removesuffix("/(off CPU)"): row for path, row in work.items()}} if root else {}
    content = dict(meta={"program": "made", "ranks": n, "wall_time_s": wall, "complete": True, "cores": [64], **(meta or {})},
                   pop=dict(dialect="clocks", elapsed_s=wall, critical_path_s=wall, parallel_efficiency=sum(own) / n / wall, load_balance=0.9,
                            communication_efficiency=0.9, serialisation_efficiency=0.9, transfer_efficiency=1.0),
                   locations=[dict(rank=r, thread=0) for r in range(n)],
                   metrics={"time": {"callpaths": {**time, **work, **waits}}, "visits": {"callpaths": {path: [1] * n for path in waits}},
                            "mpi_barrier_wait": {"callpaths": waits}, "critical_path_useful": {"callpaths": critical}})
    if not root:  # the inclusive time of the roots
        for path in {p.split("/")[0] for p in work}:
            inside = [p for p in content["metrics"]["time"]["callpaths"] if p.startswith(path + "/")]
            ran = [any(content["metrics"]["time"]["callpaths"][p][r] for p in inside) for r in range(n)]
            content["metrics"]["time"]["callpaths"].update({path: [wall * x for x in ran], f"{path}/main": [wall * x for x in ran]})
    inclusive = content["metrics"]["time"]["callpaths"]
    for path in work:  # of the functions that call those that work
        for parent in (path[:i] for i, char in enumerate(path) if char == "/"):
            if parent not in inclusive:
                inclusive[parent] = [sum(row[r] for inner, row in work.items() if inner.startswith(parent + "/")) for r in range(n)]
    head = "waiting_callpath\tlate_rank\tlate_callpath\tlate_call_site_begin\tlate_call_site_end\tseconds\tshare\n"
    rows = "".join(f"{next(iter(waits))}\t{rank}\t{path}\t\t\t{seconds}\t0.1\n" for rank, path, seconds in late)
    made.make(MAKE, content, f"{name}/profile.cubex", blame_tsv=head + rows)
    return findings(f"{name}/profile.cubex")


def is_close(finding, **wanted):
    for key, value in wanted.items():
        got = finding[key]
        same = math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-12) if isinstance(value, float) and got is not None else got == value
        check(same, f"{finding['kind']}: {key} is {got}, not {value}: {json.dumps(finding, indent=1)}")


def kinds(found):
    return [f["kind"] for f in found]


# Mesh on 2 ranks takes 6 s, particles on 6 ranks 3 s. With 3 and 5 ranks: 4 s and 3.6 s; with 4 and 4: 3 s and 4.5 s. Evenly: 30 s / 8.
SMALL = {"main/mesh": [6.0] * 2 + [0.0] * 6, "main/particles": [0.0] * 2 + [3.0] * 6}
found = profile("small", SMALL, {"main/mesh": [6.0] + [0.0] * 7}, [(0, "main/mesh", 18.0)])
check(kinds(found) == ["partition_limits"], f"a partition that is too small: {found}")
is_close(found[0], severity_s=18.0, share=18.0 / 48, gain_s=2.0, gain_low_s=0.0, gain_high_s=2.25, ranks=[0, 1], n_ranks=2, callpath="main/mesh",
         certainty="measured", gain_by="best number of ranks for each partition, work in each divided as now",
         text="mesh is too small with 2 of 8 ranks: 3 would be best; the other ranks wait 18 s for it (37.5 % of all time)")
check("Give this partition more ranks" in found[0]["advice"], found[0]["advice"])
shown = " ".join(run("show", "small").split())
check("2 s (33 %) mesh is too small with 2 of 8 ranks: 3 would be best; the other ranks wait 18 s for it (37.5 % of all time) main/mesh" in shown, shown)

# Two programs: the same call paths below each; partitions are called as the programs.
PROGRAMS = {"ocean/main/solve": [6.0] * 2 + [0.0] * 6, "air/main/solve": [0.0] * 2 + [3.0] * 6}
found = profile("programs", PROGRAMS, {"ocean/main/solve": [6.0] + [0.0] * 7}, [(0, "ocean/main/solve", 18.0)],
                dict(programs=["ocean", "air"], program_of_rank=[0, 0, 1, 1, 1, 1, 1, 1]))
check(kinds(found) == ["partition_limits"], f"programs: {found}")
is_close(found[0], gain_s=2.0, text="ocean is too small with 2 of 8 ranks: 3 would be best; the other ranks wait 18 s for it (37.5 % of all time)")

# Names come from outside: printable, without parameters, and cut.
for path, told in (("main/" + "\u00fc" * 100, "\u00fc" * 15 + ".." + "\u00fc" * 14), ("main/\x1b[31mred", "\\x1b[31mred"),
                   ("main/Mesh<std::vector<double, long> >::step(int, double)", "Mesh<..>::step")):
    found = profile("outside", {path: SMALL["main/mesh"], "main/particles": SMALL["main/particles"]}, {path: [6.0] + [0.0] * 7}, [(0, path, 18.0)])
    check(found[0]["text"].startswith(f"{told} is too small with 2 of 8 ranks: 3 would be best; "), f"a name from outside: {found[0]['text']!r}, not {told!r}")

# Particles on ranks 2, 3 take 8 and 6 s, mesh 4 s: no other number of ranks helps, shifting work does (22 s / 4); inside, rank 3 waits 2 s for rank 2.
BOTH = {"main/mesh": [4.0, 4.0, 0.0, 0.0], "main/particles": [0.0, 0.0, 8.0, 6.0]}
found = profile("both", BOTH, {"main/particles": [0.0, 0.0, 8.0, 0.0]}, [(2, "main/particles", 10.0)])
check(kinds(found) == ["partition_limits", "late_rank"], f"inside and across: {found}")
is_close(found[0], severity_s=8.0, gain_s=2.5, gain_high_s=2.5, ranks=[2, 3], callpath="main/particles",
         gain_by="work shifted between the partitions until all ranks have the same")
is_close(found[1], severity_s=2.0, gain_s=2.0, ranks=[2], callpath="main/particles", text="rank 2 is late: others wait 2 s for it (6.2 % of all time)")

# A master that works 4 s while three workers have 1 s each: without its work they take 1 s. Then one that is no bottleneck.
# It may sleep instead of computing.
for name, master in ("master", "main/master"), ("asleep", "main/master/(off CPU)"):
    found = profile(name, {master: [4.0, 0.0, 0.0, 0.0], "main/worker": [0.0, 1.0, 1.0, 1.0]}, {master: [4.0, 0.0, 0.0, 0.0]}, [(0, master, 9.0)])
    check(kinds(found) == ["master_limits"], f"a master that limits: {found}")
    is_close(found[0], severity_s=9.0, gain_s=3.0, gain_high_s=3.0, ranks=[0], callpath=master,
             text="rank 0 alone works in master, and the others wait 9 s for it (56.2 % of all time)")
check("give work to the others in larger pieces" in found[0]["advice"], found[0]["advice"])
# The work of a master in several places: the one that is named is not all of it.
PLACES = {f"main/master/{name}": [seconds, 0.0, 0.0, 0.0] for name, seconds in (("read", 2.0), ("write", 1.0), ("sort", 1.0))}
found = profile("places", {**PLACES, "main/worker": [0.0, 1.0, 1.0, 1.0]}, PLACES, [(0, path, 9.0 / 4 * PLACES[path][0]) for path in PLACES])
check(kinds(found) == ["master_limits"], f"a master in several places: {found}")
is_close(found[0], severity_s=9.0, gain_s=3.0, ranks=[0], callpath="main/master/read",
         text="rank 0 alone works, 50 % of it in read, and the others wait 9 s for it (56.2 % of all time)")
found = profile("served", {"main/master": [1.0, 0.0, 0.0, 0.0], "main/worker": [0.0, 4.0, 4.0, 4.0]}, {"main/worker": [0.0, 4.0, 0.0, 0.0]},
                [(1, "main/worker", 3.0)])
check("master_limits" not in kinds(found), f"a master that is no bottleneck: {found}")

# Two of four ranks have no work: spread over all, 4 s are 1 s a rank.
found = profile("idle", {"main/work": [2.0, 2.0, 0.0, 0.0]}, {"main/work": [2.0, 0.0, 0.0, 0.0]}, [(0, "main/work", 4.0)])
idle = [f for f in found if f["kind"] == "no_work"]
check(len(idle) == 1, f"ranks without work: {found}")
is_close(idle[0], severity_s=4.0, gain_s=1.0, gain_high_s=1.0, ranks=[2, 3], n_ranks=2, text="no work for ranks 2 and 3: 4 s of waiting (50.0 % of all time)")

# Work that all have in common, and something of one rank's own beside it: no partitions.
found = profile("common", {"main/work": [1.0] * 4, "main/output": [1.0, 0.0, 0.0, 0.0]}, {"main/work": [1.0, 0, 0, 0], "main/output": [1.0, 0, 0, 0]},
                [(0, "main/output", 3.0)])
check(kinds(found) == ["late_rank"], f"one program: {found}")

# The golden archives: 8 s of 10 s across the partitions; where particles limit in the first half and the mesh in the second, both are told.
run("-q", "analyze", "-n", "1", "-o", "two.cubex", f"{GOLDEN}/synthetic/mpmd_partitions")
found = findings("two.cubex")
check(kinds(found) == ["partition_limits", "late_rank"], f"mpmd_partitions: {found}")
is_close(found[0], severity_s=8.0, gain_s=2.5, ranks=[2, 3], callpath="main/particles", certainty="exact from trace")
is_close(found[1], severity_s=2.0, gain_s=2.0, ranks=[2], callpath="main/particles")
run("-q", "analyze", "-n", "1", "-o", "mpmd.cubex", f"{GOLDEN}/mpmd")
found = {f["callpath"].split("/")[-1]: f for f in findings("mpmd.cubex")}
metrics = json.loads(run("show", "--json", "mpmd.cubex"))["metrics"]


def total(metric, path):
    return sum(sum(values) for name, values in metrics[metric]["callpaths"].items() if path in name)


def waiting(ranks):
    """All waiting of these ranks: nobody waits longer for one partition."""
    kinds_of_waits = ("mpi_latesender", "mpi_wait_nxn", "mpi_mgmt_comm_wait", "mpi_finalize_wait")
    return sum(values[r] for kind in kinds_of_waits for values in metrics[kind]["callpaths"].values() for r in ranks)


check(set(found) == {"mesh_transform", "particle_forces"} and set(kinds(found.values())) == {"partition_limits"}, f"mpmd: {found}")
mesh = total("critical_path", "/mesh_transform")
# On two of the particle ranks the time before main is 5 % of their work and more.
particles = total("critical_path", "/particle_forces") + total("critical_path", "/particle_move") + sum(metrics["critical_path"]["callpaths"]["mpmd"])
is_close(found["mesh_transform"], severity_s=min(total("inter_partition_imbalance", "mesh_partition"), waiting([1, 2, 3, 5, 6, 7])), ranks=[0, 4], gain_s=mesh + particles - (mesh * 2 / 3 + particles * 6 / 5))
is_close(found["particle_forces"], severity_s=min(total("inter_partition_imbalance", "particle_partition"), waiting([0, 4])), ranks=[1, 2, 3, 5, 6, 7])
check(found["mesh_transform"]["text"].startswith("mesh_transform is too small with 2 of 8 ranks: 3 would be best; "), found["mesh_transform"]["text"])
check(found["particle_forces"]["text"].startswith("particle_forces limits the run at times with 6 of 8 ranks; "), found["particle_forces"]["text"])
print("partitions: ok")
