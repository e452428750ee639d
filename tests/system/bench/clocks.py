"""Clocks with known offsets and drifts: the global clock of the harness is right within the bound that it states, in 95 % of all ranks.

clocks.py LATECOMER FLAVOUR MPIEXEC SCRATCH_DIR [RUNS]"""
import json
import os
import random
import shutil
import subprocess
import sys

LATECOMER, FLAVOUR, MPIEXEC, SCRATCH = sys.argv[1:5]
RUNS = int(sys.argv[5]) if len(sys.argv) > 5 else 4


def run(number, ranks):
    """(true error, bound) of each rank, ns."""
    words = [MPIEXEC]
    if FLAVOUR == "openmpi":
        words += ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
    for rank in range(ranks):
        bend = f"{random.uniform(-1e9, 1e9):.0f},{random.uniform(-50, 50):.3f}"
        words += [":"] if rank > 0 else []
        words += ["-n", "1", "env", f"LATECOMER_TEST_CLOCK={bend}", LATECOMER, "-q", "bench", "MPI_Barrier", "--reps", "50", "--time", "2", "-o",
                  f"run{number}", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=SCRATCH, timeout=100, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{ranks} ranks: exit {done.returncode}: {done.stderr}")
    return [tuple(map(float, text.split())) for text in json.loads(done.stdout)["clock"]["truth_ns"]]


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    random.seed(1)
    right, n, worst = 0, 0, 0.0
    for number in range(RUNS):
        for error, bound in run(number, (2, 3, 4, 6)[number % 4])[1:]:
            right += abs(error) <= bound
            worst = max(worst, abs(error))
            n += 1
    print(f"{right} of {n} ranks within the bound, largest error {worst:.0f} ns")
    if right < 0.95 * n:
        sys.exit("too many errors above their bound")


if __name__ == "__main__":
    main()
