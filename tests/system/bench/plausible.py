"""All operations of latecomer bench on 2 to 8 ranks against the same in a plain loop: the factor within which half of them are (figures).

plausible.py LATECOMER FLAVOUR SCRATCH_DIR PLAIN_LOOP IDLE_LIBRARY

The half, since cores are shared by ranks: a loop need not wait for the others, so that its calls overlap; where ranks share a core, one operation or the other
waits for the scheduler, by more than any bound says. Ranks of MPICH spin while they wait, and where they share a core, a message takes time slices of the
scheduler: 3 ms and more, whatever the operation. There they sleep while they wait (tests/idle/sleep_when_idle.c), in the loop and in the benchmark."""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH, LOOP, IDLE = sys.argv[1:6]
SECONDS = 1  # an operation at most, once in the loop and once in the benchmark


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    failed = []
    for ranks in (2, 3, 4, 8):
        spins = FLAVOUR == "mpich" and ranks > len(os.sched_getaffinity(0))
        env = {**os.environ, "LD_PRELOAD": IDLE} if spins else None
        looped = subprocess.run([*mpirun(FLAVOUR, ranks), LOOP, "64", "100", str(SECONDS)], capture_output=True, text=True, timeout=patience(200), check=True,
                                env=env).stdout
        loop = {name: float(ns) for name, ns in (line.split() for line in looped.splitlines())}
        names = ",".join(name for name in loop if name != "empty")
        done = subprocess.run([LATECOMER, "bench", names, "--bytes", "64", "--reps", "100", "--time", str(SECONDS), "--sync", "barrier", "-n", str(ranks),
                               "--mpi", FLAVOUR, "-o", f"n{ranks}"], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(200), check=False, env=env)
        if done.returncode != 0:
            failed.append(f"{ranks} ranks: exit {done.returncode}: {done.stderr}")
            continue
        with open(f"{SCRATCH}/n{ranks}/bench.json", encoding="utf-8") as file:
            jobs = json.load(file)["jobs"]
        factors = {job["operation"]: job["median_ns"] / loop[job["operation"]] for job in jobs}
        apart = {name: max(factor, 1 / factor) for name, factor in factors.items()}
        worst = max(apart, key=apart.get)
        middle = statistics.median(apart.values())
        centre = math.exp(statistics.mean(map(math.log, factors.values())))
        print(f"{ranks} ranks: {len(jobs)} operations, {centre:.2f} times the loop on average, half within {middle:.2f}, worst {worst} {factors[worst]:.3g}")
        figure(f"ranks_{ranks}", middle, "times")
        if len(jobs) != len(loop) - 1:
            failed.append(f"{ranks} ranks: {len(jobs)} jobs of {len(loop) - 1}, factors {factors}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
