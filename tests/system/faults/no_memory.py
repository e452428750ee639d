#!/usr/bin/python3
"""A rank in which the tool has no memory any more takes part in MPI_Finalize all the same: the program ends as it does bare, also where that
rank is the one that writes the result.

no_memory.py --latecomer BIN --flavour openmpi|mpich PROGRAM"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
from launch import Workspace, program_arguments, survivors  # noqa: E402
from patience import patience  # noqa: E402

RANKS = 3
OPTIONS = ("--max-overhead=off", "--sample=off") # all call paths are kept; samples have mappings of their own


def main():
    args = program_arguments()
    problems = []
    for poor in range(2):
        with Workspace(args.flavour, args.latecomer) as space:
            env = space.environment(UCX_MEM_MMAP_HOOK_MODE="none")  # MPICH's UCX writes its own code over mmap, that of the program, too
            bare = space.run(space.launcher(RANKS) + [args.program, str(poor)], timeout=patience(60), env=env)
            done = space.run(space.launcher(RANKS) + space.tool(*OPTIONS) + [args.program, str(poor)], timeout=patience(60), env=env)
            refused = int((re.findall(rf"\[{poor}\] refused (\d+)", done.err) or [0])[0])
            print(f"rank {poor} without memory: exit status {done.status} in {done.seconds:.1f} s, {refused} small pieces refused")
            if bare.status != 0 or done.status != 0 or done.lines() != bare.lines():
                problems.append(f"rank {poor}: exit status {done.status}, bare {bare.status}\n{done.out[-800:]}\n{done.err[-1500:]}")
            elif refused == 0:
                problems.append(f"rank {poor}: it never ran out of memory")
            elif not space.show()["metrics"]:
                problems.append(f"rank {poor}: no result")
            problems += [f"still running: {p}" for p in survivors(space.root)]
    for problem in problems:
        print(f"PROBLEM {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
