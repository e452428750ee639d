#!/usr/bin/env python3
"""The four imbalance scenarios of the critical-path paper (section IV-A), run, traced and analysed.

    imbalance.py LATECOMER openmpi|mpich PROGRAM WORK

The critical path must show the imbalance of `work` wherever it is, where the usual number (longest rank minus mean) shows a part of it or none.
Always: as the program's own clock says (the last to come to a barrier is on the path), within half a percent of the mean. The nominal values
(25 % or 0 on the path; 0, 25, 0, 12.5 % in the profile) within 1 %: on a busy machine sleeping ranks wake up late, so the run may be repeated
for these, twice. MPICH's waiting ranks never yield: where there are more ranks than cores, the others wake up late always, and only the
comparison with the clock counts; that may need a repetition as well, since a rank can lose its core between its own reading and the tool's.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

RANKS = 8
NOMINAL = {"balanced": (0, 0), "static": (25, 25), "dynamic": (25, 0), "mixed": (25, 12.5)}  # path, profile


def measure(latecomer, flavour, program, scenario, work):
    """(by the program's clock), (by the analysis), each: percent on the critical path, percent of the profile."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.dirname(work), exist_ok=True)
    launcher = mpirun(flavour, RANKS, "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
    out = subprocess.run([*launcher, latecomer, "-q", "run", "--trace", "-o", work, program, scenario],
                         check=True, capture_output=True, text=True, timeout=patience(100)).stdout
    numbers = [[int(x) for x in line.split()] for line in out.splitlines()]
    assert len(numbers) == RANKS, out
    worked = [list(zip(rank[1::2], rank[::2])) for rank in numbers]  # (end, duration)
    sums = [sum(duration for _, duration in rank) for rank in worked]
    mean = sum(sums) / RANKS
    on_path = sum(max(iteration)[1] for iteration in zip(*worked))
    clock = (100 * (on_path / mean - 1), 100 * (max(sums) / mean - 1))

    subprocess.run([latecomer, "-q", "analyze", "-n", "2", work], check=True, timeout=patience(100))
    result = json.loads(subprocess.run([latecomer, "show", "--json", "--analysis", work], check=True, capture_output=True, text=True).stdout)
    assert not [line for line in result["meta"]["health"] if "violated" in line], result["meta"]["health"]
    metrics = result["metrics"]

    def of_work(metric):
        paths = metrics[metric]["callpaths"] if metric in metrics else {}
        return [sum(values[i] for path, values in paths.items() if path.split("/")[-1] == "work") for i in range(RANKS)]
    time = of_work("critical_path_activities")
    time = [a + b for a, b in zip(time, of_work("non_critical_path_activities"))]  # together: all of the call path
    mean = sum(time) / RANKS
    analysis = (100 * sum(of_work("critical_path_imbalance")) / mean, 100 * (max(time) / mean - 1))
    return clock, analysis


def check(latecomer, flavour, program, scenario, work):
    for attempt in range(3):
        clock, analysis = measure(latecomer, flavour, program, scenario, work)
        print("%-8s critical path: %6.2f %% (own clock %6.2f, nominal %4.1f)   profile: %6.2f %% (own clock %6.2f, nominal %4.1f)" %
              (scenario, analysis[0], clock[0], NOMINAL[scenario][0], analysis[1], clock[1], NOMINAL[scenario][1]), flush=True)
        spins = flavour == "mpich" and os.cpu_count() < RANKS
        if any(abs(a - c) > 0.5 for a, c in zip(analysis, clock)):
            if spins:  # a rank may lose its core between its reading of the clock and ours: the next attempt
                continue
            return False
        if spins or all(abs(a - n) <= 1 for a, n in zip(analysis, NOMINAL[scenario])):
            return True
    return False


def main():
    latecomer, flavour, program, work = sys.argv[1:]
    bad = [s for s in NOMINAL if not check(latecomer, flavour, program, s, os.path.join(work, s))]
    print("not as expected: " + ", ".join(bad) if bad else "all as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
