"""What the tool makes of runs in which something fails, place by place: sim_faults.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST

Place i is a rank and a number: of an MPI call (the program's or the tool's own) at which the rank is killed, aborts, or gets an error, or of a call of the
system by the tool that fails. Nothing hangs; the run ends as it does bare; the result holds all calls that the program says it has made; where the tool's memory
fails, the program goes on."""
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
from sim_truth import ASKED, measured  # noqa: E402

RANKS, SEED = 3, 4
SYSTEM = ["mmap", "memfd_create", "ftruncate", "write"]
CLASSES = [1, 5, 13, 15, 17]  # MPI_ERR_BUFFER, _COMM, _UNKNOWN, _OTHER, _INTERN of MPICH's mpi.h


def place(i):
    """Kind, option and value of a fault."""
    kind = ("kill", "abort", "error", "system")[i % 4]
    number, rank = 1 + i * 7 % 90, i // 4 % RANKS
    if kind == "error":
        return kind, f"{rank}:{number}:{CLASSES[i // 4 % len(CLASSES)]}"
    if kind == "system":
        return kind, f"{rank}:{1 + i // 16}:{SYSTEM[i // 4 % 4]}"
    return kind, f"{rank}:{number}"


def logged(log):
    """path -> rank -> calls that have returned, as far as the program came."""
    calls = defaultdict(lambda: defaultdict(int))
    for rank in range(RANKS):
        path = f"{log}.{rank}"
        for call in truth.read(path, rank)[1] if os.path.exists(path) else ():
            calls[call.key][rank] += 1
    return calls


def judge(latecomer, mpirun, program, i):
    """Lines that say what is wrong with this place."""
    kind, value = place(i)
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log, exp = Path(root) / "log", Path(root) / "exp"
        command = [mpirun, "-n", RANKS, "--seed", i, f"--{kind}", value, latecomer, "run", "-o", exp, "--", program, SEED, log]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60), env={**os.environ, "TMPDIR": root})
        told = f"status {done.returncode}: {done.stderr[-600:]}"
        expected = {"kill": {137, 0}, "abort": {9, 0}, "error": {0, *CLASSES}, "system": {0}}[kind]
        if done.returncode not in expected:
            return [told]
        calls = logged(log)
        if done.returncode == 0 and len(calls["main/MPI_Finalize"]) < RANKS:
            return [f"the program did not come to its end: {told}"]
        shown = subprocess.run([latecomer, "show", "--json", exp], capture_output=True, text=True, check=False, timeout=patience(60))
        if shown.returncode != 0:
            some = "latecomer: " in done.stderr
            return [] if some or not calls else [f"no result, and nothing said: {told}{shown.stderr}"]
        result = json.loads(shown.stdout)
        seen = {path: ranks for path, ranks in measured(result, "visits").items() if path.split("/")[-1] not in ASKED}
        wrong = []  # nan: not known, which is said
        for path in sorted(set(calls) | set(seen)):
            for rank in range(RANKS):
                n, m = calls.get(path, {}).get(rank, 0), seen.get(path, {}).get(rank, 0)
                if not n <= m <= n + (done.returncode != 0) and not (m != m and ("not measured" in done.stderr or n == 0)):
                    wrong.append(f"{path} rank {rank}: {n} calls returned, {m:g} in the result")
        return [*wrong[:3], told] if wrong else []


def main():
    latecomer, mpirun, program = (Path(argument).absolute() for argument in sys.argv[1:4])
    first, last = map(int, sys.argv[4:6])
    failed = 0
    for i in range(first, last + 1):
        wrong = judge(latecomer, mpirun, program, i)
        if wrong:
            failed += 1
            print(f"place {i}: --{' '.join(place(i))}\n  " + "\n  ".join(wrong))
    print(f"{last - first + 1 - failed} of {last - first + 1} right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
