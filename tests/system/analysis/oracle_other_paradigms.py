"""The oracle for what is beyond single-threaded messages and collectives: windows, files, neighbourhoods, inter-communicators,
and the threads of teams, also nested, that communicate from any thread. Written from docs/definitions/wait-states.md#26-other-paradigms; costs, critical path and indicators are
those of oracle.py. For the traces of other_paradigms.py: blocking messages, each with a tag of its own; no MPI_Init; tasks are left out.
"""
from collections import defaultdict

import oracle
import otf2
from otf2 import events as ev
from otf2.enums import IoOperationFlag, Paradigm

# python3-otf2 3.0.2 believes that an intercommunicator has all fields of a communicator, too.
InterComm = otf2.definitions.InterComm
if [f.name for f in InterComm._fields].count("parent") == 2:
    InterComm._fields = tuple(f for f in InterComm._fields if f.name == "name") + InterComm._fields[-4:]

MPI_KINDS = list(oracle.KINDS)
COST_KINDS = ["rma", "io", "neighbor", "ompbarrier", "ompidle", "lock"]
IF_SYNCHRONISING = {"mpi_rma_wait_at_create", "mpi_rma_wait_at_fence", "mpi_rma_wait_at_free", "mpi_io_collective_wait"}
SELF, THIS_GROUP, ALL_TARGETS = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


class Place:
    """Stands for a call where there is none: a worker outside of parallel regions, the code that lets a lock go."""

    def __init__(self, process, path, en, lv):
        self.process, self.path, self.en, self.lv = process, path, en, lv


class Member:
    def __init__(self, location, call, start_call, begin, op="", root=None, sent=1, received=1):
        self.location, self.call, self.start_call, self.begin = location, call, start_call, begin
        self.end, self.op, self.root, self.sends, self.receives = None, op, root, sent > 0, received > 0
        self.nonblocking = start_call is not call


class Part:
    """Of a thread in a team."""

    def __init__(self, location, begin):
        self.location, self.begin, self.end, self.first, self.barriers = location, begin, None, None, []


class Trace(oracle.Trace):
    def _definitions(self, defs):
        self.resolution = defs.clock_properties.timer_resolution
        locations = sorted(defs.locations, key=lambda l: l._ref)
        self.location_index = {l._ref: i for i, l in enumerate(locations)}
        self.n = len(locations)
        groups = [l.group._ref for l in locations]
        self.master = [groups.index(g) for g in groups]
        index = lambda group: [self.location_index[m._ref] for m in group.members]
        self.comm_members = {c._ref: index(c.group) for c in defs.comms if not isinstance(c, InterComm)}
        self.inter = {c._ref: (index(c.groupA), index(c.groupB)) for c in defs.inter_comms}
        self.comm_members.update({ref: a + b for ref, (a, b) in self.inter.items()})
        self.carts = {c.communicator._ref: [(d.size, str(d.cart_periodicity).endswith("TRUE")) for d in c.dimensions]
                      for c in defs.cart_topologies}
        self.artificial = {}
        self.operations_of = defaultdict(lambda: defaultdict(list))  # {(class, definition): {location: members}}
        self.sizes = {}  # {definition: members}
        self.syncs, self.epochs, self.locks = [], [], {}
        self.messages = defaultdict(dict)  # {(communicator, source, destination, tag): {"send": call, "recv": call}}
        self.forks = defaultdict(list)  # {who forks: [[fork, join, path, team, parts]]}
        self.idle = []  # (Place, fork, who forks, path of the fork)

    def _process(self, l, records):
        stack, requests, begun, base, previous = [], {}, None, None, None
        forks, parts, epoch, last_join = [], [], {}, None  # both innermost last
        for index, e in enumerate(records):
            if self.first[l] is None:
                self.first[l] = e.time
            path = stack[-1].path if stack else base
            if path and e.time > previous:
                self.segments[l].append((previous, e.time, path))
            previous = self.last[l] = e.time
            top = stack[-1] if stack else None
            if isinstance(e, ev.Enter):
                name = e.region.name
                mpi = e.region.paradigm == Paradigm.MPI
                call = oracle.Call(l, ((top.path if top else base) or ()) + (name,), name.lower(), mpi, e.time, index)
                self.root_path[l] = self.root_path[l] or call.path
                self.visits[call.path][l] += 1
                stack.append(call)
                if parts and parts[-1].first is None:
                    parts[-1].first = call
                if parts and name in ("barrier", "ibarrier"):
                    parts[-1].barriers.append(call)
            elif isinstance(e, ev.Leave):
                stack.pop().lv = e.time
            elif isinstance(e, (ev.MpiSend, ev.MpiRecv)):
                members, here = self.comm_members[e.communicator._ref], self.master[l]
                ends = (here, members[e.receiver]) if isinstance(e, ev.MpiSend) else (members[e.sender], here)
                self.messages[(e.communicator._ref, *ends, e.msg_tag)]["send" if isinstance(e, ev.MpiSend) else "recv"] = top
            elif isinstance(e, (ev.MpiCollectiveBegin, ev.RmaCollectiveBegin)):
                begun = e.time
            elif isinstance(e, ev.MpiCollectiveEnd):
                self._add_member("blocking", e, l, top, top, begun).end = e.time
            elif isinstance(e, ev.NonBlockingCollectiveRequest):
                requests[e.request_id] = top
            elif isinstance(e, ev.NonBlockingCollectiveComplete):
                start = requests.pop(e.request_id)
                self._add_member("nonblocking", e, l, top, start, start.en)
            elif isinstance(e, ev.RmaCollectiveEnd):
                member = Member(l, top, top, begun, oracle.op_name(e))
                member.end = e.time
                self.operations_of["rma", e.win._ref][l].append(member)
                self.sizes["rma", e.win._ref] = self.comm_members[e.win.comm._ref]
            elif isinstance(e, ev.IoCreateHandle) or isinstance(e, ev.IoOperationBegin) and e.operation_flags.value == IoOperationFlag.COLLECTIVE.value:
                self.operations_of["io", e.handle._ref][l].append(Member(l, top, top, top.en, type(e).__name__))
                self.sizes["io", e.handle._ref] = self.comm_members[e.handle.comm._ref]
            elif isinstance(e, ev.RmaGroupSync):
                self.syncs.append((l, top, e.win._ref, [self.location_index[m._ref] for m in e.group.members]))
            elif isinstance(e, ev.RmaAcquireLock):
                epoch[e.win._ref, e.remote] = [l, e.win._ref, e.remote, str(e.lock_type).endswith("SHARED"), top, e.time, None, None, []]
                self.epochs.append(epoch[e.win._ref, e.remote])
            elif isinstance(e, ev.RmaReleaseLock):
                epoch[e.win._ref, e.remote][6:8] = [top, e.time]
            elif isinstance(e, ev.RmaOpCompleteRemote):
                for held in (epoch[key] for key in epoch if key[0] == e.win._ref):
                    held[8].append(top)
            elif isinstance(e, ev.ThreadFork):
                forks.append([e.time, None, top.path, None, []])
                self.forks[l].append(forks[-1])
            elif isinstance(e, ev.ThreadJoin):
                forks.pop()[1] = e.time
            elif isinstance(e, ev.ThreadTeamBegin):
                parts.append(Part(l, e.time))
                if forks and forks[-1][3] is None:
                    mine = forks[-1]
                else:
                    forker, mine = next((x, f) for x in range(self.master[l], l) for f in self.forks[x] if f[3] == e.thread_team._ref)
                    self.idle.append((Place(l, base, last_join, e.time), mine[0], forker, mine[2]))
                    base = mine[2]
                    self.root_path[l] = self.root_path[l] or base
                    last_join = mine[1]
                mine[3] = e.thread_team._ref
                mine[4].append(parts[-1])
            elif isinstance(e, ev.ThreadTeamEnd):
                parts.pop().end = e.time
            elif isinstance(e, ev.ThreadAcquireLock):
                self.locks[self.master[l], e.lock_id, e.acquisition_order] = [top, e.time, None]
            elif isinstance(e, ev.ThreadReleaseLock):
                self.locks[self.master[l], e.lock_id, e.acquisition_order][2] = (e.time, top.path)

    def _add_member(self, class_, e, l, call, start_call, begin):
        comm, root = e.communicator._ref, e.root
        if comm in self.inter:
            a, b = self.inter[comm]
            root = l if root == SELF else None if root == THIS_GROUP else (b if l in a else a)[root] if root < len(a + b) else None
        else:
            root = None
        member = Member(l, call, start_call, begin, oracle.op_name(e), root, e.size_sent, e.size_received)
        if member.op == "BARRIER":
            member.sends = member.receives = True
        self.operations_of[class_, comm][l].append(member)
        self.sizes[class_, comm] = self.comm_members[comm]
        return member

    def _match_messages(self):
        pass

    def _match_collectives(self):
        self.operations = []  # (class, definition, members)
        for key, by_location in self.operations_of.items():
            for k in range(max(len(m) for m in by_location.values())):
                members = [by_location[l][k] for l in self.sizes[key]]
                for m in members:
                    m.end = m.call.lv if m.end is None else m.end
                self.operations.append((*key, members))


class Analysis(oracle.Analysis):
    def __init__(self, trace):
        oracle.KINDS = MPI_KINDS + COST_KINDS
        self.t, self.partition = trace, None
        self.metrics, self.mpi_only = {}, {}
        self.states, self.blockings, self.births = [], [], []
        self.sync_points = []
        self._messages()
        self._operations()
        self._windows()
        self._threads()
        self.of_process = [sorted((s for s in self.states if s.process == p), key=lambda s: s.s) for p in range(trace.n)]
        self.number = oracle.Fraction if len(self.states) <= 300 else oracle.Decimal
        self.starts = [[seg[0] for seg in segs] for segs in trace.segments]
        self.ends_of_states = [[s.end for s in states] for states in self.of_process]
        self.init = self.finalize = self.init_wait = [None] * trace.n
        for s in self.states:
            self.book(s.metric, s.path, s.process, s.w)
        self._synchronisation_points()
        self._intervals()
        for model in ("", "_waitfirst"):
            self._delay_costs(model)
        lower, upper, start = self._default_bounds()
        self.lower = lower
        self._critical_path(self.metrics, lower, upper, start)
        oracle.KINDS = MPI_KINDS

    def _state(self, metric, kind, call, s, end, cause, u, cause_call, blocks=True):
        state = oracle.WaitState(kind, call, s, end, cause, u, cause_call)
        state.metric = metric
        if state.w <= 0:
            return None
        self.states.append(state)
        if blocks:
            self.blockings.append(state)
        return state

    def _pair_state(self, metric, kind, call, s, end, cause, u, cause_call):
        """The waiting process and the cause synchronise, and nobody else."""
        state = self._state(metric, kind, call, s, end, cause, u, cause_call)
        if state and not state.cut:
            self.sync_points.append(([state.process, cause], min(call.lv, cause_call.lv)))

    # messages

    def _messages(self):
        for calls in self.t.messages.values():
            send, recv = calls["send"], calls["recv"]
            self._pair_state("mpi_latesender", "ls", recv, recv.en, recv.lv, send.process, send.en, send)
            if send.lv > recv.en:
                self._pair_state("mpi_latereceiver", "lr", send, send.en, send.lv, recv.process, recv.en, recv)

    # collective operations

    def _operations(self):
        for class_, definition, members in self.t.operations:
            op = members[0].op
            latest = lambda ms: min(ms, key=lambda m: (-m.begin, members.index(m)), default=None)
            last = latest([m for m in members if m.sends])
            metric, kind, all_of_it = self._kind(class_, op, members)
            if metric in IF_SYNCHRONISING and max(m.begin for m in members) > min(m.end for m in members):
                continue
            if all_of_it and last:
                inside = [m for m in members if m.begin <= last.begin <= m.end and (m.receives or m is last)]
                if inside:
                    self.sync_points.append(([m.location for m in inside], min(m.end for m in inside)))
            by_cause = defaultdict(list)
            for m in members:
                cause = self._cause(class_, definition, metric, members, m) if m.receives else None
                if not cause or cause is m:
                    continue
                s = m.call.en if m.nonblocking else m.begin
                reduce_ = metric == "mpi_earlyreduce"
                state = self._state(metric, kind, m.call, s, m.end, cause.location, cause.begin, cause.start_call, not reduce_)
                if state and not state.cut:  # a neighbour synchronises with each who waits for it alone
                    by_cause[id(cause), id(m) if kind == "neighbor" else 0].append((cause, m))
                if reduce_:  # cannot go on before the last
                    d = latest([x for x in members if x.sends and x.location != m.root])
                    blocking = oracle.WaitState(kind, m.call, s, m.end, d.location, d.begin, d.start_call)
                    if blocking.w > 0:
                        self.blockings.append(blocking)
            for waiting in by_cause.values() if not all_of_it else ():
                d = waiting[0][0]
                end_of_cause = d.start_call.lv if d.nonblocking else d.end
                self.sync_points.append(([d.location] + [m.location for _, m in waiting],
                                         min([end_of_cause] + [m.end for _, m in waiting])))

    @staticmethod
    def _kind(class_, op, members):
        """Metric, kind of costs, whether everybody inside synchronises."""
        if class_ == "io":
            return "mpi_io_collective_wait", "io", True
        if class_ == "rma":
            what = {"CREATE_HANDLE": "create", "BARRIER": "fence", "DESTROY_HANDLE": "free"}[op]
            return "mpi_rma_wait_at_" + what, "rma", True
        if "neighbor" in members[0].start_call.name:
            return "mpi_neighbor_wait", "neighbor", False
        return {"BARRIER": ("mpi_barrier_wait", "barrier", True), "ALLREDUCE": ("mpi_wait_nxn", "n2n", True),
                "BCAST": ("mpi_latebroadcast", "12n", False), "REDUCE": ("mpi_earlyreduce", "n21", False)}[op]

    def _cause(self, class_, definition, metric, members, m):
        rank = {x.location: i for i, x in enumerate(members)}
        senders = [x for x in members if x.sends]
        if metric == "mpi_neighbor_wait":
            near = neighbours(rank[m.location], self.t.carts[definition])
            senders = [x for x in senders if rank[x.location] in near]
        elif definition in self.t.inter and class_ == "blocking":
            a, b = self.t.inter[definition]
            senders = [x for x in senders if x.location in (b if m.location in a else a)]
        if metric == "mpi_latebroadcast":
            return next(x for x in members if x.location == m.root) if m.root != m.location else None
        if metric == "mpi_earlyreduce":
            return min(senders, key=lambda x: (x.begin, rank[x.location]), default=None) if m.root == m.location else None
        return min(senders, key=lambda x: (-x.begin, rank[x.location]), default=None)

    # windows

    def _windows(self):
        opened, epochs = {}, {"post": [], "start": []}
        for l, call, window, others in self.t.syncs:
            what = call.name.rsplit("_", 1)[1]
            if what in epochs:
                opened[l, window, what] = [l, window, others, call, None]
                epochs[what].append(opened[l, window, what])
            else:
                opened[l, window, {"wait": "post", "complete": "start"}[what]][4] = call
        pairs = defaultdict(lambda: ([], []))  # {(window, target, origin): (posts, starts)}
        for i, (what, list_) in enumerate(sorted(epochs.items())):
            for e in list_:
                for other in e[2]:
                    pairs[(e[1], e[0], other) if what == "post" else (e[1], other, e[0])][i].append(e)
        partners = defaultdict(list)
        for posts, starts in pairs.values():
            for post, start in zip(posts, starts):
                partners[id(post)].append(start)
                partners[id(start)].append(post)
        for e in epochs["post"]:
            last = min(partners[id(e)], key=lambda o: (-o[4].en, o[0]), default=None)
            if last:
                self._pair_state("mpi_rma_early_wait", "rma", e[4], e[4].en, e[4].lv, last[0], last[4].en, last[4])
        for e in epochs["start"]:
            last = min(partners[id(e)], key=lambda o: (-o[3].en, o[0]), default=None)
            if last:
                call = e[3] if e[3].lv > last[3].en else e[4]
                self._pair_state("mpi_rma_sync_late_post", "rma", call, call.en, call.lv, last[0], last[3].en, last[3])
        by_window = defaultdict(list)
        for e in self.t.epochs:
            if e[7] is not None:
                by_window[e[1]].append(e)
        conflict = lambda a, b: not (a[3] and b[3]) and (a[2] == b[2] or ALL_TARGETS in (a[2], b[2]))
        for holders in by_window.values():
            # From the acquisition to the begin of the release nobody else has the lock, unless MPI_Win_lock returns without it.
            eager = not any(conflict(a, b) and a[5] < b[6].en and b[5] < a[6].en for i, a in enumerate(holders) for b in holders[:i])
            turn = lambda e: e[6].en if eager else e[7]
            holders.sort(key=lambda e: (turn(e), e[5], e[0]))
            for i, e in enumerate(holders):
                before = [h for h in holders[:i] if conflict(h, e)]
                last = [h for h in before if not any(conflict(h, x) and turn(x) > turn(h) for x in before)]
                # Of equal releases the one taken first; exclusive holders count before shared ones.
                holder = min(last, key=lambda h: (-h[7], h[3], h[5], h[0]), default=None)
                if not holder or holder[0] == e[0]:
                    continue
                wait = lambda call: min(holder[7], call.lv) - call.en if holder[6].en <= call.lv else 0
                call = max((e[4],) if eager else (e[4], *e[8], e[6]), key=wait)
                if wait(call) > 0:
                    self._pair_state("mpi_rma_sync_lock_competition", "rma", call, call.en, call.lv, holder[0], min(holder[7], call.lv), holder[6])

    # threads

    def _threads(self):
        for forks in self.t.forks.values():
            for _, _, _, _, parts in forks:
                self.sync_points.append(([p.location for p in parts], min(p.first.en for p in parts)))
                for calls in zip(*(p.barriers for p in parts)):
                    last = min(calls, key=lambda c: (-c.en, c.process))
                    self.sync_points.append(([c.process for c in calls], min(c.lv for c in calls)))
                    for c in calls:
                        metric = "omp_ebarrier_wait" if c.name == "barrier" else "omp_ibarrier_wait"
                        if c is not last:
                            self._state(metric, "ompbarrier", c, c.en, c.lv, last.process, last.en, last)
        for place, fork, master, path in self.t.idle:
            cause = Place(master, path, fork, fork)
            if place.en is None:  # before its first team: no wait state, but it cannot be on the critical path
                self.births.append((place.process, fork, master))
            else:
                self._state("omp_idle_threads", "ompidle", place, place.en, place.lv, master, fork, cause)
        for (process, lock, order), (call, acquired, _) in self.t.locks.items():
            holder = self.t.locks.get((process, lock, order - 1))
            if holder and holder[2] and holder[0].process != call.process:
                released, path = holder[2]
                self._state("omp_lock_contention_critical", "lock", call, call.en, acquired, holder[0].process, released,
                            Place(holder[0].process, path, released, released))

    # differences to processes

    def _synchronisation_points(self):
        self.points = defaultdict(list)
        for members, time in self.sync_points:
            self._point(members, time)
        for times in self.points.values():
            times.sort()
        self.origin = self.t.t0

    def profile(self, l, a, b, extra=()):
        if extra and l != self.t.master[l] and a == self.lower and self.t.first[l] is not None:
            a = max(a, self.t.first[l])  # the life of a worker
        return super().profile(l, a, b, extra)

    def _path(self, lower, upper, start):
        keep = self.blockings
        self.blockings = keep + [Birth(p, self.t.t0, fork, master) for p, fork, master in self.births]
        try:
            return super()._path(lower, upper, start)
        finally:
            self.blockings = keep


class Birth:
    def __init__(self, process, s, u, cause):
        self.process, self.s, self.u, self.cause = process, s, u, cause


def neighbours(rank, dimensions):
    """Ranks beside a rank of a Cartesian topology, row by row."""
    at, rest = [], rank
    for size, _ in reversed(dimensions):
        at.insert(0, rest % size)
        rest //= size
    near = set()
    for d, (size, periodic) in enumerate(dimensions):
        for step in (-1, 1):
            to = at[d] + step
            if periodic or 0 <= to < size:
                number = 0
                for k, (n, _) in enumerate(dimensions):
                    number = number * n + (to % n if k == d else at[k])
                near.add(number)
    return near - {rank}
