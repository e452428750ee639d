"""`latecomer bench` on the simulated MPI, where operations take what the rules of virtual time give them, whatever the machine does:
sim_bench.py LATECOMER SIM-MPIRUN PROBED_LIBRARY LATE

An empty operation takes less than MPI_Allreduce; variants of a sweep stand in their order, with their times; a collective that wastes time is found by
its guidelines; what a probe counts goes with the run times; of a program's collective, what is not its own time is arrival."""
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

    def bench(self, *words, **variables):
        env = {**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}", "TMPDIR": str(self.root), **variables}
        if variables:
            env["LD_PRELOAD"] = str(self.probed)
        done = subprocess.run([self.latecomer, "bench", *words], capture_output=True, text=True, errors="replace", cwd=self.root, env=env, timeout=patience(60),
                              check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"bench {' '.join(words)}: exit status {done.returncode}: {done.stdout[-500:]} {done.stderr[-1500:]}")
        return done.stdout

    def measured(self, *words, **variables):
        return self.bench(*words, "-n", "2", "--mpi", "mpich", **variables)

    def fingerprint(self, name):
        return json.loads((self.root / f"{name}.fingerprint.json").read_text(encoding="utf-8"))


def empty(runs):
    """Own run times of the ranks, from a barrier on: between two reads of the clock nothing happens, or all meet a latency later."""
    runs.measured("empty,MPI_Allreduce", "--reps", "50", "--sync", "barrier", "-o", "empty")
    nothing, allreduce = (runs.fingerprint(f"empty/{name}-8")["median_ns"] for name in ("empty", "MPI_Allreduce"))
    check("empty", 0 < nothing < 10, nothing)
    check("empty against MPI_Allreduce", nothing + LATENCY_NS <= allreduce <= nothing + 2 * LATENCY_NS, f"{nothing} ns, {allreduce} ns")


def probe(runs):
    """Every third call wastes time in the probe: whatever the order among those, and among the others, the ranks go together."""
    one = json.loads(runs.measured("MPI_Allreduce", "--reps", "90", "--sync", "barrier", "--counters", "probes", "--json", "-o", "probed", PROBED_GROW_US="200"))
    together = one["counters"]["probe_grow_ns"]["spearman"]["all"]
    check("probe", together > 0.75, f"rank correlation {together}")


def sweep(runs):
    done = json.loads(runs.measured("sweep", "MPI_Allreduce", "--vary", "PROBED_SLOW_US=2000,0,200", "--rounds", "2", "--reps", "30", "--sync", "barrier", "--json", "-o", "sweep",
                                    PROBED_GROW_US="0"))
    variants = done["jobs"][0]["variants"]
    check("sweep", [v["settings"]["PROBED_SLOW_US"] for v in variants] == ["0", "200", "2000"], variants)
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
    latecomer, mpirun, probed, late = (Path(argument).absolute() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        runs = Runs(latecomer, mpirun, probed, root)
        empty(runs)
        probe(runs)
        sweep(runs)
        guidelines(runs)
        beside(runs, late)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
