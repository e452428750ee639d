"""What a run of sim_random must have given, computed from what the program says it did (LOG.RANK, see sim_random.c) by docs/definitions alone.

truth.py LOG RANKS prints it. Times are integers (ns) of one clock, so everything is exact. A place is a location of the result: a thread of a rank that calls MPI."""
import sys
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

ENDS = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}  # in which the tool begins and ends
# docs/clocks.md: shorter sends do not look for the post of their receive; posts with wildcards, and all over records, are told of if they came so much later
SHORT_NS = 1000
OWN_WORK_NS = 1000  # docs/clocks.md: shorter work of the tool at the end of a call is the program's
SMALL_BYTES = 4096  # docs/clocks.md: over records, smaller standard sends are not told when their receive was posted
NOT_TRACED = ("MPI_Comm_create_from_group", "MPI_File_set_size", "MPI_Intercomm_create", "MPI_Intercomm_merge")  # docs/clocks.md: `analyze` does not know that members meet there
AT_ONCE_NS = 2  # two that end so close to each other need not see each other
PROBES = ("MPI_Probe", "MPI_Mprobe")
N2N = ("Allreduce", "Allgather", "Alltoall", "Reduce_scatter_block")
FILES = [f"File_{name}" for name in ("open", "close", "set_size", "write_at_all", "read_at_all", "write_at_all_begin", "iwrite_at_all")]
KIND = {"Barrier": "mpi_barrier_wait", "Bcast": "mpi_latebroadcast", "Scatter": "mpi_latebroadcast", "Reduce": "mpi_earlyreduce", "Gather": "mpi_earlyreduce",
        "Scan": "mpi_earlyscan", "Exscan": "mpi_earlyscan", **dict.fromkeys(("Comm_split", "Comm_dup", "Comm_create_from_group", "Cart_create", "Dist_graph_create_adjacent", "Intercomm_create", "Intercomm_merge"), "mpi_mgmt_comm_wait"),
        **dict.fromkeys(FILES, "mpi_io_collective_wait"), **dict.fromkeys(N2N, "mpi_wait_nxn"), "Win_create": "mpi_rma_wait_at_create", "Win_free": "mpi_rma_wait_at_free", "Win_fence": "mpi_rma_wait_at_fence",
        "Neighbour": "mpi_neighbor_wait"}
IF_ALL_WAIT = ("mpi_mgmt_comm_wait", "mpi_io_collective_wait", "mpi_rma_wait_at_create", "mpi_rma_wait_at_free", "mpi_rma_wait_at_fence")  # "only if synchronising"


def once(function):
    """Computed once for each run and further arguments."""
    def found(run, *arguments):
        key = (function.__name__, *arguments)
        if key not in run.found:
            run.found[key] = function(run, *arguments)
        return run.found[key]
    return found


class Call:
    __slots__ = ("rank", "thread", "function", "begin", "end", "lines", "frames", "path", "key", "number", "place", "before", "worked", "after")

    def __init__(self, rank, thread, function, begin, end, frames, lines):
        self.rank, self.thread, self.function = rank, int(thread), function
        self.begin, self.end = int(begin), int(end) - 1  # reading the clock takes 1 ns
        self.lines = lines
        self.frames, self.path, self.key = named(frames, function)
        self.number = self.place = self.before = self.worked = None  # of all; location; call path and duration of the code before it
        self.after = 0  # of the code behind the last call of a further thread


class Left:
    """The end of a call, where something depends on that instead of its begin."""

    def __init__(self, call):
        self.rank, self.of = call.rank, call


def names(frames):
    return tuple(frame.partition(":")[0] for frame in frames)


@lru_cache(1 << 16)
def named(frames, function):
    """NAME:ACTIVATION of the functions of a call path; their names and the called one's, apart and as one word."""
    frames = tuple(frames.split("/"))
    path = (*names(frames), function)
    return frames, path, "/".join(path)


@lru_cache(1 << 16)
def common(a, b):
    """docs/definitions/estimates.md: the time between two calls belongs to the functions that certainly ran all the time."""
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return names(a[:n])


class Send:
    def __init__(self, call, number, to, mode, size, request):
        self.call, self.number, self.to, self.mode, self.size, self.request = call, number, int(to), mode, int(size), int(request)
        self.posted, self.any = None, False  # the call that posts its receive; whether that takes any source or tag
        self.gone = False  # cancelled


class Run:
    """Calls of all locations, and who belongs to whom."""

    def __init__(self, log, ranks):
        self.ranks, self.found, self.apart = ranks, {}, 1  # nodes that send records to each other
        self.node = [0] * ranks  # of each rank
        self.error_ns = 0  # of the clocks of several nodes: what is closer together may be told in another order
        self.calls = []  # of each location, in the order of the result
        for rank in range(ranks):
            self.calls += read(f"{log}.{rank}", rank)
        for place, calls in enumerate(self.calls):
            for previous, call in zip([None, *calls], calls):
                call.place = place
                call.before = common(previous.frames, call.frames) if previous else call.path[:1]
                call.worked = call.begin - previous.end if previous else 0
        for number, call in enumerate(self.all()):
            call.number = number
        self.first = {calls[0].rank: place for place, calls in reversed(list(enumerate(self.calls)))}  # the first thread of each rank
        self.masters = [self.calls[self.first[rank]] for rank in range(ranks)]
        self.sends, self.requests = {}, {}  # (rank, number) -> Send; (rank, request) -> Send, the call that posts a receive, or a member
        self.meetings = defaultdict(dict)  # (communicator or window, order) -> rank -> (kind, root, call, rank in it)
        self.posts, self.completes = {}, {}  # (window, epoch, rank) -> call
        self.unlocks = defaultdict(list)  # window -> (call, target or -1, shared)
        for call in self.all():
            for word, *rest in call.lines:
                self.start(call, word, rest)
        for call in self.all():
            for word, *rest in call.lines:
                if word == "R":
                    poster = call if rest[0] == "-1" else self.requests[call.rank, rest[0]]
                    send = self.sends[int(rest[1]), rest[2]]
                    send.posted, send.any = poster, ["P", "-1", "any"] in poster.lines
                elif word == "F":
                    probe = max((c for c in self.calls[call.place] if c.function in PROBES and c.end <= call.begin), key=lambda c: c.begin)
                    probe.lines = [("F", *rest)]
                elif word == "G":
                    gone = self.requests[call.rank, rest[0]]
                    gone.gone = True
                    del self.sends[call.rank, gone.number]

    def all(self):
        return (call for calls in self.calls for call in calls)

    def start(self, call, word, rest):
        if word == "S":
            self.sends[call.rank, rest[0]] = send = Send(call, *rest)
            if send.request >= 0:
                self.requests[call.rank, rest[4]] = send
        elif word == "P" and rest[0] != "-1":
            self.requests[call.rank, rest[0]] = call
        elif word == "K":
            self.meetings[rest[0], rest[3]][call.rank] = (rest[1], int(rest[2]), call, int(rest[4]))
        elif word == "N":
            self.meetings[rest[0], rest[1]][call.rank] = ("Neighbour", -1, call, int(rest[2]))
        elif word == "O":
            self.posts[rest[0], rest[1], call.rank] = call
        elif word == "T" and call.function == "MPI_Win_complete":
            self.completes[rest[0], rest[1], call.rank] = call
        elif word == "L":
            self.unlocks[rest[0]].append((call, int(rest[1]), rest[2] == "1"))
        elif word == "Q":
            kind = rest[2].capitalize()
            self.meetings[rest[1], rest[4]][call.rank] = (kind, int(rest[3]), call, int(rest[5]))
            self.requests[call.rank, rest[0]] = (rest[1], rest[4])

    def meeting(self, call, word, rest):
        """The collective operation of a line K, N or E."""
        return self.meetings[(rest[0], rest[3]) if word == "K" else (rest[0], rest[1]) if word == "N" else self.requests[call.rank, rest[0]]]

    def others(self, word, rest):
        """The calls of the other side of an epoch: for whose posts MPI_Win_start and _complete may wait, for whose ends MPI_Win_wait does."""
        window, epoch, *ranks = rest
        return [(self.posts if word == "T" else self.completes)[window, epoch, int(rank)] for rank in ranks]

    def locked_before(self, call, window, target, shared):
        """Ends of the epochs of locks that this one conflicts with, as far as they had ended when it ended."""
        for other, its_target, its_shared in self.unlocks[window]:
            if other is not call and other.end < call.end + self.error_ns and not (shared and its_shared) and (target == its_target or -1 in (target, its_target)):
                yield Left(other)

    def held_before(self, call, window, target, shared, analysed):
        """The call, begun before this one ended, that let go of the lock that MPI_Win_lock asks for; none if that was its own rank. A profile knows those
        of its own node."""
        conflict = lambda a, b: not (a[2] and b[2]) and (a[1] == b[1] or -1 in (a[1], b[1]))
        before = [other for other in self.unlocks[window] if other[0].begin <= call.end and conflict(other, (call, target, shared))
                  and (analysed or self.node[other[0].rank] == self.node[call.rank])]
        last = [a for a in before if not any(conflict(a, b) and b[0].begin > a[0].begin for b in before)]
        found = max((other[0] for other in last), key=lambda other: (min(other.end, call.end), other.begin), default=call)
        return [found] if found.rank != call.rank else []

    def send_that_ends(self, call, word, rest):
        """The send that is complete in this call and may have waited in it, or None."""
        if word == "S" and rest[4] == "-1" and call.function in ("MPI_Send", "MPI_Ssend"):
            return self.sends[call.rank, rest[0]]
        send = self.requests[call.rank, rest[0]] if word == "D" else None
        return send if send is not None and not send.gone and send.mode not in ("Bsend", "Rsend") else None  # which wait for nobody


def read(path, rank):
    """Calls of the threads of a rank."""
    threads, lines = defaultdict(list), []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] == "C":
            threads[words[1]].append(Call(rank, *words[1:], lines))
            lines = []
        elif words[0] == "X":
            threads[words[1]][-1].after = int(words[2]) - threads[words[1]][-1].end
        else:
            lines.append(words)
    return [calls for _, calls in sorted(threads.items(), key=lambda item: int(item[0]))]


class Wait:
    """ns > 0 of waiting for any of `late`, calls that came at the same time; sure: it is certainly noticed."""

    def __init__(self, ns, metric, late, sure=True):
        self.ns, self.metric, self.late, self.sure = ns, metric, late, sure
        self.instead = None  # another one that counts where this one is not noticed


def last_of(calls):
    calls = list(calls)
    latest = max(call.begin for call in calls)
    return [call for call in calls if call.begin == latest]


def neighbours(call):
    """Ranks from which a neighbourhood collective gets something."""
    return [int(rank) for word, *rest in call.lines if word == "N" for rank in rest[3:]]


def causes(meeting, rank, blocking):
    """(metric, the calls for one of which this member of a collective operation waits), or None."""
    kind, root, _, me = meeting[rank]
    calls = {r: call for r, (_, _, call, _) in meeting.items()}
    metric = KIND[kind]
    if len(meeting) == 1:
        return None
    if metric in ("mpi_barrier_wait", "mpi_wait_nxn"):
        return metric, last_of(calls.values())
    if metric == "mpi_neighbor_wait":
        return metric, last_of(calls[other] for other in neighbours(calls[rank]))
    if metric in IF_ALL_WAIT:
        latest = last_of(calls.values())
        synchronising = latest[0].begin <= min(call.end for call in calls.values())
        return (metric, latest) if blocking and synchronising else None
    if metric == "mpi_latebroadcast":
        return (metric, [calls[root]]) if rank != root else None
    if metric == "mpi_earlyreduce":
        first = min(call.begin for r, call in calls.items() if r != root)
        return (metric, [call for r, call in calls.items() if r != root and call.begin == first]) if rank == root else None
    before = last_of(call for _, _, call, other in meeting.values() if other < me) if me > 0 else None  # scans
    return (metric, before) if before else None


def table():
    return defaultdict(lambda: defaultdict(int))


@once
def all_waits(run, nodes=1, analysed=False):
    """(call, Wait) of each call that waited."""
    found = [(call, wait) for call in run.all() if call.lines and (wait := wait_of(run, call, nodes, analysed)) is not None]
    found += [(call, Wait(wait.instead.ns, wait.instead.metric, wait.instead.late, False)) for call, wait in found if wait.instead is not None]
    last = last_of(calls[-1] for calls in run.masters)
    return found + [(call, Wait(min(last[0].begin, call.end) - call.begin, "mpi_finalize_wait", last)) for call in (calls[-1] for calls in run.masters)]


def waits(run, nodes=1, analysed=False):
    """metric -> path -> place -> ns; and the part of it that may be missing: short late receivers, and what `analyze`, which knows no modes of persistent sends, need not see."""
    result, unsure = defaultdict(table), defaultdict(table)
    for call, wait in all_waits(run, nodes, analysed):
        result[wait.metric][call.key][call.place] += wait.ns
        unsure[wait.metric][call.key][call.place] += 0 if wait.sure else wait.ns
    return result, unsure


def blame(run, nodes=1):
    """(waiting call path, late rank, call path that it was in before) -> [ns at least, at most]; more where several came last at once."""
    result = defaultdict(lambda: [0, 0])
    for call, wait in all_waits(run, nodes, False):
        rows = {(call.key, late.rank, "/".join(late.before)) for late in wait.late}
        for row in rows:
            result[row][0] += wait.ns if wait.sure and len(rows) == 1 else 0
            result[row][1] += wait.ns
    return result


def pairs(run, nodes=1):
    """(rank, other rank) -> [ns that it waited for it at least, at most, messages sent to it, bytes]"""
    result = defaultdict(lambda: [0, 0, 0, 0])
    for call, wait in all_waits(run, nodes, False):
        late = {other.rank for other in wait.late}
        for rank in late:
            result[call.rank, rank][0] += wait.ns if wait.sure and len(late) == 1 else 0
            result[call.rank, rank][1] += wait.ns
    for send in run.sends.values():
        result[send.call.rank, send.to][2] += 1
        result[send.call.rank, send.to][3] += send.size
    return result


def is_told(run, send):
    """Does the sender hear at all when its receive was posted?"""
    return send.mode == "Ssend" or send.size >= SMALL_BYTES or run.node[send.call.rank] == run.node[send.to]


def surely_ends_after(run, send, analysed=False):
    """Between nodes a synchronous send ends after its receive was posted, whatever the clocks say; a trace does not know the mode of persistent ones."""
    node = run.host if analysed else run.node
    return send.mode == "Ssend" and node[send.call.rank] != node[send.to] and (not analysed or send.call.function in ("MPI_Ssend", "MPI_Issend"))


def ends_after(run, call, send, analysed=False):
    """May this call, in which the send is complete, have ended after its receive was posted?"""
    return surely_ends_after(run, send, analysed) or send.posted.begin < call.end + run.error_ns


def is_sure(run, call, send, nodes=1, analysed=False):
    """Does the sender surely hear when its receive was posted, in a call that it may have waited in? In MPI_Waitsome only inside a node. Not where it ended
    within the clocks' error of the post."""
    if call.function == "MPI_Waitsome" and nodes > 1:
        return False
    error_ns = max(run.error_ns, OWN_WORK_NS if analysed and run.apart > 1 else 0)
    if (analysed or send.mode != "Ssend") and not surely_ends_after(run, send, analysed) and abs(call.end - send.posted.begin) <= error_ns:
        return False
    return call.end - call.begin >= SHORT_NS and not ((send.any or nodes > 1) and send.posted.begin - call.begin <= SHORT_NS)


def wait_of(run, call, nodes=1, analysed=False):
    """The one wait state of a call, or None."""
    candidates = []  # 0 ns: need not be waited for
    from_late = set()
    for word, *rest in call.lines:
        if word == "R" or (word == "F" and call.function in PROBES):
            sender, number = rest[-2:]
            late = run.sends[int(sender), number].call
            if late.rank == call.rank:
                continue
            w = min(late.begin, call.end) - call.begin
            candidates.append(Wait(max(w, 0), "mpi_latesender" if word == "R" else "mpi_probe_wait", [late]))
            if w > 0:
                from_late.add(late.rank)
    for word, *rest in call.lines:
        send = run.send_that_ends(call, word, rest)
        if send is not None and send.to != call.rank:
            u = send.posted.begin
            if send.mode == "Send" and word == "D" and send.to in from_late:
                continue  # may have been buffered, while the message from there has surely kept the call: no candidate
            late = call.begin < u and ends_after(run, call, send, analysed) and (analysed or is_told(run, send))  # a trace has all posts
            candidates.append(Wait(min(u, call.end) - call.begin if late else 0, "mpi_latereceiver", [send.posted], is_sure(run, call, send, nodes, analysed)))
        if word in ("T", "V"):
            late = last_of(run.others(word, rest))
            waited = call.begin < late[0].begin <= call.end + run.error_ns  # of start and complete the one in which the latest post came
            metric = "mpi_rma_sync_late_post" if word == "T" else "mpi_rma_early_wait"
            surely = word == "V" or late[0].begin <= call.end - run.error_ns
            candidates.append(Wait(min(late[0].begin, call.end) - call.begin if waited else 0, metric, late, surely))
        if word == "A":
            late = run.held_before(call, rest[0], int(rest[1]), rest[2] == "1", analysed)
            w = min(late[0].end, call.end) - call.begin if late else 0
            candidates.append(Wait(max(w, 0), "mpi_rma_sync_lock_competition", late))
        if word in ("K", "E", "N"):
            found = causes(run.meeting(call, word, rest), call.rank, word != "E")
            w = min(found[1][0].begin, call.end) - call.begin if found else 0
            candidates.append(Wait(max(w, 0), found[0] if found else "", found[1] if found else []))
    if not candidates:
        return None
    choose = min if call.function == "MPI_Waitsome" else max
    found = choose(candidates, key=lambda c: c.ns)
    if found.ns <= 0:
        return None
    for other in candidates:  # any of those that took as long
        if other.ns == found.ns and other.metric == found.metric and other is not found:
            found.late = [*found.late, *other.late]
    others = [c for c in candidates if c.ns > 0 and c.metric != found.metric]
    if choose is max and any(found.ns - c.ns < run.error_ns for c in others):  # by the clocks of several nodes the other one may be longer
        found.sure = False
    if not found.sure and choose is max:
        found.instead = max(others, key=lambda c: c.ns, default=None)
    return found


def sources(run, call):
    """(call whose beginning, or end (Left), the end of this one depends on, whether that is surely told)"""
    for word, *rest in call.lines:
        if word == "R":
            yield run.sends[int(rest[1]), rest[2]].call, True
        send = run.send_that_ends(call, word, rest)
        if send is not None and ends_after(run, call, send) and is_told(run, send) and (send.mode == "Ssend" or send.posted.begin > call.begin):
            yield send.posted, send.mode == "Ssend" or is_sure(run, call, send, run.apart)
        if word in ("T", "V"):
            for other in run.others(word, rest):
                if other.begin < call.end + run.error_ns:
                    yield other, call.function != "MPI_Win_start"  # may have waited
        if word == "L":
            for left in run.locked_before(call, rest[0], int(rest[1]), rest[2] == "1"):
                yield left, run.apart == 1 and left.of.end < call.end - AT_ONCE_NS
        if word in ("K", "E", "N"):
            meeting = run.meeting(call, word, rest)
            kind, root, _, me = meeting[call.rank]
            for rank, (_, _, other, place) in meeting.items():
                metric = KIND[kind]
                if {"mpi_latebroadcast": rank == root, "mpi_earlyreduce": call.rank == root, "mpi_earlyscan": place < me,
                        "mpi_neighbor_wait": rank in neighbours(call)}.get(metric, True):
                    yield other, True


@once
def edges(run):
    """call -> its sources on other ranks, of all calls that have any"""
    found = {call: [(source, surely) for source, surely in sources(run, call) if source.rank != call.rank] for call in run.all() if call.lines}
    return {call: of for call, of in found.items() if of}


@once
def moments(run):
    """(time, whether the call ends, call) in order: what a clock must know"""
    begun = [(call.begin, 0, call) for call in run.all()]
    return sorted(begun + [(call.end, 1, call) for call in run.all() if call.function != "MPI_Finalize"], key=lambda m: m[:2])


class Chain(tuple):
    """(the chain before, call path, place, ns): one stretch of work of a chain of useful work; of several that are as long, alike is true."""
    alike = False


@once
def close_starts(run):
    """Places of further threads whose first call begins as one of the first thread ends: with which of its clocks is not certain."""
    ends = {(call.rank, call.end) for calls in run.masters for call in calls}
    return {calls[0].place for calls in run.calls if calls is not run.calls[run.first[calls[0].rank]]
            and any((calls[0].rank, calls[0].begin - ns) in ends for ns in range(AT_ONCE_NS + 1))}


@once
def all_sure(run):
    return not close_starts(run) and all(surely for of in edges(run).values() for _, surely in of)


def critical_path(run, sure=False, factors=(), chained=False):
    """As path_of; sure makes no difference where all edges are."""
    return path_of(run, sure and not all_sure(run), tuple(factors), chained)


@once
def useful(run):
    """Useful time of each place."""
    return [sum(call.worked for call in calls) + calls[-1].after for calls in run.calls]


@once
def steps(run):
    """What clocks must know, in order: (number of the call, place, rank, sources, those that are sure) of its end, by their numbers, those of ends behind all
    those of begins; (number, place, rank, call, None) of its begin. rank: -1 where it does not matter: at the end in other threads than the first, at the begin
    but in the first call of a place. sources: None where a clock begins."""
    n, come_from, found = sum(map(len, run.calls)), edges(run), []
    for _, ends, call in moments(run):
        p, first = call.place, call is run.calls[call.place][0]
        if not ends:
            found.append((call.number, p, call.rank if first else -1, call, None))
            continue
        of = [(n + source.of.number if isinstance(source, Left) else source.number, surely) for source, surely in come_from.get(call, ())]
        master = p == run.first[call.rank]
        sources = None if first and master else [number for number, _ in of]
        found.append((call.number, p, call.rank if master else -1, sources, [number for number, surely in of if surely]))
    return n, found


@once
def path_of(run, sure, factors, chained):
    """(length of the longest chain of useful work, the chain if it is asked for) by the logical clocks of docs/definitions/efficiency-factors.md; sure: only by
    edges that are; factors: (function, factor), a what-if scenario."""
    n, moved = steps(run)
    clock, entered, chain, entered_chain = [0] * len(run.calls), [None] * (2 * n), [None] * len(run.calls), [None] * (2 * n)
    ended, before = [0] * run.ranks, [0] * run.ranks  # clock of a rank's first thread at the end of its last call, and of the one before
    close = close_starts(run) if sure else ()
    for number, p, rank, what, surely in moved:
        if surely is not None:  # it ends
            its = entered[number] if what is not None else 0
            for source in (surely if sure else what) if what is not None else ():
                if entered[source] is None:
                    continue  # it came after, within the error of the clocks
                if chained and entered[source] >= its > entered[number] and entered_chain[source] is not chain[p]:
                    chain[p] = alike(chain[p])
                if entered[source] > its:
                    its, chain[p] = entered[source], entered_chain[source]
            entered[n + number] = clock[p] = its
            entered_chain[n + number] = chain[p]
            if rank >= 0:
                before[rank], ended[rank] = ended[rank], its
            continue
        work = what.worked
        for function, factor in factors:
            if function in what.before:
                work *= factor
        entered[number] = clock[p] = ((before if p in close else ended)[rank] if rank >= 0 else clock[p]) + work  # a further thread begins with its first call
        if chained and work > 0:
            chain[p] = Chain((chain[p], "/".join(what.before), p, work))
        entered_chain[number] = chain[p]
    for p, calls in enumerate(run.calls):
        clock[p] += calls[-1].after
    longest = [chain for length, chain in zip(clock, chain) if length == max(clock)]
    return max(clock), longest[0] if len(longest) == 1 else alike(longest[0])


def alike(chain):
    made = Chain(chain or (None, "", 0, 0))
    made.alike = True
    return made


def parts(chain):
    """path -> place -> ns of a chain; None if another one is as long."""
    result = table()
    while chain is not None:
        if chain.alike:
            return None
        chain, path, place, ns = chain
        result[path][place] += ns
    return result


def factors(run, sure=False, chained=False):
    """chained: the chain will be asked for, too."""
    path, work = critical_path(run, sure, chained=chained)[0], useful(run)
    elapsed, most = max(calls[-1].begin for calls in run.masters) - min(calls[0].end for calls in run.masters), max(work)
    mean = sum(work) / len(work)
    return {"critical_path_s": path / 1e9, "elapsed_s": elapsed / 1e9, "load_balance": mean / most, "serialisation_efficiency": most / path,
            "transfer_efficiency": path / elapsed, "parallel_efficiency": mean / elapsed, "communication_efficiency": most / elapsed}


def times(run):
    """Inclusive, but for the roots: what was before the first and after the last call is not in the log."""
    sums, result = defaultdict(int), table()
    for call in run.all():
        sums[call.path, call.place] += call.end - call.begin
        sums[call.before, call.place] += call.worked
    for (path, place), ns in sums.items():
        for depth in range(2, len(path) + 1):
            result["/".join(path[:depth])][place] += ns
    return result


def visits(run):
    result = table()
    for call in run.all():
        result[call.key][call.place] += 1
    return result


def main():
    run = Run(sys.argv[1], int(sys.argv[2]))
    for metric, paths in sorted(waits(run)[0].items()):
        for path, places in sorted(paths.items()):
            print(metric, path, dict(places))
    for row, (least, most) in sorted(blame(run).items()):
        print("blame", *row, least, most)
    print(factors(run))


if __name__ == "__main__":
    main()
