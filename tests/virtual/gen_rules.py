"""Writes what is alike for many functions: collective operations, constructors, collective files; and for every function of the real MPI
that moves data or synchronises and has no rule, one that ends the program with its name.

gen_rules.py TABLE FLAVOUR(o|m) EXPORTED OUT.c SOURCE..    EXPORTED: names that the real library has, one a line
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "format"))
import mpi_functions  # noqa: E402

RULES = {"bcast": "VT_FROM_ROOT", "scatter": "VT_FROM_ROOT", "scatterv": "VT_FROM_ROOT", "reduce": "VT_TO_ROOT", "gather": "VT_TO_ROOT",
         "gatherv": "VT_TO_ROOT", "scan": "VT_BELOW", "exscan": "VT_BELOW", "alltoallv": "VT_PARTNERS", "alltoallw": "VT_PARTNERS",
         **{name: "VT_ALL" for name in ("barrier", "allreduce", "reduce_scatter", "reduce_scatter_block", "allgather", "allgatherv", "alltoall")}}
OVER_PARENT = {"Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create", "Cart_create", "Cart_sub", "Graph_create",
               "Dist_graph_create", "Dist_graph_create_adjacent"}
TOOLS_TAG = 0x6c63  # by which the measurement library makes a communicator of its own (src/measure/gather/agree.c)
LOCAL_TEMPLATES = {"plain", "comm_name", "rma_name", "rma_op", "file_delete", "file_seek", "file_op", "file_iop", "type_free", "pcontrol", "cancel", "abort"}
LOCAL_SYNC = {"Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all"}
LOCAL_X = re.compile(r"MPIX_(Query_|GPU_query|Type_iov|Info_set|Delete_error|Grequest)")


def rule_of(c):
    name = c.collective()
    return "VT_NEIGHBOURS" if name.startswith("neighbor") else RULES[name]


def about(c):
    """Rule, root and counts of a collective operation."""
    rule = rule_of(c)
    return f"{rule}, {'root' if 'root' in c.names else '0'}, {'recvcounts' if rule == 'VT_PARTNERS' else 'NULL'}"


def body(c):
    """The text of the function, or None: it has no rule here."""
    call = f"CALL(P{c.name}, {c.arguments()})"
    new = [n for n, p in zip(c.names, c.parameters) if re.match(r"MPI_Comm \*", p)]
    if c.large:
        return None
    if c.template == "coll":  # refused without an operator: who calls so meets nobody
        channel = "op == MPI_OP_NULL ? NULL : vt_channel(comm)" if "op" in c.names else "vt_channel(comm)"
        return f"    vt_meet({channel}, {about(c)});\n    return {call};\n"
    if c.template == "icoll":
        return f"    return vt_started({call}, vt_channel(comm), {about(c)}, request);\n"
    if c.short in OVER_PARENT:
        old = next(n for n, p in zip(c.names, c.parameters) if re.match(r"MPI_Comm \w", p))
        return (f"    const struct vt_channel *old = vt_channel({old});\n    vt_meet(old, VT_ALL_GROUPS, 0, NULL);\n"
                f"    return vt_made({call}, MPI_COMM_NULL, {new[0]}, true, old != NULL && old->tools);\n")
    if c.short in ("Comm_create_group", "Intercomm_merge"):
        tools = f"tag == {TOOLS_TAG}" if "tag" in c.names else "false"
        return f"    return vt_made({call}, MPI_COMM_NULL, {new[0]}, false, {tools});\n"
    if c.short == "Intercomm_create":
        return f"    return vt_made({call}, local_comm, {new[0]}, false, false);\n"
    if c.template == "file_open":
        return (f"    vt_meet(vt_channel(comm), VT_ALL, 0, NULL);\n    int result = {call};\n"
                "    if (result == MPI_SUCCESS && vt_inside == 0)\n        vt_channel_add_file(comm, *fh);\n    return result;\n")
    if c.template == "file_close":
        return ("    const struct vt_channel *channel = vt_channel_of_file(*fh);\n    vt_meet(channel, VT_ALL, 0, NULL);\n"
                f"    int result = {call};\n    if (result == MPI_SUCCESS && channel != NULL && vt_inside == 0)\n"
                "        vt_channel_drop(channel);\n    return result;\n")
    if "file_sync" in c.words:
        return f"    vt_meet(vt_channel_of_file(fh), VT_ALL, 0, NULL);\n    return {call};\n"
    if c.template == "file_iop" and "_all" in c.short:
        return f"    return vt_started({call}, vt_channel_of_file(fh), VT_ALL, 0, NULL, request);\n"
    if c.template == "file_split":
        return f"    vt_split_begin(fh);\n    return {call};\n"
    if c.template == "file_split_end":
        return f"    vt_split_end(fh);\n    return {call};\n"
    return None


def is_local(c):
    if c.name.startswith("MPIX_"):
        return LOCAL_X.match(c.name) is not None
    return (c.template in LOCAL_TEMPLATES and not (c.template == "file_iop" and "_all" in c.short) and c.short != "Parrived") or c.short in LOCAL_SYNC


def main():
    table, flavour, exported, out, *sources = sys.argv[1:]
    known = set(Path(exported).read_text().split())
    text = "\n".join(Path(source).read_text() for source in sources)
    defined = {"MPI_Wtime"} | set(re.findall(r"BOTH\((MPI_\w+)\)", text))
    defined |= {f"MPI_{name}" for row in re.findall(r"^SENDS\(\w+, (.*)\)", text, re.M) for name in row.split(", ")}
    lines, unknown = ['/* Generated by gen_rules.py. */\n#include "virtual.h"\n'], 0
    for c in mpi_functions.read(table):
        if flavour not in c.flavours or "P" + c.name not in known or c.name in defined:
            continue
        found = body(c)
        if found is not None:
            lines.append(f"BOTH({c.name})({c.signature(flavour)}) {{\n{found}}}\n")
        elif not is_local(c):
            for name in ("P" + c.name, c.name):
                lines.append(f'_Noreturn void unknown_{unknown}(void) __asm__("{name}");\n_Noreturn void unknown_{unknown}(void) {{\n    vt_unknown("{c.name}");\n}}\n')
                unknown += 1
    Path(out).write_text("\n".join(lines))


main()
