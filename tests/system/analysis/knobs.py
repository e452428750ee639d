"""Predicted gains beside measured ones: a program with a fault is traced and analysed. Figures: how often the first finding names the fault, and the
run time that it predicts without the fault against that of the program without it, by the profile (clocks) and by the analysis (replay).

knobs.py LATECOMER FLAVOUR PROGRAM SCRATCH [virtual] [KIND..]    virtual: in virtual time, where each prediction must be right within 0.1 %
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import count, figure  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, SCRATCH = sys.argv[1:5]
VIRTUAL, KINDS = "virtual" in sys.argv[5:], [word for word in sys.argv[5:] if word != "virtual"]
EXACT = 1e-3  # of the run time: messages and collectives take 1 us of virtual time
# U in ms: a rank that waits naps for 1.2 ms at a time, so the end of a collective is late by up to two naps, the more the closer together its ranks
# come. With U = 60 ms that alone makes a run without its fault 2 to 3 % longer than predicted.
ROUNDS, UNIT = (30, 60) if VIRTUAL else (15, 120)
EXPECTED = {"turns": ("imbalance", []), "half": ("imbalance", None), "slow_rank": ("late_rank", [3]), "serial": ("late_rank", [0]),
            "late_root": ("late_rank", [0]), "chain": ("serialisation_chain", None)}


def show(directory):
    return json.loads(subprocess.run([LATECOMER, "show", "--json", directory], check=True, capture_output=True, text=True).stdout)


def measure(kind, on):
    """The result before and after analysis."""
    directory = f"{SCRATCH}/{kind}-{on}"
    launcher = mpirun(FLAVOUR, 4, "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
    subprocess.run([*launcher, LATECOMER, "-q", "run", "--trace", "-o", directory, PROGRAM, kind, str(on), str(ROUNDS), str(UNIT)], check=True, timeout=patience(120),
                   env={**os.environ, **(virtual_time() if VIRTUAL else {})})
    profile = show(directory)
    subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", directory], check=True, timeout=patience(120))
    return profile, show(directory)


def told(kind, source, before, then, by):
    """Whether the first finding names the fault; by: how its gain must be known."""
    now = before["pop"]["elapsed_s"]
    first = before["findings"][0] if before["findings"] else {"kind": "none", "gain_s": None, "ranks": [], "callpath": "", "gain_by": ""}
    predicted = now - (first["gain_s"] or 0)
    error = predicted / then - 1
    wanted, ranks = EXPECTED[kind]
    named = first["kind"] == wanted and (ranks is None or first["ranks"] == ranks)
    good = named and by in (first.get("gain_by") or "") and (not VIRTUAL or abs(error) < EXACT)
    print(f"{kind:10} now {now:.3f} s, predicted {predicted:.3f} s, measured without it {then:.3f} s: {100 * error:+.2f} %"
          f" ({first['kind']} of {first['ranks']} in {first['callpath']}, {first.get('gain_by')}){'' if good else '  WRONG'}")
    figure(f"{kind}.{source}", 100 * error, "%")
    return good


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    right = []
    for kind in KINDS or EXPECTED:
        (profile, analysed), (_, after) = measure(kind, 1), measure(kind, 0)
        then = after["pop"]["elapsed_s"]
        right.append(told(kind, "profile", profile, then, "clock"))
        right.append(told(kind, "analysis", analysed, then, "replay"))
    count("named", sum(right), len(right), "findings")
    return int(VIRTUAL and not all(right))


if __name__ == "__main__":
    sys.exit(main())
