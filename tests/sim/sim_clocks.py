"""The global clock of the benchmark's harness on the simulated MPI: sim_clocks.py SIM-MPIRUN SIM-GLOBAL-CLOCK FIRST LAST

For each seed, 2 to 16 ranks on as many nodes or fewer, whose clocks are up to 3 ms apart and drift by up to 20 ppm; latencies and jitter are drawn.
All times of a result must be within the bound that stands in it, and uncorrected times within what the fit says of itself. Without the fit none would be."""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

SIZES = [2, 3, 4, 5, 8, 11, 16]
ROUNDING_NS = 1  # times in a result are whole nanoseconds
NETWORKS = [["--random"], ["--random", "--jitter", "3000"], ["--latency", "500", "--node-latency", "50000", "--jitter", "20000"], ["--node-latency", "1500", "--jitter", "0"]]


def run(mpirun, program, seed):
    """Error, beyond the bound, beyond what the fit says, error without a fit; ns."""
    ranks = SIZES[seed % len(SIZES)]
    nodes = ranks if seed % 3 else (ranks + 1) // 2
    words = [mpirun, "-n", ranks, "--seed", seed, *NETWORKS[seed % len(NETWORKS)], "--nodes", nodes, "--offset", 3000000, "--drift", 20000]
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        done = subprocess.run([*map(str, words), program, root], capture_output=True, text=True, check=False, timeout=patience(60))
    if done.returncode != 0 or done.stderr:
        return ranks, nodes, f"status {done.returncode}: {done.stderr[-500:]}"
    return ranks, nodes, tuple(map(float, done.stdout.split()))


def main():
    mpirun, program = (Path(argument).absolute() for argument in sys.argv[1:3])
    first, last = map(int, sys.argv[3:5])
    failed, largest, beyond_model = 0, 0, 0
    for seed in range(first, last + 1):
        ranks, nodes, found = run(mpirun, program, seed)
        if isinstance(found, str):
            print(f"seed {seed}, {ranks} ranks on {nodes} nodes: {found}")
            failed += 1
            continue
        error, beyond, model, unfitted = found
        largest, beyond_model = max(largest, error), beyond_model + (model > 0)
        single = nodes == 1  # one clock
        if beyond > ROUNDING_NS or model > 0 or (unfitted <= error and not single):
            print(f"seed {seed}, {ranks} ranks on {nodes} nodes: error {error} ns, {beyond} ns beyond the bound, {model} ns beyond what the fit says, "
                  f"{unfitted} ns without a fit")
            failed += 1
    print(f"seeds {first} to {last}: {failed} wrong, largest error {largest:.0f} ns")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
