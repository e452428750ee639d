"""For tests that hosts.py has started: the words that launch MPI programs over all of its hosts, and commands on one of them."""
import os
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402


def names():
    return os.environ["HOSTS_NAMES"].split()


def local_directory():
    """A directory that each host has for itself."""
    return os.environ["HOSTS_LOCAL"]


def openmpi_version():
    """The first number of it."""
    text = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"(\d+)\.\d", text).group(1))


def launcher(flavour, ranks, options=(), spins=False):
    """The words before the program: ranks go round the hosts. Between hosts tcp, inside shared memory. spins: who waits keeps its core."""
    rsh = os.environ["HOSTS_RSH"]
    if flavour == "openmpi" and openmpi_version() >= 5:
        return ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", os.environ["HOSTS_FILE"], "--map-by", "node:OVERSUBSCRIBE",
                "--bind-to", "none", "--prtemca", "plm", "ssh", "--prtemca", "plm_ssh_agent", rsh, "--prtemca", "prte_if_include", "eth0",
                "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,sm", "--mca", "btl_tcp_if_include", "eth0", *options, "-n", str(ranks)]
    if flavour == "openmpi":
        return ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", os.environ["HOSTS_FILE"], "--map-by", "node", "--bind-to", "none",
                "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", rsh, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader",
                "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "0" if spins else "1",
                *options, "-n", str(ranks)]
    return ["mpiexec.hydra", "-bind-to", "none", "-launcher", "rsh", "-launcher-exec", rsh, "-hosts", ",".join(names()), "-iface", "eth0",
            *options, "-n", str(ranks)]


def run(words, timeout=patience(120), **more):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, check=False, **more)


def start(words):
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)


def finish(process, directory):
    """Until the program has ended or its profile is whole (MPICH 4.0.2 over several hosts does not always return from MPI_Finalize,
    without the tool as well)."""
    end = time.monotonic() + patience(90)
    while process.poll() is None and time.monotonic() < end:
        if os.path.exists(f"{directory}/.profile.raw") or os.path.exists(f"{directory}/profile.cubex"):
            try:
                process.wait(patience(5))
            except subprocess.TimeoutExpired:
                break
        time.sleep(0.02)
    process.kill()
    out, err = process.communicate()
    return out, err


def on(host, words, **more):
    """Runs a command on one of the hosts, in the working directory and with the PATH of this process."""
    line = f"cd {shlex.quote(os.getcwd())} && {shlex.join(map(str, words))}"
    return run([os.environ["HOSTS_RSH"], host, line], **more)


def use_environment_of_openmpi():
    """For Open MPI programs and launchers that somebody else starts (srun, a batch script)."""
    if openmpi_version() >= 5:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PRTE_MCA_prte_if_include="eth0",
                          PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_MCA_btl_tcp_if_include="eth0", OMPI_MCA_pml="ob1",
                          OMPI_MCA_btl="tcp,self,sm")
        return
    # Not by btl/tcp: that of 4.1.4 crashes in MPI_Init of two steps of Slurm in a hundred (it calls a function that is not set yet).
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_oob_tcp_if_include="eth0",
                      OMPI_MCA_pml="ucx", OMPI_MCA_pml_ucx_tls="any", OMPI_MCA_pml_ucx_devices="any", OMPI_MCA_btl="self,vader",
                      OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_rmaps_base_oversubscribe="1")
