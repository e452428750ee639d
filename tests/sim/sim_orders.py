"""The simulated MPI without the tool: sim_orders.py SIM-MPIRUN CASES RULES DIRECTORY-OF-PROGRAMS

Programs of tests/system/programs, each with many seeds, of which each draws another network and order: all must find right what they check, and
print the same lines. The same seed twice gives the same output byte by byte, order of lines included; different seeds give different orders. What goes wrong
(deadlocks, ranks that end, calls that the simulated MPI does not have) ends the run with a message."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

SEEDS = 3
# Programs, ranks, and what they take for granted: that small messages are buffered.
BUFFERED = ["--eager", "16384", "--buffer", "1000000000"]
PROGRAMS = [("callbacks", 3, []), ("p2p_blocking", 3, BUFFERED), ("p2p_nonblocking", 3, BUFFERED), ("p2p_persistent", 3, []), ("probe", 3, BUFFERED),
            ("cancel_free", 3, BUFFERED), ("coll_blocking", 3, []), ("coll_nonblocking", 3, []), ("coll_neighbour", 3, []), ("comm", 3, []),
            ("intercomm", 3, BUFFERED), ("process_topologies", 3, []), ("types", 3, []), ("threads", 3, BUFFERED), ("threads_group", 4, []),
            ("one_sided", 3, []), ("io", 3, BUFFERED), ("session_only", 3, BUFFERED), ("errors", 3, []), ("idup_in_flight", 4, BUFFERED), ("inter_iallgather", 4, []),
            ("large_counts", 3, BUFFERED), ("mpi4", 3, BUFFERED)]
ENDS = [("deadlock", 86, "deadlock, nobody can go on"), ("spin", 86, "rank 1 has the turn"), ("exit", 3, ""), ("killed", 137, ""),
        ("abort", 5, "MPI_Abort(MPI_COMM_WORLD, 5)")]
found = []


def run(mpirun, ranks, seed, *words):
    with tempfile.TemporaryDirectory() as tally:
        done = subprocess.run([mpirun, "-n", str(ranks), "--seed", str(seed), *map(str, words)], capture_output=True, text=True, errors="replace",
                              timeout=patience(60), check=False, stdin=subprocess.DEVNULL, env={**os.environ, "TALLY_DIR": tally})
    return done.returncode, done.stdout, done.stderr


def check(what, right, text=""):
    if not right:
        found.append(f"{what}: {text[-600:]}")


def programs(mpirun, directory):
    for name, ranks, options in PROGRAMS:
        lines = None
        for seed in range(SEEDS):
            words = ["--random", *options, directory / f"{name}-mpich"]
            status, out, err = run(mpirun, ranks, seed, *words)
            check(f"{name}, seed {seed}", status == 0 and "FAILED" not in out, out + err)
            lines = lines or sorted(out.splitlines())
            check(f"{name}, seed {seed}: other lines", sorted(out.splitlines()) == lines, out)
        check(f"{name}: another order the second time", run(mpirun, ranks, SEEDS - 1, *words)[1] == out)


def random_programs(mpirun, directory):
    sums = set()
    for seed in range(6):
        status, out, err = run(mpirun, 2 + seed % 2 * 2, seed // 2, "--random", *BUFFERED, directory / "random-mpich", 1, 3)
        check(f"random programs, seed {seed}", status == 0 and "FAILED" not in out, out + err)
        sums.add((seed % 2, tuple(sorted(line for line in out.splitlines() if "checksum" in line))))
    check("random programs: checksums", len(sums) == 2, str(sums))


def orders(mpirun, cases):
    seen = [run(mpirun, 4, seed, cases, "order")[1] for seed in range(8)]
    check("orders", len(set(seen)) > 4, str(seen))
    check("orders again", [run(mpirun, 4, seed, cases, "order")[1] for seed in range(8)] == seen, str(seen))
    status, out, err = run(mpirun, 2, 1, cases, "polls")
    check("polls", status == 0 and [int(line.split()[0]) // 10 for line in out.splitlines()] in ([700, 1400, 2100], [700, 1400, 2110]), out + err)


def clocks(mpirun, cases):
    """All clocks go by virtual time."""
    status, out, err = run(mpirun, 2, 1, cases, "clocks")
    *fine, seconds = map(int, out.split() or [0])
    check("clocks", status == 0 and len(fine) == 4 and all(0 <= ns - 2_500_000_000 <= 2000 for ns in fine) and seconds in (2, 3), out + err)


def main():
    mpirun, cases, rules, directory = (Path(argument).absolute() for argument in sys.argv[1:])
    programs(mpirun, directory)
    random_programs(mpirun, directory)
    orders(mpirun, cases)
    clocks(mpirun, cases)
    for case, status, text in ENDS:
        ended, out, err = run(mpirun, 3, 1, "--watchdog", 1, cases, case)
        check(case, ended == status and text in err, f"status {ended}\n{out}{err}")
    status, out, err = run(mpirun, 4, 1, rules, "sim")
    check("rules", status == 0 and "all rules hold" in out, out + err)
    status, out, err = run(mpirun, 2, 1, rules, "unknown")
    check("a missing function", status == 86 and "the simulated MPI has no MPI_Comm_join" in err, err)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
