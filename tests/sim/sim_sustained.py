"""Operations in a row between believed nodes: sim_sustained.py LATECOMER SIM-MPIRUN SIM-SUSTAINED ROUNDS [PATTERN ..]

PATTERN:RANKS is the pattern on another number of ranks. Up to MOST_SHORT rounds the queue of events is a short one.

Each pattern of sim_sustained with and without the tool, on a network on which the record of a message comes with it, and one on which it comes some time later,
when its receiver has gone on. Calls take no time. Printed for each: by how much a round takes longer with the tool, messages of the tool's own
per round and rank, the longest queue of events, events that were forced and edges that were late, and by how much the critical path is off.

No call waits for the tool: a round takes as long with it, but for what chance does to the network. The queue stays below its bound. Clocks are never too large, and
too low by no more than the result says; where records can keep up nothing is forced, they are those of the program, and all messages have theirs."""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

JITTER_NS = 5000
NETWORKS = {"even": [], "uneven": ["--jitter", JITTER_NS]}
NETWORK = ["--node-latency", 5000, "--eager", 100000, "--call", 0]
POLLS_NS = 10  # each look in vain takes 1 ns
MOST_SHORT, BACKLOG, WHOLE_BACKLOG = 10000, 1024, 65536
EVEN_TOO = ("pair", "waitall", "ring", "gradient", "mixed")  # where that tells more
LOST = ("absent", "unsure", "mispaired", "void", "lost", "order_violations", "collectives_skipped", "communicator_unknown")


@dataclass(frozen=True)
class Pattern:
    ranks: int
    messages: int  # of a round that follow each other
    outruns: tuple = ()  # networks on which records cannot keep up


PATTERNS = {
    "pair": Pattern(2, 2), "pair_any": Pattern(2, 2), "pair_big": Pattern(2, 2), "pair_synchronous": Pattern(2, 4), "pair_paths": Pattern(2, 2), "pair_tags": Pattern(2, 2),
    "pair_threads": Pattern(2, 2), "waitall": Pattern(2, 1), "stream": Pattern(2, 1), "fan_in": Pattern(5, 1), "ring": Pattern(5, 5), "shift": Pattern(5, 1),
    "allreduce": Pattern(5, 1), "barrier": Pattern(5, 1), "bcast": Pattern(5, 1), "bcasts": Pattern(5, 1), "reduce": Pattern(5, 1),
    "gradient": Pattern(5, 2, ("uneven",)), "gradient:12": Pattern(12, 2, ("even", "uneven")), "mixed": Pattern(5, 3, ("uneven",))}


def backlog(rounds):
    return BACKLOG if rounds <= MOST_SHORT else WHOLE_BACKLOG


class Launch:
    def __init__(self, tools, name, rounds, network, tool):
        latecomer, mpirun, program = tools
        ranks = PATTERNS[name].ranks
        with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
            exp, tell = Path(root) / "exp", Path(root) / "tell"
            before = [latecomer, "run", "-q", "-o", exp, "--"] if tool else []
            command = [mpirun, "-n", ranks, "--nodes", ranks, "--seed", 1, *NETWORK, *NETWORKS[network], "--tell", tell, *before, program, name.partition(":")[0], rounds]
            env = {**os.environ, "TMPDIR": root, "LATECOMER_TEST_BACKLOG": str(backlog(rounds))}
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(600), env=env)
            if done.returncode != 0:
                sys.exit(f"{name}, {network}: status {done.returncode}: {done.stderr[-500:]}")
            self.elapsed, self.path = map(int, done.stdout.split())
            self.messages = int(tell.read_text(encoding="utf-8").split()[1])
            self.result = None
            if tool:
                shown = subprocess.run([latecomer, "show", "--json", exp], capture_output=True, text=True, check=True, timeout=patience(120))
                self.result = json.loads(shown.stdout)


def judge(tools, name, rounds, network):
    bare, tool = (Launch(tools, name, rounds, network, with_tool) for with_tool in (False, True))
    counters, pop, pattern = tool.result["meta"]["piggyback"], tool.result["pop"], PATTERNS[name]
    longer = (tool.elapsed - bare.elapsed) / rounds
    packets = counters["packets"] / rounds / pattern.ranks
    off = 1e9 * pop["critical_path_s"] - tool.path if tool.path else 0
    error = 1e9 * pop["critical_path_error_s"]
    most, forced, late = counters["events_most"], counters["events_forced"], counters["edges_late"]
    lost = {key: counters[key] for key in LOST if counters[key]}
    print(f"{name:16s} {network:6s} {bare.elapsed / rounds:8.0f} ns a round, {longer:+8.1f}; {packets:.2f} packets; {most} events; "
          f"forced {forced}, late {late}; path {off:+.0f} of {tool.path} ns, error {error:.0f} {lost or ''}", flush=True)
    where = f"{name}, {network}"
    # Messages do not overtake each other, so one that follows the tool's own comes with the later of both.
    chance = 0 if network == "even" else JITTER_NS * (pattern.messages / 4 + 3 * (pattern.messages / rounds) ** 0.5)
    if longer > POLLS_NS + chance:
        yield f"{where}: a round takes {longer:.0f} ns longer"
    if most > backlog(rounds):
        yield f"{where}: {most} events in the queue"
    if off > POLLS_NS * rounds or off < -POLLS_NS * rounds - error:
        yield f"{where}: the critical path is {off:.0f} ns off, {error:.0f} are told"
    if forced + late and network not in pattern.outruns:
        yield f"{where}: {forced} events were forced, {late} edges late"
    if lost and not forced:
        yield f"{where}: {lost}"


def main():
    tools = [Path(argument).absolute() for argument in sys.argv[1:4]]
    rounds, names = int(sys.argv[4]), sys.argv[5:]
    cases = [(name, network) for name in names or PATTERNS for network in NETWORKS if network != "even" or name in names or name in EVEN_TOO]
    wrong = [line for name, network in cases for line in judge(tools, name, rounds, network)]
    print("\n".join(wrong) or "no call waited, and the clocks are what they say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
