"""Measured runs end: MPICH over UCX and tcp hangs in MPI_Finalize depending on what was sent before, also without the tool, which
must not add to that. (Its way to part lets nearly all runs end that hang without it, so how many hang is a matter of chance.) With Open MPI all
runs end. Run by hosts.py.

usage: ends.py LATECOMER PROGRAM FLAVOUR RUNS [bare]     bare: the same number of runs without the tool, to compare
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

import several_hosts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

PROGRAMS = ("nothing", "barrier", "ask", "collectives", "ring")
LIMIT_S = patience(40)


def ends(words):
    """Does it end in time? All of it is gone afterwards."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, errors = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=patience(5))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        return False
    assert process.returncode == 0, (words, process.returncode, errors)
    return True


def main():
    latecomer, program, flavour, runs = *sys.argv[1:4], int(sys.argv[4])
    launch = several_hosts.launcher(flavour, 4)
    hung, hung_bare = {}, {}
    for name in PROGRAMS:
        hung[name] = 0
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "result")
                if not ends([*launch, latecomer, "run", "-o", out, program, name]):
                    hung[name] += 1
                    continue
                with open(os.path.join(out, "meta.json"), encoding="utf-8") as file:
                    assert json.load(file)["ranks"] == 4
        if "bare" in sys.argv[5:]:
            hung_bare[name] = sum(not ends([*launch, program, name]) for _ in range(runs))
    print(f"{flavour}, of {runs} runs each hung: measured {hung}, bare {hung_bare}")
    if flavour == "openmpi":  # which ends without the tool, too
        return 1 if sum(hung.values()) > 0 else 0
    return 0 if all(n <= max(1, hung_bare.get(name, 0)) for name, n in hung.items()) and sum(hung.values()) <= 2 + sum(hung_bare.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
