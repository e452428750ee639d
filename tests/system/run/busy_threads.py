#!/usr/bin/env python3
"""How many threads of a process compute (meta.busy_threads), by their processor time: busy_threads.py LATECOMER FLAVOUR PROGRAM. Those that hardly
compute do not count, nor do those that have ended."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])

with tempfile.TemporaryDirectory() as folder:
    for busy, idle, ended in (1, 0, 0), (1, 3, 0), (3, 2, 0), (1, 1, 2):
        out = os.path.join(folder, f"{busy}_{idle}_{ended}")
        subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-q", "-o", out, "--", PROGRAM, *map(str, (busy, idle, ended))],
                       timeout=patience(100), check=True)
        shown = subprocess.run([LATECOMER, "show", "--json", out], capture_output=True, text=True, timeout=patience(60), check=True)
        found = json.loads(shown.stdout)["meta"]["busy_threads"]
        print(f"{busy} busy, {idle} idle, {ended} ended: {found}")
        if found != [busy, busy]:
            sys.exit("wrong")
