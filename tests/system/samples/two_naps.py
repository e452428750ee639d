#!/usr/bin/env python3
"""Where a thread sleeps in several functions between two calls, each of them has the time that was slept in it.

usage: two_naps.py LATECOMER FLAVOUR PROGRAM DIR
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, DIR = sys.argv[1:5]
SLEPT_S = {"first": 0.3, "second": 0.1}

shutil.rmtree(DIR, ignore_errors=True)
subprocess.run([LATECOMER, "run", "-n", "1", "--launcher", f"mpirun.{FLAVOUR}", "-o", DIR, PROGRAM], capture_output=True, timeout=patience(60), check=True)
result = json.loads(subprocess.run([LATECOMER, "show", "--json", DIR], text=True, capture_output=True, check=True).stdout)
if result["meta"]["sampling"]["rate"] == 0:
    print("left out: the kernel allows no samples:", result["meta"]["sampling"]["why"])
    sys.exit(0)
if os.geteuid() != 0 and int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read()) > 1:
    print("left out: the kernel does not name the function that leaves the processor")
    sys.exit(0)
off_s = {path: sum(filter(None, times)) for path, times in result["metrics"]["time"]["callpaths"].items() if path.endswith("/(off CPU)")}
print(off_s)
for name, slept_s in SLEPT_S.items():
    # woken it may wait for a core; on its way to sleep it may have run for a while
    assert sum(time_s for path, time_s in off_s.items() if f"/{name}/" in path) >= slept_s / 2, (name, off_s)
