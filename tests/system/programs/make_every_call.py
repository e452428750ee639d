#!/usr/bin/python3
"""Writes a program that makes every call of MPI's families whose arguments follow from the names of their parameters: collectives
(blocking, nonblocking, persistent, large counts), one-sided operations, file operations.

make_every_call.py TABLE TALLY_HEADER OUT.c: TABLE is src/format/mpi_functions.tsv, TALLY_HEADER names the functions of this mpi.h.
Each call has the same arguments as its relatives (MPI_Allgather, MPI_Iallgather, MPI_Allgather_init_c ..), so must have the same result."""
import re
import sys

# MPICH 4.0.2 uses freed buffers once these are started, so they are made and freed only.
NOT_STARTED = re.compile(r"MPI_(Gather|Scatter)_init(_c)?$")


def read_table(path, known):
    calls = []
    with open(path, encoding="ascii") as table:
        for line in table:
            if line.startswith("#"):
                continue
            name, _, kind, *_, parameters = line.rstrip("\n").split("\t")
            if name in known:
                calls.append((name, kind, re.findall(r"(\w+)(?:,|$)", parameters)))
    return calls


COLLECTIVE = {"sendbuf": "a", "recvbuf": "b", "buffer": "b", "sendtype": "MPI_INT", "recvtype": "MPI_INT", "datatype": "MPI_INT",
              "sendtypes": "types", "recvtypes": "types", "op": "MPI_SUM", "root": "0", "info": "MPI_INFO_NULL", "request": "&r"}
COUNTS = {"sendcount": "EACH", "recvcount": "EACH", "count": "EACH", "sendcounts": "counts", "recvcounts": "counts",
          "displs": "places", "sdispls": "places", "rdispls": "places"}


def family(name):
    """The blocking relative's name."""
    name = re.sub(r"(_init)?(_c)?$", "", name.partition("_")[2])
    return name[1:].capitalize() if name.startswith("I") else name


def collective(name, kind, parameters):
    shape, large = family(name), name.endswith("_c")
    neighbour, bytewise = shape.startswith("Neighbor"), shape.lower().endswith("alltoallw")
    values = dict(COLLECTIVE, comm="ring" if neighbour else "MPI_COMM_WORLD")
    for parameter, value in COUNTS.items():
        if value == "counts":
            value = "large_counts" if large else "counts"
        elif value == "places":
            value = "byte_places" if bytewise else "places"
            if large or neighbour and bytewise:
                value = f"wide_{value}"
        values[parameter] = value
    arguments = ", ".join(values[p] for p in parameters)
    lines = ["fresh();", f"OK({name}({arguments}));"]
    if NOT_STARTED.match(name):
        return lines + ["OK(MPI_Request_free(&r));"]
    if kind == "coll_init":
        lines.append("OK(MPI_Start(&r));")
    if kind != "coll":
        lines.append("OK(MPI_Wait(&r, MPI_STATUS_IGNORE));")
    if kind == "coll_init":
        lines.append("OK(MPI_Request_free(&r));")
    return lines + [f'result("{shape}", {1 if shape == "Exscan" else 0});']


ONE_SIDED = {"origin_addr": "a", "origin_count": "EACH", "origin_datatype": "MPI_INT", "target_rank": "to", "target_disp": "0",
             "target_count": "EACH", "target_datatype": "MPI_INT", "op": "MPI_SUM", "win": "win", "request": "&r",
             "compare_addr": "memory + EACH", "result_addr": "b", "result_count": "EACH", "result_datatype": "MPI_INT",
             "datatype": "MPI_INT"}


def one_sided(name, _, parameters):
    shape = re.sub(r"_c$", "", name[4:])
    shape = shape[1:].capitalize() if shape.startswith(("Rp", "Rg", "Ra")) else shape
    values = dict(ONE_SIDED, origin_addr="b" if shape == "Get" else "a")
    lines = ["open_epoch();", f"OK({name}({', '.join(values[p] for p in parameters)}));"]
    if "request" in parameters:
        lines.append("OK(MPI_Wait(&r, MPI_STATUS_IGNORE));")
    return lines + [f'close_epoch("{shape}");']


def file_call(name, kind, parameters):
    shared = "shared" in name or "ordered" in name
    reads = "read" in name
    values = {"fh": "file", "buf": "b" if reads else "a", "count": "EACH", "datatype": "MPI_INT", "offset": "own_place",
              "status": "&s", "request": "&r"}
    lines = [f"before_file({int(reads)}, {int(shared)});", f"OK({name}({', '.join(values[p] for p in parameters)}));"]
    if kind == "file_iop":
        lines.append("OK(MPI_Wait(&r, &s));")
    if kind == "file_split":
        lines.append(f"OK({re.sub('_begin(_c)?$', '_end', name)}(file, {values['buf']}, &s));")
    in_order = not shared or "ordered" in name
    return lines + [f'after_file("{name[9:]}", {int(reads)}, {int(in_order)});']


MAKERS = {"coll": collective, "icoll": collective, "coll_init": collective, "rma_op": one_sided, "file_op": file_call,
          "file_iop": file_call, "file_split": file_call}


def main():
    with open(sys.argv[2], encoding="ascii") as header:
        known = set(re.findall(r"\bTALLY_(MPIX?_\w+),", header.read()))
    out = ['/* Made by make_every_call.py. */', '#include "every_call.h"', ""]
    names = []
    for name, kind, parameters in read_table(sys.argv[1], known):
        if kind in MAKERS:
            names.append(name)
            out += [f"static void call_{name}(void) {{"] + [f"    {line}" for line in MAKERS[kind](name, kind, parameters)] + ["}", ""]
    if len(names) < 80:
        sys.exit(f"make_every_call.py: only {len(names)} functions")
    out += ["void every_call(void) {"] + [f"    call_{name}();" for name in names] + [f'    say("every call: %d functions", {len(names)});', "}"]
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


main()
