"""LAMMPS with a box that is not balanced (slab.in): the run time with even work, predicted from the profile alone and from the trace, beside what comes
out with LAMMPS' own cures, `balance` and `fix balance`.

slab_balance.py LATECOMER virtual SLAB_ATOMS.so   four ranks in virtual time, 1 us for each atom: the first finding names the ranks, every prediction is
                                                  within 3 %
slab_balance.py LATECOMER figures [RUNS]          two ranks in true time; runs take turns, and the shortest of each kind counts. Exit 77: no LAMMPS
"""
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", *more) for more in (("programs",), ("..",))]
from figure import count, figure  # noqa: E402
from launch import virtual_time  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, VIRTUAL = os.path.abspath(sys.argv[1]), sys.argv[2] == "virtual"
RANKS, WIDE, STEPS, RUNS = (4, 5, 100, 1) if VIRTUAL else (2, 10, 400, int(sys.argv[3]) if len(sys.argv) > 3 else 3)
CURES = {"once": "balance", "fix": "fix balance"}
LIMIT = 0.03  # of the run time


def show(*what):
    return json.loads(subprocess.run([LATECOMER, "show", "--json", *what], check=True, capture_output=True, text=True).stdout)


def measure(where, name, balance):
    """Where the result is, and what it says."""
    directory, environment, words = f"{where}/{name}", dict(os.environ), []
    if VIRTUAL:
        library = os.path.abspath(sys.argv[3])
        environment.update(virtual_time(), LC_VIRTUAL_PROGRAM=os.path.basename(library))
        words = ["--mca", "mpi_yield_when_idle", "1", "-x", "LD_PRELOAD=" + library]
    subprocess.run([*mpirun("openmpi", RANKS, *words), LATECOMER, "-q", "run", *(["--trace"] if balance == "none" else []), "-o", directory, "lmp",
                    "-in", f"{HERE}/slab.in", "-log", "none", "-screen", "none", "-var", "balance", balance, "-var", "steps", str(STEPS), "-var", "wide", str(WIDE)],
                   check=True, stdout=subprocess.DEVNULL, timeout=patience(300), cwd=where, env=environment)
    return directory, show(directory)


def member(file, name):
    with tarfile.open(file) as tar:
        return tar.extractfile(name).read().decode().rstrip("\0") if name in tar.getnames() else ""


def even_work(directory):
    """Seconds that even work saves: by the clocks that the run carried, and by replay of the trace. Of two ranks a finding says what is saved when the late
    one is as fast as the other one."""
    head, *rows = [line.split("\t") for line in member(f"{directory}/profile.cubex", "gains.tsv").splitlines()] or [[]]
    rows = [dict(zip(head, row)) for row in rows]
    replayed = json.loads(member(f"{directory}/analysis.cubex", "critical_path.json"))["gains"]
    return {"profile": sum(float(row["seconds"]) for row in rows if row["without"] == "imbalance"),
            "trace": sum(gain["now_s"] - gain["then_s"] for gain in replayed if gain["without"] == "imbalance")}


def main():
    if shutil.which("lmp") is None:
        print("skipped: LAMMPS is not installed")
        return 77
    runs = {balance: [] for balance in ("none", *CURES)}
    with tempfile.TemporaryDirectory() as where:
        for i in range(RUNS):
            for balance, list_of in runs.items():
                list_of.append(measure(where, f"{balance}-{i}", balance))
        shortest = {balance: min(list_of, key=lambda run: run[1]["pop"]["elapsed_s"]) for balance, list_of in runs.items()}
        directory, profile = shortest["none"]
        subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", directory], check=True, timeout=patience(300))
        found = {"profile": profile["findings"], "trace": show(directory)["findings"]}
        saved = even_work(directory)
    now, good = profile["pop"]["elapsed_s"], True
    for source, findings in found.items():
        first = findings[0] if findings else {"kind": "none"}
        named = first["kind"] == "imbalance" and sorted(first["ranks"]) == [0, 1, 2] if VIRTUAL else first["kind"] in ("late_rank", "imbalance")
        print(f"{source}: now {now:.4f} s; {first['kind']} of {first.get('ranks')} in {first.get('callpath')}, gain {first.get('gain_s')} s"
              f" by {first.get('gain_by')}{'' if named else '  WRONG'}")
        good = good and named
        if VIRTUAL:
            saved[source] = sum(f["gain_s"] or 0 for f in findings if f["kind"] == first["kind"])
    for cure, command in CURES.items():
        then = shortest[cure][1]["pop"]["elapsed_s"]
        for source, seconds in saved.items():
            error = (now - seconds) / then - 1
            right = abs(error) <= LIMIT or not VIRTUAL
            print(f"{command}: predicted by the {source} {now - seconds:.4f} s, came out {then:.4f} s: {100 * error:+.2f} %{'' if right else '  WRONG'}")
            figure(f"{cure}.{source}", 100 * error, "%")
            good = good and right
    count("named", int(good), 1, "findings")
    return 0 if good or not VIRTUAL else 1


if __name__ == "__main__":
    sys.exit(main())
