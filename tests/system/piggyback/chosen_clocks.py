"""What-if clocks that the library chooses itself: programs with one fault each (analysis/knobs.c) get a gain that is what the fault takes, and their
finding tells it. All of it is of one run, so that how long sleeping really took does not matter.

chosen_clocks.py LATECOMER FLAVOUR PROGRAM SCRATCH
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, SCRATCH = sys.argv[1:5]
ROUNDS, LIMIT = 24, 0.15
# Kind of the finding, the late rank, and what the fault takes: so many times 30 ms per round; of "turns": a mean of 1.5.
EXPECTED = {"slow_rank": ("late_rank", [3], 1), "serial": ("late_rank", [0], 1), "late_root": ("late_rank", [0], 1), "half": ("imbalance", None, 1),
            "turns": ("imbalance", None, 1.5)}


def measure(name, kind, *options, **environment):
    """The result as JSON, and the rows of its gains.tsv."""
    directory = f"{SCRATCH}/{name}"
    launcher = mpirun(FLAVOUR, 4, "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")
    subprocess.run([*launcher, LATECOMER, "-q", "run", *options, "-o", directory, PROGRAM, kind, "1", str(ROUNDS)], check=True, timeout=patience(60),
                   env={**os.environ, **environment})
    result = json.loads(subprocess.run([LATECOMER, "show", "--json", directory], check=True, capture_output=True, text=True).stdout)
    with tarfile.open(f"{directory}/profile.cubex") as tar:
        text = tar.extractfile("gains.tsv").read().decode() if "gains.tsv" in tar.getnames() else ""
    return result, list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def judge(kind):
    wanted, ranks, units = EXPECTED[kind]
    result, rows = measure(kind, kind)
    first = next((f for f in result["findings"] if f["kind"] in ("late_rank", "imbalance")), None)
    row = next((r for r in rows if r["without"] == wanted and (ranks is None or [int(r["late_rank"])] == ranks)), None)
    if first is None or row is None:
        print(f"{kind}: nothing found, or no gain: {result['findings']}, {rows}  WRONG")
        return False
    gain, excess, least, most = (float(row[c]) for c in ("seconds", "excess_seconds", "least_seconds", "most_seconds"))
    good = (first["kind"] == wanted and (ranks is None or first["ranks"] == ranks) and "clock" in (first.get("gain_by") or "")
            and abs(gain - excess) <= LIMIT * excess and least <= gain <= most and excess >= 0.9 * 0.03 * units * ROUNDS
            and abs(first["gain_s"] - min(gain, first["gain_high_s"])) < 1e-6)
    print(f"{kind}: {first['kind']} of {first['ranks']} gains {first['gain_s']:.3f} s by {first.get('gain_by')}; the clock {gain:.3f} s ({least:.3f} to "
          f"{most:.3f}), the excess {excess:.3f} s{'' if good else '  WRONG'}")
    return good


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    bad = [kind for kind in EXPECTED if not judge(kind)]
    # Between nodes, and where clocks travel by messages, they are carried as well.
    for name, environment in {"nodes": {"LATECOMER_TEST_NODES": "2"}, "messages": {"LATECOMER_TRANSPORT": "mpi"}}.items():
        result, rows = measure(name, "slow_rank", **environment)
        told = [f for f in result["findings"] if f["kind"] == "late_rank" and f["ranks"] == [3]]
        if not any(row["without"] == "late_rank" and row["late_rank"] == "3" for row in rows) or "clock" not in told[0]["gain_by"]:
            bad.append(name)
            print(f"{name}: {rows}, {told}  WRONG")
    # Who names scenarios gets these, and the clocks of the library are not carried.
    result, rows = measure("named", "slow_rank", "--what-if", "main=0.5")
    if rows or len(result["pop"]["what_if"]) != 1:
        bad.append("named")
        print(f"named: {rows}, {result['pop']['what_if']}  WRONG")
    # Clocks that come to cost too much are given up, and what they said is not told.
    rows = measure("burst", "burst")[1]
    if rows:
        bad.append("burst")
        print(f"burst: {rows}  WRONG")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
