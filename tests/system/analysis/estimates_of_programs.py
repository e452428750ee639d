"""How close estimates of waiting from minima are to the analysis of a trace of the same run, of real programs and of our kernels in true time, for
the call paths and within the bounds that were published (estimate_claims.py).

estimates_of_programs.py LATECOMER openmpi|mpich DIRECTORY_OF_KERNELS [PROGRAM..]

Two ranks. Figures: the largest difference over all programs, in points of the time of all ranks and in percent of the waiting. The status tells only
that the programs ran, and that some call path is one that the claims are about.
"""
import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
import estimate_claims  # noqa: E402
import launch  # noqa: E402
from patience import patience  # noqa: E402
sys.path.insert(0, str(HERE.parent.parent))
from figure import figure  # noqa: E402

REAL = HERE.parent / "real"
KERNELS = {"stencil": (2000, 256), "wavefront": (12, 96), "multigrid": (10, 2048), "block_tridiagonal": (200, 256), "conjugate_gradient": (40, 262144)}
NAMES = {("mpi_latesender", "points"): "late_sender", ("mpi_wait_nxn", "points"): "nxn", ("mpi_wait_nxn", "share"): "nxn_share"}


def commands(kernels, scratch):
    """Of programs that are installed."""
    found = {name: [str(kernels / name), *map(str, arguments)] for name, arguments in KERNELS.items()}
    if shutil.which("lmp"):
        found["lammps"] = ["lmp", "-in", str(REAL / "melt.in"), "-log", "none", "-screen", "none", "-var", "steps", "1000"]
    if shutil.which("hpcc"):  # on a grid of one by two instead of two by two
        text = re.sub(r"^2( +)Ps$", r"1\1Ps", (REAL / "hpccinf.txt").read_text(encoding="ascii"), flags=re.M)
        (scratch / "hpccinf.txt").write_text(text, encoding="ascii")
        found["hpcc"] = ["hpcc"]
    return found


def compared(work, name, command):
    done = work.run([*work.launcher(2), *work.tool("--trace", "-q", directory=name), *command], timeout=patience(120))
    if done.status != 0:
        raise RuntimeError(f"{name}: status {done.status}: {done.err[-2000:]}")
    launch.subprocess.run([work.latecomer, "-q", "analyze", "-n", "1", str(work.root / name)], check=True, timeout=patience(100))
    return list(estimate_claims.compared(work.show(directory=name), work.show("--analysis", directory=name)))


def main():
    latecomer, flavour, kernels, *chosen = sys.argv[1:]
    worst = {name: 0.0 for name in NAMES.values()}
    paths = 0
    with launch.Workspace(flavour, os.path.abspath(latecomer)) as work:
        programs = commands(Path(kernels).absolute(), work.root)
        for name in chosen or programs:
            for found in compared(work, name, programs[name]):
                paths += 1
                print(f"{name}: {found.text()}{'' if found.holds() else '  <- not as published'}")
                for kind in ("points", "share"):
                    figure_name = NAMES.get((found.metric, kind))
                    if figure_name is not None:
                        worst[figure_name] = max(worst[figure_name], 100 * min(getattr(found, kind), 10.0))
    if paths == 0:
        sys.exit("no call path that a claim is about")
    for name, value in worst.items():
        figure(name, value, "%")


if __name__ == "__main__":
    main()
