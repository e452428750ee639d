"""Verdicts of latecomer bench compare on real launches (figures): how many pairs of equals are told to be the same, and how often an operation that takes
5 % longer, has another tail or a second mode is named so.

equals.py LATECOMER FLAVOUR SCRATCH_DIR EFFECTS_LIBRARY [PAIRS [go-on] [judge] [alike]]

A pair is six launches by `latecomer bench sweep`, three on each side: in each of three rounds one of A and one of B, in random order. Each launch measures
MPI_Allreduce of several sizes: without and with the effects of the library, and MPI's own without it. Whether the sweep itself ranks equals is told, too. What
became of each pair stands in SCRATCH_DIR/verdicts, a line each; launches are removed.

go-on: so many pairs more than were told of, those of a call that was cut off among them; the last 200 are counted, and tally lines tell of the new ones.
alike: only equals, of 60 repetitions and not 300: beside other work each repetition waits for two CPUs at once, and takes nearly all of the time.
judge: exit status 1 where more pairs of equals are told to differ than 5 % of them, but for what chance does once in 1,000 calls, or likewise where more than a
tenth is not comparable: launches that other work keeps from 30 repetitions without outliers. These are no alarms and count as no pairs; if there were many, the
others would be those of the quiet moments only. Of each alarm the launches' medians are printed."""
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import count, most_allowed, tally  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH, EFFECTS = sys.argv[1:5]
PAIRS = int(sys.argv[5]) if len(sys.argv) > 5 else 200
COUNTED, EACH, REPS, REPS_ALIKE = 200, 3, 300, 60
PLAIN, SHIFT, TAIL, MODE, OWN, LARGE = 8, 16, 24, 32, 40, 65536
SAME, NONE, BUSY = "same", "not comparable", ("fewer than 30 repetitions", "ranks had to share their cores")
ONE = "own_one_launch"  # beside other work that is not comparable
LEVEL, MOST_LEFT_OUT, EQUALS = 0.05, 0.1, ("equal", "own", ONE, "own_64KiB", "ranked", "ranked_64KiB")
BLOCKS = "own_blocks"  # MPI's own, first A, then B: no figure, but how much the machine changes meanwhile
NAMED = {SHIFT: ("shifted", "shifted"), TAIL: ("tail", "tail differs"), MODE: ("modes", "modes differ")}  # figure, verdict
VERDICTS, TOLD = f"{SCRATCH}/verdicts", f"{SCRATCH}/told"  # told: of how many of them tally lines told


def file_of(one, size):
    return f"{SCRATCH}/{one}/MPI_Allreduce-{size}.fingerprint.json"


def is_whole(folder):
    """Of a call that was cut off after the launches."""
    if not os.path.exists(f"{folder}/sweep.json"):
        return False
    with open(f"{folder}/sweep.json", encoding="utf-8") as file:
        return json.load(file)["complete"]


def launch(number, sizes, reps):
    folder = f"{SCRATCH}/{number}"
    shutil.rmtree(folder, ignore_errors=True)  # of a call that was cut off
    done = subprocess.run([LATECOMER, "-q", "bench", "sweep", "MPI_Allreduce", "--vary", "EQUALS_SIDE=a,b", "--rounds", str(EACH), "--seed", str(number),
                           "--bytes", ",".join(map(str, sizes)), "--reps", str(reps), "--counters", "none", "-n", "2", "--mpi", FLAVOUR, "-o", folder],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=patience(500), check=False, env=dict(os.environ, LD_PRELOAD=EFFECTS))
    if done.returncode != 0:
        raise SystemExit(f"pair {number}: exit {done.returncode}: {done.stderr}")


def measure(number, sizes, reps):
    """The launches of a pair, by side, and the verdicts of the sweep: "same" where either may be the first."""
    folder = f"{SCRATCH}/{number}"
    if not is_whole(folder):
        launch(number, sizes, reps)
    with open(f"{folder}/sweep.json", encoding="utf-8") as file:
        jobs = json.load(file)["jobs"]
    ranked = {job["bytes"]: SAME if all(v["places"] == [1, 2] for v in job["variants"]) else "ranked" for job in jobs}
    sides = [[f"{number}/round-{n}-variant-{v}" for n in range(1, EACH + 1)] for v in (1, 2)]
    for one in sum(sides, []):
        for size in set(sizes) & set(NAMED):  # what an effect is compared with has another size
            with open(file_of(one, size), encoding="utf-8") as file:
                result = json.load(file)
            result["bytes"] = PLAIN
            with open(file_of(one, size), "w", encoding="utf-8") as file:
                json.dump(result, file)
    return sides, ranked


def median(one, size):
    with open(file_of(one, size), encoding="utf-8") as file:
        return json.load(file)["median_ns"]


def compare(what, before, after, size_before, size_after):
    done = subprocess.run([LATECOMER, "bench", "compare", "--json", *[file_of(n, size_before) for n in before], "--", *[file_of(n, size_after) for n in after]],
                          capture_output=True, text=True, timeout=patience(100), check=False)
    if done.returncode != 0:
        raise SystemExit(f"compare: exit {done.returncode}: {done.stderr}")
    pair = json.loads(done.stdout)["pairs"][0]
    if pair["verdict"] == NONE and not pair["why"].startswith(BUSY):
        raise SystemExit(f"{what}: {pair['why']}")
    if what in EQUALS and pair["verdict"] not in (SAME, NONE):
        sides = [" ".join(f"{median(n, size_before):.0f}" for n in side) for side in (before, after)]
        print(f"{what}: {pair['verdict']}: medians of launches {sides[0]} against {sides[1]} ns", flush=True)
    return pair["verdict"]


def measured_pair(number, alike):
    """The verdict of each comparison of six new launches."""
    named = {} if alike else NAMED
    sides, ranked = measure(number, (PLAIN, *named, OWN, LARGE), REPS_ALIKE if alike else REPS)
    in_time = sorted(sum(sides, []), key=lambda one: os.stat(file_of(one, OWN)).st_mtime)
    one, blocks = [side[:1] for side in sides], (in_time[:EACH], in_time[EACH:])
    verdicts = {what: compare(what, *two, a, b) for what, a, b, two in (
        ("equal", PLAIN, PLAIN, sides), ("own", OWN, OWN, sides), (BLOCKS, OWN, OWN, blocks), (ONE, OWN, OWN, one), ("own_64KiB", LARGE, LARGE, sides),
        *((name, PLAIN, size, sides) for size, (name, _) in named.items()))}
    shutil.rmtree(f"{SCRATCH}/{number}")
    return {**verdicts, "ranked": ranked[OWN], "ranked_64KiB": ranked[LARGE]}


def kept():
    if not os.path.exists(VERDICTS):
        return []
    with open(VERDICTS, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def right_of(what, counts):
    return counts[dict(NAMED.values()).get(what, SAME)]


def judged(what, counts, pairs):
    """What is wrong with so many verdicts of each kind; prints the figure."""
    compared = pairs - counts[NONE]
    right = right_of(what, counts)
    print(f"{what}: {dict(counts)}")
    if what == BLOCKS:
        return []
    if compared > 0:
        count(what, right, compared, "pairs")
    wrong = []
    if what != ONE and counts[NONE] > most_allowed(pairs, MOST_LEFT_OUT):
        wrong.append(f"{what}: {counts[NONE]} of {pairs} pairs are not comparable: a machine as busy as that judges nothing")
    if what in EQUALS and compared - right > most_allowed(compared, LEVEL):
        wrong.append(f"{what}: {compared - right} of {compared} pairs of equals are told to differ, {most_allowed(compared, LEVEL)} are allowed")
    return wrong


def counts_of(pairs):
    return {what: Counter(verdicts[what] for verdicts in pairs) for what in pairs[0]}


def tell(pairs):
    """Of the pairs of this call: those that were comparable, and which of these had the right verdict."""
    for what, counts in counts_of(pairs).items():
        tally(what, right_of(what, counts), len(pairs) - counts[NONE])
    tally("comparable", sum(verdict != NONE for verdicts in pairs for verdict in verdicts.values()), sum(map(len, pairs)))


def told():
    """Of how many pairs earlier calls told."""
    if not os.path.exists(TOLD):
        return 0
    with open(TOLD, encoding="ascii") as file:
        return int(file.read())


def main():
    if "go-on" not in sys.argv:
        shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH, exist_ok=True)
    before = told()
    for number in range(len(kept()), before + PAIRS):
        verdicts = measured_pair(number, "alike" in sys.argv)
        with open(VERDICTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(verdicts) + "\n")
    if "go-on" in sys.argv:
        tell(kept()[before:])
        with open(TOLD, "w", encoding="ascii") as file:
            file.write(f"{len(kept())}\n")
    pairs = kept()[-COUNTED:]
    wrong = [line for what, counts in counts_of(pairs).items() for line in judged(what, counts, len(pairs))]
    for line in wrong:
        print(line)
    return wrong != [] and "judge" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
