"""The table of MPI functions, mpi_functions.tsv, for generators; as a program it writes the table of mpi_function.c (build time):

mpi_functions.py TABLE OUT.inc
"""
import re
import sys

WORDS = ("local", "uniform", "polled", "keeps_cause", "no_progress", "other_members", "only_asks", "tried_first")  # flags of mpi_function.h
FOR_WRAPPERS = ("hot", "file_sync")


class Call:
    """A line of the table. In the measurement library a function is called by its name without MPI_, `short`."""

    def __init__(self, line):
        self.name, versions, self.template, *known, self.returns, parameters = line.rstrip("\n").split("\t")
        self.kind, self.role, self.time, self.wait, self.traffic, words = known
        self.words = set() if words == "-" else set(words.split())
        unknown = self.words.difference(WORDS, FOR_WRAPPERS)
        assert not unknown, f"{self.name}: unknown words {unknown}"
        self.flavours = {version[0] for version in versions.split()}
        if self.name.startswith("MPI_") and not self.name.startswith("MPI_T_"):
            self.flavours = {"o", "m"}
        self.short = self.name[4:] if self.name.startswith("MPI_") else self.name
        self.parameters = [] if parameters == "void" else split(parameters)
        self.variadic = bool(self.parameters) and self.parameters[-1] == "..."
        if self.variadic:
            self.parameters.pop()
        self.names, declared = [], []
        for i, p in enumerate(self.parameters):
            match = re.search(r"\(\*(\w+)\)", p) or re.search(r"(\w+)$", p)
            plain = len(p.replace("*", " ").split()) == 1 or p.endswith("*")
            name = f"p{i}" if plain else match.group(1)
            if name in ("result", "call"):  # names of the wrapper's own
                p, name = p + "_out", name + "_out"
            declared.append(f"{p} {name}" if plain else p)
            self.names.append(name)
        self.parameters = declared
        self.large = self.name.endswith("_c") and not self.name.startswith(("MPIX", "MPI_T_"))

    def has(self, *names):
        missing = [n for n in names if n not in self.names]
        assert not missing, f"{self.name}: no parameter {missing}"

    def signature(self, flavour):
        text = ", ".join(self.parameters) or "void"
        if self.variadic:
            text += ", ..."
        if flavour == "o":  # types that Open MPI's header hides with the functions of MPI-1
            text = text.replace("MPI_Handler_function", "MPI_Comm_errhandler_function")
        return text

    def arguments(self):
        return ", ".join(self.names)

    def collective(self):
        """The collective operation: "allgather" of MPI_Allgather, MPI_Iallgather_c, MPI_Allgather_init; None: the function is none."""
        if self.template not in ("coll", "icoll", "coll_init"):
            return None
        name = self.short.removeprefix("MPIX_")
        if self.large:
            name = name[:-2]
        if self.template == "icoll":
            name = name[1:]
        if self.template == "coll_init":
            name = name[: -len("_init")]
        return name.lower()

    def facts(self):
        """struct lc_mpi_function."""
        columns = (("KIND", self.kind), ("ROLE", self.role), ("TIME", self.time), ("WAIT", self.wait), ("TRAFFIC", self.traffic),
                   ("OP", (self.collective() or "none").removeprefix("neighbor_")))
        values = [f"LC_MPI_{column}_{'NONE' if value == '-' else value.upper()}" for column, value in columns]
        flags = " | ".join(f"LC_MPI_{word.upper()}" for word in WORDS if word in self.words)
        return "{" + ", ".join([*values, flags or "0"]) + "}"


def split(text):
    """The parameters of a list: a comma inside parentheses separates none."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def read(path):
    with open(path, encoding="ascii") as table:
        return [Call(line) for line in table if not line.startswith("#")]


def main():
    calls = sorted(read(sys.argv[1]), key=lambda call: call.name.lower())
    assert len({call.name.lower() for call in calls}) == len(calls)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write("/* Generated from mpi_functions.tsv: ascending by name in lower case. */\n")
        out.writelines(f'{{"{call.name}", {call.facts()}}},\n' for call in calls)


if __name__ == "__main__":
    main()
