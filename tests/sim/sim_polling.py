"""Waiting by polling, in virtual time: sim_polling.py LATECOMER SIM-MPIRUN SIM-POLLING

What rank 0 polls for comes when rank 1 has straggled: that time is mpi_poll_wait of the calls that ask, on one node, where clocks go by shared memory, and on
three, where they lag; so it is in the analysis of a trace; and who was late, and where, is the first finding. Polls beside work, before a
barrier, and those for something else than what came, wait for nobody."""
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

ROUNDS, LATE_S = 10, 0.020
# case -> (the call that asks, seconds of a round; another wait state of rank 0, its seconds)
CASES = {"test": ("MPI_Test", LATE_S), "testany": ("MPI_Testany", LATE_S), "testall": ("MPI_Testall", LATE_S), "testsome": ("MPI_Testsome", LATE_S),
         "status": ("MPI_Request_get_status", LATE_S), "iprobe": ("MPI_Iprobe", LATE_S), "improbe": ("MPI_Improbe", LATE_S), "mprobe": ("MPI_Iprobe", LATE_S),
         "two": ("MPI_Test", LATE_S), "reduce": ("MPI_Test", LATE_S),
         "again": ("MPI_Test", 2 * LATE_S), "beside": ("MPI_Test", 0), "between": ("MPI_Test", LATE_S), "other": ("MPI_Test", 0, "mpi_latesender", LATE_S)}
NODES = {"one node": (), "three nodes": ("--nodes", "3", "--offset", "2000", "--node-latency", "3000")}
found = []


def check(what, right, *more):
    if not right:
        found.append(f"{what}: {' '.join(str(m) for m in more)[:1500]}")


def of_rank_0(result, metric):
    """Function -> seconds."""
    sums = defaultdict(float)
    for path, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
        sums[path.rsplit("/", 1)[-1]] += values[0]
    return {name: seconds for name, seconds in sums.items() if seconds > 1e-4}


def judge(what, result, apart, asks, seconds, other=None, other_s=0):
    """Within half a per cent: what lies between the calls, and, in a profile, of calls after the late one has come the part that evenly falls before. apart: a trace
    in which the tool's progress at the end of calls, for clocks that lag, is no part of them; in virtual time this takes as long as a poll."""
    polled = of_rank_0(result, "mpi_poll_wait")
    for path, values in result["metrics"].get("mpi_poll_wait", {"callpaths": {}})["callpaths"].items():
        check(f"{what}: more waiting than time in {path}", values[0] <= result["metrics"]["time"]["callpaths"][path][0] * 1.005, values)
    wanted = {asks: of_rank_0(result, "time")[asks] if apart else ROUNDS * seconds} if seconds else {}
    check(f"{what}: mpi_poll_wait", polled.keys() == wanted.keys() and all(abs(polled[f] - wanted[f]) < 0.005 * wanted[f] for f in wanted), polled, wanted)
    if other:
        others = sum(of_rank_0(result, other).values())
        check(f"{what}: {other}", abs(others - ROUNDS * other_s) < 0.005 * ROUNDS * other_s, others)


def main():
    latecomer, mpirun, program = (Path(argument).absolute() for argument in sys.argv[1:])

    def show(directory):
        return json.loads(subprocess.run([latecomer, "show", "--json", directory], capture_output=True, text=True, check=True, timeout=patience(60)).stdout)

    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        for case, wanted in CASES.items():
            for where, network in NODES.items():
                what, directory = f"{case}, {where}", Path(root) / f"{case}-{len(network)}"
                traced = ["--trace"] if case == "test" or not network else []
                command = [latecomer, "run", "-q", "--sample=500", *traced, "-o", directory, "--", program, case, ROUNDS]
                subprocess.run(list(map(str, [mpirun, "-n", 3, *network, *command])), check=True, timeout=patience(60), stdin=subprocess.DEVNULL)
                result = show(directory)
                judge(what, result, False, *wanted)
                if wanted[1]:
                    late = [f for f in result["findings"] if f["kind"] == "late_rank"][:1]
                    check(f"{what}: who was late", late and late[0]["ranks"] == [1] and "straggle" in json.dumps(late[0]), late)
                if not traced:
                    continue
                subprocess.run([latecomer, "analyze", "-q", directory], check=True, timeout=patience(60))
                judge(f"{what}, trace", show(directory / "analysis.cubex"), bool(network), *wanted)
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
