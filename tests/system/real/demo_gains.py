"""Predicted gains of the bundled program beside measured ones. Figures: how many of the planted causes are found, and the run time predicted without each,
from the profile alone and with the analysis of the trace, against that of the program whose step is even. Of three runs each the shortest counts: it was
disturbed least.

demo_gains.py LATECOMER FLAVOUR PROGRAM SCRATCH
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

LATECOMER, FLAVOUR, PROGRAM, SCRATCH = sys.argv[1:5]
RUNS = 3
STEPS = {"step_barrier": ("late_rank", [3]), "step_allreduce": ("imbalance", [0, 2]), "step_message": ("imbalance", [0, 2])}


def show(directory):
    return json.loads(subprocess.run([LATECOMER, "show", "--json", directory], check=True, capture_output=True, text=True).stdout)


def measure(name, *arguments):
    directory = f"{SCRATCH}/{name}"
    launcher = mpirun(FLAVOUR, 4, "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
    subprocess.run([*launcher, LATECOMER, "-q", "run", "--trace", "-o", directory, PROGRAM, *arguments], check=True, timeout=patience(120), stdout=subprocess.DEVNULL)
    return directory, show(directory)


def least_disturbed(name, *arguments):
    return min((measure(f"{name}-{i}", *arguments) for i in range(RUNS)), key=lambda run: run[1]["pop"]["elapsed_s"])


def told(step, source, result, then):
    """Whether the planted cause of one step is found."""
    found = [f for f in result["findings"] if f"/{step}" in (f["callpath"] or "")]
    kind, ranks = STEPS[step]
    if not found:
        print(f"{step}, {source}: nothing found  WRONG")
        return False
    first, now = found[0], result["pop"]["elapsed_s"]
    # parts of the same step that samples tell apart
    gain = sum(f["gain_s"] or 0 for f in found if f["kind"] == first["kind"])
    error = (now - gain) / then - 1
    good = first["kind"] == kind and set(first["ranks"]) <= set(ranks)
    print(f"{step}, {source}: now {now:.3f} s, predicted {now - gain:.3f} s, without it {then:.3f} s: {100 * error:+.2f} %"
          f" ({first['kind']} of {first['ranks']}){'' if good else '  WRONG'}")
    figure(f"{step}.{source}", 100 * error, "%")
    return good


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    directory, profile = least_disturbed("planted")
    subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", directory], check=True, timeout=patience(120))
    analysed = show(directory)
    planted = [f for f in profile["findings"] if any(f"/{step}" in (f["callpath"] or "") for step in STEPS)]
    right = [bool(planted) and profile["findings"][0] is planted[0]]
    if not right[0]:
        print(f"the first finding is none of the planted ones: {profile['findings'][:1]}")
    for step in STEPS:
        then = least_disturbed(step, f"even={step}")[1]["pop"]["elapsed_s"]
        right += [told(step, "profile", profile, then), told(step, "analysis", analysed, then)]
    count("named", sum(right), len(right), "findings")


if __name__ == "__main__":
    main()
