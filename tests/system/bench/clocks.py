"""Clocks with known offsets and drifts, 2 to 16 ranks: in how many runs the times that the global clock of the harness gives are right within the bound
that it states, before and after a job (a figure).

clocks.py LATECOMER FLAVOUR SCRATCH_DIR [RUNS [SEED]]"""
import json
import os
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import count  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH = sys.argv[1:4]
SIZES = (2, 3, 4, 6, 8, 16)
RUNS = int(sys.argv[4]) if len(sys.argv) > 4 else 4
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1


def run(number, ranks):
    """True errors and bounds of all ranks but the first, ns, and what the model alone says of itself."""
    words = mpirun(FLAVOUR, None, "--bind-to", "none")
    for rank in range(ranks):
        bend = f"{random.uniform(-1e9, 1e9):.0f},{random.uniform(-50, 50):.3f}"
        words += [":"] if rank > 0 else []
        words += ["-n", "1", "env", f"LATECOMER_TEST_CLOCK={bend}", LATECOMER, "-q", "bench", "MPI_Barrier", "--reps", "50", "--time", "2", "-o",
                  f"run{number}", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=SCRATCH, timeout=patience(300), check=False)
    if done.returncode != 0:
        raise SystemExit(f"{ranks} ranks: exit {done.returncode}: {done.stderr}")
    clock = json.loads(done.stdout)["clock"]
    return [tuple(map(float, text.split())) for text in clock["truth_ns"]][1:], clock["error_ns"]


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    random.seed(SEED)
    right = 0
    for number in range(RUNS):
        ranks, begin = SIZES[number % len(SIZES)], time.time()
        errors, stated = run(number, ranks)
        assert len(errors) == ranks - 1 and max(bound for _, bound in errors) <= stated + 0.1  # told with one digit
        within = all(abs(error) <= bound for error, bound in errors)
        right += within
        print(f"{ranks} ranks: {'within' if within else 'beyond'} the bound, largest error {max(abs(error) for error, _ in errors):.0f} ns, bound stated "
              f"{stated:.0f} ns, {time.time() - begin:.1f} s", flush=True)
    count("within", right, RUNS, "runs")


if __name__ == "__main__":
    main()
