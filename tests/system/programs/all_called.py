#!/usr/bin/python3
"""Every function of mpi.h is called, bare and measured, by one of the programs; those that cannot be are named here with the reason.

all_called.py openmpi|mpich TALLY_HEADER DIRECTORY: DIRECTORY holds what check_program.py --record wrote, a file per program."""
import re
import sys
from pathlib import Path

NO_EVENTS = "Debian's MPICH has no event types, so there is no handle or instance to call it with"
NO_PVARS = "Debian's MPICH has no performance variables, so there is no handle to call it with"
NO_ENUMS = "Debian's MPICH has no variable with an enumeration"
NO_PORTS = "Debian's MPICH opens no port with its UCX transport"
ENDS = "it ends the program: see the fault matrix"
FAULT_TOLERANCE = "MPICH 4.0.2 ends in an assertion of its own: not implemented in its device"
NOT_IN_LIBRARY = "declared by mpi.h, but not in the library"

UNCALLED = {
    "openmpi": {"MPI_Abort": ENDS},
    "mpich": {
        "MPI_Abort": ENDS,
        "MPI_Close_port": NO_PORTS,
        **{f"MPI_T_event_{n}": NO_EVENTS for n in (
            "callback_get_info", "callback_set_info", "copy", "get_source", "get_timestamp", "handle_free",
            "handle_get_info", "handle_set_info", "read", "register_callback", "set_dropped_handler")},
        **{f"MPI_T_pvar_{n}": NO_PVARS for n in (
            "get_index", "get_info", "handle_alloc", "handle_free", "read", "readreset", "reset", "start", "stop", "write")},
        "MPI_T_enum_get_info": NO_ENUMS, "MPI_T_enum_get_item": NO_ENUMS,
        **{f"MPIX_Comm_{n}": FAULT_TOLERANCE for n in ("agree", "failure_ack", "failure_get_acked", "revoke", "shrink")},
        **{f"MPI_Status_{n}": NOT_IN_LIBRARY for n in ("f082f", "f2f08", "c2f08", "f082c")},
    },
}


def main():
    flavour, header, directory = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    known = set(re.findall(r"\bTALLY_(MPIX?_\w+),", Path(header).read_text(encoding="ascii")))
    called = set()
    for path in directory.iterdir():
        called |= set(path.read_text(encoding="ascii").split())
    if flavour == "openmpi" and "MPI_Pready" in known and "MPI_Comm_spawn_multiple" not in called:
        UNCALLED[flavour]["MPI_Comm_spawn_multiple"] = "the launcher of Open MPI 5.0 crashes when it starts two programs in one job"
    for name in known - called:
        if flavour == "mpich" and re.search(r"_enqueue(_c)?$|^MPIX_(Threadcomm|Stream_comm|St\w+_progress_thread|Comm_get_(failed|stream))", name):
            UNCALLED[flavour][name] = "an extension of MPICH 4.2 that is not tried here"
    missing = known - called - set(UNCALLED[flavour])
    surplus = set(UNCALLED[flavour]) & called
    print(f"{flavour}: {len(known & called)} of {len(known)} functions of mpi.h called by the programs")
    for name, reason in sorted(UNCALLED[flavour].items()):
        print(f"  not {name}: {reason}")
    for name in sorted(missing):
        print(f"PROBLEM called by no program: {name}")
    for name in sorted(surplus):
        print(f"PROBLEM can be called after all: {name}")
    return 1 if missing or surplus else 0


if __name__ == "__main__":
    sys.exit(main())
