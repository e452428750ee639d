#!/usr/bin/env python3
"""What a damaged trace does to the analysis: each kind of damage is named in meta.health with its number, and everything else is
analysed as before.

damage_matrix.py LATECOMER [--table]

The whole trace: 4 ranks; rank 0 receives from rank 1, which sends 40 later (Late Sender 40); rank 2 receives from rank 3
(Late Sender 30); a barrier (rank 0 last, the others wait 10 each), an allreduce (rank 3 last, the others wait 20 each), three
barriers (rank 3 last, the others wait 5 each), a broadcast (root 3 late, the others wait 5 each).
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import (CollectiveOp, CommFlag, GroupFlag, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

NONE = 0xFFFFFFFF
N = 4


def healthy():
    """Records per rank: (time, kind, arguments)."""
    ranks = [[] for _ in range(N)]

    def call(rank, begin, end, name, *records):
        ranks[rank] += [(begin, "enter", name), *records, (end, "leave", name)]

    def coll(rank, begin, end, name, op, root=NONE, sent=8, received=8):
        call(rank, begin, end, name, (begin, "mpi_collective_begin"), (end, "mpi_collective_end", op, 0, root, sent, received))

    for r in range(N):
        ranks[r].append((0, "enter", "main"))
        coll(r, 1, 10, "MPI_Init", "CREATE_HANDLE", sent=0, received=0)
        ranks[r].append((10, "enter", "f"))
    for r, t in ((0, 20), (1, 60), (2, 20), (3, 50)):
        ranks[r].append((t, "leave", "f"))
    call(0, 20, 65, "MPI_Recv", (65, "mpi_recv", 1, 0, 7, 100))
    call(1, 60, 62, "MPI_Send", (61, "mpi_send", 0, 0, 7, 100))
    call(2, 20, 55, "MPI_Recv", (55, "mpi_recv", 3, 0, 8, 100))
    call(3, 50, 52, "MPI_Send", (51, "mpi_send", 2, 0, 8, 100))
    for r, t in ((0, 110), (1, 100), (2, 100), (3, 100)):
        coll(r, t, 115, "MPI_Barrier", "BARRIER", sent=0, received=0)
    for r, t in ((0, 130), (1, 130), (2, 130), (3, 150)):
        coll(r, t, 155, "MPI_Allreduce", "ALLREDUCE")
    for r in range(N):
        late = 5 if r == 3 else 0
        for t in (170, 190, 210):
            coll(r, t + late, t + 10, "MPI_Barrier", "BARRIER", sent=0, received=0)
        coll(r, 230 + late, 240, "MPI_Bcast", "BCAST", root=3, sent=8 if r == 3 else 0, received=0 if r == 3 else 8)
        call(r, 260, 270, "MPI_Finalize")
        ranks[r].append((280, "leave", "main"))
    return ranks


def write(directory, ranks, gpu=False):
    roles = {"MPI_Barrier": RegionRole.BARRIER}
    with otf2.writer.open(directory, timer_resolution=1000) as archive:
        defs = archive.definitions
        node = defs.system_tree_node("node0", class_name="node", parent=defs.system_tree_node("m", class_name="machine"))
        locations, groups = [], []
        for i in range(N):
            groups.append(defs.location_group(f"MPI Rank {i}", system_tree_parent=node,
                                              location_group_type=LocationGroupType.PROCESS))
            locations.append(defs.location("Master thread", group=groups[i], type=LocationType.CPU_THREAD))
        if gpu:
            stream = defs.location("stream", group=groups[0], type=LocationType.ACCELERATOR_STREAM)
            writer = archive.event_writer_from_location(stream)
            kernel = defs.region("kernel", region_role=RegionRole.FUNCTION, paradigm=Paradigm.CUDA)
            writer.enter(5, kernel)
            writer.leave(6, kernel)
        defs.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        group = defs.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, group_flags=GroupFlag.NONE,
                           members=locations)
        comm = defs.comm("MPI_COMM_WORLD", group=group, flags=CommFlag.NONE)
        regions = {}

        def region(name):
            mpi = name.startswith("MPI_")
            return regions.setdefault(name, None) or regions.update({name: defs.region(
                name, canonical_name=name, region_role=roles.get(name, RegionRole.FUNCTION),
                paradigm=Paradigm.MPI if mpi else Paradigm.COMPILER, source_file="")}) or regions[name]

        for i, records in enumerate(ranks):
            writer = archive.event_writer_from_location(locations[i])
            for time, what, *args in records:
                if what in ("enter", "leave"):
                    getattr(writer, what)(time, region(args[0]))
                elif what == "mpi_collective_end":
                    op, _, root, sent, received = args
                    writer.mpi_collective_end(time, getattr(CollectiveOp, op) if isinstance(op, str) else op, comm, root,
                                              sent, received)
                elif what in ("mpi_send", "mpi_recv"):
                    getattr(writer, what)(time, args[0], comm, *args[2:])
                elif what in ("mpi_isend", "mpi_irecv"):
                    getattr(writer, what)(time, args[0], comm, *args[2:])
                else:
                    getattr(writer, what)(time, *args)


def without(rank, *kinds_and_names):
    def damage(ranks):
        ranks[rank] = [r for r in ranks[rank] if not any(r[1] == k and (len(r) < 3 or n is None or r[2] == n)
                                                          for k, n in kinds_and_names)]
    return damage


def drop_call(rank, name, begin=None):
    """All calls of that name, or the one that begins then."""
    def damage(ranks):
        out, inside = [], False
        for record in ranks[rank]:
            if record[1:] == ("enter", name) and begin in (None, record[0]):
                inside = True
            if not inside:
                out.append(record)
            if record[1:] == ("leave", name):
                inside = False
        ranks[rank] = out
    return damage


def replace(rank, old, new):
    def damage(ranks):
        ranks[rank] = [tuple(new if a == old else a for a in record) for record in ranks[rank]]
    return damage


def insert(rank, index, *records):
    def damage(ranks):
        ranks[rank][index:index] = records
    return damage


def both(*damages):
    return lambda ranks: [damage(ranks) for damage in damages]


def barrier(rank, begin):
    """One more barrier than the other ranks have."""
    def damage(ranks):
        at = next(i for i, r in enumerate(ranks[rank]) if r[0] >= begin)
        ranks[rank][at:at] = [(begin, "enter", "MPI_Barrier"), (begin, "mpi_collective_begin"),
                              (begin, "mpi_collective_end", "BARRIER", 0, NONE, 0, 0), (begin, "leave", "MPI_Barrier")]
    return damage


def patch(file, at, old, new):
    """Bytes of a file of the archive: those `at` behind the only place that has `old`."""
    def damage(trace):
        path = next(os.path.join(d, file) for d, _, names in os.walk(trace) if file in names)
        with open(path, "rb") as f:
            data = bytearray(f.read())
        assert data.count(old) == 1, (file, old, data.count(old))
        where = data.index(old) + at
        data[where:where + len(new)] = new
        with open(path, "wb") as f:
            f.write(data)
    return damage


def timestamp(time):
    """As OTF2 writes it: tag 5, 8 bytes; the record behind it begins with its kind."""
    return b"\x05" + struct.pack("<Q", time)


def cut(file, keep):
    def damage(trace):
        path = next(os.path.join(d, file) for d, _, names in os.walk(trace) if file in names)
        os.truncate(path, int(os.path.getsize(path) * keep))
    return damage


def remove(file):
    return lambda trace: [os.unlink(os.path.join(d, file)) for d, _, names in os.walk(trace) if file in names]


def truncate(rank, keep):
    def damage(ranks):
        del ranks[rank][keep:]
    return damage


ALL = {"mpi_latesender": 70, "mpi_barrier_wait": 75, "mpi_wait_nxn": 60, "mpi_latebroadcast": 15}
NO_COLL = {**ALL, "mpi_barrier_wait": 0, "mpi_wait_nxn": 0, "mpi_latebroadcast": 0}
# damage, {kind of health: number}, {metric: sum in ticks}
MATRIX = [
    ("nothing", lambda r: None, {}, ALL),
    ("a send is missing", drop_call(1, "MPI_Send"), {"recv_unmatched": 1}, {**ALL, "mpi_latesender": 30}),
    ("a receive is missing", drop_call(0, "MPI_Recv"), {"send_unmatched": 1}, {**ALL, "mpi_latesender": 30}),
    ("half a collective", drop_call(2, "MPI_Allreduce"), {"coll_incomplete": 1, "coll_realigned": 1}, {**ALL, "mpi_wait_nxn": 0}),
    ("members disagree", replace(2, "ALLREDUCE", "ALLGATHER"), {"coll_mismatch": 1}, {**ALL, "mpi_wait_nxn": 0}),
    ("unknown operation", lambda ranks: [replace(r, "ALLREDUCE", 99)(ranks) for r in range(N)], {"coll_unknown": 4},
     {**ALL, "mpi_wait_nxn": 0}),
    ("a collective in the middle is missing", drop_call(1, "MPI_Barrier", 190), {"coll_incomplete": 1, "coll_realigned": 1},
     {**ALL, "mpi_barrier_wait": 60}),
    ("different ones are missing", both(drop_call(1, "MPI_Barrier", 190), drop_call(0, "MPI_Allreduce")),
     {"coll_incomplete": 2, "coll_realigned": 2}, {**ALL, "mpi_barrier_wait": 60, "mpi_wait_nxn": 0}),
    ("a collective too many", barrier(2, 185), {"coll_incomplete": 1, "coll_realigned": 3}, ALL),
    ("truncated location", truncate(2, 9), {"coll_incomplete": 6, "enter_without_leave": 2, "init_missing": 1}, NO_COLL),
    ("empty location", truncate(2, 0), {"no_events": 1, "send_unmatched": 1, "coll_incomplete": 6, "init_missing": 2},
     {**NO_COLL, "mpi_latesender": 40}),
    ("a Leave is missing", without(0, ("leave", "f")), {"enter_without_leave": 1}, ALL),
    ("an Enter is missing", without(0, ("enter", "f")), {"leave_without_enter": 1}, ALL),
    ("the Enter of a receive is missing", without(0, ("enter", "MPI_Recv")), {"leave_without_enter": 1}, {**ALL, "mpi_latesender": 30}),
    ("the Enter of a collective is missing", without(1, ("enter", "MPI_Allreduce")), {"leave_without_enter": 1}, {**ALL, "mpi_wait_nxn": 40}),
    ("no MPI_Init", lambda ranks: [drop_call(r, "MPI_Init")(ranks) for r in range(N)], {"init_missing": 4}, ALL),
    ("no MPI_Init, no MPI_Finalize", lambda ranks: [drop_call(r, n)(ranks) for r in range(N) for n in ("MPI_Init", "MPI_Finalize")],
     {}, ALL),
    ("MPI_Init twice", lambda ranks: [insert(r, 5, (10, "enter", "MPI_Init"), (10, "leave", "MPI_Init"))(ranks)
                                      for r in range(N)], {"init_twice": 4}, ALL),
    ("completion of an unknown request", insert(0, 6, (10, "enter", "MPI_Wait"), (10, "mpi_isend_complete", 99),
                                                (10, "leave", "MPI_Wait")), {"request_unknown": 1}, ALL),
    ("a request is never completed", insert(0, 6, (10, "enter", "MPI_Irecv"), (10, "mpi_irecv_request", 99),
                                            (10, "leave", "MPI_Irecv")), {"request_open": 1}, ALL),
    ("a request is started twice", insert(0, 6, (10, "enter", "MPI_Irecv"), (10, "mpi_irecv_request", 99),
                                          (10, "mpi_irecv_request", 99), (10, "leave", "MPI_Irecv")),
     {"request_reused": 1, "request_open": 1}, ALL),
    ("a record outside of any region", insert(0, 0, (0, "mpi_irecv_request", 98)), {"record_outside": 1}, ALL),
    ("an unknown rank", insert(0, 6, (10, "enter", "MPI_Send"), (10, "mpi_send", 17, 0, 1, 1), (10, "leave", "MPI_Send")),
     {"unknown_comm": 1}, ALL),
    ("the end of a collective alone", without(1, ("mpi_collective_begin", None)), {"coll_end_alone": 7}, ALL),
    ("the begin of a collective alone", lambda ranks: ranks.__setitem__(1, [r for r in ranks[1] if r[1:3] != ("mpi_collective_end", "BARRIER")]),
     {"coll_begin_alone": 4, "coll_incomplete": 4, "coll_realigned": 1}, {**ALL, "mpi_barrier_wait": 0}),
    ("another length received", replace(0, 100, 90), {"bytes_differ": 1}, ALL),
    ("received before it was sent", lambda ranks: ranks.__setitem__(1, [(t + 10 if 60 <= t <= 62 else t, *x) for t, *x in ranks[1]]),
     {"violation_p2p": 1}, {**ALL, "mpi_latesender": 75}),
    ("a GPU stream", "gpu", {"not_cpu": 1}, ALL),
]
# The same for the files of the archive.
FILES = [
    ("time runs backwards", patch("1.evt", 1, timestamp(61), struct.pack("<Q", 31)), {"time_backwards": 1}, ALL),
    ("a record of an unknown kind", patch("1.evt", 9, timestamp(61), b"\xc8"), {"unknown_record": 1, "recv_unmatched": 1},
     {**ALL, "mpi_latesender": 30}),
    ("the events of a location are missing", remove("2.evt"), {"no_events": 1, "damaged": 1, "lost": None, "send_unmatched": 1,
                                                               "coll_incomplete": 6, "init_missing": 2},
     {**NO_COLL, "mpi_latesender": 40}),
    ("cut events", cut("2.evt", 0.5), {"damaged": 1, "lost": None, "coll_incomplete": None, "enter_without_leave": None,
                                       "init_missing": 1}, {**ALL, "mpi_barrier_wait": 30, "mpi_latebroadcast": 0}),
    ("cut definitions", cut("traces.def", 0.5), None, "global definitions: "),
    ("no definitions", remove("traces.def"), None, "global definitions: cannot be opened"),
    ("an empty anchor", cut("traces.otf2", 0), None, "no readable OTF2 archive"),
]


def judge(done, out, health, metrics, latecomer):
    """(as expected, what was reported)."""
    if health is None:  # an error: its text is in `metrics`
        lines = done.stderr.splitlines()
        good = done.returncode == 1 and len(lines) == 1 and metrics in lines[0] and not os.path.exists(out)
        return good, f"exit 1: {metrics.rstrip(': ')}" if good else f"exit {done.returncode}: {done.stderr}"
    if done.returncode != 0:
        return False, f"exit {done.returncode}: {done.stderr}"
    shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, timeout=patience(60), check=True)
    result = json.loads(shown.stdout)
    counts = result["meta"]["health_counts"]
    sums = {m: round(result["metrics"][m]["total"] * 1000) for m in metrics}
    expected = {kind: counts.get(kind) if n is None else n for kind, n in health.items()}
    if counts != expected or sums != metrics:
        return False, f"health {counts}, expected {expected}; waits {sums}, expected {metrics}"
    return True, "; ".join(result["meta"]["health"]) or "-"


def main():
    latecomer, table = sys.argv[1], "--table" in sys.argv
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, damage, health, metrics in MATRIX + FILES:
            trace, out = f"{tmp}/t", f"{tmp}/a.cubex"
            for old in (trace, out):
                shutil.rmtree(old) if os.path.isdir(old) else os.path.exists(old) and os.unlink(old)
            ranks = healthy()
            in_files = name in (row[0] for row in FILES)
            if damage != "gpu" and not in_files:
                damage(ranks)
            write(trace, ranks, gpu=damage == "gpu")
            if in_files:
                damage(trace)
            for n in ("3", "1") if health and "coll_realigned" in health else "1":
                done = subprocess.run([latecomer, "analyze", "-n", n, "-o", out, trace], capture_output=True, text=True,
                                      timeout=patience(60))
                good, reported = judge(done, out, health, metrics, latecomer)
                bad += not good
            if table:
                print(f"| {name} | {reported} |")
            elif not good:
                print(f"{name}: {reported}")
    print(f"{len(MATRIX) + len(FILES)} kinds of damage, {bad} not as expected")
    sys.exit(bad != 0)


main()
