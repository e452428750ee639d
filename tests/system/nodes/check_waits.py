"""Waits and factors of known patterns over several hosts, in virtual time. Run by hosts.py.

usage: check_waits.py LATECOMER PROGRAM FLAVOUR PATTERN..   PROGRAM: constructed_waits.c. Its judge (constructed_waits.py) computes from the
logs of the ranks what must be measured; clocks travel in messages between hosts, in shared memory inside.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

import several_hosts

sys.path.insert(0, str(Path(__file__).parent.parent / "piggyback"))
import constructed_waits  # noqa: E402
import launch  # noqa: E402
from patience import patience  # noqa: E402


class OverHosts(launch.Workspace):
    """Programs run over all hosts."""

    def launcher(self, ranks):
        forwarded = [word for name in (*self.virtual, "LATECOMER_CLOCKS_LOG", "TMPDIR") for word in ("-x", name)]
        return several_hosts.launcher(self.flavour, ranks, forwarded if self.flavour == "openmpi" else ())

    def run(self, command, timeout=patience(120), env=None, **popen):
        """Until the profile is whole: MPICH 4.0.2 over several hosts does not always return from MPI_Finalize, without the tool as well."""
        begin, process = time.monotonic(), self.start(command, env, **popen)
        out, err = several_hosts.finish(process, command[command.index("-o") + 1])
        return launch.Outcome(max(process.returncode, 0), out, err, time.monotonic() - begin)

    def show(self, *options, directory="exp"):
        subprocess.run([self.latecomer, "recover", self.root / directory], capture_output=True, check=True, timeout=patience(60))
        return super().show(*options, directory=directory)


def main():
    latecomer, program, flavour, *only = sys.argv[1:]
    with OverHosts(flavour, os.path.abspath(latecomer), virtual=True) as work:
        found = constructed_waits.patterns(work, os.path.abspath(program), flavour, "hosts", only)
    print("\n".join(found) or f"over {len(several_hosts.names())} hosts all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
