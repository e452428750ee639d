"""Limits of time in tests end what hangs; they judge nothing. `LC_PATIENCE` stretches them: latecomer.sh sets it after a look at the machine."""
import os

FACTOR = float(os.environ.get("LC_PATIENCE", "3"))


def patience(seconds):
    """`seconds` are plenty on a quiet machine; the result is for this one."""
    return seconds * FACTOR
