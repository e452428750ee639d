"""Starts a program as a Python driver does: as a child, with its exit status (the launcher's descriptors stay open: MPICH needs them)."""
import subprocess
import sys

sys.exit(subprocess.run(sys.argv[1:], check=False, close_fds=False).returncode)
