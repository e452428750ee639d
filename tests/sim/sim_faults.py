"""What the tool makes of runs in which something fails, place by place: sim_faults.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST STEP

Place i is a rank and a number: of an MPI call (the program's or the tool's own) at which the rank is killed (or a moment, whatever it does then), aborts,
gets an error, or its clock jumps; of a call of the system by the tool that fails; or of a turn of the program's parent that comes late. Nothing hangs; the
run ends as it does bare; the result holds all calls that the program says it has made before a rank failed; where the tool's memory or the clock fails, the program goes on and makes the calls that it makes
bare. At every fourth turn of the kinds a trace is written, too, and what there is of it is analysed, or one line says why not. Every STEP-th place is tried."""
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import truth  # noqa: E402
from patience import patience  # noqa: E402
from sim_truth import measured, of_mpi  # noqa: E402

RANKS, SEED = 3, 4
KINDS = ["kill", "abort", "error", "system", "step", "stall"]
SYSTEM = ["mmap", "memfd_create", "ftruncate", "write"]
CLASSES = (*range(1, 54), *range(55, 59), *range(75, 78))  # of errors: all that MPICH has


def place(i):
    """Kind, option and value of a fault."""
    turn, kind = i // len(KINDS), KINDS[i % len(KINDS)]
    number, rank = 1 + i * 7 % 150, turn % RANKS
    if kind == "kill" and turn % 3 == 2:  # some time after MPI_Init, or in it
        number = f"@{1_000_000 + 397_000 * turn}"
    rest = {"error": f":{CLASSES[turn % len(CLASSES)]}", "step": f":{(-1) ** turn * 10 ** (3 + turn % 6)}", "stall": f":{10 ** (6 + turn % 4)}",
            "system": f":{SYSTEM[turn % 4]}"}.get(kind, "")
    if kind in ("system", "stall"):
        number = 1 + turn // 4
    return kind, f"{rank}:{number}{rest}"


def logged(log, failed=None):
    """path -> rank -> calls that have returned, and how many of them when the rank `failed` made its last one: others may go on for a while."""
    of = [[call for calls in truth.read(f"{log}.{rank}", rank) for call in calls] if os.path.exists(f"{log}.{rank}") else [] for rank in range(RANKS)]
    until = max((call.end for call in of[failed]), default=0) if failed is not None else float("inf")
    calls, before = (defaultdict(lambda: defaultdict(int)) for _ in range(2))
    for call in (call for calls_of_rank in of for call in calls_of_rank):
        calls[call.key][call.rank] += 1
        before[call.key][call.rank] += call.end <= until
    return calls, before


def totals(calls):
    """path -> calls of all ranks together, which is the same in any order; but for MPI_Waitsome, which is called until all is complete."""
    return {path: sum(of.values()) for path, of in calls.items() if not path.endswith("MPI_Waitsome")}


def bare_calls(mpirun, program):
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log = Path(root) / "log"
        subprocess.run(list(map(str, [mpirun, "-n", RANKS, program, SEED, log])), check=True, timeout=patience(60))
        return totals(logged(log)[0])


def analysed(latecomer, exp):
    """What is wrong with the analysis of what there is of a trace."""
    done = subprocess.run([latecomer, "-q", "analyze", "-n", "1", exp], capture_output=True, text=True, check=False, timeout=patience(60))
    right = done.returncode == 0 or done.returncode == 1 and done.stderr.startswith("latecomer: ") and done.stderr.count("\n") == 1
    return [] if right else [f"analyze: status {done.returncode}: {done.stderr[-500:]}"]


def judge(latecomer, mpirun, program, i, bare):
    """Lines that say what is wrong with this place."""
    kind, value = place(i)
    traced = i // len(KINDS) % 4 == 3
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log, exp = Path(root) / "log", Path(root) / "exp"
        command = [mpirun, "-n", RANKS, "--seed", i, f"--{kind}", value, latecomer, "run", *(["--trace"] if traced else []), "-o", exp, "--", program, SEED, log]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60),
                              env={**os.environ, "TMPDIR": root, "SIM_RANDOM_LINES": "1"})
        told = f"status {done.returncode}: {done.stderr[-600:]}"
        expected = {"kill": {137, 0}, "abort": {9, 0}, "error": {0, *CLASSES}}.get(kind, {0})
        if done.returncode not in expected:
            return [told]
        calls, before = logged(log, int(value.split(":")[0]) if done.returncode != 0 else None)
        if done.returncode == 0 and totals(calls) != bare or done.stdout:
            return [f"the program did not do what it does bare: {told}{done.stdout}"]
        shown = subprocess.run([latecomer, "show", "--json", exp], capture_output=True, text=True, check=False, timeout=patience(60))
        if shown.returncode != 0:
            some = "latecomer: " in done.stderr
            return [] if some or not calls else [f"no result, and nothing said: {told}{shown.stderr}"]
        result = json.loads(shown.stdout)
        seen = of_mpi(measured(result, "visits"))
        unknown = {location["rank"] for location in result["locations"] if location.get("unknown")}
        lost = result["meta"]["coverage"]["calls_lost"] if "coverage" in result["meta"] else 0
        said = "not measured" in done.stderr or "is not in it" in done.stderr
        wrong = []  # nan: not known, which is said
        for path in sorted(set(calls) | set(seen)):
            for rank in range(RANKS):
                least, most, m = before[path][rank], calls[path][rank], float("nan") if rank in unknown else seen.get(path, {}).get(rank, 0)
                if not least - lost <= m <= most + (done.returncode != 0) and not (m != m and (said or most == 0)):
                    wrong.append(f"{path} rank {rank}: {least} to {most} calls returned, {m:g} in the result")
        wrong = [*wrong[:3], *(analysed(latecomer, exp) if traced else [])]
        return [*wrong, told] if wrong else []


def main():
    latecomer, mpirun, program = (Path(argument).absolute() for argument in sys.argv[1:4])
    first, last, step = map(int, sys.argv[4:7])
    failed, places, bare = 0, range(first, last + 1, step), bare_calls(mpirun, program)
    for i in places:
        wrong = judge(latecomer, mpirun, program, i, bare)
        if wrong:
            failed += 1
            print(f"place {i}: --{' '.join(place(i))}\n  " + "\n  ".join(wrong))
    print(f"{len(places) - failed} of {len(places)} right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
