"""Starts a program as a Python driver does: as a child, with its exit status."""
import subprocess
import sys

sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)
