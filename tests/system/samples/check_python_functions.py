#!/usr/bin/env python3
"""Samples inside an interpreter: functions of Python that never call MPI have their names and callers, and a kernel of numpy stands below
the function that called it, where a handler of signals may look (--sample=timer). However samples are taken, the interpreter's own functions are none
of the program's: they are the time of the function of Python that runs.

usage: check_python_functions.py LATECOMER FLAVOUR mpi4py|LIBRARY DIR
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, HOW, DIR = sys.argv[1:5]
PROGRAM = Path(__file__).with_name("python_functions.py")


def name_of(function):
    line = next(i for i, text in enumerate(PROGRAM.read_text(encoding="utf-8").splitlines(), 1) if text.startswith(f"def {function}("))
    return f"{PROGRAM.name}:{function}:{line}"



def sampled_by(*options):
    """Seconds and samples by call path."""
    shutil.rmtree(DIR, ignore_errors=True)
    os.makedirs(os.path.dirname(DIR), exist_ok=True)
    done = subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-q", *options, "-o", DIR, "--", "/usr/bin/python3", PROGRAM, HOW],
                          capture_output=True, text=True, timeout=patience(200), check=False)
    assert done.returncode == 0, done
    result = json.loads(subprocess.run([LATECOMER, "show", "--json", DIR], capture_output=True, text=True, check=True).stdout)
    found = {path: entry for path, entry in result["sampled"].items() if entry["seconds"] > 0}
    print("\n".join(f"{entry['samples']:6} {entry['seconds']:.3f} s {path}" for path, entry in found.items()))
    interpreter = [path for path in found if re.search(r"\.py:.*/(_?Py(?!Array)[A-Z_]|python3\.\d+\+)", path)]
    assert not interpreter, interpreter
    return found


sampled_by()
sampled = sampled_by("--sample=timer")
outer = name_of("repeat")
relaxed = [path for path in sampled if path.endswith(f"{outer}/{name_of('relax')}")]
assert relaxed and all(f"{PROGRAM.name}:<module>/" in path for path in relaxed), list(sampled)
ordered = [path for path in sampled if f"{outer}/{name_of('order')}/" in path]
assert any(".py:" not in path.rsplit("/", 1)[-1] and "fromnumeric.py:sort:" in path for path in ordered), list(sampled)
