"""Slurm over the hosts of hosts.py: one controller, a daemon and munge per host; no privileges, accounts or configuration of this machine.

usage (under hosts.py): slurm.py DIRECTORY COMMAND [ARGUMENTS]    runs COMMAND with SLURM_CONF set; srun and sbatch work in it

DIRECTORY (shared) takes configuration, state and logs. Exit status 77 where slurm-wlm or munge is not installed, as that of COMMAND else.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

import several_hosts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

TOOLS = ("munged", "slurmctld", "slurmd", "srun", "sbatch")

CONFIGURATION = """ClusterName=several_hosts
SlurmctldHost=node1
AuthType=auth/munge
AuthInfo=socket={local}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={shared}/state
SlurmdSpoolDir={local}/slurmd
SlurmctldPidFile={local}/slurmctld.pid
SlurmdPidFile={local}/slurmd.pid
SlurmctldLogFile={shared}/slurmctld.log
SlurmdLogFile={shared}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=3
MessageTimeout=100
PropagateResourceLimits=NONE
NodeName={nodes} CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def on_all(words):
    return [several_hosts.on(name, words) for name in several_hosts.names()]


def start(shared):
    """Starts everything; returns when all nodes are idle."""
    for tool in TOOLS:
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin") is None:
            print(f"skipped: no {tool} here: install slurm-wlm and munge")
            sys.exit(77)
    os.environ["PATH"] += ":/usr/sbin"
    local = several_hosts.local_directory()
    os.makedirs(f"{shared}/state")
    with open(f"{shared}/slurm.conf", "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(local=local, shared=shared, nodes=",".join(several_hosts.names())))
    with open(f"{shared}/cgroup.conf", "w", encoding="ascii") as file:
        file.write("CgroupPlugin=cgroup/v1\n")  # which needs none as long as nothing is confined
    with open(f"{shared}/mpi.conf", "w", encoding="ascii") as file:
        file.write(f"PMIxCliTmpDirBase={local}\n")
    with open(f"{shared}/munge.key", "wb") as file:
        os.chmod(file.fileno(), 0o400)
        file.write(os.urandom(128))
    os.environ["SLURM_CONF"] = f"{shared}/slurm.conf"
    munged = ["munged", "--force", f"--socket={local}/munge.socket", f"--key-file={shared}/munge.key", f"--pid-file={local}/munge.pid",
              f"--log-file={local}/munge.log", f"--seed-file={local}/munge.seed"]
    slurmd = ["sh", "-c", f"mkdir -p {local}/slurmd && SLURM_CONF={shared}/slurm.conf slurmd -N $(hostname)"]
    for done in on_all(munged) + [several_hosts.run(["slurmctld"])] + on_all(slurmd):
        if done.returncode != 0:
            raise RuntimeError(f"Slurm does not start: {done.args}: {done.stderr}")
    end = time.monotonic() + patience(60)
    while True:
        states = several_hosts.run(["sinfo", "-h", "-N", "-o", "%T"]).stdout.split()
        if states == ["idle"] * len(several_hosts.names()):
            return
        if time.monotonic() > end:
            raise RuntimeError(f"Slurm's nodes do not come up: {states}")
        time.sleep(0.2)


def stop_controller():
    """It writes its state to the shared directory now and then: that can be removed when this has returned."""
    with open(f"{several_hosts.local_directory()}/slurmctld.pid", encoding="ascii") as file:
        pid = int(file.read())
    end = time.monotonic() + patience(60)
    try:
        while True:
            os.kill(pid, signal.SIGKILL)
            if time.monotonic() > end:
                raise RuntimeError("slurmctld does not end")
            time.sleep(0.02)
    except ProcessLookupError:  # the first process of this host has taken it in
        pass


if __name__ == "__main__":
    start(sys.argv[1])
    sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
