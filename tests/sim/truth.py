"""What a run of sim_random must have given, computed from what the program says it did (LOG.RANK, see sim_random.c) by docs/definitions alone.

truth.py LOG RANKS prints it. Times are integers (ns) of one clock, so everything is exact."""
import sys
from collections import defaultdict
from pathlib import Path

SHORT_NS = 1000  # docs/clocks.md: shorter sends do not look for the post of their receive; posts with wildcards are told of if they came so much later
N2N = ("Allreduce", "Allgather", "Alltoall", "Reduce_scatter_block")
KIND = {"Barrier": "mpi_barrier_wait", "Bcast": "mpi_latebroadcast", "Scatter": "mpi_latebroadcast", "Reduce": "mpi_earlyreduce", "Gather": "mpi_earlyreduce",
        "Scan": "mpi_earlyscan", "Exscan": "mpi_earlyscan", "Comm_split": "mpi_mgmt_comm_wait", **dict.fromkeys(N2N, "mpi_wait_nxn")}


class Call:
    def __init__(self, rank, function, begin, end, path, lines):
        self.rank, self.function, self.path = rank, function, path
        self.begin, self.end = int(begin), int(end) - 1  # reading the clock takes 1 ns
        self.lines = lines
        self.key = f"{path}/{function}"


class Send:
    def __init__(self, call, to, mode, size, request):
        self.call, self.to, self.mode, self.size, self.request = call, int(to), mode, int(size), int(request)
        self.posted, self.any = None, False  # the call that posts its receive; whether that takes any source or tag


class Run:
    """Calls of all ranks, and who belongs to whom."""

    def __init__(self, log, ranks):
        self.starts, self.calls = zip(*(read(f"{log}.{rank}", rank) for rank in range(ranks)))  # starts: when MPI_Init had ended
        self.sends, self.requests = {}, {}  # (rank, number) -> Send; (rank, request) -> Send, the call that posts a receive, or a member
        self.meetings = defaultdict(dict)  # (communicator, order) -> rank -> (kind, root, call, rank in it)
        for call in (c for calls in self.calls for c in calls):
            for word, *rest in call.lines:
                self.start(call, word, rest)
        for call in (c for calls in self.calls for c in calls):
            for word, *rest in call.lines:
                if word == "R":
                    poster = call if rest[0] == "-1" else self.requests[call.rank, rest[0]]
                    send = self.sends[int(rest[1]), rest[2]]
                    send.posted, send.any = poster, ["P", "-1", "any"] in poster.lines

    def start(self, call, word, rest):
        if word == "S":
            self.sends[call.rank, rest[0]] = send = Send(call, *rest[1:])
            if send.request >= 0:
                self.requests[call.rank, rest[4]] = send
        elif word == "P" and rest[0] != "-1":
            self.requests[call.rank, rest[0]] = call
        elif word == "K":
            self.meetings[rest[0], rest[3]][call.rank] = (rest[1], int(rest[2]), call, int(rest[4]))
        elif word == "Q":
            kind = rest[2].capitalize()
            self.meetings[rest[1], rest[4]][call.rank] = (kind, int(rest[3]), call, int(rest[5]))
            self.requests[call.rank, rest[0]] = (rest[1], rest[4])


def read(path, rank):
    calls, lines, start = [], [], 0
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] == "C":
            calls.append(Call(rank, *words[1:], lines))
            lines = []
        elif words[0] == "B":
            start = int(words[1]) - 1
        elif words[0] != "W":
            lines.append(words)
    return start, calls


def release(meeting, rank, blocking):
    """(metric, the time until which this member of a collective operation waits), or None."""
    kind, root, _, me = meeting[rank]
    begins = {r: call.begin for r, (_, _, call, _) in meeting.items()}
    metric = KIND[kind]
    if len(meeting) == 1:
        return None
    if metric in ("mpi_barrier_wait", "mpi_wait_nxn"):
        return metric, max(begins.values())
    if metric == "mpi_mgmt_comm_wait":
        synchronising = max(begins.values()) <= min(call.end for _, _, call, _ in meeting.values())
        return (metric, max(begins.values())) if blocking and synchronising else None
    if metric == "mpi_latebroadcast":
        return (metric, begins[root]) if rank != root else None
    if metric == "mpi_earlyreduce":
        return (metric, min(b for r, b in begins.items() if r != root)) if rank == root else None
    before = [call.begin for _, _, call, other in meeting.values() if other < me]  # scans
    return (metric, max(before)) if before else None


def table():
    return defaultdict(lambda: defaultdict(lambda: defaultdict(int)))


def waits(run, nodes=1):
    """metric -> path -> rank -> ns; and the part of it that may be missing: short late receivers."""
    result, unsure = table(), table()
    for calls in run.calls:
        for call in calls:
            found = wait_of(run, call, nodes)
            if found is not None:
                ns, metric, sure = found
                result[metric][call.key][call.rank] += ns
                unsure[metric][call.key][call.rank] += 0 if sure else ns
    last = max(calls[-1].begin for calls in run.calls)
    for calls in run.calls:
        call = calls[-1]
        result["mpi_finalize_wait"][call.key][call.rank] += min(last, call.end) - call.begin
    return result, unsure


def is_sure(call, send, nodes=1):
    """Does the sender surely hear when its receive was posted, in a call that it may have waited in? In MPI_Waitsome only inside a node."""
    if call.function == "MPI_Waitsome" and nodes > 1:
        return False
    return call.end - call.begin >= SHORT_NS and not (send.any and send.posted.begin - call.begin <= SHORT_NS)


def wait_of(run, call, nodes=1):
    """(ns, metric, sure) of the one wait state of a call, or None."""
    candidates = []  # w 0: need not be waited for
    from_late = set()
    for word, *rest in call.lines:
        if word == "R" and int(rest[1]) != call.rank:
            send = run.sends[int(rest[1]), rest[2]]
            w = min(send.call.begin, call.end) - call.begin
            candidates.append((max(w, 0), "mpi_latesender", True))
            if w > 0:
                from_late.add(send.call.rank)
    for word, *rest in call.lines:
        send = None
        if word == "S" and rest[4] == "-1" and call.function in ("MPI_Send", "MPI_Ssend"):
            send = run.sends[call.rank, rest[0]]
        elif word == "D":
            send = run.requests[call.rank, rest[0]]
        if send is not None and send.to != call.rank:
            u = send.posted.begin
            standard = send.mode == "Send" and word == "D"
            late = call.begin < u < call.end and not (standard and send.to in from_late)
            candidates.append((u - call.begin if late else 0, "mpi_latereceiver", is_sure(call, send, nodes)))
        meeting = None
        if word == "K":
            meeting = run.meetings[rest[0], rest[3]]
        elif word == "E":
            meeting = run.meetings[run.requests[call.rank, rest[0]]]
        if meeting is not None:
            found = release(meeting, call.rank, word == "K")
            w = min(found[1], call.end) - call.begin if found else 0
            candidates.append((max(w, 0), found[0] if found else "", True))
    if not candidates:
        return None
    choose = min if call.function == "MPI_Waitsome" else max
    found = choose(candidates, key=lambda c: c[0])
    return found if found[0] > 0 else None


def sources(run, call, sure):
    """Calls whose beginning the end of this one depends on; sure: only those that are surely told."""
    for word, *rest in call.lines:
        if word == "R":
            yield run.sends[int(rest[1]), rest[2]].call
        send = None
        if word == "S" and rest[4] == "-1" and call.function in ("MPI_Send", "MPI_Ssend"):
            send = run.sends[call.rank, rest[0]]
        elif word == "D":
            send = run.requests[call.rank, rest[0]]
        if send is not None and send.posted.begin < call.end:
            if send.mode == "Ssend" or (send.posted.begin > call.begin and (is_sure(call, send) or not sure)):
                yield send.posted
        if word in ("K", "E"):
            meeting = run.meetings[(rest[0], rest[3]) if word == "K" else run.requests[call.rank, rest[0]]]
            kind, root, _, me = meeting[call.rank]
            for rank, (_, _, other, place) in meeting.items():
                metric = KIND[kind]
                if {"mpi_latebroadcast": rank == root, "mpi_earlyreduce": call.rank == root, "mpi_earlyscan": place < me}.get(metric, True):
                    yield other


def factors(run, sure=False):
    """Critical path of useful work, and the factors, by the logical clocks of docs/definitions/efficiency-factors.md; sure: see sources."""
    clock, useful, last, entered = list(map(lambda _: 0, run.calls)), [0] * len(run.calls), list(run.starts), {}
    moments = [(call.begin, 0, call) for calls in run.calls for call in calls] + [(call.end, 1, call) for calls in run.calls for call in calls[:-1]]
    for time, ends, call in sorted(moments, key=lambda m: m[:2]):
        if ends:
            clock[call.rank] = max([entered[call], *(entered[s] for s in sources(run, call, sure) if s.rank != call.rank)])
            last[call.rank] = time
        else:
            work = time - last[call.rank]
            useful[call.rank] += work
            entered[call] = clock[call.rank] = clock[call.rank] + work
    path, elapsed, most = max(clock), max(calls[-1].begin for calls in run.calls) - min(run.starts), max(useful)
    mean = sum(useful) / len(useful)
    return {"critical_path_s": path / 1e9, "elapsed_s": elapsed / 1e9, "load_balance": mean / most, "serialisation_efficiency": most / path,
            "transfer_efficiency": path / elapsed, "parallel_efficiency": mean / elapsed, "communication_efficiency": most / elapsed}


def times(run):
    result = defaultdict(lambda: defaultdict(int))
    for calls in run.calls:
        for call in calls:
            result[call.key][call.rank] += call.end - call.begin
    return result


def visits(run):
    result = defaultdict(lambda: defaultdict(int))
    for calls in run.calls:
        for call in calls:
            result[call.key][call.rank] += 1
    return result


def main():
    run = Run(sys.argv[1], int(sys.argv[2]))
    for metric, paths in sorted(waits(run)[0].items()):
        for path, ranks in sorted(paths.items()):
            print(metric, path, dict(ranks))


if __name__ == "__main__":
    main()
