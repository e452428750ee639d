"""Gains that a profile predicts without a trace, beside what comes out: sim_gains.py LATECOMER SIM-MPIRUN SIM-GAINS FIRST LAST [JOBS]

Programs with one fault each (sim_gains.c), seeds FIRST to LAST, on the simulated MPI: what the run gains when the fault is taken away lies within the bounds
that the finding states, always; it is predicted by a what-if clock that the library chose in the run, and what is predicted is no more than what is waited
for the fault. Every second program is on as many believed nodes as ranks, or fewer, every third seed with MPI_THREAD_MULTIPLE. Where a rank has a second thread,
no clock tells anything, the findings say so, and nobody waits for that to be known.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

LATECOMER, MPIRUN, PROGRAM = sys.argv[1:4]
KINDS = {"slow_rank": "late_rank", "half": "imbalance", "turns": "imbalance", "serial": "late_rank", "late_root": "late_rank", "shared": "late_rank", "chain": "serialisation_chain"}
FREE = ("--latency", "0", "--call", "0")
NETWORKS = (FREE, FREE, ("--latency", "3000"), ("--random", "--latency", "2000"))
# Calls take nothing between nodes: those of the tool's own, of which there are more or fewer, would be work of less than 1 us.
NODE_NETWORKS = (("--node-latency", "0", *FREE), ("--random", "--node-latency", "3000", "--call", "0"), ("--node-latency", "20000", "--jitter", "5000", "--call", "0"))
CLOCKS = ("--offset", "3000000", "--drift", "20000")  # of the nodes
DRIFT = 2e-5  # in parts
ROUNDING = 50e-9  # of the times of a round
THREADS_LIMIT_S = 1.5  # at most 64 rounds of 10 ms; who waits for a rank that does not compare waits 2 s
BY_CLOCK = 0.9  # of the programs but `shared`, at least: none is carried for most of a fault that begins right after the ranks have chosen
CLOCK = "what-if clock of the run without this cause"


def rounds_of(seed):
    return 24 + seed * 7 % 40


def network_of(kind, way, seed):
    """Ranks, and words of the launcher. Between nodes also with clocks that drift."""
    ranks, number = 3 + seed % 5, seed + list(KINDS).index(kind) + (way == "ring")
    if way == "threads on nodes":
        return ranks, ("--nodes", ranks, *NODE_NETWORKS[0])
    if number % 2 == 0 or kind == "shared" or way == "threads":
        return ranks, NETWORKS[seed % len(NETWORKS)]
    nodes = (ranks, 2, 3)[number // 2 % 3]
    return ranks, ("--nodes", nodes, *NODE_NETWORKS[seed % len(NODE_NETWORKS)], *(CLOCKS if seed % 2 else ()))


def measure(kind, way, cured, seed, root):
    """The profile of one run."""
    exp = Path(root) / cured
    ranks, network = network_of(kind, way, seed)
    command = [MPIRUN, "-n", ranks, "--seed", seed, *network, LATECOMER, "run", "-q", "-o", exp, "--", PROGRAM, kind, way.split()[0], cured, seed,
               rounds_of(seed)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60), env={**os.environ, "TMPDIR": root})
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"status {done.returncode}: {done.stderr[-500:]}")
    return json.loads(subprocess.run([LATECOMER, "show", "--json", exp], capture_output=True, text=True, check=True, timeout=patience(60)).stdout)


def judge(kind, way, seed):
    """What is wrong, a line about the prediction, and whether a clock told it. What the network takes may differ between the two runs: it is no work."""
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        before, after = (measure(kind, way, cured, seed, root) for cured in ("faulty", "cured"))
    now, then, network = before["pop"]["elapsed_s"], after["pop"]["elapsed_s"], before["pop"]["elapsed_s"] - before["pop"]["critical_path_s"]
    error = abs(network - (then - after["pop"]["critical_path_s"])) + ROUNDING * rounds_of(seed) + DRIFT * now
    words = " ".join(map(str, network_of(kind, way, seed)[1]))
    gained, found = now - then, [f for f in before["findings"] if f["callpath"] == "main/fault"]
    if not found:
        return ["nothing found"] if gained > 0.02 * now else [], f"{words}: gains {gained:.6f} s of {now:.6f} s, nothing found", False
    first = found[0]
    bad = []
    if first["kind"] != KINDS[kind]:
        bad.append(f"{first['kind']}, not {KINDS[kind]}")
    elif not first["gain_low_s"] - error <= gained <= first["gain_high_s"] + error:
        bad.append("not within the bounds")
    if (first["gain_by"] == CLOCK) == ("gain_estimated" in first):
        bad.append("does not say why it is an estimate, or that it is one")
    if first["gain_s"] > first["severity_s"] * (1 + 1e-9):
        bad.append(f"more than the waiting, {first['severity_s']:.6f} s")
    return bad, (f"{words}: gains {gained:.6f} s of {now:.6f} s, predicted {first['gain_s']:.6f} s ({first['gain_low_s']:.6f} to {first['gain_high_s']:.6f}): "
                 f"{100 * (first['gain_s'] - gained) / then:+.2f} % of the run time{'' if first['gain_by'] == CLOCK else ', by ' + first['gain_by']}"), first["gain_by"] == CLOCK


def judge_others(kind, way, seed, why):
    """A program for which no clock tells anything, and nobody waits for that to be known: its findings say that they are estimates, and why."""
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        result = measure(kind, way, "faulty", seed, root)
    found = [f for f in result["findings"] if f["kind"] in KINDS.values()]
    bad = [] if found and all(f["gain_by"] != CLOCK and why in f["gain_estimated"] for f in found) else [str(found)]
    if result["pop"]["elapsed_s"] > THREADS_LIMIT_S:
        bad.append("somebody waited")
    return bad, f"takes {result['pop']['elapsed_s']:.6f} s"


def main():
    first, last, jobs = int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]) if len(sys.argv) > 6 else 1
    cases = [(kind, way, seed) for seed in range(first, last + 1) for kind in KINDS for way in ("barrier", "ring" if seed % 3 else "multiple")]
    failed = clocked = 0
    with ThreadPoolExecutor(jobs) as pool:
        for case, (bad, line, clock) in zip(cases, pool.map(lambda case: judge(*case), cases)):
            failed += bool(bad)
            clocked += clock and case[0] != "shared"
            print(*case, line, "  WRONG: " + ", ".join(bad) if bad else "", sep=" ")
    for kind, way in (("slow_rank", "threads"), ("chain", "threads"), ("slow_rank", "threads on nodes")):
        bad, line = judge_others(kind, way, first, "several threads")
        failed += bool(bad)
        print(kind, way, first, line, "  WRONG: " + ", ".join(bad) if bad else "")
    print(f"{len(cases)} programs, {failed} wrong, {clocked} predicted by clocks")
    return failed > 0 or clocked < BY_CLOCK * sum(case[0] != "shared" for case in cases)


if __name__ == "__main__":
    sys.exit(main())
