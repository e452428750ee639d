#!/usr/bin/env python3
"""The four imbalance scenarios of the critical-path paper (section IV-A), run, traced and analysed.

    imbalance.py LATECOMER openmpi|mpich PROGRAM

The critical path must show the imbalance of `work` wherever it is, where the usual number (longest rank minus mean) shows a part of it or none.
In virtual time: the nominal values (25 % or 0 on the path; 0, 25, 0, 12.5 % in the profile) within 0.01 %, and as the program's own clock says
(the last to come to a barrier is on the path).
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402
from patience import patience  # noqa: E402

RANKS = 8
NOMINAL = {"balanced": (0, 0), "static": (25, 25), "dynamic": (25, 0), "mixed": (25, 12.5)}  # path, profile
EXACT = 0.01  # percent


def measure(work, program, scenario):
    """(by the program's clock), (by the analysis), each: percent on the critical path, percent of the profile."""
    done = work.run([*work.launcher(RANKS), *work.tool("--trace", directory=scenario), program, scenario])
    assert done.status == 0, done.err
    numbers = [[int(x) for x in line.split()] for line in done.out.splitlines()]
    assert len(numbers) == RANKS, done.out
    worked = [list(zip(rank[1::2], rank[::2])) for rank in numbers]  # (end, duration)
    sums = [sum(duration for _, duration in rank) for rank in worked]
    mean = sum(sums) / RANKS
    on_path = sum(max(iteration)[1] for iteration in zip(*worked))
    clock = (100 * (on_path / mean - 1), 100 * (max(sums) / mean - 1))

    launch.subprocess.run([work.latecomer, "-q", "analyze", "-n", "2", str(work.root / scenario)], check=True, timeout=patience(100))
    result = work.show("--analysis", directory=scenario)
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


def check(work, program, scenario):
    clock, analysis = measure(work, program, scenario)
    print(f"{scenario:8} critical path: {analysis[0]:8.4f} % (own clock {clock[0]:8.4f}, nominal {NOMINAL[scenario][0]:4.1f})   "
          f"profile: {analysis[1]:8.4f} % (own clock {clock[1]:8.4f}, nominal {NOMINAL[scenario][1]:4.1f})", flush=True)
    return all(abs(a - c) <= EXACT and abs(a - n) <= EXACT for a, c, n in zip(analysis, clock, NOMINAL[scenario]))


def main():
    latecomer, flavour, program = sys.argv[1:]
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=True) as work:
        bad = [s for s in NOMINAL if not check(work, os.path.abspath(program), s)]
    print("not as expected: " + ", ".join(bad) if bad else "all as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
