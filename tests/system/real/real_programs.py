#!/usr/bin/env python3
"""Programs that nobody here wrote, unchanged from Debian: same results under the tool as without it, and a useful profile.

usage: real_programs.py BUILD_DIR lammps|hpcc|scalapack|demo-openmpi|demo-mpich|mpi4py
Exit status 0 only if everything holds; an absent program is a failure.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
import launch  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
EXACT = 1e-5  # seconds: virtual time
SCALAPACK = "/usr/lib/{}-linux-gnu/scalapack/mpich-tests".format(os.uname().machine)


def fail(text):
    sys.exit("real_programs: " + text)


def run(command, cwd, stdout_file=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=patience(240), stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


class Case:
    """flavour, ranks, program with arguments, files to copy, what to compare, names that the call tree must hold."""

    def __init__(self, flavour, ranks, program, files=(), output=None, keep=lambda line: True, names=()):
        self.flavour, self.ranks, self.program, self.files = flavour, ranks, program, files
        self.output, self.keep, self.names = output, keep, names

    def result(self, prefix):
        with tempfile.TemporaryDirectory() as scratch:
            for source, target in self.files:
                shutil.copy(os.path.join(HERE, source), os.path.join(scratch, target))
            done = run(mpirun(self.flavour, self.ranks) + prefix + self.program, scratch)
            text = done.stdout
            if self.output:
                with open(os.path.join(scratch, self.output), encoding="utf-8", errors="replace") as file:
                    text = file.read()
            return [line.rstrip() for line in text.splitlines() if self.keep(line)]


def lammps_line(line):
    """The thermo table: step, temperature, energies, pressure; numbers only, no times."""
    return re.fullmatch(r"\s*\d+(\s+-?[\d.eE+-]+){4,}\s*", line) is not None


def hpl_line(line):
    """Residuals of the verified parts; no rates, no times."""
    return "||Ax-b||" in line or "tests completed" in line or "failed" in line.lower()


def scalapack_line(line):
    return "PASSED" in line and line.startswith("WALL") or "tests" in line


def scalapack_key(line):
    return re.sub(r"(\s+[\d.*]+){3}\s+PASSED", " PASSED", line) if line.startswith("WALL") else line


CASES = {
    "lammps": Case("openmpi", 4, ["lmp", "-in", "melt.in", "-log", "none"], [("melt.in", "melt.in")], None, lammps_line,
                   ["main", "LAMMPS_NS::Verlet::run", "LAMMPS_NS::Comm", "MPI_Allreduce"]),
    "hpcc": Case("openmpi", 4, ["hpcc"], [("hpccinf.txt", "hpccinf.txt")], "hpccoutf.txt", hpl_line, ["main", "hpcc+0x", "MPI_Recv"]),
    "scalapack": Case("mpich", 2, [SCALAPACK + "/xdllt"], [(SCALAPACK + "/LLT.dat", "LLT.dat")], None, scalapack_line,
                      ["main", "pdpotrf_", "MPI_Bcast"]),
}


def show(build, directory):
    done = run([os.path.join(build, "bin/latecomer"), "show", "--json", directory], None)
    return json.loads(done.stdout)


def check_profile(data, case):
    meta, metrics = data["meta"], data["metrics"]
    if meta["complete"] is not True or meta["ranks"] != case.ranks:
        fail(f"meta says complete={meta.get('complete')} ranks={meta.get('ranks')}: {meta}")
    paths = list(metrics["time"]["callpaths"])
    for name in case.names:
        if not any(name in path for path in paths):
            fail(f"no call path of `time` holds {name}; there are {len(paths)}, for example {paths[:5]}")
    if not metrics["visits"]["total"] > 0:
        fail("no visits were counted")
    lifetimes = [sum(v[i] for p, v in metrics["time"]["callpaths"].items() if "/" not in p) for i in range(case.ranks)]
    for lifetime in lifetimes:
        if not 0 < lifetime <= meta["wall_time_s"] * 1.01:
            fail(f"time of a location is {lifetime} s, wall time {meta['wall_time_s']} s")


def check_loops(data, name):
    """Loops found without annotation: the time step of LAMMPS (the first visit of its call site may count for what is before); of HPCC
    the one that covers most, which all ranks make equally often however long the other parts of the suite take."""
    loops = data["pop"]["iterations"]
    if name == "hpcc" and not any(270 <= loop["count"] <= 290 and loop["ranks"] == 4 for loop in loops):
        fail(f"no loop of 280 iterations on all ranks: {[(loop['count'], loop['ranks'], loop['callpath']) for loop in loops]}")
    if name == "lammps" and not any(245 <= loop["count"] <= 250 and loop["ranks"] == 4 and "Verlet::run" in loop["callpath"].split("/")[-1] for loop in loops):
        fail(f"no loop of 250 time steps: {[(loop['count'], loop['ranks'], loop['callpath']) for loop in loops]}")


def real(build, name):
    case = CASES[name]
    if shutil.which(case.program[0]) is None:
        fail(f"{case.program[0]} is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result")
        bare = case.result([])
        # Without a budget: in which detail calls are measured would depend on the machine's load, and so would the loops.
        measured = case.result([os.path.join(build, "bin/latecomer"), "run", "--max-overhead=off", "-o", out, "--"])
        if name == "scalapack":
            bare, measured = ([scalapack_key(line) for line in lines] for lines in (bare, measured))
        if len(bare) < 2:
            fail(f"nothing to compare in the output: {bare}")
        if bare != measured:
            fail(f"results differ: {[pair for pair in zip(bare, measured) if pair[0] != pair[1]][:5]}")
        data = show(build, out)
        check_profile(data, case)
        check_loops(data, name)


def demo_run(build, flavour):
    """The expectations that the program prints, and the metrics of the result, in virtual time."""
    program = os.path.join(build, "bin/latecomer-demo-" + flavour)
    with launch.Workspace(flavour, os.path.join(build, "bin/latecomer"), virtual=True) as work:
        done = work.run([*work.launcher(2), *work.tool(), program, "expect", "80"])
        lines = [line.split() for line in done.out.splitlines() if line.startswith("mpi_")]
        if len(lines) != 3:
            fail(f"the program printed {len(lines)} expectations: {done.out}{done.err}")
        expected = [(metric, path, int(rank), *map(float, numbers)) for metric, path, rank, *numbers in lines]
        return expected, work.show()["metrics"]


def check_line(metrics, line):
    """One wait of the demo: what is wrong with it, "" if nothing. What the tool found is what the program saw, estimated and measured, and
    nothing is found elsewhere; the measured wait is the built-in value, too."""
    metric, path, rank, built_in, waited, estimated = line
    wrong = []
    for name, own in ((metric + "_estimated", estimated), (metric, waited)):
        values = metrics[name]["callpaths"]
        found = sum(v[rank] for p, v in values.items() if p.endswith(path))
        others = sum(v[rank] for p, v in values.items() if not p.endswith(path) and "align" not in p)
        print(f"{name} {path} rank {rank}: found {found:.6f} s, the program saw {own:.6f} s, built in {built_in:.6f} s, elsewhere {others:.6f} s")
        if abs(found - own) > EXACT:
            wrong.append(f"{name} at {path} on rank {rank}: {found:.4f} s, the program saw {own:.4f} s")
        if others > EXACT:
            wrong.append(f"{name} on rank {rank}: {others:.4f} s at other call paths")
    if abs(found - built_in) > EXACT: # the last, the measured one
        wrong.append(f"{metric} at {path} on rank {rank}: {found:.4f} s, built in {built_in:.4f} s")
    return "; ".join(wrong)


def demo(build, flavour):
    """Waiting of known size, found on the right call path and rank."""
    expected, metrics = demo_run(build, flavour)
    wrong = [text for text in (check_line(metrics, line) for line in expected) if text]
    if wrong:
        fail("; ".join(wrong))


def mpi4py(build):
    """Python loads MPI at run time."""
    script = ("from mpi4py import MPI; c = MPI.COMM_WORLD; "
              "print(f'{c.allreduce(c.rank)}\\n', end='', flush=True); c.Barrier()")
    case = Case("openmpi", 2, ["/usr/bin/python3", "-c", script], names=["MPI_Barrier"])
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result")
        bare = case.result([])
        # Without a budget: in which detail calls are measured would depend on the machine's load, and so would the loops.
        measured = case.result([os.path.join(build, "bin/latecomer"), "run", "--max-overhead=off", "-o", out, "--"])
        if bare != measured or bare != ["1", "1"]:
            fail(f"results differ: {bare} {measured}")
        check_profile(show(build, out), case)


def main():
    build, what = sys.argv[1], sys.argv[2]
    if what.startswith("demo-"):
        demo(build, what[5:])
    elif what == "mpi4py":
        mpi4py(build)
    else:
        real(build, what)


if __name__ == "__main__":
    main()
