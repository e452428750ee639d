"""What calls cost between believed nodes: sim_nodes.py LATECOMER SIM-MPIRUN SIM-RANDOM NODES:RANKS[,NODES:RANKS ..] [SEED ..]

Each motif of sim_random, 50 times on few ranks and less often on many, with and without the tool on the same network. Printed for each: calls, messages of the
program and of the tool's own per call (without those of its start and end), and how much longer the program took for all calls: none waits for a message of the
tool, which would take a latency between nodes. Edges that are late, forced or lost are counted in the result; where none is, the critical path is that of the program.
Then the random program of each SEED, with clocks of nodes that are apart and a network that is drawn: its result against the truth, as in sim_truth. With one seed
alone one motif, drawn by its number, so that a turn of the night does not take an hour."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import sim_truth  # noqa: E402
import truth  # noqa: E402
from patience import patience  # noqa: E402

MOTIFS = ("ring", "stencil", "wavefront", "master", "collective", "later")
NODE_LATENCY_NS = 20000
NETWORK = ["--node-latency", NODE_LATENCY_NS, "--offset", 3000000, "--drift", 20000, "--eager", 100000, "--call", 0]
LOST = ("absent", "unsure", "mispaired", "void", "lost", "order_violations", "collectives_skipped", "communicator_unknown")
COUNTED = ("edges_late", "events_forced", "posts_unknown")


def rounds(ranks):
    """Of a motif: what a call costs is seen in fewer where many ranks make it."""
    return max(10, min(50, 200 // ranks))


class Launch:
    def __init__(self, tools, motif, nodes, ranks, tool):
        latecomer, mpirun, program = tools
        with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
            log, exp, tell = (Path(root) / name for name in ("log", "exp", "tell"))
            before = [latecomer, "run", "-q", "-o", exp, "--"] if tool else []
            command = [mpirun, "-n", ranks, "--nodes", nodes, "--seed", 1, *NETWORK, "--tell", tell, *before, program, motif and f"{motif}:{rounds(ranks)}", log]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(300), env={**os.environ, "TMPDIR": root})
            if done.returncode != 0:
                sys.exit(f"{motif}: status {done.returncode}: {done.stderr[-500:]}")
            self.messages = int(tell.read_text(encoding="utf-8").split()[1])
            self.run = truth.Run(log, ranks)
            self.calls = [[call for call in calls if call.function not in truth.ENDS] for calls in self.run.calls]
            began = max(calls[0].begin for calls in self.calls)  # ranks may leave MPI_Init at different times
            self.took = [calls[-1].end - began for calls in self.calls]
            self.result = None
            if tool:
                shown = subprocess.run([latecomer, "show", "--json", exp], capture_output=True, text=True, check=True, timeout=patience(120))
                self.result = json.loads(shown.stdout)


def judge(tools, motif, nodes, ranks, ends):
    """ends: messages of the tool's start and end."""
    bare, tool = (Launch(tools, motif, nodes, ranks, with_tool) for with_tool in (False, True))
    n = sum(map(len, bare.calls))
    longer = max(b - a for a, b in zip(bare.took, tool.took))
    counters = tool.result["meta"]["piggyback"]
    pop, path = tool.result["pop"], truth.critical_path(tool.run)[0] / 1e9
    told = " ".join(f"{name} {counters[name]}" for name in (*COUNTED, *LOST) if counters[name])
    print(f"{nodes:2d} nodes, {motif:10s} {n:6d} calls, messages per call {bare.messages / n:.2f} + {(tool.messages - bare.messages - ends) / n:.2f}, "
          f"all calls together {1e-3 * longer:.3f} us longer; critical path {1e6 * (pop['critical_path_s'] - path):+.3f} us {told}", flush=True)
    if longer > NODE_LATENCY_NS // 2:
        yield f"{nodes} nodes, {motif}: calls waited for the tool, {longer} ns"
    yield from (f"{nodes} nodes, {motif}: {name} {counters[name]}" for name in LOST if counters[name])
    allowed = 1e-6 + 2 * tool.result["meta"]["clock_sync"]["error_s"] + pop["critical_path_error_s"]
    if not counters["edges_late"] + counters["events_forced"] and abs(pop["critical_path_s"] - path) > allowed:
        yield f"{nodes} nodes, {motif}: critical path {path:.9f} wanted, {pop['critical_path_s']:.9f} measured"


def judge_random(tools, seed, nodes, ranks):
    programs, words = tuple((seed, phase) for phase in range(sim_truth.PHASES)), sim_truth.NODES[seed % len(sim_truth.NODES)]
    case = sim_truth.Case(seed, programs, ranks, ("--nodes", str(nodes), *words))
    found = sim_truth.measure(tools, case)
    if isinstance(found, str):
        yield f"{case}: {found}"
        return
    counters = found.result["meta"]["piggyback"]
    told = " ".join(f"{name} {counters[name]}" for name in (*COUNTED, *LOST) if counters[name])
    print(f"seed {seed}: {sum(map(len, found.run.calls))} calls, critical path {found.result['pop']['critical_path_s']:.9f} s, "
          f"{found.result['pop']['critical_path_error_s']:.9f} s too low at most {told}", flush=True)
    yield from (f"{case}: {line}" for line in sim_truth.judge_profile(found, case))


def main():
    tools = [Path(argument).absolute() for argument in sys.argv[1:4]]
    sizes, seeds = [tuple(map(int, size.split(":"))) for size in sys.argv[4].split(",")], list(map(int, sys.argv[5:]))
    motifs = MOTIFS if len(seeds) != 1 else MOTIFS[seeds[0] % len(MOTIFS):][:1]
    wrong = []
    for nodes, ranks in sizes:
        empty = [Launch(tools, "", nodes, ranks, tool).messages for tool in (True, False)]
        wrong += [line for motif in motifs for line in judge(tools, motif, nodes, ranks, empty[0] - empty[1])]
        wrong += [line for seed in seeds for line in judge_random(tools, seed, nodes, ranks)]
    print("\n".join(wrong) or "no call waited, nothing was lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
