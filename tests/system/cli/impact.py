#!/usr/bin/python3
"""Performance impact of call paths, and their times beside the critical path: `show --only impact` and `impact` in JSON, against values worked out by
hand. Usage: impact.py LATECOMER MAKE_CUBEX GOLDEN SCRATCH_DIR"""
import json
import math
import os
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)


def run(*args, **environment):
    return output([LATECOMER, *args], 0, **{"COLUMNS": "120", **environment})


def impacts(file):
    rows = json.loads(run("show", "--json", file))["impact"]
    check(rows == sorted(rows, key=lambda row: -row["impact_s"]), f"largest first: {rows}")
    check(math.isclose(sum(row["share"] for row in rows), 1.0), "shares add up to 1")
    return {row["callpath"]: row for row in rows}


def is_close(row, **wanted):
    for key, value in wanted.items():
        check(math.isclose(row[key], value, rel_tol=1e-9, abs_tol=1e-9), f"{row['callpath']}: {key} is {row[key]}, not {value}")


# Table I of the paper, on four ranks. Each takes less on every rank than on the path.
OWN = {"main/tree_walk": [14.44, 14.58, 14.58, 16.68], "main/sum_force": [20.15, 20.6, 20.6, 21.17]}
ON_PATH = {"main/tree_walk": [0.0, 20.78, 0.0, 0.0], "main/sum_force": [0.0, 0.0, 11.29, 10.0]}
COSTS = {"main/tree_walk": [0.0, 19.0, 0.0, 0.0], "main/sum_force": [0.0, 0.0, 1.0, 1.5]}
pepc = dict(meta={"program": "pepc", "ranks": 4, "wall_time_s": 42.07, "complete": True}, locations=[dict(rank=r, thread=0) for r in range(4)],
            metrics={"time": {"callpaths": {"main": [42.07] * 4, **OWN}}, "critical_path": {"callpaths": ON_PATH},
                     "critical_path_activities": {"callpaths": {**OWN, "main/off": [0.0] * 4}},
                     "non_critical_path_activities": {"callpaths": {"main/off": [4.0, 0.0, 0.0, 0.0]}},
                     "intra_partition_imbalance": {"callpaths": COSTS}, "inter_partition_imbalance": {"callpaths": {"main/sum_force": [0.0, 0.0, 0.0, 0.5]}}})
made.make(MAKE, pepc, "pepc.cubex")
found = impacts("pepc.cubex")
is_close(found["main/tree_walk"], min_s=14.44, mean_s=15.07, max_s=16.68, max_minus_mean_s=1.61, path_s=20.78, path_minus_mean_s=5.71,
         own_s=60.28, intra_s=19.0, inter_s=0.0, impact_s=79.28, ratio=19.0 / 79.28, share=79.28 / (79.28 + 85.52 + 4.0))
is_close(found["main/sum_force"], min_s=20.15, mean_s=20.63, max_s=21.17, max_minus_mean_s=0.54, path_s=21.29, path_minus_mean_s=0.66,
         own_s=82.52, intra_s=2.5, inter_s=0.5, impact_s=85.52, ratio=3.0 / 85.52)
is_close(found["main/off"], min_s=0.0, mean_s=1.0, max_s=4.0, path_s=0.0, path_minus_mean_s=-1.0, own_s=4.0, impact_s=4.0, ratio=0.0)
shown = run("show", "--only", "impact", "pepc.cubex")
lines = {" ".join(line.split()) for line in shown.splitlines()}
for wanted in ("IMPACT SHARE % OWN AMONG OTHERS RATIO %", "main/sum_force 85.5 s 50.7 82.5 s 2.5 s 500 ms 3.5", "main/tree_walk 79.3 s 47.0 60.3 s 19 s 0 24.0",
               "MIN MEAN MAX MAX-MEAN ON PATH -MEAN", "main/tree_walk 14.4 s 15.1 s 16.7 s 1.61 s 20.8 s 5.71 s",
               "main/sum_force 20.1 s 20.6 s 21.2 s 540 ms 21.3 s 660 ms", "main/off 0 1 s 4 s 3 s 0 -1 s"):
    check(wanted in lines, f"no line '{wanted}':\n{shown}")
for columns in "60", "80", "100":
    widest = max(run("show", "--only", "impact", "pepc.cubex", COLUMNS=columns).splitlines(), key=len)
    check(len(widest) <= max(int(columns), 80), f"{len(widest)} wide at {columns} columns: {widest}")
check("Performance impact" in run("show", "--full", "pepc.cubex"), "everything has it, too")
made.make(MAKE, json.loads(json.dumps(pepc).replace("main/off", "main/outside/of/what/was/looked/at/in/the/paper/with/a/long/call/path")), "long.cubex")
shown = run("show", "--full", "long.cubex")  # names are whole there
rows = [row for row in shown.split("Performance impact")[1].split("\n\n")[0].splitlines() if " s " in row or row.endswith("RATIO %")]
check(len(rows) == 4 and len({len(row) for row in rows}) == 1, "columns that are not below each other:\n" + "\n".join(rows))

# Of a profile there is none.
made.make(MAKE, {**pepc, "metrics": {"time": pepc["metrics"]["time"]}}, "profile.cubex")
check("impact" not in json.loads(run("show", "--json", "profile.cubex")) and run("show", "--only", "impact", "profile.cubex") == "", "none of a profile")

# Two partitions: particles take 8 and 6 s on ranks 2 and 3, mesh 4 s on ranks 0 and 1; 9.1 s with start and end of MPI.
run("-q", "analyze", "-n", "1", "-o", "two.cubex", f"{GOLDEN}/synthetic/mpmd_partitions")
found = impacts("two.cubex")
is_close(found["main/particles"], own_s=14.0, intra_s=2.0, inter_s=8.0, impact_s=24.0, share=24.0 / 36.4, ratio=10.0 / 24.0, min_s=0.0, mean_s=3.5, max_s=8.0,
         max_minus_mean_s=4.5, path_s=8.0, path_minus_mean_s=4.5)
is_close(found["main/mesh"], own_s=8.0, impact_s=8.0, ratio=0.0, path_s=0.0, mean_s=2.0, path_minus_mean_s=-2.0)
# The four scenarios of figure 6: what the profile sees, and what the path does, of 2 s of work on average.
for name, in_profile, on_path in ("balanced", 0.0, 0.0), ("static", 0.5, 0.5), ("dynamic", 0.0, 0.5), ("mixed", 0.25, 0.5):
    run("-q", "analyze", "-n", "1", "-o", "s.cubex", f"{GOLDEN}/synthetic/imbalance_{name}")
    is_close(impacts("s.cubex")["main/work"], mean_s=2.0, max_minus_mean_s=in_profile, path_minus_mean_s=on_path)
print("impact: ok")
