"""Random programs on the simulated MPI under the tool, the result against the truth: sim_truth.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST

For each seed: visits, times and wait states per function and call path, the critical path and the factors, within 1 ns; for every fifth a trace is written, too,
and analysed; every seventh is on two nodes, within the bounds that the result states. A seed that fails is printed with the phases without which it does not fail."""
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
POLLS = 50  # of the tool's own in a call between nodes, at 1 ns
OWN_WORK_NS = 1000  # docs/clocks.md: shorter work of the tool at the end of a call is the program's
PHASES = 12  # of sim_random.c
NETWORKS = [[], ["--random"], ["--random", "--jitter", "3000"], ["--random", "--eager", "0"], ["--latency", "20000", "--ns-per-kib", "300", "--lazy"]]
# Two nodes, for every seventh seed: far apart, with clocks of their own; no MPI makes small messages between nodes wait.
NODES = [["--nodes", "2", "--node-latency", "20000", "--offset", "3000000", "--drift", "20000"],
         ["--nodes", "2", "--node-latency", "50000", "--random", "--eager", "16384", "--call", "0"]]
# Seeds that found something: seed, network, phases.
FOUND = [(24, ["--nodes", "2", "--node-latency", "50000", "--random"], "0")]  # an edge back that came too late was not counted
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
                values[key][rank] += float("nan") if value is None else value  # None: not known
    return values


def differences(wanted, found, unit, tolerance, unsure=None):
    """tolerance: of a path and a rank; unsure: what may be missing."""
    for path in sorted(set(wanted) | set(found)):
        for rank in sorted(set(wanted.get(path, {})) | set(found.get(path, {}))):
            a, b = wanted.get(path, {}).get(rank, 0), found.get(path, {}).get(rank, 0) * unit
            less, error = (unsure or {}).get(path, {}).get(rank, 0), tolerance(path, rank)
            if not a - less - error <= b <= a + error:
                yield f"{path} rank {rank}: {a} wanted, {b:g} measured"


def measure(latecomer, mpirun, program, seed, ranks, words, phases, traced):
    """Profile, analysis of the trace (if traced), what the program says; or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log, exp = Path(root) / "log", Path(root) / "exp"
        options = ["--trace", "--trace-handles"] if traced else []
        command = [mpirun, "-n", ranks, "--seed", seed, *words, latecomer, "run", "-q", *options, "-o", exp, "--", program, seed, log, *([phases] if phases else [])]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60), env={**os.environ, "TMPDIR": root})
        if done.returncode != 0 or done.stderr:
            return f"status {done.returncode}: {done.stderr[-500:]}"

        def show(*options):
            shown = subprocess.run([latecomer, "show", "--json", *options, exp], capture_output=True, text=True, check=True, timeout=patience(60))
            return json.loads(shown.stdout)

        if traced:
            subprocess.run([latecomer, "-q", "analyze", "-n", "1", exp], capture_output=True, check=True, timeout=patience(60))
        return show(), show("--analysis") if traced else None, truth.Run(log, ranks)


def judge_waits(result, run, unsure):
    """Within 1 ns, and the error of the clocks of several nodes per call."""
    clocks = result["meta"].get("clock_sync", {"nodes": 1, "wait_error_s": 0})
    wanted, short = truth.waits(run, clocks["nodes"])
    visits, error = truth.visits(run), 2e9 * clocks["wait_error_s"]
    for metric in METRICS:
        for line in differences(wanted[metric], measured(result, metric), 1e9, lambda path, rank: 1 + error * visits[path][rank], short[metric] if unsure else None):
            yield f"{metric} {line}"


def judge_profile(result, run):
    calls = {path: ranks for path, ranks in measured(result, "visits").items() if path.split("/")[-1] not in ASKED}
    yield from (f"visits {line}" for line in differences(truth.visits(run), calls, 1, lambda path, rank: 0))
    yield from judge_waits(result, run, True)
    times = {path: ranks for path, ranks in measured(result, "time").items() if path in calls}
    own = OWN_WORK_NS if result["meta"]["clock_sync"]["nodes"] > 1 else 0
    visits = truth.visits(run)
    for line in differences(truth.times(run), times, 1e9, lambda path, rank: 1 + own * visits[path][rank]):
        if "MPI_Finalize" not in line:
            yield f"time {line}"
    most, least, late = truth.factors(run), truth.factors(run, sure=True), result["pop"]["critical_path_error_s"]
    small = 1e-9 + (1e-9 * POLLS * max(map(len, run.calls)) + 2 * result["meta"]["clock_sync"]["error_s"] if own else 0)
    for name, value in most.items():
        low, high = sorted((value, least[name]))
        if name == "critical_path_s":
            low -= late
        elif late > 0 and not name.endswith("_s") and name != "load_balance":
            continue  # follows from the critical path
        error = small * (1 if name.endswith("_s") else 2 * value / most["elapsed_s"])
        if not low - error <= result["pop"][name] <= high + error:
            yield f"{name}: {value:.12g} wanted, {result['pop'][name]:.12g} measured"


def judge(latecomer, mpirun, program, seed, ranks, words, phases=None, traced=False):
    """Lines that say what is wrong with this seed; phases: only these of the program."""
    found = measure(latecomer, mpirun, program, seed, ranks, words, phases, traced)
    if isinstance(found, str):
        return [found]
    result, analysis, run = found
    return [*judge_profile(result, run), *(f"analysis: {line}" for line in (judge_waits(analysis, run, False) if traced else ()))]


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
    for seed, words, phases in FOUND if first == 1 else ():
        wrong = judge(latecomer, mpirun, program, seed, 2 + seed % 4, words, phases)
        failed += bool(wrong)
        print(*(f"seed {seed} again: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    for seed in range(first, last + 1):
        nodes = seed % 7 == 0
        ranks, words = 2 + seed % 4, NODES[seed % 2] if nodes else NETWORKS[seed // 2 % len(NETWORKS)]

        def test(phases=None, ranks=ranks, words=words, seed=seed, traced=seed % 5 == 0 and not nodes):
            return judge(latecomer, mpirun, program, seed, ranks, words, phases, traced)

        if test():
            failed += 1
            phases = smallest(test)
            print(f"seed {seed}: {mpirun} -n {ranks} --seed {seed} {' '.join(words)} {latecomer} run {program} {seed} LOG {phases}\n  " + "\n  ".join(test(phases)[:6]))
    print(f"{failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
