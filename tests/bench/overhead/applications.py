#!/usr/bin/env python3
"""What the tool costs in the applications of tests/apps, and what it finds: the table of docs/applications.md. To be run on an otherwise idle
machine.

usage: applications.py BUILD_DIR [--minutes 11] [--seconds 3] [NAME..]

Inputs are made so long that a bare run takes about --seconds. Then all applications take turns, each with a bare and a measured run and one on the
stopwatch, until the minutes are over: what the machine does at one time strikes one pair of each, not all pairs of one. A measured run whose results
differ from the bare one's ends the application with "wrong"; behind "yes" stands how many were compared. Dilation: shortest measured / shortest bare
run, since other work only adds to times (in brackets the quartiles of the pairs), start and end of the tool not in it but stated apart. Useful time: all ranks together, measured / bare, of the
shortest runs; bare by tests/apps/stopwatch.c. Told: what the tool says that it took, of all ranks together, in the time of all ranks. What was found is
only printed where the result says so (FOUND); else what it says first instead.
"""
import argparse
import json
import os
import re
import sys
import tempfile
import time
from statistics import median, quantiles

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../apps"))
import apps  # noqa: E402


# What the program does, what its findings, or who is late, must say, and what that means to its users.
FOUND = {
    "abinit": ("abinit (molecular dynamics of silicon)", "rank 0 is late", "rank 0 has more to do before one MPI_Allreduce, and rank 1 waits there"),
    "bagel": ("BAGEL, MPICH (formaldehyde, Hartree-Fock and MP2)", "lost the processor to other threads",
              "two threads compute in each rank, four on two cores: they take the processor from each other"),
    "cp2k": ("CP2K (`cp2k.psmp`, molecular dynamics of one water molecule)", "MPI_Alltoall",
             "both ranks wait for each other in transposes (MPI_Alltoall) and sums, everywhere a little: the molecule is too small for two ranks"),
    "dolfinx": ("dolfinx (a Poisson problem in Python)", "VecTDot.*VecNorm|VecNorm.*VecTDot",
                "PETSc's conjugate gradients wait in the dot products and the norm of each iteration"),
    "freefem": ("FreeFem++ (two halves of a square that exchange their overlap)", "WSend|Late Receiver|latereceiver",
                "MPI_Send waits for a receiver that is still solving its half"),
    "gromacs": ("GROMACS (`gmx_mpi`, water)", "do_redist_pos_coeffs",
                "particle-mesh Ewald: many small messages when charges are redistributed (`do_redist_pos_coeffs`)"),
    "gpaw": ("gpaw (hydrogen molecule)", "globally_broadcast_bytes", "rank 0 reads the imports of Python and hands them out (`globally_broadcast_bytes`)"),
    "meep": ("meep (a waveguide)", "step_boundaries", "the exchange of boundaries (`step_boundaries`, MPI_Waitsome) is small messages"),
    "nwchem": ("NWChem, Open MPI (water, B3LYP)", "MPI_Barrier", "MPI_Barrier: the work handed out before it ends later on one rank, now on this, now on the other"),
    "nwchem-mpich": ("NWChem, MPICH (the same)", "MPI_Barrier", "the same, at the same barriers"),
    "openfoam": ("OpenFOAM (`icoFoam`, lid-driven cavity)", "PCG::scalarSolve", "sums of the pressure solver (`PCG::scalarSolve`, MPI_Allreduce)"),
    "quantum-espresso": ("Quantum ESPRESSO (`pw.x`, molecular dynamics of H2)", "MPI_Alltoall",
                         "the transposes of the Fourier transforms (MPI_Alltoall): each rank waits there for the other in turn"),
}
START = 0.3  # of the shortest run, about: what does not grow with the length


def long_enough(latecomer, name, seconds, scratch):
    """The application with an input of the length that is wanted, by what the shortest one takes."""
    where = [os.path.join(scratch, f"{name}.{which}") for which in ("short", "long")]
    for path in where:
        os.mkdir(path)
    app = apps.Application(latecomer, name, 1, where[0])
    took = apps.launch(app.flavour, app.ranks, app.command, where[0])[1]
    length = round((seconds - START * took) / ((1 - START) * took))
    return apps.Application(latecomer, name, max(1, min(20, length)), where[1])


def found(name, result):
    said = json.dumps([result["findings"], result.get("late", [])[:5]])
    if re.search(FOUND[name][1], said):
        return FOUND[name][2]
    first = result["findings"][0]["text"] if result["findings"] else "no findings"
    return f"**not {FOUND[name][1]}, but: {first}**"


def row(name, app):
    low, middle, high = quantiles(app.dilations(), n=4)
    result = app.result
    version = re.sub(r"^\d+:|[-+].*", "", apps.installed(name))
    told = median(account / (app.ranks * measured) for account, measured in zip(app.account, app.measured))
    return (f"| {FOUND[name][0]} | {version} | yes ({len(app.wanted)}) | {result['meta']['coverage']['calls']:,} | {median(app.bare):.2f} s "
            f"| {min(app.measured) / min(app.bare):.3f} ({low:.2f}, {middle:.2f}, {high:.2f}) | {median(app.around):.2f} s | {app.useful_error():+.1%} "
            f"| {told:.1%} | {len(app.bare)} | {found(name, result)} |")


HEAD = ["program", "version", "same results", "calls", "bare", "dilation", "start and end", "useful time", "told", "pairs", "what was found"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*", help="of FOUND; default: all that are installed")
    parser.add_argument("--minutes", type=float, default=11)
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_intermixed_args()
    end = time.monotonic() + 60 * args.minutes
    latecomer = os.path.join(args.build, "bin/latecomer")
    stopwatch = os.path.abspath(os.path.join(args.build, "lib/apps-stopwatch.so"))
    for name in args.names:
        if name not in FOUND:
            parser.error(f"no application {name}: {', '.join(sorted(FOUND))}")
    known = args.names or sorted(FOUND)
    names = [name for name in known if apps.installed(name)]
    for name in known:
        if name not in names:
            print(f"{name}: not installed")
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        running = {}
        for name in names:
            try:
                running[name] = long_enough(latecomer, name, args.seconds, scratch)
            except apps.Wrong as wrong:
                failed = True
                print(f"{name}: wrong: {wrong}")
        shown = dict(running)
        longest = 0
        while running and (longest == 0 or time.monotonic() + longest < end):
            begin = time.monotonic()
            for name in list(running):
                try:
                    running[name].turn(stopwatch)
                except apps.Wrong as wrong:
                    failed = True
                    print(f"{name}: wrong: {wrong}")
                    del running[name]
            longest = max(longest, time.monotonic() - begin)
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name, app in shown.items():
        if app.useful_without:
            print(row(name, app))
    sys.exit(failed)


main()
