#!/usr/bin/env python3
"""A function that returns and is called again between two calls of MPI in it has nothing of what its caller did in between: neither in a profile, nor in
the analysis of a trace.

usage: called_again.py LATECOMER FLAVOUR PROGRAM DIR
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, DIR = sys.argv[1:5]


def shown(file):
    return json.loads(subprocess.run([LATECOMER, "show", "--json", file], text=True, capture_output=True, timeout=patience(60), check=True).stdout)


def check(result, what):
    paths = result["metrics"]["time"]["callpaths"]
    wrong = [path for path in paths if "/exchange/" in path and ("/compute" in path or "/doze" in path or "/..." in path)]
    assert not wrong, (what, wrong)
    found = [path for path in paths if path.startswith("main/solve/compute")]
    assert found, (what, sorted(paths))
    # before the first sample nothing tells that exchange had returned
    seconds = {name: sum(filter(None, paths[f"main/solve/{name}"])) for name in ("compute", "exchange")}
    print(what, seconds)
    assert seconds["compute"] > 0, (what, seconds)


shutil.rmtree(DIR, ignore_errors=True)
subprocess.run([LATECOMER, "run", "-n", "2", "--launcher", f"mpirun.{FLAVOUR}", "--trace", "-o", DIR, PROGRAM], capture_output=True, timeout=patience(60), check=True)
profile = shown(f"{DIR}/profile.cubex")
if profile["meta"]["sampling"]["rate"] == 0:
    print("left out: the kernel allows no samples:", profile["meta"]["sampling"]["why"])
    sys.exit(0)
check(profile, "profile")
subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", DIR], capture_output=True, timeout=patience(60), check=True)
check(shown(f"{DIR}/analysis.cubex"), "analysis")
