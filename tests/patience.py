"""Limits of time in tests end what hangs; they judge nothing. `LC_PATIENCE` stretches them: latecomer.sh sets it after a look at the machine."""
import os
import time

FACTOR = float(os.environ.get("LC_PATIENCE", "3"))


def patience(seconds):
    """`seconds` are plenty on a quiet machine; the result is for this one."""
    return seconds * FACTOR


def is_held():
    """While the file is there that LC_HOLD names, nothing new begins: the machine is needed for something else."""
    return os.path.exists(os.environ.get("LC_HOLD") or "/nonexistent")


def wait_while_held():
    while is_held():
        time.sleep(1)
