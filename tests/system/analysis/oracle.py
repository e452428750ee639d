#!/usr/bin/env python3
"""An independent judge of the trace analysis: a direct transcription of its definitions.

Reads an OTF2 archive of single-threaded MPI processes with Debian's python3-otf2 (which applies the ClockOffset records)
and prints the metrics as JSON: wait states, delay costs in both models, classification, critical path, indicators.
Times are integer ticks; costs are exact fractions (in large traces decimals of 50 digits). Clear and slow on purpose.

    oracle.py [--partition 0,1/2,3] ARCHIVE                   the JSON
    oracle.py --compare REFERENCE.json ARCHIVE                 differences; exit 1 if there are any
"""

import argparse
import json
import sys
from bisect import bisect_right
from collections import defaultdict
from decimal import Decimal, getcontext
from fractions import Fraction

import otf2
from otf2 import events as ev
from otf2.enums import GroupType, LocationType, Paradigm, RegionRole

getcontext().prec = 50

N2N = {"ALLREDUCE", "ALLGATHER", "ALLGATHERV", "ALLTOALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK"}
N2N_IF_SYNCHRONISING = {"ALLTOALLV", "ALLTOALLW"}
ONE_TO_N = {"BCAST", "SCATTER", "SCATTERV"}
N_TO_ONE = {"REDUCE", "GATHER", "GATHERV"}
SCAN = {"SCAN", "EXSCAN"}
KINDS = ["ls", "lr", "probe", "barrier", "n2n", "12n", "n21", "scan", "mgmt", "finalize"]
METRIC = {"ls": "mpi_latesender", "lr": "mpi_latereceiver", "probe": "mpi_probe_wait", "barrier": "mpi_barrier_wait", "n2n": "mpi_wait_nxn",
          "12n": "mpi_latebroadcast", "n21": "mpi_earlyreduce", "scan": "mpi_earlyscan",
          "mgmt": "mpi_mgmt_comm_wait", "finalize": "mpi_finalize_wait"}
LONG_NAME = {"ls": "latesender", "lr": "latereceiver"}  # X and the delay metrics; others: the kind itself
THREAD_KINDS = {"ompbarrier", "ompidle", "lock", "omptask"}
WAIT_CALLS = {"mpi_wait", "mpi_waitany", "mpi_waitall", "mpi_waitsome"}
INIT_CALLS = {"mpi_init", "mpi_init_thread"}


class Call:
    """One visit of a region."""

    def __init__(self, process, path, name, is_mpi, en, index):
        self.process, self.path, self.name, self.is_mpi = process, path, name, is_mpi
        self.en, self.lv = en, None
        self.index = index  # position of the Enter among the records of the process
        self.completions = []  # what the call completes, in the order of the records


class Message:
    """A send and the receive it matches."""

    def __init__(self, sender_call, bytes_, comm, source, dest, tag):
        self.sender_call, self.bytes = sender_call, bytes_
        self.key = (comm, source, dest, tag)
        self.post_call = self.recv_call = self.recv_index = None


class Receive:
    def __init__(self, post_call, post_index, recv_call, recv_index, key, bytes_):
        self.post_call, self.post_index = post_call, post_index
        self.recv_call, self.recv_index = recv_call, recv_index
        self.key, self.bytes = key, bytes_
        self.message = None


class Member:
    """The part of one process in a collective. `begin` counts for all; `end` and `wait_start` belong to the call that waits."""

    def __init__(self, process, rank, op, root, sent, received, nonblocking, start_call, wait_call, begin, end):
        self.process, self.rank, self.op, self.root = process, rank, op, root
        self.sent, self.received, self.nonblocking = sent, received, nonblocking
        self.start_call, self.wait_call = start_call, wait_call
        self.begin, self.end = begin, end
        self.wait_start = wait_call.en if nonblocking else begin
        self.operation = None


class Operation:
    def __init__(self, members, size):
        self.members, self.size = members, size
        self.kind = None  # None: nobody waits, no synchronisation


class WaitState:
    def __init__(self, kind, call, s, end_of_call, cause, u, cause_call):
        self.kind, self.call, self.s, self.cause, self.u = kind, call, s, cause, u
        self.process, self.path = call.process, call.path
        self.cause_call = cause_call
        self.w = min(u, end_of_call) - s
        self.cut = u > end_of_call
        self.wrong_order = None
        self.message = self.member = None

    @property
    def end(self):
        return self.s + self.w


# ---------------------------------------------------------------------------------------------------------- reading


def op_name(event):
    return str(event.collective_op).split(".")[-1]


class Trace:
    def __init__(self, path):
        with otf2.reader.open(path) as archive:
            self._definitions(archive.definitions)
            self._events(archive)
        self._finish()

    def _definitions(self, defs):
        self.resolution = defs.clock_properties.timer_resolution
        locations = [l for l in defs.locations if l.type == LocationType.CPU_THREAD]
        groups = [g for g in defs.groups if g.group_type == GroupType.COMM_LOCATIONS and g.paradigm == Paradigm.MPI]
        ordered = list(groups[0].members) if groups else locations
        ordered += [l for l in locations if l not in ordered]
        self.location_index = {l._ref: i for i, l in enumerate(ordered)}
        self.n = self.n_processes = len(ordered)
        self.comm_members = {}
        for comm in defs.comms:
            members = getattr(comm.group, "members", None)
            if members is not None and comm.group.group_type != GroupType.COMM_SELF:
                self.comm_members[comm._ref] = [self.location_index[m._ref] for m in members]
        self.artificial = {r.canonical_name: r.name for r in defs.regions if r.region_role == RegionRole.ARTIFICIAL}

    def _events(self, archive):
        self.records = [[] for _ in range(self.n)]
        for location, event in archive.events:
            if location._ref in self.location_index:
                self.records[self.location_index[location._ref]].append(event)

    def _root_name(self, event):
        arguments = [a if isinstance(a, str) else str(a) for a in event.program_arguments]
        joined = " ".join([event.program_name] + arguments)
        return self.artificial.get(joined, event.program_name.rsplit("/", 1)[-1])

    def _finish(self):
        self.segments = [[] for _ in range(self.n)]  # (start, end, path), exclusive, without gaps
        self.visits = defaultdict(lambda: [0] * self.n)
        self.calls = [[] for _ in range(self.n)]
        self.root_path = [None] * self.n
        self.first, self.last = [None] * self.n, [None] * self.n
        self.sends, self.receives, self.members = [], [], defaultdict(lambda: defaultdict(list))
        self.counts = defaultdict(lambda: defaultdict(lambda: [0] * self.n))
        for process in range(self.n):
            self._process(process, self.records[process])
        present = [p for p in range(self.n) if self.first[p] is not None]
        self.t0 = min((self.first[p] for p in present), default=0)
        self.t1 = max((self.last[p] for p in present), default=0)
        self._match_messages()
        self._find_probed()
        self._match_collectives()

    def _process(self, process, records):
        stack, sends, posts, nbc, nbc_done = [], {}, {}, {}, {}
        cancelled, recvs, own_sends, blocking = set(), [], [], defaultdict(list)
        collective_begin = None
        previous = None
        for index, e in enumerate(records):
            if self.first[process] is None:
                self.first[process] = e.time
            if stack or self.root_path[process]:
                path = stack[-1].path if stack else self.root_path[process]
                if e.time > previous:
                    self.segments[process].append((previous, e.time, path))
            previous = self.last[process] = e.time
            top = stack[-1] if stack else None
            if isinstance(e, (ev.Enter, ev.ProgramBegin)):
                if isinstance(e, ev.Enter):
                    name = e.region.name
                    own = e.region.paradigm in (Paradigm.COMPILER, Paradigm.USER, Paradigm.SAMPLING)
                    mpi = e.region.paradigm == Paradigm.MPI or not own and name.lower().startswith("mpi_")
                else:
                    name, mpi = self._root_name(e), False
                path = (top.path if top else ()) + (name,)
                call = Call(process, path, name.lower().rstrip("_"), mpi, e.time, index)
                if self.root_path[process] is None:
                    self.root_path[process] = path
                    if self.first[process] < e.time:
                        self.segments[process].append((self.first[process], e.time, path))
                self.visits[path][process] += 1
                self.calls[process].append(call)
                stack.append(call)
            elif isinstance(e, (ev.Leave, ev.ProgramEnd)):
                if stack:
                    stack.pop().lv = e.time
            elif isinstance(e, (ev.MpiSend, ev.MpiIsend)):
                members = self.comm_members[e.communicator._ref]
                message = Message(top, e.msg_length, e.communicator._ref, process, members[e.receiver], e.msg_tag)
                own_sends.append(message)
                if isinstance(e, ev.MpiIsend):
                    sends[e.request_id] = message
                else:
                    top.completions.append(("send", message))
            elif isinstance(e, ev.MpiIsendComplete):
                if e.request_id in sends:
                    top.completions.append(("isend", sends.pop(e.request_id)))
            elif isinstance(e, ev.MpiIrecvRequest):
                posts[e.request_id] = (top, index)
            elif isinstance(e, (ev.MpiRecv, ev.MpiIrecv)):
                members = self.comm_members[e.communicator._ref]
                key = (e.communicator._ref, members[e.sender], process, e.msg_tag)
                if isinstance(e, ev.MpiIrecv):
                    if e.request_id not in posts:
                        continue
                    post_call, post_index = posts.pop(e.request_id)
                else:
                    post_call, post_index = top, top.index
                receive = Receive(post_call, post_index, top, index, key, e.msg_length)
                recvs.append(receive)
                top.completions.append(("recv" if isinstance(e, ev.MpiRecv) else "irecv", receive))
            elif isinstance(e, ev.MpiRequestCancelled):
                if e.request_id in sends:
                    cancelled.add(sends.pop(e.request_id))
                posts.pop(e.request_id, None)
            elif isinstance(e, ev.MpiCollectiveBegin):
                collective_begin = e.time
            elif isinstance(e, ev.MpiCollectiveEnd):
                op = op_name(e)
                class_ = "create" if op == "CREATE_HANDLE" else "destroy" if op == "DESTROY_HANDLE" else "blocking"
                member = self._member(process, e, op, False, top, top, collective_begin, e.time)
                blocking[(class_, e.communicator._ref)].append(member)
                top.completions.append(("coll", member))
                if class_ == "blocking":
                    self._count_collective(process, top.path, member)
            elif isinstance(e, ev.NonBlockingCollectiveRequest):
                nbc[e.request_id] = (top, index)
            elif isinstance(e, ev.NonBlockingCollectiveComplete):
                if e.request_id not in nbc:
                    continue
                start_call, start_index = nbc.pop(e.request_id)
                member = self._member(process, e, op_name(e), True, start_call, top, start_call.en, top)
                nbc_done[start_index] = (e.communicator._ref, member)
                top.completions.append(("nbc", member))
        for call in stack:
            call.lv = previous
        for start_index in sorted(nbc_done):
            comm, member = nbc_done[start_index]
            blocking[("nonblocking", comm)].append(member)
        for (class_, comm), members in blocking.items():
            self.members[(class_, comm)][process] = members
        self.sends += [m for m in own_sends if m not in cancelled]
        self.receives += sorted(recvs, key=lambda r: r.post_index)

    def _member(self, process, e, op, nonblocking, start_call, wait_call, begin, end):
        members = self.comm_members.get(e.communicator._ref, [process])
        root = members[e.root] if 0 <= e.root < len(members) else None
        rank = members.index(process) if process in members else 0
        return Member(process, rank, op, root, e.size_sent, e.size_received, nonblocking, start_call, wait_call,
                      begin, end)

    def _count_collective(self, process, path, member):
        name = {(False, False): "syncs_coll", (True, False): "comms_csrc", (False, True): "comms_cdst",
                (True, True): "comms_cxch"}[(member.sent > 0, member.received > 0)]
        self.counts[name][path][process] += 1
        self.counts["bytes_cout"][path][process] += member.sent
        self.counts["bytes_cin"][path][process] += member.received

    def _match_messages(self):
        for m in self.sends:
            path, process = m.sender_call.path, m.sender_call.process
            self.counts["comms_send" if m.bytes else "syncs_send"][path][process] += 1
            self.counts["bytes_sent"][path][process] += m.bytes
        for r in self.receives:
            path, process = r.recv_call.path, r.recv_call.process
            self.counts["comms_recv" if r.bytes else "syncs_recv"][path][process] += 1
            self.counts["bytes_rcvd"][path][process] += r.bytes
        queues = defaultdict(list)
        for m in self.sends:  # per process in the order of their start
            queues[m.key].append(m)
        for r in self.receives:  # per process in the order of posting
            if queues[r.key]:
                m = queues[r.key].pop(0)
                m.post_call, m.recv_call, m.recv_index = r.post_call, r.recv_call, r.recv_index
                r.message = m

    def _find_probed(self):
        """The message of the next receive that is posted, if it was sent before the probe ended."""
        for process, calls in enumerate(self.calls):
            receives = [r for r in self.receives if r.post_call.process == process]
            for call in calls:
                if call.name not in ("mpi_probe", "mpi_mprobe"):
                    continue
                m = next((r.message for r in receives if r.post_index > call.index), None)
                if m is not None and m.key[1] != m.key[2] and call.en < m.sender_call.en <= call.lv:
                    call.completions.append((call.name, m))

    def _match_collectives(self):
        self.operations = []
        for (class_, comm), by_process in self.members.items():
            processes = self.comm_members.get(comm)
            if class_ == "destroy" or processes is None:
                continue
            for k in range(max(len(m) for m in by_process.values())):
                if any(len(by_process[p]) <= k for p in processes):
                    continue
                members = [by_process[p][k] for p in processes]
                if len({(m.op, m.root) for m in members}) != 1:
                    continue
                if class_ == "nonblocking":
                    for m in members:
                        m.end = m.wait_call.lv
                operation = Operation(members, len(processes))
                for m in members:
                    m.operation = operation
                self.operations.append(operation)


# ------------------------------------------------------------------------------------------------------ wait states


def latest(members):
    return min(members, key=lambda m: (-m.begin, m.rank)) if members else None


def earliest(members):
    return min(members, key=lambda m: (m.begin, m.rank)) if members else None


def classify_operation(operation):
    """Kind of the operation, or None if it has no wait states (docs/definitions/wait-states.md#23-collectives)."""
    op, members = operation.members[0].op, operation.members
    nonblocking = members[0].nonblocking
    if operation.size < 2:
        return None
    synchronising = nonblocking or max(m.begin for m in members) <= min(m.end for m in members)
    if op == "BARRIER":
        return "barrier"
    if op in N2N or (op in N2N_IF_SYNCHRONISING and synchronising and not nonblocking):
        return "n2n"
    if op in ONE_TO_N:
        return "12n"
    if op in N_TO_ONE:
        return "n21"
    if op in SCAN:
        return "scan"
    if op == "CREATE_HANDLE" and synchronising and not nonblocking:
        names = [m.start_call.name for m in members]
        if not any(n in INIT_CALLS or n == "mpi_finalize" or n.startswith("mpi_win_") for n in names):
            return "mgmt"
    return None


def senders(operation):
    everybody = operation.kind in ("barrier", "mgmt")
    return [m for m in operation.members if everybody or m.sent > 0]


def receives(operation, m):
    return operation.kind in ("barrier", "mgmt") or m.received > 0


def cause_in_collective(m, blocking):
    """The member that m waits for, or None. `blocking`: by docs/definitions/wait-states.md#4-critical-path, where the root of n21 needs the latest."""
    operation = m.operation
    if operation is None or operation.kind is None or not receives(operation, m):
        return None
    s = senders(operation)
    if operation.kind in ("barrier", "n2n", "mgmt"):
        return latest(s)
    if operation.kind == "12n":
        root = next((x for x in operation.members if x.process == m.root), None)
        return None if m.process == m.root else root
    if operation.kind == "n21":
        if m.process != m.root:
            return None
        others = [x for x in s if x.process != m.root]
        return latest(others) if blocking else earliest(others)
    return latest([x for x in s if x.rank < m.rank])


def candidates(call, blocking):
    """(record position, wait state) of everything the call completes; w <= 0 where it does not wait."""
    is_wait = call.name in WAIT_CALLS
    result = []
    for position, (what, x) in enumerate(call.completions):
        state = None
        if what == "recv" or (what == "irecv" and is_wait):
            m = x.message
            if m is None or m.key[1] == m.key[2]:
                continue
            state = WaitState("ls", call, call.en, call.lv, m.sender_call.process, m.sender_call.en, m.sender_call)
            state.message = m
        elif (what == "send" and call.name in ("mpi_send", "mpi_ssend")) or (what == "isend" and is_wait):
            m = x
            if m.post_call is None or m.key[1] == m.key[2]:
                continue
            started_by = m.sender_call.name
            if what == "isend" and started_by != "mpi_issend" and received_from(call, m.key[2]):
                continue
            post = m.post_call
            state = WaitState("lr", call, call.en, call.lv, post.process, post.en, post)
            state.message = m
            if call.lv <= post.en or started_by in ("mpi_ibsend", "mpi_irsend"):
                state.w = 0
        elif what == "coll" or (what == "nbc" and is_wait):
            if x.operation is None:
                continue
            d = cause_in_collective(x, blocking)
            if d is None or d is x:
                if call.name == "mpi_waitsome":
                    result.append((position, None))
                continue
            state = WaitState(x.operation.kind, call, x.wait_start, x.end if what == "coll" else call.lv, d.process,
                              d.begin, d.start_call)
            state.member = x
        elif what == "mpi_mprobe":
            state = WaitState("probe", call, call.en, call.lv, x.sender_call.process, x.sender_call.en, x.sender_call)
            state.message = x
        else:
            continue
        result.append((position, state))
    return result


def received_from(call, process):
    for what, x in call.completions:
        if what in ("recv", "irecv") and x.message is not None and x.message.key[1] == process:
            if min(x.message.sender_call.en, call.lv) - call.en > 0:
                return True
    return False


def select(call, blocking):
    """The wait state of a call: the largest w, for MPI_Waitsome the smallest; ties: first record. None if w <= 0."""
    found = candidates(call, blocking)
    if not found:
        return None
    w = lambda state: max(state.w, 0) if state else 0
    if call.name == "mpi_waitsome":
        state = min(found, key=lambda f: (w(f[1]), f[0]))[1]
    else:
        state = min(found, key=lambda f: (-w(f[1]), f[0]))[1]
    return state if state is not None and state.w > 0 else None


def wrong_order(trace, states):
    """Which source decides, for each late sender with a message in wrong order."""
    by_receiver = defaultdict(list)
    for r in trace.receives:
        if r.message is not None:
            by_receiver[r.recv_call.process].append(r)
    for state in states:
        if state.kind != "ls":
            continue
        later = [r for r in by_receiver[state.process]
                 if r.recv_call.index > state.call.index and r.message.sender_call.en < state.u]
        if later:
            first = min(later, key=lambda r: r.recv_index)
            state.wrong_order = "same" if first.message.sender_call.process == state.cause else "different"


# -------------------------------------------------------------------------------------------------------- the analysis


def paradigm(kind):
    return "omp" if kind in THREAD_KINDS else "mpi"


class Analysis:
    def __init__(self, trace, partition=None):
        self.t, self.partition = trace, partition
        self.metrics, self.mpi_only = {}, {}
        for operation in trace.operations:
            operation.kind = classify_operation(operation)
        mpi_calls = [c for calls in trace.calls for c in calls if c.is_mpi]
        self.states = [s for s in (select(c, False) for c in mpi_calls) if s]
        self.blockings = [s for s in (select(c, True) for c in mpi_calls) if s]
        wrong_order(trace, self.states)
        self._init_finalize()
        self.of_process = [sorted((s for s in self.states if s.process == p), key=lambda s: s.s)
                           for p in range(trace.n)]
        self.number = Fraction if len(self.states) <= 300 else Decimal
        self.starts = [[seg[0] for seg in segs] for segs in trace.segments]
        self.ends_of_states = [[s.end for s in states] for states in self.of_process]
        self._book_waits()
        self._synchronisation_points()
        self._intervals()
        for model in ("", "_waitfirst"):
            self._delay_costs(model)
        self._critical_path(self.metrics, *self._default_bounds())
        self._critical_path(self.mpi_only, *self._mpi_bounds())

    # helpers

    def seconds(self, ticks):
        return ticks / self.number(self.t.resolution)

    def book(self, name, path, process, ticks, where=None):
        rows = (self.metrics if where is None else where).setdefault(name, {})
        rows.setdefault(path, [0] * self.t.n)[process] += ticks

    def declare(self, *names, where=None):
        for name in names:
            (self.metrics if where is None else where).setdefault(name, {})

    def profile(self, l, a, b, extra=()):
        """P(l, [a, b)): time per call path without its wait states."""
        result = defaultdict(int)
        if a >= b:
            return result
        if self.t.first[l] is not None and a < self.t.first[l]:
            result[self.t.root_path[l]] += min(b, self.t.first[l]) - a
        segments = self.t.segments[l]
        for i in range(max(bisect_right(self.starts[l], a) - 1, 0), len(segments)):
            start, end, path = segments[i]
            if start >= b:
                break
            if min(end, b) > max(start, a):
                result[path] += min(end, b) - max(start, a)
        waits = [(s.s, s.end, s.path) for s in self.states_within(l, a, b)]
        for start, end, path in waits + [x for x in extra if x]:
            covered = min(end, b) - max(start, a)
            if covered > 0:
                result[path] -= covered
        return {path: max(ticks, 0) for path, ticks in result.items() if ticks > 0}

    def states_within(self, l, a, b):
        """Wait states of l that overlap [a, b)."""
        result = []
        for s in self.of_process[l][bisect_right(self.ends_of_states[l], a):]:
            if s.s >= b:
                break
            result.append(s)
        return result

    # sections 2.5, 2.2 to 2.4

    def _init_finalize(self):
        t = self.t
        pick = lambda names: [next((c for c in calls if c.name in names), None) for calls in t.calls]
        self.init, self.finalize = pick(INIT_CALLS), pick({"mpi_finalize"})
        # Waiting in MPI_Init, no wait state: (start, end, path, cause, release), or None.
        self.init_wait = [None] * t.n
        for calls in (self.init, self.finalize):
            present = [c for c in calls if c]
            if not present:
                continue
            last = min(present, key=lambda c: (-c.en, c.process))
            for c in present:
                if min(last.en, c.lv) <= c.en:
                    continue
                if calls is self.init:
                    self.init_wait[c.process] = (c.en, min(last.en, c.lv), c.path, last.process, last.en)
                    continue
                state = WaitState("finalize", c, c.en, c.lv, last.process, last.en, last)
                self.states.append(state)
                self.blockings.append(state)

    def _book_waits(self):
        t = self.t
        self.declare("mpi_init_completion", "mpi_barrier_completion", "mpi_nxn_completion",
                     "mpi_latesender_wo", "mpi_lswo_same", "mpi_lswo_different", *METRIC.values())
        self.declare("mpi_sls_count", "mpi_cls_count", "mpi_slr_count", "mpi_clr_count", "mpi_slswo_count",
                     "mpi_clswo_count", "syncs_send", "syncs_recv", "comms_send", "comms_recv", "bytes_sent",
                     "bytes_rcvd", "syncs_coll", "comms_csrc", "comms_cdst", "comms_cxch", "bytes_cout", "bytes_cin")
        present = [c for c in self.init if c]
        if present:
            limit = max(max(c.en for c in present), min(c.lv for c in present))
            for c in present:
                if c.lv > limit:
                    self.book("mpi_init_completion", c.path, c.process, c.lv - limit)
        for operation in t.operations:
            if operation.members[0].nonblocking or operation.kind not in ("barrier", "n2n"):
                continue
            s = senders(operation)
            both = [m for m in s if receives(operation, m)]
            if not s or not both:
                continue
            limit = max(min(m.end for m in both), max(m.begin for m in s))
            name = "mpi_barrier_completion" if operation.kind == "barrier" else "mpi_nxn_completion"
            for m in both:
                if m.end > limit:
                    self.book(name, m.wait_call.path, m.process, m.end - limit)
        for call in (call for calls in t.calls for call in calls):
            for what, m in call.completions:
                if what == "mpi_probe":  # no part in what follows
                    self.book("mpi_probe_wait", call.path, call.process, m.sender_call.en - call.en)
        for s in self.states:
            self.book(METRIC[s.kind], s.path, s.process, s.w)
            if s.kind in LONG_NAME:
                zero = "s" if s.message.bytes == 0 else "c"
                self.book("mpi_%s%s_count" % (zero, s.kind), s.path, s.process, 1)
            if s.wrong_order:
                self.book("mpi_latesender_wo", s.path, s.process, s.w)
                self.book("mpi_lswo_" + s.wrong_order, s.path, s.process, s.w)
                self.book("mpi_%slswo_count" % zero, s.path, s.process, 1)

    # docs/definitions/wait-states.md#31-synchronisation-points

    def _synchronisation_points(self):
        t = self.t
        self.points = defaultdict(list)  # {pair of processes: [T, ..]}
        for s in self.states:
            if s.message and not s.cut:
                self._point([s.process, s.cause], min(s.call.lv, s.cause_call.lv))
        selected = {id(s.member): s for s in self.states if s.member}
        for operation in t.operations:
            members = operation.members
            if operation.kind in ("barrier", "n2n", "mgmt") and not members[0].nonblocking:
                last = latest(senders(operation))
                if last is None:
                    continue
                u = last.begin
                inside = [m for m in members if m.begin <= u <= m.end and (receives(operation, m) or m is last)]
                if inside:
                    self._point([m.process for m in inside], min(m.end for m in inside))
            elif operation.kind:
                by_cause = defaultdict(list)
                for m in members:
                    s = selected.get(id(m))
                    if s and not s.cut:
                        by_cause[s.cause].append(m)
                for cause, waiting in by_cause.items():
                    d = next(m for m in members if m.process == cause)
                    end_of_cause = d.start_call.lv if d.nonblocking else d.end
                    self._point([d.process] + [m.process for m in waiting],
                                min([end_of_cause] + [m.end for m in waiting]))
        for times in self.points.values():
            times.sort()
        self.origin = t.t0
        present = [c for c in self.init if c]
        if len(present) == t.n_processes and max(c.en for c in present) <= min(c.lv for c in present):
            self.origin = min(c.lv for c in present)

    def _point(self, processes, time):
        for a in processes:
            for b in processes:
                if a < b:
                    self.points[(a, b)].append(time)

    # docs/definitions/wait-states.md#32-the-synchronisation-interval

    def _intervals(self):
        for x in self.states:
            times = self.points[(min(x.process, x.cause), max(x.process, x.cause))]
            k = bisect_right(times, x.s)
            start = max(self.origin, times[k - 1]) if k else self.origin
            of_cause, of_waiting = self.profile(x.cause, start, x.u), self.profile(x.process, start, x.s)
            x.D = {c: ticks - of_waiting.get(c, 0) for c, ticks in of_cause.items() if ticks > of_waiting.get(c, 0)}
            x.D_sum = sum(x.D.values())
            x.W = [(v, min(v.end, x.u) - max(v.s, start)) for v in self.states_within(x.cause, start, x.u)
                   if v is not x]
            x.W_sum = sum(overlap for v, overlap in x.W)
            if not x.D_sum + x.W_sum >= x.w and not x.cut:
                self.violation = (x.process, x.s)

    # sections 3.3 and 3.4

    def _order(self):
        """Wait states, each after all whose interval contains it."""
        waiting_for = {id(x): 0 for x in self.states}
        for x in self.states:
            for v, _ in x.W:
                waiting_for[id(v)] += 1
        ready = [x for x in self.states if waiting_for[id(x)] == 0]
        order = []
        while ready:
            x = ready.pop()
            order.append(x)
            for v, _ in x.W:
                waiting_for[id(v)] -= 1
                if waiting_for[id(v)] == 0:
                    ready.append(v)
        assert len(order) == len(self.states), "wait states in a circle"
        return order

    def _delay_costs(self, model):
        num = self.number
        for kind in KINDS:
            name, of = LONG_NAME.get(kind, kind), paradigm(kind)
            self.declare("delay_%s%s" % (name, model), "delay_%s_longterm%s" % (name, model),
                         "%s_wait_direct_%s%s" % (of, name, model), "%s_wait_indirect_%s%s" % (of, name, model),
                         "%s_wait_propagating_%s%s" % (of, kind, model), "%s_wait_terminal_%s%s" % (of, kind, model))
        for x in self.states:
            x.g_long = {k: num(0) for k in KINDS}
            x.largest_share = num(0)
        for x in self._order():
            g_short, D, W = num(x.w), x.D_sum, x.W_sum
            if D + W == 0:
                to_code, to_wait = num(1), num(0)
            elif model == "":
                to_code, to_wait = num(D) / (D + W), num(W) / (D + W)
            else:
                to_wait = num(min(W, x.w)) / g_short
                to_code = 1 - to_wait
            shares = {c: num(d) / D for c, d in x.D.items()} if D else {x.cause_call.path: num(1)}
            name = LONG_NAME.get(x.kind, x.kind)
            for c, share in shares.items():
                if to_code:
                    self.book("delay_%s%s" % (name, model), c, x.cause, g_short * to_code * share)
                    for k, g in x.g_long.items():
                        if g:
                            self.book("delay_%s_longterm%s" % (LONG_NAME.get(k, k), model), c, x.cause,
                                      g * to_code * share)
            for v, overlap in x.W:
                share = to_wait * overlap / W
                for k in KINDS:
                    g = x.g_long[k] + (g_short if k == x.kind else 0)
                    if g:
                        v.g_long[k] += g * share
                if x.kind != "finalize":  # metrics of the other kinds are as without it
                    v.largest_share = max(v.largest_share, g_short * share)
            x.indirect = g_short * to_wait
            self.book("%s_wait_direct_%s%s" % (paradigm(x.kind), name, model), x.path, x.process, g_short * to_code)
            self.book("%s_wait_indirect_%s%s" % (paradigm(x.kind), name, model), x.path, x.process, g_short * to_wait)
        for x in self.states:
            propagating = min(x.largest_share, num(x.w))
            of = paradigm(x.kind)
            self.book("%s_wait_propagating_%s%s" % (of, x.kind, model), x.path, x.process, propagating)
            self.book("%s_wait_terminal_%s%s" % (of, x.kind, model), x.path, x.process, x.w - propagating)

    # sections 4 and 5

    def _default_bounds(self):
        t = self.t
        present = [p for p in range(t.n) if t.last[p] is not None]
        return t.t0, t.t1, min(present, key=lambda p: (-t.last[p], p))

    def _mpi_bounds(self):
        a, b, start = self._default_bounds()
        if all(self.init):
            a = max(c.en for c in self.init)
        if all(self.finalize):
            last = min(self.finalize, key=lambda c: (-c.en, c.process))
            b, start = last.en, last.process
        return a, b, start

    def _path(self, lower, upper, start):
        """Segments (process, from, to) of the critical path, backwards."""
        blockings = [[] for _ in range(self.t.n)]
        for s in self.blockings:
            blockings[s.process].append((s.s, s.u, s.cause))
        for p, wait in enumerate(self.init_wait):
            if wait:
                blockings[p].append((wait[0], wait[4], wait[3]))
        for b in blockings:
            b.sort()
        segments, p, t, visited = [], start, upper, set()
        while True:
            visited.add((p, t))
            k = bisect_right(blockings[p], (t, -1, -1)) - 1
            if k < 0 or blockings[p][k][1] <= lower:
                segments.append((p, lower, t))
                return segments
            _, end, cause = blockings[p][k]
            if end <= t:
                segments.append((p, end, t))
                p, t = cause, end
            elif (cause, t) not in visited:
                p = cause
            else:
                segments.append((p, lower, t))
                return segments

    def _critical_path(self, where, lower, upper, start):
        t, n, num = self.t, self.t.n, self.number
        names = ["critical_path", "critical_path_imbalance", "critical_path_activities",
                 "non_critical_path_activities", "critical_imbalance_impact", "intra_partition_imbalance",
                 "inter_partition_imbalance"]
        self.declare(*names, where=where)
        extra = [[self.init_wait[p] and self.init_wait[p][:3]] for p in range(n)]
        on_path = defaultdict(lambda: [0] * n)
        for p, a, b in self._path(lower, upper, start):
            for c, ticks in self.profile(p, a, b, extra[p]).items():
                on_path[c][p] += ticks
                self.book("critical_path", c, p, ticks, where)
        G = {c: sum(row) for c, row in on_path.items()}
        L = [self.profile(p, lower, min(upper, t.last[p]), extra[p]) if t.last[p] is not None else {}
             for p in range(n)]
        paths = set(G) | {c for profile in L for c in profile}
        h = [sum(G.values()) - sum(profile.values()) for profile in L]
        x_sum = [sum(max(G.get(c, 0) - L[p].get(c, 0), 0) for c in paths) for p in range(n)]
        factor = [num(h[p]) / x_sum[p] if x_sum[p] else num(0) for p in range(n)]
        for c in sorted(paths):
            g = G.get(c, 0)
            imbalance = max(num(g) - num(sum(profile.get(c, 0) for profile in L)) / n, num(0))
            intra = inter = num(0)
            for p in range(n):
                l = L[p].get(c, 0)
                self.book("critical_path_activities", c, p, min(l, g), where)
                self.book("non_critical_path_activities", c, p, max(l - g, 0), where)
                part = factor[p] * max(g - l, 0)
                if self._is_other_partition(p, c, on_path):
                    inter += part
                else:
                    intra += part
            for p in range(n):
                if on_path[c][p]:
                    spread = num(on_path[c][p]) / g
                    for name, value in (("critical_path_imbalance", imbalance), ("intra_partition_imbalance", intra),
                                        ("inter_partition_imbalance", inter),
                                        ("critical_imbalance_impact", intra + inter)):
                        self.book(name, c, p, value * spread, where)

    def _is_other_partition(self, p, c, on_path):
        if self.partition is None:
            return not (c in self.t.visits and self.t.visits[c][p] > 0)
        return self.partition[p] not in {self.partition[q] for q in range(self.t.n) if on_path[c][q] > 0}

    # output

    def result(self):
        t = self.t
        time = defaultdict(lambda: [0] * t.n)
        for p in range(t.n):
            for start, end, path in t.segments[p]:
                for depth in range(1, len(path) + 1):
                    time[path[:depth]][p] += end - start
        for name, rows in t.counts.items():
            for path, row in rows.items():
                for p, value in enumerate(row):
                    self.book(name, path, p, value)
        out = {"time": self._metric(time, "sec", "inclusive"), "visits": self._metric(t.visits, "occ", "exclusive")}
        for name in self.metrics:
            out[name] = self._metric(self.metrics[name], unit_of(name), "exclusive")
        only = {name: self._metric(rows, "sec", "exclusive") for name, rows in self.mpi_only.items()}
        return {"ranks": t.n, "metrics": out, "mpi_only": only}

    def _metric(self, rows, unit, kind):
        convert = (lambda v: float(self.seconds(v))) if unit == "sec" else float
        callpaths, total = {}, 0
        for path in sorted(rows):
            row = [convert(v) for v in rows[path]]
            if any(row):
                name = "/".join(n.replace("/", "%2F") for n in path)
                callpaths[name] = [a + b for a, b in zip(callpaths.get(name, [0.0] * len(row)), row)]
                if kind == "exclusive" or len(path) == 1:
                    total += sum(rows[path])
        return {"unit": unit, "kind": kind, "total": convert(total), "callpaths": callpaths}


def unit_of(name):
    if name.startswith("bytes"):
        return "bytes"
    return "occ" if name.startswith(("syncs", "comms")) or name.endswith("_count") else "sec"


# ---------------------------------------------------------------------------------------------------------- comparing


def differences(got, reference, relative, absolute):
    """Lines that tell where two sets of metrics differ. Every metric of the reference must be there with these values."""
    lines = []
    for name, metric in reference.items():
        if name not in got:
            lines.append("%s: missing" % name)
            continue
        mine, theirs = got[name]["callpaths"], metric["callpaths"]
        for path in sorted(set(mine) | set(theirs)):
            n = len(mine.get(path) or theirs.get(path))
            for p in range(n):
                a, b = mine.get(path, [0] * n)[p], theirs.get(path, [0] * n)[p]
                if not abs(a - b) <= max(relative * max(abs(a), abs(b)), absolute):
                    lines.append("%s %s [%d]: %.17g, expected %.17g" % (name, path, p, a, b))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--partition", help="processes of each partition, as in 0,1/2,3")
    parser.add_argument("--compare", metavar="REFERENCE", help="a JSON file with the expected metrics")
    parser.add_argument("--relative", type=float, default=1e-9)
    parser.add_argument("--absolute", type=float, default=1e-12)
    args = parser.parse_args()
    trace = Trace(args.archive)
    partition = None
    if args.partition:
        partition = {int(p): i for i, part in enumerate(args.partition.split("/")) for p in part.split(",")}
    result = Analysis(trace, partition).result()
    if not args.compare:
        json.dump(result, sys.stdout, indent=1)
        print()
        return 0
    with open(args.compare, encoding="utf-8") as f:
        reference = json.load(f)
    lines = differences(result["metrics"], reference["metrics"], args.relative, args.absolute)
    lines += ["mpi_only " + l for l in differences(result["mpi_only"], reference.get("mpi_only", {}), args.relative,
                                                   args.absolute)]
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
