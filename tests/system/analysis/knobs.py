"""Predicted gains beside measured ones: a program with a fault is traced and analysed, its first finding must name the fault, and the run time that it
predicts without the fault is compared with that of the program without it.

knobs.py LATECOMER FLAVOUR PROGRAM SCRATCH [KIND..]
"""
import json
import os
import shutil
import subprocess
import sys

LATECOMER, FLAVOUR, PROGRAM, SCRATCH = sys.argv[1:5]
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"],
            "mpich": ["mpirun.mpich"]}
ROUNDS, LIMIT = 30, 0.03
EXPECTED = {"turns": ("imbalance", []), "half": ("imbalance", None), "slow_rank": ("late_rank", [3]), "serial": ("late_rank", [0]),
            "late_root": ("late_rank", [0]), "chain": ("serialisation_chain", None)}


def measure(kind, on):
    directory = f"{SCRATCH}/{kind}-{on}"
    launcher = LAUNCHER[FLAVOUR] + (["--allow-run-as-root"] if FLAVOUR == "openmpi" and os.geteuid() == 0 else [])
    subprocess.run([*launcher, "-n", "4", LATECOMER, "-q", "run", "--trace", "-o", directory, PROGRAM, kind, str(on), str(ROUNDS)], check=True, timeout=120)
    subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", directory], check=True, timeout=120)
    return json.loads(subprocess.run([LATECOMER, "show", "--json", directory], check=True, capture_output=True, text=True).stdout)


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    bad = 0
    for kind in sys.argv[5:] or EXPECTED:
        before, after = measure(kind, 1), measure(kind, 0)
        now, then = before["pop"]["elapsed_s"], after["pop"]["elapsed_s"]
        first = before["findings"][0] if before["findings"] else {"kind": "none", "gain_s": None, "ranks": [], "callpath": "", "gain_by": ""}
        predicted = now - (first["gain_s"] or 0)
        error = predicted / then - 1
        wanted, ranks = EXPECTED[kind]
        named = first["kind"] == wanted and (ranks is None or first["ranks"] == ranks)
        exact = "replay" in (first.get("gain_by") or "")
        good = named and exact and abs(error) <= LIMIT
        print(f"{kind:10} now {now:.3f} s, predicted {predicted:.3f} s, measured without it {then:.3f} s: {100 * error:+.2f} %"
              f" ({first['kind']} of {first['ranks']} in {first['callpath']}, {first.get('gain_by')}){'' if good else '  WRONG'}")
        bad += not good
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
