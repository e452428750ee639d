#!/usr/bin/env python3
"""A program with timers, signals, fork, exec, threads and performance events of its own ends as it does bare, also at a high rate of samples.

usage: beside.py LATECOMER FLAVOUR PROGRAM DIR [SAMPLE]

SAMPLE: as of --sample; else 5000
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, DIR = sys.argv[1:5]
SAMPLE = sys.argv[5] if len(sys.argv) > 5 else "5000"
LAUNCHER = mpirun(FLAVOUR, 2)


def run(*words, **environment):
    done = subprocess.run([*LAUNCHER, *words], env={**os.environ, **environment}, text=True, capture_output=True, timeout=patience(200), check=False)
    assert done.returncode == 0 and "".join(done.stdout.split()) == "finefine", (words, done.returncode, done.stdout, done.stderr)


shutil.rmtree(DIR, ignore_errors=True)
run(PROGRAM)
run(LATECOMER, "run", "-o", DIR, PROGRAM, LATECOMER_SAMPLE=SAMPLE)
shown = subprocess.run([LATECOMER, "show", "--json", DIR], text=True, capture_output=True, check=True)
result = json.loads(shown.stdout)
assert result["meta"]["complete"] is True and result["meta"]["coverage"]["calls_lost"] == 0, result["meta"]
if result["meta"]["sampling"]["rate"] == 0:
    print("left out: the kernel allows no samples:", result["meta"]["sampling"]["why"])
    sys.exit(0)
assert result["meta"]["sampling"]["rate"] == 5000 and result["meta"]["sampling"]["source"] == ("timer" if SAMPLE != "5000" else "kernel") and result["meta"]["samples"] > 0, result["meta"]

# The kernel is made ready for events while others start the program: it finds one of its parent's.
READY = "ls -l /proc/$PPID/fd | grep -q perf_event"
by_kernel = SAMPLE == "5000"
wait = f"until {READY}; do sleep 0.01; done" if by_kernel else f"! {READY}"
for sample, script in ((SAMPLE, wait), ("off", f"! {READY}")):
    subprocess.run([LATECOMER, "run", "-q", f"--sample={sample}", "-o", DIR + "-ready", "--", "sh", "-c", script], capture_output=True, timeout=patience(60), check=True)
