#!/usr/bin/python3
"""Time in a call that never returned is time of that call, as one visit: a rank is killed, or exits, while the others wait for it.

in_progress.py --latecomer BIN --flavour openmpi|mpich PROGRAM"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
from launch import Workspace, program_arguments, wait_for_survivors  # noqa: E402
from patience import patience  # noqa: E402


def column(result, metric, ending, rank):
    """Sum over the call paths that end in this function, and on this rank."""
    ranks = [location["rank"] for location in result["locations"]]
    paths = result["metrics"].get(metric, {}).get("callpaths", {})
    return sum(value for path, row in paths.items() if path.rsplit("/", 1)[-1] == ending
               for r, value in zip(ranks, row) if r == rank)


def main():
    args = program_arguments()
    problems = []
    for how in ("kill", "exit"):
        for call, function in (("recv", "MPI_Recv"), ("barrier", "MPI_Barrier")):
            with Workspace(args.flavour, args.latecomer) as space:
                command = space.launcher(2) + space.tool() + [args.program, how, call, "first"]
                done = space.run(command, timeout=patience(60))
                wait_for_survivors(space.root)
                try:
                    result = space.show("--metric", "time")
                    visits = space.show("--metric", "visits")
                except (RuntimeError, ValueError) as error:
                    problems.append(f"{how} {call}: {error}\n{done.err[-1500:]}")
                    continue
                waited, calls = column(result, "time", function, 1), column(visits, "visits", function, 1)
                own = column(result, "time", function, 0)
                wanted = 1 if call == "recv" else 2
                # the other one naps for 1.2 s; on rank 0 only the first of two barriers returned, and there is no MPI_Recv
                if waited < 0.2 or calls != wanted or (call == "recv" and own != 0):
                    problems.append(f"{how} {call}: {function} on rank 1: {waited:.3f} s in {calls:g} calls, on rank 0 {own:.3f} s")
                late, unfinished = space.show("--metric", "mpi_unfinished"), [f for f in result["findings"] if f["kind"] == "unfinished_call"]
                if not 0.2 <= column(late, "mpi_unfinished", function, 1) <= waited or column(late, "mpi_unfinished", function, 0) != 0:
                    problems.append(f"{how} {call}: unfinished: {late['metrics']}")
                if [f["ranks"] for f in unfinished] != [[1]] or f"rank 1 had called {function}, which had not returned when the run ended" not in unfinished[0]["text"]:
                    problems.append(f"{how} {call}: {unfinished}")
    for problem in problems:
        print(f"PROBLEM {problem}")
    sys.exit(1 if problems else 0)


main()
