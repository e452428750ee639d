"""The table of MPI calls against the installed mpi.h of both flavours: no function is missing, and the prototypes agree."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mpi_header

PACKAGES = {"o": "ompi-c", "m": "mpich"}
# Open MPI's library still has these functions of MPI-1, its header hides them.
HIDDEN_IN_OPENMPI = {
    "MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent",
    "MPI_Type_hindexed", "MPI_Type_hvector", "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub",
}
SAME = {"MPI_Fint": "int"}  # both headers define it so


def normal(kind):
    words = kind.replace("*", " * ").split()
    return " ".join(SAME.get(w, w) for w in words)


def read_table(path):
    table = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            name, flavours, _, returns, parameters = line.rstrip("\n").split("\t")
            kinds = [] if parameters == "void" else mpi_header.split_parameters(parameters)
            table[name] = (flavours, returns, [mpi_header.split_parameter(k)[0] for k in kinds])
    return table


def main():
    table = read_table(sys.argv[1])
    failures = 0
    for letter, package in PACKAGES.items():
        header = mpi_header.prototypes("cc", mpi_header.flags_of(package))
        if len(header) < 400:
            sys.exit(f"{package}: only {len(header)} functions found in mpi.h: the parser is wrong")
        ours = {n for n, t in table.items() if letter in t[0]}
        for name in sorted(set(header) - ours):
            print(f"{package}: {name} is missing in the table")
            failures += 1
        for name in sorted(ours - set(header) - (HIDDEN_IN_OPENMPI if letter == "o" else set())):
            print(f"{package}: {name} is in the table, not in mpi.h")
            failures += 1
        for name in sorted(set(header) & ours):
            returns, parameters = header[name]
            want = [normal(returns)] + [normal(k) for k, _ in parameters]
            have = [normal(table[name][1])] + [normal(k.replace("(*)", "(*)")) for k in table[name][2]]
            if want != have:
                print(f"{package}: {name}: mpi.h has {want}, the table {have}")
                failures += 1
        print(f"{package}: {len(header)} functions compared")
    sys.exit(1 if failures else 0)


main()
