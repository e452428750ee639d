"""Verdicts of latecomer bench compare on real launches (figures): how many pairs of equals are told to be the same, and how often an operation that takes
5 % longer, has another tail or a second mode is named so.

equals.py LATECOMER FLAVOUR SCRATCH_DIR EFFECTS_LIBRARY [PAIRS [go-on] [judge]]

A pair is six launches, three on each side, in turn. Each launch measures MPI_Allreduce of several sizes: without and with the effects of the library,
and MPI's own without it. go-on: what an earlier call has measured in SCRATCH_DIR is not measured again. judge: exit status 1 where more pairs of equals are told
to differ than 5 % of them, but for what chance does once in 1,000 calls. Launches that other work keeps from their repetitions (fewer than 30 in their time) are
told to be not comparable: no alarm, and no pair either; of half of the pairs that must not be the answer."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import count, most_allowed  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH, EFFECTS = sys.argv[1:5]
PAIRS = int(sys.argv[5]) if len(sys.argv) > 5 else 200
EACH = 3
PLAIN, SHIFT, TAIL, MODE, OWN, LARGE = 8, 16, 24, 32, 40, 65536
NONE = "not comparable"
LEVEL, EQUALS = 0.05, ("equal", "own", "own_one_launch", "own_64KiB")
BLOCKS = "own_blocks"  # MPI's own, first A, then B: no figure, but how much the machine changes meanwhile
NAMED = {SHIFT: ("shifted", "shifted"), TAIL: ("tail", "tail differs"), MODE: ("modes", "modes differ")}  # figure, verdict


def file_of(launch, size):
    return f"{SCRATCH}/{launch}/MPI_Allreduce-{size}.fingerprint.json"


def measure(launch):
    if os.path.exists(f"{SCRATCH}/{launch}/whole"):
        return
    shutil.rmtree(f"{SCRATCH}/{launch}", ignore_errors=True)
    sizes = ",".join(map(str, (PLAIN, SHIFT, TAIL, MODE, OWN, LARGE)))
    done = subprocess.run([LATECOMER, "-q", "bench", "MPI_Allreduce", "--bytes", sizes, "--reps", "300", "--counters", "none", "-n", "2", "--mpi", FLAVOUR,
                           "-o", f"{SCRATCH}/{launch}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=patience(100), check=False,
                          env=dict(os.environ, LD_PRELOAD=EFFECTS))
    if done.returncode != 0:
        raise SystemExit(f"launch {launch}: exit {done.returncode}: {done.stderr}")
    for size in NAMED:  # what an effect is compared with has another size
        with open(file_of(launch, size), encoding="utf-8") as file:
            result = json.load(file)
        result["bytes"] = PLAIN
        with open(file_of(launch, size), "w", encoding="utf-8") as file:
            json.dump(result, file)
    with open(f"{SCRATCH}/{launch}/whole", "w", encoding="utf-8"):
        pass


def compare(before, after, size_before, size_after):
    done = subprocess.run([LATECOMER, "bench", "compare", "--json", *[file_of(n, size_before) for n in before], "--", *[file_of(n, size_after) for n in after]],
                          capture_output=True, text=True, timeout=patience(100), check=False)
    if done.returncode != 0:
        raise SystemExit(f"compare: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["verdict"]


def main():
    if "go-on" not in sys.argv:
        shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH, exist_ok=True)
    for launch in range(2 * EACH * PAIRS):
        measure(launch)
    verdicts = {}
    for pair in range(PAIRS):
        launches = range(2 * EACH * pair, 2 * EACH * (pair + 1))
        turns, one, blocks = (launches[::2], launches[1::2]), (launches[:1], launches[1:2]), (launches[:EACH], launches[EACH:])
        for what, a, b, sides in (("equal", PLAIN, PLAIN, turns), ("own", OWN, OWN, turns), (BLOCKS, OWN, OWN, blocks), ("own_one_launch", OWN, OWN, one),
                                  ("own_64KiB", LARGE, LARGE, turns), *((name, PLAIN, size, turns) for size, (name, _) in NAMED.items())):
            counts = verdicts.setdefault(what, {})
            verdict = compare(*sides, a, b)
            counts[verdict] = counts.get(verdict, 0) + 1
    wanted, false_alarms = dict(NAMED.values()), 0
    for what, counts in verdicts.items():
        print(f"{what}: {counts}")
        if what != BLOCKS:
            count(what, counts.get(wanted.get(what, "same"), 0), PAIRS - counts.get(NONE, 0), "pairs")
        compared = PAIRS - counts.get(NONE, 0)
        alarms = compared - counts.get("same", 0)
        if what in EQUALS and alarms > most_allowed(compared, LEVEL):
            print(f"{what}: {alarms} of {compared} pairs of equals are told to differ, {most_allowed(compared, LEVEL)} are allowed")
            false_alarms += 1
        if what in EQUALS and 2 * compared < PAIRS:
            print(f"{what}: {PAIRS - compared} of {PAIRS} pairs are not comparable")
            false_alarms += 1
    return false_alarms > 0 and "judge" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
