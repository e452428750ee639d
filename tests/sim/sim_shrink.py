"""Does sim_truth make what fails smaller? sim_shrink.py LATECOMER SIM-MPIRUN SIM-RANDOM

With a wrong rule (in a scan nobody waits) three programs fail. What is left of them is one phase, with a scan, on few ranks, of a plain network."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sim_truth  # noqa: E402
import truth  # noqa: E402


def main():
    tools = [Path(argument).absolute() for argument in sys.argv[1:4]]
    causes = truth.causes
    truth.causes = lambda meeting, rank, blocking: None if "can" in meeting[rank][0] else causes(meeting, rank, blocking)  # Scan, Exscan
    case = sim_truth.case_of(1, 3)._replace(ranks=4, words=("--random", "--jitter", "3000"))
    tried = []

    def fails(fewer):
        tried.append(fewer)
        return bool(sim_truth.judge(tools, fewer))

    if not fails(case):
        print("the wrong rule is not noticed")
        return 1
    small = sim_truth.smallest(case, fails)
    found = sim_truth.measure(tools, small)
    functions = {call.function for call in found.run.all()}
    print(f"{len(tried)} launches: {small}")
    right = (len(small.programs) == 1 and small.ranks == 2 and not small.words and functions & {"MPI_Scan", "MPI_Exscan"} and fails(small))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
