"""The tool on the simulated MPI: sim_tool.py LATECOMER SIM-MPIRUN SIM-CASES DIRECTORY-OF-PROGRAMS

The same seed gives the same output and the same result (metrics, call tree, factors, findings) byte by byte; another seed gives other times. The program
prints what it prints without the tool. Messages find their entries where events of the clocks are forced. Senders find when their receives were posted.
Cancelled sends are left out, or counted; messages that nobody receives are said. Threads that OMP_NUM_THREADS asks for need no cores in a program without
OpenMP. Clocks of nodes are compared again after 2 s, 4 s, .., no call waits to be told when, and those that compare wait for a few messages. Barriers of
nodes whose clocks drift are told together. Many intervals of a run take no message each at its end."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

BUFFERED = ["--eager", "16384", "--buffer", "1000000000"]
NODES = ["--nodes", "2", "--node-latency", "20000", "--offset", "3000000", "--drift", "20000"]
PROGRAMS = [("p2p_nonblocking", 3, []), ("coll_nonblocking", 3, []), ("threads", 2, []), ("random", 4, ["1", "2"]), ("random", 4, ["1", "2"], *NODES)]
NODE_LATENCY_NS = 20000
found = []


def check(what, right, text=""):
    if not right:
        found.append(f"{what}: {text[-1500:]}")


class Runs:
    def __init__(self, latecomer, mpirun, root):
        self.latecomer, self.mpirun, self.root = latecomer, mpirun, Path(root)

    def run(self, ranks, words, program, options=(), tool=True, **more):
        """Status, output, messages, and the result without what tells of the run itself."""
        directory = self.root / "exp"
        before = [self.latecomer, "run", "-q", "-o", directory, "--"] if tool else []
        env = {**os.environ, "TALLY_DIR": str(self.root), "TMPDIR": str(self.root), **more}
        done = subprocess.run([self.mpirun, "-n", str(ranks), *words, *before, program, *options], capture_output=True, text=True, errors="replace", env=env,
                              timeout=patience(120), check=False, stdin=subprocess.DEVNULL)
        result = None
        if tool and done.returncode == 0:
            shown = subprocess.run([self.latecomer, "show", "--json", directory], capture_output=True, text=True, check=True, timeout=patience(60))
            full = subprocess.run([self.latecomer, "show", "--full", directory], capture_output=True, text=True, check=True, timeout=patience(60))
            self.matched = next((line.split("matched")[1].strip() for line in full.stdout.splitlines() if "messages matched" in line), None)
            result = json.loads(shown.stdout)
            del result["meta"]["busy_threads"]  # by the processor's time
            for path in directory.iterdir():
                path.unlink()
            directory.rmdir()
        return done.returncode, done.stdout, done.stderr, result


def same(runs, directory):
    for name, ranks, options, *network in PROGRAMS:
        program = directory / f"{name}-mpich"
        results = {}
        for seed in (1, 2):
            words = ["--seed", str(seed), "--random", *BUFFERED, *network]
            first, second = (runs.run(ranks, words, program, options) for _ in range(2))
            check(f"{name}, seed {seed}", first[0] == 0 and first[2] == "" and "FAILED" not in first[1], first[1] + first[2])
            check(f"{name}, seed {seed}: another result the second time", first == second)
            results[seed] = first
        bare = runs.run(ranks, words, program, options, tool=False)
        check(f"{name}: other lines than bare", sorted(bare[1].splitlines()) == sorted(first[1].splitlines()), bare[1] + first[1])
        times = [results[seed][3] and results[seed][3]["metrics"]["time"] for seed in (1, 2)]
        check(f"{name}: seeds do not differ", times[0] != times[1])


def all_matched(runs, program):
    """The receive of a message is forced, since events wait for too long, and nothing more comes from its sender: it finds its entry in the end."""
    status, out, err, result = runs.run(3, ["--nodes", "2", *BUFFERED], program, ["behind"], LATECOMER_TEST_BACKLOG="256")
    check("behind", status == 0 and err == "", out + err)
    meta = result["meta"] if result else {"piggyback": {"events_forced": 0, "absent": 0}, "messages_matched": 0, "messages_total": 0}
    check("behind: no event was forced", meta["piggyback"]["events_forced"] > 0)
    check("behind: messages matched", meta["messages_matched"] == meta["messages_total"] == 2 and meta["piggyback"]["absent"] == 0, str(meta))


def wait_of_forced_send(runs, program):
    """A synchronous send to another node, whose event is forced, ended with the post of its receive by the clocks: it has waited for it."""
    words = ["--nodes", "2", "--latency", "0", "--node-latency", "0", "--call", "0"]
    status, out, err, result = runs.run(3, words, program, ["posts"], LATECOMER_TEST_BACKLOG="256")
    check("posts", status == 0 and err == "", out + err)
    rows = result["metrics"].get("mpi_latereceiver", {"callpaths": {}})["callpaths"] if result else {}
    waited = [row[1] for path, row in rows.items() if path.endswith("MPI_Ssend")]
    check("posts: no event was forced", result is None or result["meta"]["piggyback"]["events_forced"] > 0)
    check("posts: the wait for the receiver", len(waited) == 1 and abs(waited[0] - 0.01) < 1e-4, str(rows))


def waits_of_burst(runs, program):
    """Sends that were started together: the first has waited for its receive, of which the line in the log has gone when its sender looks."""
    status, out, err, result = runs.run(2, ["--latency", "50000", "--call", "0", *BUFFERED], program, ["burst"])
    check("burst", status == 0 and err == "", out + err)
    rows = result["metrics"].get("mpi_latereceiver", {"callpaths": {}})["callpaths"] if result else {}
    waited = [row[0] for path, row in rows.items() if path.endswith("MPI_Wait")]
    check("burst: the wait for the receiver", len(waited) == 1 and abs(waited[0] - 0.01) < 1e-4, str(rows))
    check("burst: posts that were not found", result is None or result["meta"]["piggyback"]["posts_unknown"] == 0, str(result and result["meta"]["piggyback"]))


def cancelled_send(runs, program):
    """Of a cancelled send inside a node nothing is left; between nodes its record has left, which is counted. Who sent how much leaves it out."""
    for words, taken_back in (([], True), (["--nodes", "2"], False)):
        status, out, err, result = runs.run(2, [*words, "--cancel-sends", *BUFFERED], program, ["cancels"])
        check(f"cancels {words}", status == 0 and err == "", out + err)
        counts = result["meta"]["piggyback"] if result else {}
        check(f"cancels {words}", result is None or (counts["void"], counts["mispaired"]) == ((1, 0) if taken_back else (0, 1)), str(counts))


def never_received(runs, program):
    """A message that nobody receives is the program's fault, and is said to be."""
    for words in ([], ["--nodes", "2"]):
        status, out, err, _ = runs.run(2, [*words, *BUFFERED], program, ["leftover"])
        check(f"leftover {words}", status == 0 and err == "", out + err)
        check(f"leftover {words}: said", runs.matched == "1 of 2: the program did not receive the other", str(runs.matched))


def without_openmp(runs, program):
    ranks = len(os.sched_getaffinity(0))  # enough cores for one thread each
    status, out, err, result = runs.run(max(ranks, 2), [], program, OMP_NUM_THREADS="64")
    meta = result["meta"] if result else {}
    check("without OpenMP", status == 0 and "threads_wanted" not in meta and meta["oversubscribed"] == (ranks < 2), f"{out}{err}{meta}")


def compared_again(runs, program):
    """In a minute after about 2, 6, 14, 30 s; rank 0 tells when, and calls in between take as long as without the tool, also where they come all at once."""
    words = ["--nodes", "4", "--node-latency", str(NODE_LATENCY_NS), "--offset", "3000000", "--drift", "20000", *BUFFERED]
    bare, (status, out, err, result) = (runs.run(4, words, program, ["minute"], tool=tool) for tool in (False, True))
    check("minute", status == 0 and err == "", out + err)
    burst, all_calls = (int(with_tool) - int(without) for with_tool, without in zip(out.split() or [0, 0], bare[1].split() or [0, 0]))
    check("minute: calls waited to be told", burst < NODE_LATENCY_NS // 2, f"{bare[1]}{out}")
    check("minute: comparing takes more than 20 latencies each time", all_calls < 4 * 20 * NODE_LATENCY_NS, f"{bare[1]}{out}")
    told = result["meta"]["piggyback"] if result else {"packets": 1, "collectives": 0, "events_most": 0}  # a barrier alone: 6 packets, and 4 collectives, one of each rank
    check("minute: barriers are told one by one", 2 * told["packets"] < told["collectives"], str(told))
    check("minute: events of barriers queue up", told["events_most"] < 256, str(told))
    sync = result["meta"]["clock_sync"] if result else {"during_run": 0, "nodes": 0}
    check("minute: clocks were not compared as often as they should be", sync["during_run"] == 4 and sync["nodes"] == 4, str(sync))


def many_intervals(runs, program):
    """What ranks tell each other in MPI_Finalize of 1,000 intervals, each time it was switched on, goes many at once: 0.1 ms for each message."""
    status, out, err, result = runs.run(3, ["--latency", "100000"], program, ["switched"])
    check("switched", status == 0 and err == "" and result["meta"]["coverage"]["switches"] >= 2000, out + err)
    finish_s = result["meta"]["start_and_end"]["finish_s"] if result else 0
    check("switched: ranks tell each other of each interval", 0 < finish_s < 0.15, f"{finish_s} s")


def main():
    latecomer, mpirun, cases, directory = (Path(argument).absolute() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        runs = Runs(latecomer, mpirun, root)
        same(runs, directory)
        all_matched(runs, cases)
        wait_of_forced_send(runs, cases)
        waits_of_burst(runs, cases)
        cancelled_send(runs, cases)
        never_received(runs, cases)
        without_openmp(runs, directory / "comm-mpich")
        many_intervals(runs, cases)
        compared_again(runs, cases)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
