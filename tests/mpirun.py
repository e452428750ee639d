"""How tests start MPI programs: the words of a launcher of either flavour, as root or not, also with more ranks than cores."""
import os


def mpirun(flavour, ranks=None, *more):
    """Up to the program, or to options of the launcher's; ranks=None: the caller adds their number; more: options of Open MPI's launcher."""
    words = [f"mpirun.{flavour}"]
    if flavour == "openmpi":
        words += ["--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *more]
    return words + (["-n", str(ranks)] if ranks else [])
