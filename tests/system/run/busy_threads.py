#!/usr/bin/env python3
"""How many threads of a process compute (meta.busy_threads), by their processor time: busy_threads.py LATECOMER FLAVOUR PROGRAM. Those that hardly
compute do not count, nor do those that have ended. The CPUs of a process (meta.binding) are those of all threads that compute, each bound by itself."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])

CPUS = sorted(os.sched_getaffinity(0))
FIRST, LAST = CPUS[0], CPUS[-1]


def listed(cpus):
    """As in meta.binding, of one or two CPUs."""
    cpus = sorted(set(cpus))
    return ("-" if cpus[-1] - cpus[0] == 1 else ",").join(map(str, cpus))


def check(folder, counts, cpus=()):
    out = os.path.join(folder, "_".join(map(str, (*counts, *cpus))))
    subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-q", "-o", out, "--", PROGRAM, *map(str, (*counts, *cpus))], timeout=patience(100), check=True)
    shown = subprocess.run([LATECOMER, "show", "--json", out], capture_output=True, text=True, timeout=patience(60), check=True)
    meta = json.loads(shown.stdout)["meta"]
    busy, idle, ended = counts
    print(f"{busy} busy, {idle} idle, {ended} ended, bound to {cpus or 'nothing'}: {meta['busy_threads']}, CPUs {meta['binding']}")
    if meta["busy_threads"] != [busy, busy] or cpus and meta["binding"] != [listed(cpus)] * 2:
        sys.exit("wrong")


with tempfile.TemporaryDirectory() as folder:
    for counts in (1, 0, 0), (1, 3, 0), (3, 2, 0), (1, 1, 2):
        check(folder, counts)
    check(folder, (2, 0, 0), (FIRST, LAST))
    check(folder, (2, 1, 0), (LAST, LAST))  # the idle one may run anywhere, and does not compute
