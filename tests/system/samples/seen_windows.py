#!/usr/bin/env python3
"""Where a thread always leaves the processor, events of the kernel are there in some windows of time only. Long naps are measured in all of them.

usage: seen_windows.py LATECOMER FLAVOUR PROGRAM SWITCHES DIR

SWITCHES: a library that tells of many switches
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, SWITCHES, DIR = sys.argv[1:6]
shutil.rmtree(DIR, ignore_errors=True)
words = [*mpirun(FLAVOUR, 1), "env", f"LD_PRELOAD={SWITCHES}", LATECOMER, "run", "-q", "--max-overhead=off", "-o", DIR, PROGRAM]
done = subprocess.run(words, text=True, capture_output=True, timeout=patience(200), check=False)
assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
result = json.loads(subprocess.run([LATECOMER, "show", "--json", DIR], text=True, capture_output=True, check=True).stdout)
assert result["meta"]["complete"] is True and result["meta"]["coverage"]["calls_lost"] == 0, result["meta"]
if result["meta"]["sampling"]["rate"] == 0:
    assert done.stdout.split() == ["never"], done.stdout
    print("left out: the kernel allows no samples:", result["meta"]["sampling"]["why"])
    sys.exit(0)
said, *numbers = done.stdout.split()
assert said == "napped" and len(numbers) == 3, done.stdout
napped_s, less_s, between_s = (int(number) * 1e-9 for number in numbers)
times_s = {path: sum(filter(None, times)) for path, times in result["metrics"]["time"]["callpaths"].items() if path.startswith("main/work_and_nap")}
off_s = sum(time_s for path, time_s in times_s.items() if path.rsplit("/", 1)[1].startswith("(off CPU"))
print(f"napped {napped_s:.4f} s, less by at most {less_s:.4f} s, between the calls {between_s:.4f} s; off the processor {off_s:.4f} s", times_s)
HIDDEN_S = 0.01 * times_s["main/work_and_nap"]  # each kind of it that is less is not shown
assert napped_s - less_s - 3 * HIDDEN_S <= off_s <= between_s + HIDDEN_S
