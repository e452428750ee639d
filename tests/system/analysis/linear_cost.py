#!/usr/bin/env python3
"""Cost is linear in the number of records, also where a trace is damaged, or made to make a search long: how many times the processor time
eight times the records take (figures).

linear_cost.py LATECOMER WRITE_TRACE
"""
import os
import resource
import subprocess
import sys
import tempfile

from otf2.enums import RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from patience import patience  # noqa: E402

SMALL, LARGE = 4000, 32000
STEP_S = 0.01  # of the kernel's account


def role(name):
    return getattr(RegionRole, name).value


def parallel_regions(n):
    """Teams of four with a task in each barrier, a lock, and idle workers between the regions."""
    yield from ["process 4", "region 2 1 main", f"region 3 {role('PARALLEL')} parallel",
                f"region 3 {role('IMPLICIT_BARRIER')} ibarrier", f"region 3 {role('TASK')} task",
                f"region 3 {role('CRITICAL')} critical", "team 0 1 2 3"]
    for l in range(4):
        if l == 0:
            yield "0 0 enter 0"
        for i in range(n):
            t = 100 * i
            if l == 0:
                yield f"0 {t} fork 4"
            yield f"{l} {t + 1 + l} team_begin 0"
            yield f"{l} {t + 1 + l} enter 1"
            yield f"{l} {t + 10} enter 4"
            yield f"{l} {t + 11 + l} lock 1 {4 * i + l + 1}"
            yield f"{l} {t + 12 + l} unlock 1 {4 * i + l + 1}"
            yield f"{l} {t + 20} leave 4"
            for what in (f"{t + 21 + l} enter 2", f"{t + 21 + l} enter 3", f"{t + 22 + l} leave 3", f"{t + 40} leave 2",
                         f"{t + 40} leave 1", f"{t + 40} team_end 0"):
                yield f"{l} {what}"
            if l == 0:
                yield f"0 {t + 50} join"
    yield f"0 {100 * n} leave 0"


def missing_leaves(n):
    """Leave records of one region are missing, and the Enter records of another."""
    yield from ["process 1", "process 1", "region 2 1 f", "region 2 1 g"]
    for l in range(2):
        for i in range(n):
            yield f"{l} {i} enter 0"
            yield f"{l} {i} leave 1"


def window_epochs(n):
    """Windows posted and never waited for, locks let go that nobody took, forks without join."""
    yield from ["process 1", "process 1", "region 4 1 MPI_Win_post", "region 4 1 MPI_Win_unlock", "comm 0 1", "window 0"]
    for l in range(2):
        yield f"{l} 0 enter 1"
        for i in range(n):
            yield f"{l} {i} enter 0"
            yield f"{l} {i} rma_group 0 0"
            yield f"{l} {i} leave 0"
            yield f"{l} {i} acquire 0 0 0"
            yield f"{l} {i} release 0 1"
            yield f"{l} {i} fork 2"
        yield f"{l} {n} leave 1"


def nested_records(n):
    """Records of every region around the ones inside it."""
    yield from ["process 1", "process 1", "region 4 1 MPI_Send", "comm 0 1"]
    for i in range(n):
        yield f"0 {i} enter 0"
        yield f"0 {i} send 1 0 0 8"
    for i in range(n):
        yield f"0 {n + i} send 1 0 0 8"
        yield f"0 {n + i} leave 0"


def never_synchronised(n):
    """A clock is wrong, so that two processes never synchronise: each wait state has all earlier waits of its cause in its
    interval. Process 2 sends late to process 0, and process 0 to process 1, which has received before it was sent."""
    yield from ["process 1", "process 1", "process 1", "region 2 1 main", "region 4 1 MPI_Send", "region 4 1 MPI_Recv",
                "comm 0 1 2"]
    calls = (((10, 32, 2, 32, "recv 2"), (60, 61, 1, 60, "send 1")), ((50, 55, 2, 55, "recv 0"),), ((30, 31, 1, 30, "send 0"),))
    for l in range(3):
        yield f"{l} 0 enter 0"
        for t in range(0, 100 * n, 100):
            for begin, end, region, time, record in calls[l]:
                yield f"{l} {t + begin} enter {region}"
                yield f"{l} {t + time} {record} 0 3 8"
                yield f"{l} {t + end} leave {region}"
        yield f"{l} {100 * n} leave 0"


def cost(case, n, tmp):
    """Seconds of processor time."""
    latecomer, write_trace = sys.argv[1:3]
    trace = f"{tmp}/{case.__name__}{n}"
    subprocess.run([write_trace, trace], input="\n".join(case(n)) + "\n", text=True, check=True, timeout=patience(60))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([latecomer, "-q", "analyze", "-n", "1", "-o", f"{tmp}/a.cubex", trace], check=True, timeout=patience(100))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for case in (parallel_regions, missing_leaves, window_epochs, nested_records, never_synchronised):
            small, large = (cost(case, n, tmp) for n in (SMALL, LARGE))
            print(f"{case.__name__}: {small:.2f} s for {SMALL}, {large:.2f} s for {LARGE}")
            figure(case.__name__, large / (small + STEP_S), "times")


if __name__ == "__main__":
    main()
