#!/usr/bin/env python3
"""A real program with a slowed rank, in virtual time, in which computing takes none: the analysis of its trace must name that rank first, the
function it was slow in with the call path from main to it, all of the costs, and the chain to those who waited: rank 0, in MPI.

    slow_rank.py LATECOMER SLOW_RANK.so MELT.in WORK
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", *more) for more in ((), ("programs",), ("..",))]
from launch import virtual_time  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

STEPS, NAP_S, EXACT, MESSAGES = 60, 0.03, 1e-5, 1e-3  # seconds; MESSAGES: of all messages' latencies, 1 us each; slow_rank.c naps before each step and once before the first


def main():
    latecomer, library, melt, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    run = os.path.join(work, "lmp")
    subprocess.run([*mpirun("openmpi", 2, "--mca", "mpi_yield_when_idle", "1", "-x", "LD_PRELOAD=" + library), latecomer, "run",
                    "--trace", "-o", run, "lmp", "-in", melt, "-v", "steps", str(STEPS), "-v", "size", "6", "-log", "none"],
                   env={**os.environ, **virtual_time(), "LC_VIRTUAL_PROGRAM": os.path.basename(library)}, check=True, stdout=subprocess.DEVNULL, timeout=patience(200))
    subprocess.run([latecomer, "analyze", "-n", "1", run], check=True, timeout=patience(100))
    with tarfile.open(os.path.join(run, "analysis.cubex")) as archive:
        causes = json.load(archive.extractfile("root_causes.json"))["root_causes"]
    for cause in causes[:5]:
        print("%7.3f s  rank %d  %s" % (cause["cost_s"], cause["rank"], cause["callpath"]))
    first = causes[0]
    path, total = first["callpath"].split("/"), sum(cause["cost_s"] for cause in causes)
    named = first["rank"] == 1 and path[-1].startswith("LAMMPS_NS::Verlet::")
    print("the slowed rank is", "named first" if named else "NOT named first", "with", first["cost_s"], "of", total, "s; chain:")
    for victim in first["chain"]:
        print("  %7.3f s  rank %d  %s" % (victim["waiting_s"], victim["rank"], victim["callpath"]))
    victim = first["chain"][0]
    chained = victim["rank"] == 0 and victim["callpath"].split("/")[-1].startswith("MPI_") and victim["waiting_s"] > 0.02
    sites = path[0] == "main" and "LAMMPS_NS::Input::file()" in path
    print("path from main:", sites, "chain to rank 0:", chained)
    exact = abs(first["cost_s"] - STEPS * NAP_S) < EXACT and abs(total - (STEPS + 1) * NAP_S) < MESSAGES
    print("costs of the naps:", exact)
    return 0 if named and chained and sites and exact else 1


if __name__ == "__main__":
    sys.exit(main())
