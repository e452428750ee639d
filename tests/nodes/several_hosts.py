"""For tests that hosts.py has started: the words that launch MPI programs over all of its hosts, and commands on one of them."""
import os
import shlex
import subprocess


def names():
    return os.environ["HOSTS_NAMES"].split()


def local_directory():
    """A directory that each host has for itself."""
    return os.environ["HOSTS_LOCAL"]


def launcher(flavour, ranks, options=()):
    """The words before the program: ranks go round the hosts. Between hosts tcp, inside shared memory."""
    rsh = os.environ["HOSTS_RSH"]
    if flavour == "openmpi":
        return ["mpirun.openmpi", "--allow-run-as-root", "--hostfile", os.environ["HOSTS_FILE"], "--map-by", "node", "--bind-to", "none",
                "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", rsh, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader",
                "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1",
                *options, "-n", str(ranks)]
    return ["mpiexec.hydra", "-bind-to", "none", "-launcher", "rsh", "-launcher-exec", rsh, "-hosts", ",".join(names()), "-iface", "eth0",
            *options, "-n", str(ranks)]


def run(words, timeout=120, **more):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, check=False, **more)


def on(host, words, **more):
    """Runs a command on one of the hosts, in the working directory and with the PATH of this process."""
    line = f"cd {shlex.quote(os.getcwd())} && {shlex.join(map(str, words))}"
    return run([os.environ["HOSTS_RSH"], host, line], **more)


def use_environment_of_openmpi():
    """For Open MPI programs and launchers that somebody else starts (srun, a batch script)."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_oob_tcp_if_include="eth0",
                      OMPI_MCA_btl_tcp_if_include="eth0", OMPI_MCA_pml="ob1", OMPI_MCA_btl="tcp,self,vader",
                      OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_rmaps_base_oversubscribe="1")
