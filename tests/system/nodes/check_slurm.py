"""Jobs of Slurm over two hosts, as users start them. Run by hosts.py on 2 hosts.

usage: check_slurm.py BUILD_DIR PROGRAM_OPENMPI PROGRAM_MPICH
"""
import json
import os
import subprocess
import sys
import tempfile

import several_hosts
import slurm

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

BUILD, OPENMPI, MPICH = sys.argv[1:4]
LATECOMER = f"{BUILD}/bin/latecomer"
ADVICE = "MPI sees 1 rank, but the launcher (Slurm) has started 4"


def step(kind, *words):
    return several_hosts.run(["srun", "-Q", f"--mpi={kind}", "-N2", "-n4", *words], timeout=patience(60))


def srun(kind, program, directory, *options):
    return step(kind, *options, LATECOMER, "run", "-o", directory, "--", program, "3", "2")


def ranks_of(directory):
    """Values of MPI_Allreduce's visits, one per rank."""
    done = several_hosts.run([LATECOMER, "show", "--json", "--metric=visits", directory])
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)["metrics"]["visits"]["callpaths"]
    return next(values for path, values in calls.items() if path.endswith("MPI_Allreduce"))


def check_mpirun_in_a_batch_script():
    """Daemons on other nodes run in a step of Slurm, that on the first node does not: still one job."""
    script = f"""#!/bin/sh
{LATECOMER} run -o alone true; echo "script $?"
mpirun.openmpi -n 4 --map-by node {LATECOMER} run -o batch -- {OPENMPI} 3 2; echo "mpirun $?"
"""
    with open("job.sh", "w", encoding="ascii") as file:
        file.write(script)
    done = several_hosts.run(["sbatch", "-Q", "-W", "-N2", "-n4", "-o", "job.out", "job.sh"], timeout=patience(90))
    with open("job.out", encoding="utf-8", errors="replace") as file:
        out = file.read()
    assert done.returncode == 0 and "script 0" in out and "mpirun 0" in out and "not measured" not in out, (done.stderr, out)
    assert ranks_of("batch") == [3, 3, 3, 3]


def check_pmix():
    done = srun("pmix", OPENMPI, "pmix")
    assert done.returncode == 0 and "measured" not in done.stderr, done.stderr
    assert ranks_of("pmix") == [3, 3, 3, 3]


def check_pmi2():
    process = several_hosts.start(["srun", "-Q", "--mpi=pmi2", "-N2", "-n4", LATECOMER, "run", "-o", "pmi2", "--", MPICH, "3", "2"])
    _, err = several_hosts.finish(process, "pmi2")
    assert "measured" not in err, err
    assert ranks_of("pmi2") == [3, 3, 3, 3]


def check_several_programs():
    """--multi-prog: one job."""
    with open("programs", "w", encoding="ascii") as file:
        file.writelines(f"{tasks} {LATECOMER} run -o programs-result -- {OPENMPI} 3 2\n" for tasks in ("0", "1-3"))
    done = step("pmix", "--multi-prog", "programs")
    assert done.returncode == 0 and "measured" not in done.stderr, done.stderr
    assert ranks_of("programs-result") == [3, 3, 3, 3]


def check_job_array():
    """Its jobs run at the same time and ask for the same directory."""
    with open("array.sh", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nsrun -Q --mpi=pmix -n2 {LATECOMER} run -o array -- {OPENMPI} 3 2\n")
    done = several_hosts.run(["sbatch", "-Q", "-W", "--array=1-2", "-N1", "-n2", "-o", "array.%a.out", "array.sh"], timeout=patience(90))
    assert done.returncode == 0, done.stderr
    assert ranks_of("array") == [3, 3] and ranks_of("array-2") == [3, 3]


def check_hydra_in_a_batch_script():
    with open("hydra.sh", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\ntimeout {patience(40):.0f} mpiexec.hydra -iface eth0 -n 4 {LATECOMER} run -o hydra -- {MPICH} 3 2\n")
    several_hosts.run(["sbatch", "-Q", "-W", "-N2", "-n4", "-o", "hydra.out", "hydra.sh"], timeout=patience(90))
    with open("hydra.out", encoding="utf-8", errors="replace") as file:
        out = file.read()
    assert "not measured" not in out, out
    assert ranks_of("hydra") == [3, 3, 3, 3]


def check_without_pmi():
    """As many programs of one rank: a directory each, and what to do about it."""
    done = srun("none", MPICH, "none")
    assert done.returncode == 0 and done.stderr.count(ADVICE) == 1 and "--mpi=pmi2" in done.stderr, done.stderr
    for directory in ("none", "none-rank1", "none-rank2", "none-rank3"):
        assert ranks_of(directory) == [3], directory


def check_side_by_side():
    """Two steps of one allocation at the same time."""
    words = f"srun -Q --mpi=pmix --exact -N1 -n2 {LATECOMER} run -o side -- {OPENMPI} 3 2"
    done = several_hosts.run(["salloc", "-Q", "-N2", "-n4", "sh", "-c", f"{words} & {words}; wait"], timeout=patience(60))
    assert "measured" not in done.stderr, done.stderr
    assert ranks_of("side") == [3, 3] and ranks_of("side-2") == [3, 3]


def check_analyze():
    """A trace that is analysed in a batch script (cores decide on the ranks), by the ranks of a step, and by tasks that do not find each other."""
    done = several_hosts.run(["mpirun.openmpi", "-n", "2", LATECOMER, "run", "--trace", "-o", "traced", "--", OPENMPI, "3", "2"])
    assert done.returncode == 0, done.stderr
    with open("analyze.sh", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{LATECOMER} analyze -n 2 traced; echo status $?\n")
    several_hosts.run(["sbatch", "-Q", "-W", "-N2", "-n4", "-o", "analyze.out", "analyze.sh"], timeout=patience(90))
    with open("analyze.out", encoding="utf-8", errors="replace") as file:
        out = file.read()
    assert "status 0" in out and "on 2 ranks" in out, out
    os.unlink("traced/analysis.cubex")
    done = step("pmix", LATECOMER, "analyze", "traced")
    assert done.returncode == 0 and "on 4 ranks" in done.stdout + done.stderr and os.path.exists("traced/analysis.cubex"), (done.stdout, done.stderr)
    os.unlink("traced/analysis.cubex")
    done = several_hosts.run(["srun", "-Q", "--mpi=none", "-N2", "-n4", LATECOMER, "analyze", "traced"], timeout=patience(60))
    assert done.returncode == 0 and done.stderr.count(ADVICE) == 1 and os.path.exists("traced/analysis.cubex"), done.stderr


def main():
    several_hosts.use_environment_of_openmpi()
    with tempfile.TemporaryDirectory(prefix="lcslurm-") as folder:
        os.mkdir(f"{folder}/slurm")
        slurm.start(f"{folder}/slurm")
        os.mkdir(f"{folder}/jobs")
        os.chdir(f"{folder}/jobs")
        failed = 0
        for check in (check_mpirun_in_a_batch_script, check_pmix, check_pmi2, check_several_programs, check_job_array, check_hydra_in_a_batch_script,
                      check_without_pmi, check_side_by_side, check_analyze):
            try:
                check()
                print(f"{check.__name__}: ok", flush=True)
            except (AssertionError, StopIteration, subprocess.TimeoutExpired, OSError) as error:
                failed += 1
                print(f"{check.__name__}: FAILED: {error}", flush=True)
        os.chdir("/")
        slurm.stop_controller()
    return failed


if __name__ == "__main__":
    sys.exit(main())
