#!/usr/bin/env python3
"""Sizes of partitions, predicted by `latecomer scaling` from runs with other sizes and then tried, in virtual time: they take what was predicted.

partition_sizes.py LATECOMER FLAVOUR PROGRAM"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
import launch  # noqa: E402
from patience import patience  # noqa: E402

latecomer, flavour, program = sys.argv[1:4]
RANKS, STEPS, EXACT = 5, 30, 0.001  # EXACT: share of the run time; a step's barriers take 2 us


def by_hand(mesh):
    """Seconds of the run with so many ranks of the mesh: the longer of 120 and 180 ms divided, in each step."""
    return STEPS * max(0.12 / mesh, 0.18 / (RANKS - mesh))


def sweep(work, *sizes):
    done = subprocess.run([latecomer, "scaling", "--json", *(f"{work.root}/{mesh}" for mesh in sizes)], check=True, capture_output=True, text=True, timeout=patience(60))
    (found,) = json.loads(done.stdout)["sweeps"]
    first = found["partitions"].index("mesh")
    return {split["ranks"][first]: split for split in found["splits"]}


bad = []
with launch.Workspace(flavour, latecomer, virtual=True) as work:
    for mesh in 1, 3, 2:
        done = work.run([*work.launcher(RANKS), *work.tool(directory=str(mesh)), program, str(mesh)], env=work.environment())
        if done.status != 0:
            sys.exit(f"{mesh} ranks of the mesh: status {done.status}: {done.err[-1000:]}")
    before, after = sweep(work, 1, 3), sweep(work, 1, 2, 3)
for mesh in range(1, RANKS):
    if abs(before[mesh]["predicted_s"] / by_hand(mesh) - 1) > EXACT:
        bad.append(f"{mesh} of the mesh: predicted {before[mesh]['predicted_s']:.4f} s, by hand {by_hand(mesh):.4f} s")
if [mesh for mesh, split in before.items() if split["best"]] != [2] or before[2]["measured_s"] is not None:
    bad.append(f"not the best: {before}")
if abs(after[2]["measured_s"] / before[2]["predicted_s"] - 1) > EXACT or not after[2]["best"]:
    bad.append(f"predicted {before[2]['predicted_s']:.4f} s, then measured {after[2]['measured_s']:.4f} s")
print("\n".join(bad) if bad else "sizes take what was predicted")
sys.exit(bool(bad))
