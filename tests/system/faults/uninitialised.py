#!/usr/bin/python3
"""Programs that never come out of MPI_Init: the result has their times, says what it lacks, and is of all ranks, also of one that begins when the
others have ended.

uninitialised.py --latecomer BIN --flavour openmpi|mpich PROGRAM"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
from launch import Workspace, program_arguments  # noqa: E402
from patience import patience  # noqa: E402

LATE = 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; while [ $rank = 1 ] && ! [ -e exp/meta.json ]; do sleep 0.02; done; exec "$@"'


def main():
    args = program_arguments()
    problems = []

    def check(condition, text):
        if not condition:
            problems.append(text)

    def try_case(name, words, said, status, launcher=(), options=(), endings=("exit",)):
        with Workspace(args.flavour, args.latecomer) as space:
            start = [*(space.launcher(2) if launcher else ()), *launcher]
            done = space.run([*start, args.latecomer, "run", "-o", "exp", *options, args.program, *words], timeout=patience(60))
            check(done.status == status, f"{name}: {done.status}: {done.err[-1000:]}")
            check(done.err.count(said) == 1 and "MPI_Finalize" not in done.err, f"{name}: said {done.err[-1000:]}")
            check(not (space.root / "exp-2").exists() and not (space.root / "exp" / "traces").exists(), f"{name}: {os.listdir(space.root)}")
            meta = space.show()["meta"]
            known = {key: meta.get(key) for key in ("complete", "mpi_initialised", "endings", "unknown_ranks", "ending")}
            ended = "signal" not in words
            check(known == {"complete": ended, "mpi_initialised": False, "endings": list(endings), "unknown_ranks": None, "ending": endings[0]},
                  f"{name}: {known}")
            text = " ".join(space.run([args.latecomer, "show", "exp"], timeout=patience(60)).out.split())
            check("MPI was not initialised: who is late" in text and ("incomplete" in text) != ended, f"{name}: {text}")
            for word in ("estimated", "--trace", "recover", "MPI_Finalize"):
                check(word not in text, f"{name}: {word}: {text}")

    without = "the program did not initialise MPI: times"
    try_case("alone", ["0"], without, 0)
    try_case("status", ["3"], without, 3)
    try_case("with a trace", ["0"], "no trace: it begins with MPI_Init", 0, options=["--trace"])
    try_case("signal", ["signal"], "the program ended before MPI_Init (signal 11): partial result in", -11, endings=["signal 11"])
    try_case("a late rank", ["0"], without, 0, launcher=["sh", "-c", LATE, "sh"], endings=["exit", "exit"])
    with Workspace(args.flavour, args.latecomer) as space:
        done = space.run([args.latecomer, "run", "-o", "exp", args.program, "init"], timeout=patience(60))
        meta = space.show()["meta"]
        check(done.status == 0 and "mpi_initialised" not in meta and meta["ending"] == "MPI_Finalize", f"init: {done.err} {meta}")
    for problem in problems:
        print(f"PROBLEM {problem}")
    sys.exit(1 if problems else 0)


main()
