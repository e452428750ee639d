"""A program with teams of OpenMP that meets signals, fork, exit and limits ends as it does bare, with the samples that are taken by default and with many.

usage: beside_team.py LATECOMER PROGRAM DIR

Threads for which there was no descriptor are counted, and said in one line."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, PROGRAM, DIR = sys.argv[1:4]
EXPECTED = (5, "fine\n", "")


def run(*words, **environment):
    done = subprocess.run([*words, PROGRAM, "300"], env={**os.environ, **environment}, text=True, capture_output=True, timeout=patience(60), check=False)
    assert (done.returncode, done.stdout, done.stderr) == EXPECTED, (words, environment, done)


def show(*words):
    return subprocess.run([LATECOMER, "show", *words, DIR], text=True, capture_output=True, check=True).stdout


os.environ.pop("LATECOMER_SAMPLE", None)
os.environ["OMP_WAIT_POLICY"] = "passive"  # there are more threads than cores
run()
for sample in ({}, {"LATECOMER_SAMPLE": "5000"}, {"LATECOMER_SAMPLE": "timer:1000"}):
    shutil.rmtree(DIR, ignore_errors=True)
    run(LATECOMER, "run", "-q", "-o", DIR, "--", **sample)
    result = json.loads(show("--json"))
    meta, coverage = result["meta"], result["meta"]["coverage"]
    assert meta["complete"] is True and coverage["calls_lost"] == 0, meta
    if meta["sampling"]["rate"] == 0:
        print("left out: the kernel allows no samples:", meta["sampling"]["why"])
        continue
    assert any("!$omp parallel" in path and "work" in path for path in result["sampled"]), list(result["sampled"])
    refused, new = coverage["threads_refused_samples"], coverage["short_threads_not_sampled"]
    lines = " ".join(show().split())
    print(sample, f"{refused} refused, {new} new ones not sampled, {meta['samples']} samples")
    # Where as many threads are new as by default, those that would be refused may be among them.
    assert meta["sampling"]["source"] == "timer" or refused + (0 if sample else new) >= 2, coverage
    assert (f"{refused} threads were not sampled: the kernel has no room" in lines) == (refused > 1), lines
    assert ("new thread" in lines) == (new > 0) and (not sample or new == 0), lines
