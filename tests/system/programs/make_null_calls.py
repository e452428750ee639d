#!/usr/bin/python3
"""Writes the cases of null_calls: every function whose wrapper looks at its arguments, once for each pointer parameter that is NULL
while everything else is valid, and once with all of them NULL.

make_null_calls.py TABLE TALLY_HEADER OUT.c: TABLE is src/format/mpi_functions.tsv, TALLY_HEADER names the functions of this mpi.h."""
import re
import sys

# Nothing is looked at (plain), or the process ends or begins with it.
NOT_TRIED = {"plain", "init", "init_thread", "finalize", "abort", "pcontrol", "session_init", "session_finalize"}
TALKS_TO_STRANGER = "MPI_Comm_join"  # its file descriptor is one of this process

BY_NAME = {"dest": "MPI_PROC_NULL", "source": "MPI_PROC_NULL", "peer_comm": "comm", "sendtag": "1", "recvtag": "1", "tag": "1",
           "root": "0", "rank": "0", "target_rank": "0", "color": "0", "key": "0", "lock_type": "MPI_LOCK_SHARED", "assert": "0",
           "amode": "MPI_MODE_CREATE | MPI_MODE_RDWR", "whence": "MPI_SEEK_SET", "disp_unit": "1", "maxindegree": "1",
           "array_of_requests": "requests", "request": "requests", "message": "&message", "filename": "path", "count": "1",
           "split_type": "MPI_COMM_TYPE_SHARED", "partition_low": "0", "partition_high": "0", "outdegree": "0", "indegree": "0",
           "reorder": "0", "ndims": "1", "nnodes": "1", "sendcounts": "@ones", "recvcounts": "@ones", "dims": "@ones",
           "edges": "@zeros", "index": "@ones", "sendtypes": "types", "recvtypes": "types", "baseptr": "&base", "handle": "&r"}
BY_TYPE = {"MPI_Comm": "comm", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Info": "MPI_INFO_NULL", "MPI_Group": "group",
           "MPI_Win": "win", "MPI_File": "file", "int": "1", "MPI_Count": "1", "MPI_Aint": "0",
           "MPI_Offset": "0", "MPI_Errhandler": "MPI_ERRORS_RETURN", "const void *": "buffer", "void *": "buffer",
           "const char *": '"name"', "char *": "text"}


def split(parameters):
    """[(type, name)]; None: a parameter that is no plain declaration."""
    found = []
    for parameter in parameters.split(", "):
        match = re.fullmatch(r"(.*?)\s*(\w+)", parameter)
        if not match or "(" in parameter or "..." in parameter:
            return None
        found.append((match.group(1), match.group(2)))
    return found


def value(function, kind, of_type, name):
    several = kind in ("waitall", "testall", "waitany", "testany", "waitsome", "testsome", "startall")
    if name in ("count", "incount") and several:
        return "2"
    if of_type == "MPI_Status *":
        return "statuses"
    if of_type == "MPI_Comm" and "eighbor_" in function:
        return "ring"
    if name == "root" and "_spawn" in function:
        return "7"  # there is none: nothing is started
    if of_type == "MPI_Request":
        return "requests[0]"
    if of_type == "MPI_Request *" and kind not in ("wait", "test", "request_free", "cancel", "start") and not several:
        return "&made"  # an output
    if name in BY_NAME and not (name == "index" and kind != "comm_create"):
        text = BY_NAME[name]
        if text.startswith("@"):
            base = of_type.removeprefix("const ").rstrip(" *")
            return f"({base}[8]){{{', '.join(['1' if text == '@ones' else '0'] * 8)}}}"
        return text
    if of_type in BY_TYPE:
        return BY_TYPE[of_type]
    if of_type.endswith("*"):
        base = of_type.removeprefix("const ")[:-1].strip()
        handle = {"MPI_Comm": "comm", "MPI_Win": "win", "MPI_File": "file"}.get(base)
        given = kind in ("comm_free", "rma_free", "file_close", "type_free")
        if kind == "type_free":
            return "&type"
        return f"({base}[8]){{{handle if handle and given else 0}}}"
    sys.exit(f"make_null_calls.py: {function}: no value for {of_type} {name}")


def cases(name, kind, parameters):
    pointers = [i for i, (of_type, _) in enumerate(parameters) if of_type.endswith("*")]
    values = [value(name, kind, *p) for p in parameters]
    for nulls in [{i} for i in pointers] + ([set(pointers)] if len(pointers) > 1 else []):
        arguments = ", ".join("NULL" if i in nulls else v for i, v in enumerate(values))
        what = parameters[min(nulls)][1] if len(nulls) == 1 else "all"
        yield f"{name} {what}", f"{name}({arguments})"


def main():
    with open(sys.argv[2], encoding="ascii") as header:
        known = set(re.findall(r"\bTALLY_(MPIX?_\w+),", header.read()))
    body, count = [], 0
    with open(sys.argv[1], encoding="ascii") as table:
        for line in table:
            if line.startswith("#"):
                continue
            name, _, kind, *_, returns, text = line.rstrip("\n").split("\t")
            if name not in known or kind in NOT_TRIED or returns != "int" or name == TALKS_TO_STRANGER:
                continue
            parameters = split(text)
            if parameters is None:
                continue
            for what, call in cases(name, kind, parameters):
                body.append(f'    CASE({count}, "{what}", {call})')
                count += 1
    if count < 400:
        sys.exit(f"make_null_calls.py: only {count} cases")
    out = ["/* Made by make_null_calls.py. */", '#include "null_calls.h"', "", f"const int n_null_calls = {count};", "",
           "int null_call(int number, const char **what) {", "    switch (number) {", *body, "    }", "    return MPI_ERR_OTHER;", "}"]
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


main()
