"""Makes the MPI wrappers from mpi_functions.tsv (build time).

gen_calls.py TABLE real FLAVOUR OUT.h      enum lc_fn and struct lc_real for one flavour (o or m)
gen_calls.py TABLE wrappers FLAVOUR OUT.c  the wrappers and the list of (name, wrapper, place of the real function)
gen_calls.py TABLE names_only FLAVOUR OUT.c   the names alone, for the core of programs without MPI
gen_calls.py TABLE stub OUT.S              the exported symbols of the preloaded library, both flavours
gen_calls.py TABLE names OUT.h             the names in the order of the stub's slots

The functions of the MPI standard have wrappers in both flavours, whatever the installed MPI has: the one that the program uses may
be newer. Types that its header lacks are in mpi_compat.h.
"""
import re
import sys
from pathlib import Path

MEASURE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(MEASURE.parent / "format"))
import mpi_functions  # noqa: E402


# Templates: code before the call, and after it. Each name in {} is a parameter of the call; ENTER, CALL and LEAVE are implied.
MSG = "    struct lc_msg msg;\n"


def root_of(call):
    return "root" if "root" in call.names else "-1"


def send_flag(call):
    s = call.short.lower()
    return "LC_SEND_" + (
        "SYNC" if "ssend" in s else "BUFFERED" if "bsend" in s else "READY" if "rsend" in s else "STANDARD"
    )


ASKED = "    lc_hook_asked(&call);\n"


def t_plain(c):
    return "", ASKED if "only_asks" in c.words else ""


def t_send(c):
    c.has("count", "datatype", "dest", "tag", "comm")
    return (
        MSG + f"    lc_send_begin(&call, &msg, (uint64_t)count, datatype, dest, tag, comm, {send_flag(c)});\n",
        "    lc_send_end(&call, &msg, result);\n",
    )


def t_isend(c):
    c.has("count", "datatype", "dest", "tag", "comm", "request")
    return (
        MSG + f"    lc_isend_begin(&call, &msg, (uint64_t)count, datatype, dest, tag, comm, {send_flag(c)});\n",
        "    lc_isend_end(&call, &msg, result, request);\n",
    )


def t_recv(c):
    c.has("source", "tag", "comm", "status")
    return (
        MSG + "    MPI_Status own;\n    status = lc_own_status(status, &own);\n"
        "    lc_recv_begin(&call, &msg, source, tag, comm);\n",
        "    lc_recv_end(&call, &msg, result, status);\n",
    )


def t_irecv(c):
    c.has("source", "tag", "comm", "request")
    return (
        MSG + "    lc_irecv_begin(&call, &msg, source, tag, comm);\n",
        "    lc_irecv_end(&call, &msg, result, request);\n",
    )


def t_send_init(c):
    c.has("count", "datatype", "dest", "tag", "comm", "request")
    return (
        "",
        f"    lc_send_init(&call, result, (uint64_t)count, datatype, dest, tag, comm, {send_flag(c)}, request);\n",
    )


def t_psend_init(c):
    c.has("partitions", "count", "datatype", "dest", "tag", "comm", "request")
    return (
        "",
        "    lc_partitioned_init(&call, result, true, partitions, (uint64_t)count, datatype, dest, tag, comm,\n"
        "                        request);\n",
    )


def t_pready(c):
    c.has("request")
    count = {"Pready": "1", "Pready_list": "length", "Pready_range": "partition_high - partition_low + 1"}[c.short]
    return f"    lc_pready(&call, request, {count});\n", ""


def t_precv_init(c):
    c.has("partitions", "count", "datatype", "source", "tag", "comm", "request")
    return (
        "",
        "    lc_partitioned_init(&call, result, false, partitions, (uint64_t)count, datatype, source, tag, comm,\n"
        "                        request);\n",
    )


def t_recv_init(c):
    c.has("source", "tag", "comm", "request")
    return "", "    lc_recv_init(&call, result, source, tag, comm, request);\n"


def t_sendrecv(c, replace=False):
    c.has("dest", "sendtag", "source", "recvtag", "comm", "status")
    count, kind = ("count", "datatype") if replace else ("sendcount", "sendtype")
    c.has(count, kind)
    return (
        "    struct lc_msg out, in;\n    MPI_Status own;\n    status = lc_own_status(status, &own);\n"
        f"    lc_sendrecv_begin(&call, &out, &in, (uint64_t){count}, {kind}, dest, sendtag, source, recvtag, comm);\n",
        "    lc_sendrecv_end(&call, &out, &in, result, status);\n",
    )


def t_sendrecv_replace(c):
    return t_sendrecv(c, True)


def t_isendrecv(c, replace=False):
    c.has("dest", "sendtag", "source", "recvtag", "comm", "request")
    count, kind = ("count", "datatype") if replace else ("sendcount", "sendtype")
    c.has(count, kind)
    return (
        "    struct lc_msg out, in;\n"
        f"    lc_isendrecv_begin(&call, &out, &in, (uint64_t){count}, {kind}, dest, sendtag, source, recvtag, comm);\n",
        "    lc_isendrecv_end(&call, &out, &in, result, request);\n",
    )


def t_isendrecv_replace(c):
    return t_isendrecv(c, True)


def t_start(c):
    c.has("request")
    return (
        "    lc_start_begin(&call, 1, request);\n",
        "    lc_start_end(&call, result, 1, request);\n",
    )


def t_startall(c):
    c.has("count", "array_of_requests")
    return (
        "    lc_start_begin(&call, count, array_of_requests);\n",
        "    lc_start_end(&call, result, count, array_of_requests);\n",
    )


def t_wait(c):
    c.has("request", "status")
    return (
        "    MPI_Status own;\n    struct lc_request *known;\n    status = lc_own_status(status, &own);\n"
        "    lc_complete_begin(&call, 1, request, &known);\n",
        "    lc_complete_one(&call, result, known, request, status);\n",
    )


ARRAY = (
    "    struct lc_request *few[LC_FEW];\n    MPI_Status own[LC_FEW];\n    struct lc_array array;\n"
    "    lc_array_begin(&call, &array, {count}, array_of_requests, few, own);\n"
)


def t_waitall(c):
    c.has("count", "array_of_requests", "array_of_statuses")
    return (
        ARRAY.format(count="count")
        + "    array_of_statuses = lc_array_statuses(&call, &array, array_of_statuses);\n",
        "    lc_array_all(&call, &array, result, true, array_of_statuses);\n",
    )


def t_testall(c):
    c.has("count", "array_of_requests", "flag", "array_of_statuses")
    return (
        ARRAY.format(count="count")
        + "    array_of_statuses = lc_array_statuses(&call, &array, array_of_statuses);\n",
        "    lc_array_all(&call, &array, result, lc_flag_is_set(result, flag), array_of_statuses);\n",
    )


def any_names(c):
    index = "indx" if "indx" in c.names else "index"
    c.has("count", "array_of_requests", index, "status")
    return index


def t_waitany(c):
    index = any_names(c)
    return (
        ARRAY.format(count="count").replace("[LC_FEW];\n    struct lc_array", "[1];\n    struct lc_array")
        + "    status = lc_own_status(status, own);\n",
        f"    lc_array_any(&call, &array, result, true, {index}, status);\n",
    )


def t_testany(c):
    index = any_names(c)
    c.has("flag")
    return (
        ARRAY.format(count="count").replace("[LC_FEW];\n    struct lc_array", "[1];\n    struct lc_array")
        + "    status = lc_own_status(status, own);\n",
        f"    lc_array_any(&call, &array, result, lc_flag_is_set(result, flag), {index}, status);\n",
    )


def t_waitsome(c):
    c.has("incount", "array_of_requests", "outcount", "array_of_indices", "array_of_statuses")
    return (
        ARRAY.format(count="incount")
        + "    array_of_statuses = lc_array_statuses(&call, &array, array_of_statuses);\n",
        "    lc_array_some(&call, &array, result, outcount, array_of_indices, array_of_statuses);\n",
    )


t_testsome = t_waitsome


def t_request_free(c):
    c.has("request")
    return "    lc_request_free_begin(&call, request);\n", ""


def t_cancel(c):
    c.has("request")
    return "    lc_cancel_begin(request);\n", "    lc_cancel_end(&call, result, request);\n"


def t_probe(c):
    c.has("comm", "status")
    return (
        "    MPI_Status own;\n    status = lc_own_status(status, &own);\n",
        "    lc_probe_end(&call, result, comm, status);\n",
    )


def t_mprobe(c):
    c.has("comm", "message", "status")
    return (
        "    MPI_Status own;\n    status = lc_own_status(status, &own);\n",
        "    lc_mprobe_end(&call, result, true, comm, message, status);\n",
    )


def t_improbe(c):
    c.has("comm", "flag", "message", "status")
    return (
        "    MPI_Status own;\n    status = lc_own_status(status, &own);\n",
        ASKED + "    lc_mprobe_end(&call, result, lc_flag_is_set(result, flag), comm, message, status);\n",
    )


def t_mrecv(c):
    c.has("message", "status")
    return (
        MSG + "    MPI_Status own;\n    status = lc_own_status(status, &own);\n"
        "    lc_mrecv_begin(&call, &msg, message);\n",
        "    lc_recv_end(&call, &msg, result, status);\n",
    )


def t_imrecv(c):
    c.has("message", "request")
    return (
        MSG + "    lc_mrecv_begin(&call, &msg, message);\n",
        "    lc_irecv_end(&call, &msg, result, request);\n",
    )


SHAPES = {  # operation: (function of coll.h, parameters; what it says of its sides)
    "barrier": ("barrier", "comm"),
    "bcast": ("bcast", "count datatype root comm"),
    "reduce": ("reduce", "sendbuf count datatype root comm"),
    "allreduce": ("allreduce", "sendbuf count datatype comm"),
    "scan": ("prefix", "LC_COLL_SCAN sendbuf count datatype comm"),
    "exscan": ("prefix", "LC_COLL_EXSCAN sendbuf count datatype comm"),
    "reduce_scatter": ("reduce_scatter", "sendbuf comm", "recvcounts datatype"),
    "reduce_scatter_block": ("allreduce", "sendbuf recvcount datatype comm"),
    "gather": ("gather", "sendbuf sendcount sendtype recvcount recvtype root comm"),
    "gatherv": ("gatherv", "sendbuf root comm", "sendcount sendtype recvcounts recvtype"),
    "scatter": ("scatter", "sendcount sendtype recvbuf recvcount recvtype root comm"),
    "scatterv": ("scatterv", "recvbuf root comm", "sendcounts sendtype recvcount recvtype"),
    "allgather": ("allgather", "sendbuf sendcount sendtype recvcount recvtype comm"),
    "allgatherv": ("allgatherv", "sendbuf comm", "sendcount sendtype recvcounts recvtype"),
    "alltoall": ("allgather", "sendbuf sendcount sendtype recvcount recvtype comm"),
    "alltoallv": ("alltoallv", "sendbuf comm", "sendcounts sendtype recvcounts recvtype"),
    "alltoallw": ("alltoallv", "sendbuf comm", "sendcounts sendtypes recvcounts recvtypes"),
    "neighbor_allgather": ("neighbor", "comm", "sendcount sendtype recvcount recvtype"),
    "neighbor_allgatherv": ("neighbor", "comm", "sendcount sendtype recvcounts recvtype"),
    "neighbor_alltoall": ("neighbor", "comm", "sendcount sendtype recvcount recvtype"),
    "neighbor_alltoallv": ("neighbor", "comm", "sendcounts sendtype recvcounts recvtype"),
    "neighbor_alltoallw": ("neighbor", "comm", "sendcounts sendtypes recvcounts recvtypes"),
}


def coll_sides(c, words):
    """What a call passes as counts and types, as struct lc_side."""
    c.has(*words)
    for side in ("send", "recv"):
        values = {n.removeprefix(side): n for n in words if n.startswith(side)}
        if values:
            values.setdefault("type", "datatype" if "datatype" in words else "MPI_DATATYPE_NULL")
        fields = [f".{name} = {'(uint64_t)' if name == 'count' else ''}{value}" for name, value in values.items()]
        if fields:
            yield f"    coll.{side} = (struct lc_side){{{', '.join(fields)}}};\n"


def coll_shape(c):
    shape, wanted, *sides = SHAPES[c.collective()]
    wanted = wanted.split()
    c.has(*(word for word in wanted if not word.startswith("LC_")))
    arguments = [f"(uint64_t){n}" if n in ("count", "sendcount", "recvcount") else n for n in wanted]
    return (
        f"    struct lc_coll coll;\n    lc_coll_clear(&coll, {'true' if c.large else 'false'});\n"
        + "".join(coll_sides(c, sides[0].split()) if sides else ())
        + f"    lc_coll_{shape}(&call, &coll, {', '.join(arguments)});\n"
    )


def coll_code(c, mode):
    return coll_shape(c) + f"    lc_coll_begin(&call, &coll, {mode});\n"


def t_coll(c):
    return coll_code(c, "LC_BLOCKING"), "    lc_coll_end(&call, &coll, result);\n"


def t_icoll(c):
    c.has("request")
    return coll_code(c, "LC_NONBLOCKING"), "    lc_icoll_end(&call, &coll, result, request);\n"


def t_coll_init(c):
    c.has("request")
    return coll_shape(c), "    lc_coll_init_end(&call, &coll, result, request);\n"


def t_comm_create(c):
    new = [n for n, p in zip(c.names, c.parameters) if re.match(r"MPI_Comm \*", p)]
    assert len(new) == 1, c.name
    old = [n for n, p in zip(c.names, c.parameters) if re.match(r"MPI_Comm \w", p)]
    made = f"    lc_comm_new_end(&call, result, {old[0] if old else 'MPI_COMM_NULL'}, {new[0]});\n"
    others = "other_members" in c.words
    if others:
        made += f"    lc_comm_sync(&call, result, {new[0]});\n"
    if c.short.startswith("Comm_spawn"):
        made += f"    lc_spawned(result, root, {old[0]}, {new[0]});\n"
    if not old or (others and len(old) == 1):  # not collective over the one that is given; of two, it is over the first
        return "", made
    return f"    lc_sync_begin(&call, {old[0]});\n", f"    lc_sync_end(&call, result);\n    lc_comm_sync_groups(&call, result, {old[0]});\n" + made


def t_comm_name(c):
    c.has("comm", "comm_name")
    return "", "    lc_comm_named(&call, result, comm, comm_name);\n"


def t_rma_win(c):
    c.has("comm", "win")
    return "    lc_sync_begin(&call, comm);\n", "    lc_win_made(&call, result, comm, win);\n"


def t_rma_free(c):
    c.has("win")
    return (
        "    MPI_Win old = win != NULL ? *win : MPI_WIN_NULL;\n    lc_win_freeing(&call, old);\n",
        "    lc_win_freed(&call, old, result);\n",
    )


def t_rma_name(c):
    c.has("win", "win_name")
    return "", "    lc_win_named(&call, result, win, win_name);\n"


def t_rma_op(c):
    """Bytes to the target, and bytes back."""
    c.has("target_rank", "win")
    name = c.short[:-2] if c.large else c.short
    single = "datatype" in c.names
    sent = "1, datatype" if single else "(uint64_t)origin_count, origin_datatype"
    back = "1, datatype" if single else "0, MPI_DATATYPE_NULL"
    if "result_count" in c.names:
        back = "(uint64_t)result_count, result_datatype"
    what = {"Put": "PUT", "Rput": "PUT", "Get": "GET", "Rget": "GET", "Compare_and_swap": "SWAP"}.get(name)
    what = what or ("ACCUMULATE" if name in ("Accumulate", "Raccumulate") else "FETCH")
    return f"    lc_rma_begin(&call, LC_RMA_{what}, win, target_rank, {sent}, {back});\n", ""


def t_rma_sync(c):
    c.has("win")
    rank = "rank" if "rank" in c.names else "-1"
    group = "group" if "group" in c.names else "MPI_GROUP_NULL"
    shared = "lock_type == MPI_LOCK_SHARED" if "lock_type" in c.names else "true"
    done = "lc_flag_is_set(result, flag)" if "flag" in c.names else "result == MPI_SUCCESS"
    what = "LC_WIN_" + c.short[4:].upper().replace("_LOCAL", "").replace("TEST", "WAIT")
    given = "assert" if "assert" in c.names else "0"
    return (
        f"    const struct lc_win_epoch epoch = {{{rank}, {given}, {shared}, {group}}};\n"
        f"    lc_win_sync_begin(&call, {what}, win, &epoch);\n",
        f"    lc_win_sync_end(&call, {what}, win, &epoch, {done});\n",
    )


def file_mode(c):
    name = c.short[:-2] if c.large else c.short
    mode = "LC_FILE_READ" if "read" in name else "LC_FILE_WRITE" if "write" in name else "LC_FILE_FLUSH"
    if name.startswith("File_i") or name.endswith("_begin"):
        mode += " | LC_FILE_NONBLOCKING"
    return mode + (" | LC_FILE_ALL" if "_all" in name or "_ordered" in name or "sync" in name else "")


def file_begin(c):
    return (
        "    struct lc_file_op op;\n"
        f"    lc_file_begin(&call, &op, fh, {file_mode(c)}, (uint64_t)count, datatype);\n"
    )


def t_file_open(c):
    c.has("comm", "filename", "amode", "fh")
    return "", "    lc_file_opened(&call, result, comm, filename, amode, fh);\n"


def t_file_close(c):
    c.has("fh")
    return (
        "    struct lc_file_op op;\n    lc_file_close_begin(&call, &op, fh != NULL ? *fh : MPI_FILE_NULL);\n",
        "    lc_file_close_end(&call, &op, result);\n",
    )


def t_file_delete(c):
    c.has("filename")
    return "", "    lc_file_deleted(&call, result, filename);\n"


def t_file_seek(c):
    c.has("fh", "offset", "whence")
    shared = "true" if c.short.endswith("shared") else "false"
    return "", f"    lc_file_sought(&call, result, fh, offset, whence, {shared});\n"


def t_file_sync(c):
    c.has("fh")
    return (
        f"    struct lc_file_op op;\n    lc_file_begin(&call, &op, fh, {file_mode(c)}, 0, MPI_DATATYPE_NULL);\n",
        "    lc_file_end(&call, &op, result, NULL);\n",
    )


def t_file_op(c):
    c.has("fh", "count", "datatype", "status")
    return (
        "    MPI_Status own;\n    status = lc_own_status(status, &own);\n" + file_begin(c),
        "    lc_file_end(&call, &op, result, status);\n",
    )


def t_file_iop(c):
    c.has("fh", "count", "datatype", "request")
    started = "    lc_file_started(&call, &op, result, request);\n"
    if "_all" not in c.short:
        return file_begin(c), started
    return (
        file_begin(c) + "    struct lc_coll sync;\n    lc_file_isync_begin(&call, &sync, fh);\n",
        started + "    lc_file_isync_end(&call, &sync, result, request);\n",
    )


def t_file_split(c):
    c.has("fh", "count", "datatype")
    return (
        file_begin(c) + "    lc_file_split_sync(&call, fh, true);\n",
        "    lc_file_split_begun(&call, &op, result, fh);\n",
    )


def t_file_split_end(c):
    c.has("fh", "status")
    return (
        "    MPI_Status own;\n    status = lc_own_status(status, &own);\n",
        "    lc_file_split_ended(&call, result, fh, status);\n    lc_file_split_sync(&call, fh, false);\n",
    )


def t_comm_idup(c):
    c.has("comm", "newcomm", "request")
    return (
        "    struct lc_coll sync;\n    lc_idup_begin(&call, &sync, comm);\n",
        "    lc_comm_idup_end(&call, &sync, result, comm, newcomm, request);\n",
    )


def t_comm_free(c):
    c.has("comm")
    return "    lc_comm_free_begin(&call, comm);\n", ""


def t_type_free(c):
    c.has("datatype")
    return "    lc_type_free_begin(call.thread, datatype);\n", ""


def file_sync(c, before, after):
    """The collective operations of a file synchronise the logical clocks of its members."""
    if "file_sync" not in c.words:
        return before, after
    if c.short == "File_open":
        return before + "    lc_sync_begin(&call, comm);\n", "    lc_sync_end(&call, result);\n    lc_file_known(&call, result, comm, fh);\n" + after
    if c.short == "File_close":
        return (
            before + "    MPI_File old = fh != NULL ? *fh : MPI_FILE_NULL;\n    lc_file_sync_begin(&call, old);\n",
            "    lc_sync_end(&call, result);\n    lc_file_sync_over(result, old);\n" + after,
        )
    return before + "    lc_file_sync_begin(&call, fh);\n", "    lc_sync_end(&call, result);\n" + after


def tried_first(c):
    """The body of MPI_Test or MPI_Improbe."""
    if c.template == "improbe":
        kind, given, prepare = "look", ("source", "tag", "comm", "flag", "message", "status"), ""
        before, found = t_improbe(c)
        found = "    if (lc_flag_is_set(result, flag))\n        lc_poll_no_measure(call.thread);\n" + found
    else:
        kind, given, prepare = "test", ("request", "flag", "status"), "        lc_complete_begin(&call, 1, request, &test.known);\n"
        before = "    MPI_Status own;\n    status = lc_own_status(status, &own);\n"
        found = "    lc_test_one(&call, result, test.known, request, flag, status);\n"
    c.has(*given)
    return (
        f"{before}    struct lc_{kind} {kind} = {{.fn = LC_FN_{c.short}, .frame = __builtin_frame_address(0), .ra = __builtin_return_address(0),\n"
        f"                           {', '.join(f'.{name} = {name}' for name in given)}}};\n"
        f"    enum lc_tried tried = lc_{kind}_first(&{kind});\n"
        f"    if (lc_unlikely(tried == LC_IN_VAIN))\n        return {kind}.result;\n"
        "    struct lc_call call;\n"
        f"    if (lc_unlikely(!lc_enter(&call, {kind}.fn, {kind}.frame, {kind}.ra)))\n"
        f"        return tried != LC_NOT_TRIED ? {kind}.result : lc_real.{c.short}({c.arguments()});\n"
        "    if (lc_likely(tried == LC_NOT_TRIED)) {\n"
        f"{prepare}        lc_sample_begin(&call);\n"
        f"        {kind}.result = lc_real.{c.short}({c.arguments()});\n"
        f"    }}\n    int result = {kind}.result;\n"
        f"    lc_stamp_end(&call);\n{found}"
        "    lc_leave(&call);\n    return result;\n}\n"
    )


def wrapper(c, flavour):
    """The text of one wrapper."""
    # In inner loops everything of the hot path in one function saves 50 instructions per call; the others share it.
    hot = "__attribute__((flatten)) " if "hot" in c.words else ""
    out = [f"{hot}static {c.returns} w_{c.short}({c.signature(flavour)})\n{{\n"]
    if c.template in ("init", "init_thread", "finalize", "abort", "pcontrol", "session_init", "session_finalize"):
        arguments = (", " + c.arguments()) if c.names else ""
        out.append(
            f"    return lc_wrap_{c.template}(LC_FN_{c.short}, __builtin_frame_address(0),\n"
            f"        __builtin_return_address(0){arguments});\n}}\n"
        )
        return "".join(out)
    if "tried_first" in c.words:
        return "".join([*out, tried_first(c)])
    before, after = file_sync(c, *globals()["t_" + c.template](c))
    out.append(
        "    struct lc_call call;\n"
        f"    if (lc_unlikely(!lc_enter(&call, LC_FN_{c.short}, __builtin_frame_address(0),\n"
        "                              __builtin_return_address(0))))\n"
        f"        return lc_real.{c.short}({c.arguments()});\n"
    )
    out.append(before)
    out.append("    lc_sample_begin(&call);\n")
    out.append(f"    {c.returns} result = lc_real.{c.short}({c.arguments()});\n    lc_stamp_end(&call);\n")
    out.append(after)
    out.append("    lc_leave(&call);\n    return result;\n}\n")
    return "".join(out)


def make_real(calls, flavour, out):
    own = [c for c in calls if flavour in c.flavours]
    out.write("/* Generated from mpi_functions.tsv. */\n#ifndef LC_MPI_REAL_H\n#define LC_MPI_REAL_H\n\n#include \"measure/core/mpi_compat.h\"\n\nenum lc_fn {\n")
    out.writelines(f"    LC_FN_{c.short},\n" for c in own)
    out.write("    LC_FN_COUNT\n};\n\nstruct lc_real {\n")
    out.writelines(f"    {c.returns} (*{c.short})({c.signature(flavour)});\n" for c in own)
    out.write("};\n\n#endif\n")


def write_tables(own, out):
    """What is known of each function, by enum lc_fn; the last table is left open."""
    out.write("\nconst char *const lc_fn_names[] = {\n")
    out.writelines(f'    "{c.name}",\n' for c in own)
    out.write("};\n\nconst struct lc_mpi_function lc_fn_facts[] = {\n")
    out.writelines(f"    {c.facts()}, /* {c.name} */\n" for c in own)


def make_wrappers(calls, flavour, out):
    own = [c for c in calls if flavour in c.flavours]
    out.write(
        "/* Generated from mpi_functions.tsv. */\n#include \"measure/core/core.h\"\n#include \"measure/hot/hot.h\"\n"
        "#include \"measure/wrappers/wrappers.h\"\n\nstruct lc_real lc_real;\n\n"
    )
    out.write("\n".join(wrapper(c, flavour) for c in own))
    write_tables(own, out)
    out.write("};\n\nconst struct lc_wrapper lc_wrappers[] = {\n")
    out.writelines(f"    {{(void *)w_{c.short}, (void **)&lc_real.{c.short}}},\n" for c in own)
    out.write("};\n")


def make_names_only(calls, flavour, out):
    out.write("/* Generated from mpi_functions.tsv. */\n#include \"measure/wrappers/wrappers.h\"\n\nstruct lc_real lc_real;\n\n")
    write_tables([c for c in calls if flavour in c.flavours], out)
    out.write("};\n\nconst struct lc_wrapper lc_wrappers[] = {{0}};\n")


def gomp_names():
    """What GCC's code calls of its OpenMP runtime: slots after all others."""
    sys.path.insert(0, str(MEASURE / "gomp"))
    import gen_gomp
    return [entry.name for entry in gen_gomp.taken(str(MEASURE / "gomp/gomp_entries.tsv"))]


def make_stub(calls, out):
    out.write("/* Generated from mpi_functions.tsv. */\n#include \"measure/stub/stub_asm.h\"\n\n")
    out.writelines(f"LC_TRAMPOLINE({i}, {c.name})\n" for i, c in enumerate(calls))
    api = re.findall(r"X\((\w+)\)", (MEASURE / "stub/stub.h").read_text(encoding="ascii"))
    others = api + gomp_names()
    out.writelines(f"LC_TRAMPOLINE_ONE({len(calls) + i}, {name})\n" for i, name in enumerate(others))
    for table, word, count in (("lc_slots", "LC_SLOT", len(calls) + len(others)), ("lc_fronts", "LC_FRONT", len(calls)),
                               ("lc_entries", "LC_ENTRY", len(calls))):
        out.write(f"LC_TABLE_BEGIN({table})\n")
        out.writelines(f"{word}({i})\n" for i in range(count))
        out.write(f"LC_TABLE_END({table})\n")


def make_names(calls, out):
    out.write("/* Generated from mpi_functions.tsv: the order of the stub's slots. */\n")
    out.writelines(f'"{c.name}",\n' for c in calls)


def main():
    calls = mpi_functions.read(sys.argv[1])
    what = sys.argv[2]
    with open(sys.argv[-1], "w", encoding="ascii") as out:
        if what == "real":
            make_real(calls, sys.argv[3], out)
        elif what == "wrappers":
            make_wrappers(calls, sys.argv[3], out)
        elif what == "names_only":
            make_names_only(calls, sys.argv[3], out)
        elif what == "stub":
            make_stub(calls, out)
        elif what == "names":
            make_names(calls, out)
        else:
            sys.exit(f"unknown output {what}")


if __name__ == "__main__":
    main()
