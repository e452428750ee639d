"""The kernels of tests/apps/kernels in virtual time, traced and analysed: their waiting is exactly the time that they did not work, and both
delay-cost models name what is late.

kernels.py LATECOMER openmpi|mpich DIRECTORY_OF_KERNELS

Each rank prints its units of work, which take a known time, and the time of all its steps by its own clock: the rest is waiting, but for 1 us of each
message and collective operation. So waiting is known without the tool. Costs of both models are all of it, and go where KERNELS says. Estimates of
the profile of the same run are as close as was published (estimate_claims.py), and its costs, per rank and call path, those of the analysis within 5 % of all waiting.
"""
import os
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "programs"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "analysis"))
import cost_rows  # noqa: E402
import estimate_claims  # noqa: E402
import launch  # noqa: E402
from patience import patience  # noqa: E402

LATENCY = 1e-6  # seconds: virtual.h


class Kernel(NamedTuple):
    arguments: tuple  # steps, size, nanoseconds of a unit
    what: str         # for people
    code: str         # of the call path that costs most
    least: float      # its share of all costs, in both models
    late: tuple       # ranks that cost most, in both models; (): not the same ones, or several alike
    finding: str      # the kind of the first one
    found: str        # for people


KERNELS = {
    "stencil": Kernel((20, 32, 10000), "Jacobi on a torus, one corner of which has more work", "react", 0.99, (0,), "late_rank",
                     "rank 0 has all that reacts: a wave of waiting leaves it, one rank further each step, until the next sum; both models blame it alone, since those between have no more work than others"),
    "wavefront": Kernel((1, 32, 10000), "eight sweeps through a box, as Sweep3D", "sweep", 0.99, (), "pipeline",
                     "pipelines that fill from each corner: four fifths of the waiting are inherited; no rank is late alone, all costs are in `sweep`"),
    "multigrid": Kernel((4, 64, 10000), "V-cycles whose coarsest level is solved by one rank", "solve_alone", 0.9, (0,), "late_rank",
                     "all wait at MPI_Scatter for the coarsest level, which rank 0 solves alone; nothing is passed on, so the models agree"),
    "block_tridiagonal": Kernel((4, 32, 10000), "lines of 2 x 2 blocks eliminated from rank to rank, as BT", "eliminate", 0.5, (), "pipeline",
                     "pipelines that fill and empty four times a step: what wait-first moves from code to earlier waiting is most here, as with BT in the thesis"),
    "conjugate_gradient": Kernel((30, 1024, 1000), "products and sums by exchanges of pairs, as CG", "multiply", 0.99, (0,), "late_rank",
                     "the dense eighth of the matrix is on two ranks, which are late in every product; more than half of the waiting passes through the exchanges"),
}


class Outcome(NamedTuple):
    waiting: list   # by the program's own clock, per rank
    calls: int      # of MPI, most of all ranks
    analysis: dict  # `show --json` of the analysis
    models: dict    # `compare --delay-models --json`
    estimates: list  # of estimate_claims.py
    apart: cost_rows.Apart


def run(work, directory, name, ranks, arguments=None):
    """One kernel in the virtual time of the workspace, or in true time."""
    kernel = KERNELS[name]
    words = [str(word) for word in (arguments or kernel.arguments)]
    done = work.run([*work.launcher(ranks), *work.tool("--trace", "-q", directory=name), f"{directory}/{name}", *words])
    if done.status != 0 or done.out.count("verified") != ranks:
        raise RuntimeError(f"{name}: status {done.status}: {done.out[-500:]}{done.err[-2000:]}")
    waiting = [0.0] * ranks
    for line in done.out.splitlines():
        if line[0].isdigit():
            rank, units, elapsed = map(int, line.split())
            waiting[rank] = (elapsed - units * int(words[2])) / 1e9
    launch.subprocess.run([work.latecomer, "-q", "analyze", "-n", "1", str(work.root / name)], check=True, timeout=patience(100))
    compared = launch.subprocess.run([work.latecomer, "compare", "--delay-models", "--json", str(work.root / name)], check=True, capture_output=True,
                                     text=True, timeout=patience(100))
    analysis = work.show("--analysis", directory=name)
    visits = [sum(row) for row in zip(*(values for path, values in analysis["metrics"]["visits"]["callpaths"].items() if path.split("/")[-1].startswith("MPI_")))]
    profile = work.show(directory=name)
    return Outcome(waiting, int(max(visits)), analysis, launch.json.loads(compared.stdout), list(estimate_claims.compared(profile, analysis)),
                   cost_rows.Apart(work.root / name, profile, analysis))


def of_ranks(analysis, metric):
    return [sum(column) for column in zip(*analysis["metrics"].get(metric, {"callpaths": {}})["callpaths"].values())] or [0.0] * len(analysis["locations"])


WAITS = ("mpi_latesender", "mpi_latereceiver", "mpi_wait_nxn", "mpi_barrier_wait", "mpi_latebroadcast", "mpi_earlyreduce", "mpi_earlyscan", "mpi_mgmt_comm_wait")


def share(items, model, wanted):
    """Of all costs, of the items that are wanted."""
    costs = [sum(item[model][term] for term in ("short_term", "long_term")) for item in items]
    return sum(cost for item, cost in zip(items, costs) if wanted(item)) / sum(costs)


def faults(name, found):
    kernel, analysis, models = KERNELS[name], found.analysis, found.models
    slack = 2 * LATENCY * found.calls
    waits = [sum(row) for row in zip(*(of_ranks(analysis, metric) for metric in WAITS))]
    for rank, (wanted, got) in enumerate(zip(found.waiting, waits)):
        if not wanted - slack <= got <= wanted + 1e-9:
            yield f"rank {rank} waits {got:.6f} s, by its own clock {wanted:.6f} s (messages take up to {slack:.6f} s)"
    whole = sum(waits) + sum(of_ranks(analysis, "mpi_finalize_wait"))
    if analysis["meta"]["invariants"]["broken"]:
        yield f"invariants: {analysis['meta']['invariants']}"
    for key, costs in models["runs"][0]["delay_costs_s"].items():
        if abs(costs - whole) > 1e-9:
            yield f"{key}: costs {costs} s, waiting {whole} s"
    for key in ("proportional", "waitfirst"):
        of_code = share(models["callpaths"], key, lambda item: item["callpath"].split("/")[-1] == kernel.code)
        if of_code < kernel.least:
            yield f"{key}: {kernel.code} has {of_code:.1%} of the costs, not {kernel.least:.0%}"
        first = max(models["ranks"], key=lambda item, key=key: sum(item[key][term] for term in ("short_term", "long_term")))["rank"]
        if kernel.late and first not in kernel.late:
            yield f"{key}: rank {first} costs most, not {kernel.late}"
    yield from (found.text() for found in found.estimates if not found.holds())
    if found.apart.off(found.apart.worst) > 0.05:
        yield "the costs of the profile are others:\n" + found.apart.rows()
    if models["short_term"]["shifted_to_long_term"] < -1e-9:
        yield f"wait-first makes fewer costs long-term: {models['short_term']}"


def finding_faults(name, analysis):
    """On four ranks."""
    kernel = KERNELS[name]
    findings = [(finding["kind"], (finding["callpath"] or "").split("/")[-1]) for finding in analysis["findings"]]
    if findings[:1] != [(kernel.finding, kernel.code)]:
        yield f"findings {findings}, not first {kernel.finding} in {kernel.code}"


def main():
    latecomer, flavour, directory = sys.argv[1:]
    bad = 0
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=True) as work:
        for name in KERNELS:
            found = run(work, Path(directory).absolute(), name, 4)
            wrong = [*faults(name, found), *finding_faults(name, found.analysis)]
            bad += bool(wrong)
            sums = found.models["sums"]
            for compared in found.estimates:
                print("   ", compared.text())
            print(f"{name}: waits {sum(found.waiting):.3f} s; indirect {sums['indirect']['proportional']:.3f} s, wait-first {sums['indirect']['waitfirst']:.3f} s")
            print(f"  on the fly: {found.apart.text()}")
            for line in wrong:
                print(f"  {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
