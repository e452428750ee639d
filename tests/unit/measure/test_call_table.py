"""The table of MPI calls against the installed mpi.h: no function is missing, the prototypes agree, and what the table says that this
version has is there.

usage: test_table.py TABLE o|m.."""
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
# The versions that the table was made from: of others it is not known exactly what they have.
SEEN = {"o": [(4, 1), (5, 0)], "m": [(4, 0), (4, 2)]}
CONST_SINCE_NOW = {"MPI_Pready_list"}  # const in newer headers


def normal(kind):
    words = kind.replace("*", " * ").split()
    if "*" not in words:  # const by value says nothing to the caller
        words = [w for w in words if w != "const"]
    return " ".join(SAME.get(w, w) for w in words)


def read_versions(text):
    """{letter: (first version, last one or None)} of "o4.1 m4.0-4.0"."""
    found = {}
    for word in text.split():
        first, _, last = word[1:].partition("-")
        found[word[0]] = (number(first), number(last) if last else None)
    return found


def number(text):
    return tuple(int(n) for n in text.split("."))


def has(versions, letter, version):
    first, last = versions.get(letter, ((99,), None))
    return first <= version and (last is None or version <= last)


def read_table(path):
    table = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            name, versions, *_, returns, parameters = line.rstrip("\n").split("\t")
            kinds = [] if parameters == "void" else mpi_header.split_parameters(parameters)
            table[name] = (read_versions(versions), returns, [mpi_header.split_parameter(k)[0] for k in kinds])
    return table


def compare(table, letter, package):
    """The number of differences."""
    header = mpi_header.prototypes("cc", mpi_header.flags_of(package))
    version, failures = mpi_header.version_of(package), 0
    if len(header) < 400:
        sys.exit(f"{package}: only {len(header)} functions found in mpi.h: the parser is wrong")
    for name in sorted(n for n in header if letter not in table.get(n, ({},))[0]):
        print(f"{package}: {name} is missing in the table")
        failures += 1
    if version in SEEN[letter]:
        stated = {n for n, row in table.items() if has(row[0], letter, version)}
        for name in sorted(stated ^ set(header)):
            if letter == "o" and name in HIDDEN_IN_OPENMPI or letter not in table.get(name, ({},))[0]:
                continue
            print(f"{package}: {name} is {'in the table' if name in stated else 'in mpi.h'} alone")
            failures += 1
    for name in sorted(set(header) & set(table)):
        returns, parameters = header[name]
        want = [normal(returns)] + [normal(k) for k, _ in parameters]
        have = [normal(table[name][1])] + [normal(k) for k in table[name][2]]
        if name in CONST_SINCE_NOW:
            want, have = ([w.replace("const ", "") for w in words] for words in (want, have))
        if want != have:
            print(f"{package}: {name}: mpi.h has {want}, the table {have}")
            failures += 1
    print(f"{package} {'.'.join(map(str, version))}: {len(header)} functions compared")
    return failures


def main():
    table = read_table(sys.argv[1])
    failures = sum(compare(table, letter, PACKAGES[letter]) for letter in sys.argv[2:])
    sys.exit(1 if failures else 0)


main()
