#!/usr/bin/env python3
"""A real program with a slowed rank: the analysis of its trace must name that rank first, and the function it was slow in.

    slow_rank.py LATECOMER SLOW_RANK.so MELT.in WORK
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile


def main():
    latecomer, library, melt, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    run = os.path.join(work, "lmp")
    subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-x",
                    "LD_PRELOAD=" + library, "-n", "2", latecomer, "run", "--trace", "-o", run, "lmp", "-in", melt, "-v",
                    "steps", "60", "-v", "size", "6", "-log", "none"],
                   check=True, stdout=subprocess.DEVNULL, timeout=200)
    subprocess.run([latecomer, "analyze", "-n", "1", run], check=True, timeout=100)
    with tarfile.open(os.path.join(run, "analysis.cubex")) as archive:
        causes = json.load(archive.extractfile("root_causes.json"))["root_causes"]
    for cause in causes[:5]:
        print("%7.3f s  rank %d  %s" % (cause["cost_s"], cause["rank"], cause["callpath"]))
    first = causes[0]
    named = first["rank"] == 1 and first["callpath"].split("/")[-1].startswith("LAMMPS_NS::Verlet::")
    print("the slowed rank is", "named first" if named else "NOT named first")
    return 0 if named and first["chain"] else 1


if __name__ == "__main__":
    sys.exit(main())
