"""How good measured and estimated waits are: every program runs once with profile and trace; per call path that waits, the share of the run
time (all ranks) by the trace's analysis, as measured on the fly, and as estimated from the shortest calls. This is the table that the method of
estimates was published with, on our own programs and LAMMPS. Usage: accuracy.py LATECOMER FLAVOUR KNOWN [MELT.IN]; fails if a measured value of
the programs of constructed_waits.c is more than 0.1 points of the run time away from the trace."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

KINDS = ("mpi_latesender", "mpi_latereceiver", "mpi_wait_nxn", "mpi_barrier_wait", "mpi_latebroadcast", "mpi_earlyreduce", "mpi_earlyscan")
PATTERNS = (("imbalance", 4), ("rotating", 4), ("farm", 4), ("mixture", 4), ("chain", 4))


def show(work, directory, *options):
    done = subprocess.run([work.latecomer, "show", "--json", "--by=callpath", *options, str(work.root / directory)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def sums(result, names):
    """Per (kind, call path below main): seconds over all ranks."""
    found = {}
    for kind, metric in names:
        for path, value in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
            found[kind, path] = found.get((kind, path), 0) + value
    return found


def measure(work, label, command, ranks):
    directory = f"exp-{label}-{ranks}"
    done = work.run(work.launcher(ranks) + work.tool("--trace", directory=directory) + command, env=work.environment())
    if done.status != 0:
        raise RuntimeError(f"{label}: status {done.status}\n{done.err[-1000:]}")
    subprocess.run([work.latecomer, "-q", "analyze", str(work.root / directory)], check=True, capture_output=True)
    profile, analysis = show(work, directory), show(work, directory, "--analysis")
    names = [m for m in analysis["metrics"] if analysis["metrics"][m]["unit"] == "sec"]
    exact = sums(analysis, [(k, n) for k in KINDS for n in names if n == k or (n.startswith(k + "_wo"))])
    whole = profile["metrics"]["time"]["total"]
    return exact, sums(profile, [(k, k) for k in KINDS]), \
        sums(profile, [*((k, k + "_estimated") for k in KINDS), ("mpi_latesender", "mpi_waitall_estimated")]), whole


def table(label, ranks, measured):
    exact, on_the_fly, estimated, whole = measured
    worst = 0
    for key in sorted(set(exact) | set(on_the_fly) | set(estimated), key=lambda k: -max(d.get(k, 0) for d in (exact, on_the_fly, estimated))):
        shares = [100 * d.get(key, 0) / whole for d in (exact, on_the_fly, estimated)]
        worst = max(worst, abs(shares[0] - shares[1]))
        if max(shares) >= 0.5:
            path = key[1] if len(key[1]) < 58 else "..." + key[1][-55:]
            print(f"{label:10} {ranks:2}  {key[0][4:]:14} {shares[0]:7.2f} {shares[1]:8.2f} {shares[2]:9.2f} {shares[2] - shares[0]:+8.2f}   {path}")
    return worst


def main():
    latecomer, flavour, constructed_waits, *melt = sys.argv[1:]
    found = []
    print("program     P  wait             trace measured estimated   error   call path            (percent of the time of all ranks)")
    with launch.Workspace(flavour, os.path.abspath(latecomer)) as work:
        for pattern, ranks in PATTERNS:
            worst = table(pattern, ranks, measure(work, pattern, [os.path.abspath(constructed_waits), pattern], ranks))
            if worst > 0.1:
                found.append(f"{pattern}: measured is {worst:.2f} points of the run time away from the trace")
        if melt and shutil.which("lmp"):
            ranks = 4 if flavour == "openmpi" else 2
            worst = table("lammps", ranks, measure(work, "lammps", ["lmp", "-in", os.path.abspath(melt[0]), "-log", "none", "-screen", "none"], ranks))
            print(f"lammps: measured within {worst:.2f} points of the trace")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
