"""Random programs on the simulated MPI under the tool, the result against the truth: sim_truth.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST

For each seed: visits, times and wait states per function and call path, the critical path and the factors, within 1 ns. A seed that fails is printed with the
phases without which it does not fail."""
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import truth  # noqa: E402
from patience import patience  # noqa: E402

LISTED = {"main", "alpha", "beta", "gamma_rays"}  # functions of the call paths that the program logs
PHASES = 12  # of sim_random.c
NETWORKS = [[], ["--random"], ["--random", "--jitter", "3000"], ["--random", "--eager", "0"], ["--latency", "20000", "--ns-per-kib", "300"]]
ASKED = {"MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_group", "MPI_Group_translate_ranks", "MPI_Group_free"}  # that the log leaves out
METRICS = ["mpi_latesender", "mpi_latereceiver", "mpi_barrier_wait", "mpi_wait_nxn", "mpi_latebroadcast", "mpi_earlyreduce", "mpi_earlyscan",
           "mpi_mgmt_comm_wait", "mpi_finalize_wait"]


def measured(result, metric):
    """path -> rank -> value, of calls of MPI; only the functions that the program logs."""
    values = defaultdict(lambda: defaultdict(float))
    for path, row in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
        *functions, last = path.split("/")
        if last.startswith("MPI_"):
            key = "/".join([f for f in functions if f in LISTED] + [last])
            for rank, value in enumerate(row):
                values[key][rank] += value
    return values


def differences(wanted, found, unit, tolerance, unsure=None):
    for path in sorted(set(wanted) | set(found)):
        for rank in sorted(set(wanted.get(path, {})) | set(found.get(path, {}))):
            a, b = wanted.get(path, {}).get(rank, 0), found.get(path, {}).get(rank, 0) * unit
            less = (unsure or {}).get(path, {}).get(rank, 0)
            if not a - less - tolerance <= b <= a + tolerance:
                yield f"{path} rank {rank}: {a} wanted, {b:g} measured"


def judge(latecomer, mpirun, program, seed, ranks, words, phases=None):
    """Lines that say what is wrong with this seed; phases: only these of the program."""
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log, exp = Path(root) / "log", Path(root) / "exp"
        command = [mpirun, "-n", ranks, "--seed", seed, *words, latecomer, "run", "-q", "-o", exp, "--", program, seed, log, *([phases] if phases else [])]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60), env={**os.environ, "TMPDIR": root})
        if done.returncode != 0 or done.stderr:
            return [f"status {done.returncode}: {done.stderr[-500:]}"]
        shown = subprocess.run([latecomer, "show", "--json", exp], capture_output=True, text=True, check=True, timeout=patience(60))
        result, run = json.loads(shown.stdout), truth.Run(log, ranks)
        wanted, unsure = truth.waits(run)
        calls = {path: ranks for path, ranks in measured(result, "visits").items() if path.split("/")[-1] not in ASKED}
        wrong = [f"visits {line}" for line in differences(truth.visits(run), calls, 1, 0)]
        for metric in METRICS:
            wrong += [f"{metric} {line}" for line in differences(wanted[metric], measured(result, metric), 1e9, 1, unsure[metric])]
        wrong += [f"time {line}" for line in differences(truth.times(run), {p: r for p, r in measured(result, "time").items() if p in calls}, 1e9, 1)
                  if "MPI_Finalize" not in line]
        for name, value in truth.factors(run).items():
            if abs(result["pop"][name] - value) > 1e-9 * (1 if name.endswith("_s") else value / truth.factors(run)["elapsed_s"]):
                wrong.append(f"{name}: {value:.12g} wanted, {result['pop'][name]:.12g} measured")
        return wrong


def smallest(test):
    """The phases without which the seed does not fail."""
    phases = list(range(PHASES))
    for phase in range(PHASES):
        fewer = [p for p in phases if p != phase]
        if fewer and test(",".join(map(str, fewer))):
            phases = fewer
    return ",".join(map(str, phases))


def main():
    latecomer, mpirun, program = (Path(argument).absolute() for argument in sys.argv[1:4])
    first, last = map(int, sys.argv[4:6])
    failed = 0
    for seed in range(first, last + 1):
        ranks, words = 2 + seed % 4, NETWORKS[seed % len(NETWORKS)]

        def test(phases=None, ranks=ranks, words=words, seed=seed):
            return judge(latecomer, mpirun, program, seed, ranks, words, phases)

        if test():
            failed += 1
            phases = smallest(test)
            print(f"seed {seed}: {mpirun} -n {ranks} --seed {seed} {' '.join(words)} {latecomer} run {program} {seed} LOG {phases}\n  " + "\n  ".join(test(phases)[:6]))
    print(f"{last - first + 1 - failed} of {last - first + 1} right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
