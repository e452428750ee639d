"""`latecomer bench` on the simulated MPI, where operations take what the rules of virtual time give them, whatever the machine does:
sim_bench.py LATECOMER SIM-MPIRUN PROBED_LIBRARY LATE PROBED_MPI PLAIN_LOOP

An empty operation takes less than MPI_Allreduce; operations take what they take in a plain loop; variants of a sweep stand in their order, with their
times; a collective that wastes time is found by its guidelines; what a probe counts goes with the run times, and shows what makes a warm-up slow; probes
of the MPI library itself; of a program's collective, what is not its own time is arrival."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

LATENCY_NS = 1000
POLL_NS = 20_000  # who reads the clock until it shows a time comes later by as much at most
found = []


def check(what, right, text=""):
    if not right:
        found.append(f"{what}: {text}")


class Runs:
    """A launcher called as MPICH's, first in PATH, that starts simulations, each with another seed."""

    def __init__(self, latecomer, mpirun, probed, root):
        self.latecomer, self.mpirun, self.probed, self.root = latecomer, mpirun, probed, Path(root)
        launcher = self.root / "mpirun.mpich"
        launcher.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo HYDRA && exit\necho >>{self.root}/seeds\n'
                            f'exec {mpirun} --seed $(wc -l <{self.root}/seeds) --jitter 300 "$@"\n', encoding="ascii")
        launcher.chmod(0o755)

    def bench(self, *words, preload=(), **variables):
        env = {**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}", "TMPDIR": str(self.root), **variables}
        if variables or preload:
            env["LD_PRELOAD"] = ":".join(map(str, preload or [self.probed]))
        done = subprocess.run([self.latecomer, "bench", *words], capture_output=True, text=True, errors="replace", cwd=self.root, env=env, timeout=patience(60),
                              check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"bench {' '.join(words)}: exit status {done.returncode}: {done.stdout[-500:]} {done.stderr[-1500:]}")
        return done.stdout

    def measured(self, *words, **variables):
        return self.bench(*words, "-n", "2", "--mpi", "mpich", **variables)

    def rows(self, name):
        """Of each repetition and rank: its metrics."""
        text = subprocess.run(["zstd", "-dc", self.root / name / "runs.csv.zst"], capture_output=True, text=True, check=True).stdout
        found_rows = {}
        for row in csv.DictReader(io.StringIO(text)):
            if int(row["rank"]) >= 0:  # metrics of all ranks have none
                found_rows.setdefault((int(row["iteration"]), int(row["rank"])), {})[row["metric"]] = int(row["value"])
        return found_rows

    def fingerprint(self, name):
        return json.loads((self.root / f"{name}.fingerprint.json").read_text(encoding="utf-8"))


def empty(runs):
    """Own run times of the ranks, from a barrier on: between two reads of the clock nothing happens, or all meet a latency later."""
    runs.measured("empty,MPI_Allreduce", "--reps", "50", "--sync", "barrier", "-o", "empty")
    nothing, allreduce = (runs.fingerprint(f"empty/{name}-8")["median_ns"] for name in ("empty", "MPI_Allreduce"))
    check("empty", 0 < nothing < 10, nothing)
    check("empty against MPI_Allreduce", nothing + LATENCY_NS <= allreduce <= nothing + 2 * LATENCY_NS, f"{nothing} ns, {allreduce} ns")


def plain_loop(runs, program):
    """The same operations, one after the other: calls wait for each other as in the benchmark, so that each takes a latency and what jitter adds."""
    names = ("MPI_Allreduce", "MPI_Barrier", "MPI_Alltoall", "pingpong")
    looped = subprocess.run([runs.mpirun, "-n", "2", "--seed", "1", "--jitter", "300", program, "8", "300"], cwd=runs.root, capture_output=True, text=True, check=True,
                            timeout=patience(60)).stdout
    loop = {name: float(ns) for name, ns in map(str.split, looped.splitlines())}
    runs.measured(",".join(names), "--reps", "300", "--sync", "barrier", "--counters", "none", "-o", "looped")
    for name in names:
        alone = runs.fingerprint(f"looped/{name}-8")["median_ns"]
        check(f"plain loop: {name}", abs(alone - loop[name]) <= 300, f"{alone} ns, {loop[name]} ns in the loop")


def probe(runs):
    """Every third call wastes time in the probe: the ranks go together, and its timer has the time of the simulation."""
    one = json.loads(runs.measured("MPI_Allreduce", "--reps", "90", "--sync", "barrier", "--counters", "probes", "--json", "-o", "probed", PROBED_GROW_US="200"))
    grow = one["counters"]["probe_grow_ns"]
    check("probe", grow["spearman"]["all"] > 0.75, f"rank correlation {grow['spearman']}")
    for i, value in enumerate(grow["values"]):  # of both ranks
        check(f"probe: repetition {i}", 400_000 <= value <= 400_000 + 2 * POLL_NS if i % 3 == 0 else value == 0, value)


def in_place(runs):
    """MPI_IN_PLACE in every call, where it is asked for."""
    for words, calls in ((("--in-place",), 1), ((), 0)):
        runs.measured("MPI_Allreduce", *words, "--reps", "40", "--sync", "barrier", "--counters", "probes", "-o", f"in-place-{calls}", PROBED_GROW_US="0")
        rows = runs.rows(f"in-place-{calls}")
        check(f"in place: {words}", len(rows) == 80 and all(row["probe_calls"] == 1 and row["probe_in_place"] == calls for row in rows.values()), rows)


def warm_up(runs):
    """The first 48 calls waste 200 us in a probe, as a pool that grows: the warm-up ends there, and this probe, not the others, has what it takes longer."""
    one = json.loads(runs.measured("MPI_Allreduce", "--reps", "200", "--sync", "barrier", "--counters", "probes", "--json", "-o", "warm-up", PROBED_GROW_US="200",
                                   PROBED_GROW_FIRST="48"))
    check("warm-up", one["warmup"]["end"] == 48, one["warmup"])
    grow, slow = one["counters"]["probe_grow_ns"], one["categories"]["warmup"]["median_ns"] - one["categories"]["good"]["median_ns"]
    levels = grow["levels"]
    check("warm-up: levels", 400_000 <= levels["warmup"] <= 400_000 + 2 * POLL_NS and levels["good"] == 0 and levels["superiority"] == 1 and levels["p"] < 0.001, levels)
    check("warm-up: what it takes longer", abs(levels["warmup"] / 2 - slow) <= POLL_NS, f"{levels}, {slow} ns")
    check("warm-up: correlation", grow["spearman"]["warmup_good"] > 0.6 and grow["spearman"]["good"] is None, grow["spearman"])
    check("warm-up: another probe", one["counters"]["probe_calls"]["spearman"]["warmup_good"] is None, one["counters"]["probe_calls"]["spearman"])


def mpi_library(runs, probed_mpi):
    """Probes in the MPI library: its function is called as MPI_Allreduce, or as PMPI_Allreduce by a preloaded one that has probes, too."""
    for name, preload in (("library", [probed_mpi]), ("below", [runs.probed, probed_mpi])):
        runs.measured("MPI_Allreduce", "--reps", "40", "--sync", "barrier", "--counters", "probes", "-o", name, preload=preload)
        rows = runs.rows(name)
        check(f"MPI {name}", len(rows) == 80, len(rows))
        for place, row in rows.items():
            around = row["runtime_ns"] if name == "library" else row["probe_inner_ns"]
            check(f"MPI {name}: {place}", row["probe_mpich_meetings"] == 1 and 0 <= around - row["probe_mpich_meeting_ns"] <= 10, row)
            check(f"MPI {name}: {place}: both", name == "library" or row["probe_calls"] == 1, row)


def sweep(runs):
    done = json.loads(runs.measured("sweep", "MPI_Allreduce", "--vary", "PROBED_SLOW_US=400,0,100", "--rounds", "2", "--reps", "30", "--sync", "barrier", "--json", "-o", "sweep",
                                    PROBED_GROW_US="0"))
    variants = done["jobs"][0]["variants"]
    check("sweep", [v["settings"]["PROBED_SLOW_US"] for v in variants] == ["0", "100", "400"], variants)
    for place, v in enumerate(variants, 1):
        wasted = 1000 * int(v["settings"]["PROBED_SLOW_US"])
        check("sweep: time", wasted + LATENCY_NS <= v["median_ns"] <= wasted + POLL_NS, v)
        check("sweep: place", v["places"] == [place, place], v)


def guidelines(runs):
    """MPI_Allreduce wastes 200 us: slower than MPI_Reduce and MPI_Bcast, and than its nonblocking twin; two halves waste twice as much."""
    done = json.loads(runs.measured("guidelines", "MPI_Allreduce", "--reps", "20", "--bytes", "16", "--rounds", "2", "--sync", "barrier", "--json", "-o", "guidelines",
                                    PROBED_SLOW_US="200"))
    mock_ups = {c["mock_up"]: c for c in done["comparisons"]}
    for name, c in mock_ups.items():
        wastes = {"MPI_Allreduce~parts": 2, "MPI_Allreduce~larger": 1}.get(name, 0)
        check(f"guideline {name}: time", 200_000 * wastes <= c["mock_up_median_ns"] <= 200_000 * wastes + POLL_NS, c)
        check(f"guideline {name}: ratio", abs(c["ratio"] / (c["median_ns"] / c["mock_up_median_ns"]) - 1) < 0.1, c)  # of means of launches
        check(f"guideline {name}: violated", c["violated"] == (wastes == 0), c)
    check("guidelines", len(mock_ups) == 6, list(mock_ups))


def beside(runs, late):
    """One of two ranks comes 50 ms late."""
    env = {**os.environ, "TMPDIR": str(runs.root)}
    subprocess.run([runs.mpirun, "-n", "2", "--seed", "1", runs.latecomer, "-q", "run", "-o", "late", late], cwd=runs.root, env=env, check=True, timeout=patience(60))
    runs.measured("MPI_Allreduce", "--bytes", "64", "--reps", "100", "-o", "alone")
    path = next(p for p in json.loads(runs.bench("beside", "late", "alone", "--json"))["callpaths"] if p["operation"] == "MPI_Allreduce")
    check("beside", abs(path["arrival_ns"] - 25e6) < POLL_NS and abs(path["waiting_ns"] - 25e6) < POLL_NS, path)
    check("beside: rest", abs(path["program_ns"] - path["arrival_ns"] - path["alone_median_ns"]) < 1 and path["alone_median_ns"] >= LATENCY_NS, path)


def main():
    latecomer, mpirun, probed, late, probed_mpi, loop = (Path(argument).absolute() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        runs = Runs(latecomer, mpirun, probed, root)
        empty(runs)
        plain_loop(runs, loop)
        probe(runs)
        in_place(runs)
        warm_up(runs)
        mpi_library(runs, probed_mpi)
        sweep(runs)
        guidelines(runs)
        beside(runs, late)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
