"""Is an archive a true account of an MPI program? Reads it with the otf2 module and checks, per location, that time never runs backwards,
regions are balanced and the first record is the Enter of main; over locations, that each receive has its send and comes after it, that
requests are started before they complete, and that collectives are complete on all members. What is started and never completed are requests
that were freed; one-sided and file operations are complete, windows and files made before they are used, locks released, threads announced.

check_trace.py [--partial] [--tally DIR] ARCHIVE   prints what is wrong; exit 1 if anything is. --partial: a run that was killed: what is
missing at the end is no error. --tally DIR: the calls that the program counted itself (tests/system/programs): each is one Enter.
"""
import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import otf2
from otf2 import events as e

# python3-otf2 3.0.2 believes that an intercommunicator has all fields of a communicator, too, and fails on each one.
InterComm = otf2.definitions.InterComm
if [f.name for f in InterComm._fields].count("parent") == 2:
    InterComm._fields = tuple(f for f in InterComm._fields if f.name == "name") + InterComm._fields[-4:]


def left_out(event):
    """Halves of messages of the same channel that were begun before it and are not in the archive."""
    return next((value for attribute, value in (event.attributes or {}).items() if attribute.name == "latecomer::left_out"), 0)


class Location:
    def __init__(self, ref):
        self.ref = ref
        self.rank, self.thread = ref & 0xFFFFFFFF, ref >> 32
        self.stack, self.first, self.last_time = [], None, 0
        self.calls = Counter()


class Checker:
    def __init__(self):
        self.problems = []
        self.locations = {}
        self.sends = defaultdict(list)  # (comm, source, destination, tag) -> (time, bytes) in the order of their start
        self.receives = defaultdict(list)  # the same key -> [post time, completion time, bytes], in posting order
        self.started = defaultdict(dict)  # rank -> request -> kind, order of the post
        self.posts = Counter()
        self.collectives = defaultdict(lambda: defaultdict(list))  # comm -> rank -> operations
        self.events = Counter()
        self.backwards = 0  # the most that a message goes back in time, in ticks
        self.open = Counter()  # (rank, what) -> balance of begins and ends that a location must close
        self.handles = set()  # (rank, "file" or "window", number) in existence
        self.operations = {}  # (rank, kind, matching id) of one-sided and file operations in progress
        self.file_collectives = defaultdict(lambda: defaultdict(list))  # (handle, communicator) -> rank -> operations
        self.created, self.begun = set(), set()

    def wrong(self, text):
        self.problems.append(text)

    def event(self, location, event):
        l = self.locations.setdefault(location._ref, Location(location._ref))
        self.events[type(event).__name__] += 1
        if event.time < l.last_time:
            self.wrong(f"location {l.ref}: time runs backwards at {event.time}")
        l.last_time = event.time
        if l.first is None and not isinstance(event, (e.ThreadBegin,)):
            l.first = event
            if not isinstance(event, (e.Enter, e.CallingContextEnter)):
                self.wrong(f"location {l.ref}: begins with {type(event).__name__}")
        handler = getattr(self, "on_" + type(event).__name__, None)
        if handler:
            handler(l, event)

    def on_Enter(self, l, event):
        l.stack.append(event.region)
        if event.region.name.startswith("MPI_"):
            l.calls[event.region.name] += 1

    def on_CallingContextEnter(self, l, event):
        l.stack.append(event.calling_context)
        if event.calling_context.region.name.startswith("MPI_"):
            l.calls[event.calling_context.region.name] += 1

    def on_CallingContextLeave(self, l, event):
        if not l.stack or l.stack.pop() is not event.calling_context:
            self.wrong(f"location {l.ref}: a calling context is left that was not entered last")

    def on_Leave(self, l, event):
        if not l.stack or l.stack[-1] is not event.region:
            self.wrong(f"location {l.ref}: Leave of {event.region.name} without its Enter")
        else:
            l.stack.pop()

    def world(self, comm, rank):
        """The process of a rank; of the remote group in an intercommunicator."""
        members = comm.group.members
        return members[rank]._ref if not isinstance(members[rank], int) else members[rank]

    def peer(self, l, comm, rank):
        if isinstance(comm, InterComm):
            a, b = comm.groupA.members, comm.groupB.members
            mine = [m if isinstance(m, int) else m._ref for m in a]
            other = b if l.rank in mine else a
            return other[rank] if isinstance(other[rank], int) else other[rank]._ref
        if comm.group.group_type == otf2.GroupType.COMM_SELF:
            return l.rank
        return self.world(comm, rank)

    def comm_of(self, l, comm):
        """COMM_SELF stands for one communicator on each process."""
        self_group = not isinstance(comm, InterComm) and comm.group.group_type == otf2.GroupType.COMM_SELF
        return (comm._ref, l.rank if self_group else -1)

    def on_MpiSend(self, l, event):
        key = (self.comm_of(l, event.communicator), l.rank, self.peer(l, event.communicator, event.receiver), event.msg_tag)
        self.sends[key].append((event.time, event.msg_length, left_out(event)))

    def on_MpiIsend(self, l, event):
        self.on_MpiSend(l, event)
        self.start(l, event, "send")

    def start(self, l, event, kind):
        if event.request_id in self.started[l.rank]:
            self.wrong(f"rank {l.rank}: request {event.request_id} started twice")
        self.posts[l.rank] += 1
        self.started[l.rank][event.request_id] = (kind, event.time)

    def complete(self, l, event, *kinds):
        kind = self.started[l.rank].pop(event.request_id, (None, 0))
        if kind[0] not in kinds:
            self.wrong(f"rank {l.rank}: {type(event).__name__} of request {event.request_id}, which was not started as such")
        return kind[1]

    def on_MpiIrecvRequest(self, l, event):
        self.start(l, event, "receive")

    def on_MpiIsendComplete(self, l, event):
        self.complete(l, event, "send")

    def on_MpiRequestCancelled(self, l, event):
        self.complete(l, event, "send", "receive")

    def on_MpiRequestTest(self, l, event):
        if event.request_id not in self.started[l.rank]:
            self.wrong(f"rank {l.rank}: test of request {event.request_id}, which is not active")

    def received(self, l, event, posted):
        key = (self.comm_of(l, event.communicator), self.peer(l, event.communicator, event.sender), l.rank, event.msg_tag)
        self.receives[key].append((posted, event.time, event.msg_length, left_out(event)))

    def on_MpiRecv(self, l, event):
        self.received(l, event, event.time)

    def on_MpiIrecv(self, l, event):
        self.received(l, event, self.complete(l, event, "receive"))

    def on_NonBlockingCollectiveRequest(self, l, event):
        self.start(l, event, "collective")

    def on_NonBlockingCollectiveComplete(self, l, event):
        self.complete(l, event, "collective")
        self.collectives[self.comm_of(l, event.communicator) + ("nonblocking",)][l.rank].append(str(event.collective_op))

    def on_MpiCollectiveEnd(self, l, event):
        self.open[l.ref, "collective"] -= 1
        operation = str(event.collective_op)
        if "HANDLE" not in operation:
            root = event.root if not isinstance(event.communicator, InterComm) else None
            root = getattr(root, "_ref", root)
            self.collectives[self.comm_of(l, event.communicator) + ("blocking",)][l.rank].append((operation, str(root)))

    def on_MpiCollectiveBegin(self, l, event):
        self.open[l.ref, "collective"] += 1

    def on_RmaCollectiveBegin(self, l, event):
        self.open[l.ref, "one-sided collective"] += 1

    def on_RmaCollectiveEnd(self, l, event):
        self.open[l.ref, "one-sided collective"] -= 1

    # threads

    def on_ThreadCreate(self, l, event):
        self.created.add((l.rank, event.sequence_count))

    def on_ThreadBegin(self, l, event):
        self.begun.add((l.rank, l.thread))
        self.open[l.ref, "thread"] += 1

    def on_ThreadEnd(self, l, event):
        self.open[l.ref, "thread"] -= 1

    # windows

    def make(self, l, kind, thing):
        if (l.rank, kind, thing._ref) in self.handles:
            self.wrong(f"rank {l.rank}: {kind} {thing._ref} is made twice")
        self.handles.add((l.rank, kind, thing._ref))

    def use(self, l, kind, thing, event):
        if (l.rank, kind, thing._ref) not in self.handles:
            self.wrong(f"rank {l.rank}: {type(event).__name__} with {kind} {thing._ref}, which does not exist")

    def end(self, l, kind, thing, event):
        self.use(l, kind, thing, event)
        self.handles.discard((l.rank, kind, thing._ref))

    def on_RmaWinCreate(self, l, event):
        self.make(l, "window", event.win)

    def on_RmaWinDestroy(self, l, event):
        self.end(l, "window", event.win, event)

    def on_RmaPut(self, l, event):
        self.use(l, "window", event.win, event)
        self.operations[l.rank, "one-sided", event.matching_id] = event.win._ref

    on_RmaGet = on_RmaAtomic = on_RmaPut

    def on_RmaOpCompleteRemote(self, l, event):
        if self.operations.pop((l.rank, "one-sided", event.matching_id), None) != event.win._ref:
            self.wrong(f"rank {l.rank}: one-sided operation {event.matching_id} is complete, but was not started")

    def on_RmaAcquireLock(self, l, event):
        self.use(l, "window", event.win, event)
        self.open[l.ref, f"lock of rank {event.remote} in window {event.win._ref}"] += 1

    def on_RmaReleaseLock(self, l, event):
        self.open[l.ref, f"lock of rank {event.remote} in window {event.win._ref}"] -= 1

    # files

    def on_IoCreateHandle(self, l, event):
        self.make(l, "file", event.handle)

    def on_IoDestroyHandle(self, l, event):
        self.end(l, "file", event.handle, event)

    def on_IoOperationBegin(self, l, event):
        self.use(l, "file", event.handle, event)
        self.operations[l.rank, "file", event.matching_id] = event.handle._ref
        if event.operation_flags.value & otf2.IoOperationFlag.COLLECTIVE.value:
            self.file_collectives[event.handle._ref, event.handle.comm._ref][l.rank].append(str(event.mode))

    def in_progress(self, l, event):
        if self.operations.get((l.rank, "file", event.matching_id)) != event.handle._ref:
            self.wrong(f"rank {l.rank}: {type(event).__name__} of {event.matching_id}, which was not started")

    on_IoOperationIssued = on_IoOperationTest = in_progress

    def on_IoOperationComplete(self, l, event):
        self.in_progress(l, event)
        self.operations.pop((l.rank, "file", event.matching_id), None)

    def members(self, comms, key):
        comm = comms[key[0]]
        if isinstance(comm, InterComm) or comm.group.group_type == otf2.GroupType.COMM_SELF:
            return None
        return sorted(m if isinstance(m, int) else m._ref for m in comm.group.members)

    def finish_operations(self):
        freed = Counter()
        for l in self.locations.values():
            freed[l.rank] += l.calls["MPI_Request_free"]
        for rank, requests in self.started.items():
            if len(requests) > freed[rank]:
                self.wrong(f"rank {rank}: {len(requests)} requests are never completed, {freed[rank]} were freed: {sorted(requests)[:5]}")
        for rank, kind, number in list(self.operations)[:5]:
            self.wrong(f"rank {rank}: {kind} operation {number} is never complete")
        for (ref, what), balance in self.open.items():
            if balance:
                self.wrong(f"location {ref}: {what}: {balance} more begins than ends")
        for (handle, _), by_rank in self.file_collectives.items():
            if len(set(map(tuple, by_rank.values()))) > 1:
                self.wrong(f"members disagree about the collective operations of file {handle}")

    def match_in_windows(self, key, sends, receives):
        """Only windows are in the archive: places among all messages of the channel tell which halves belong together."""
        sent = {i + s[-1]: s for i, s in enumerate(sends)}
        for i, (posted, done, length, before) in enumerate(sorted(receives)):
            send = sent.get(i + before)
            if send and (done < send[0] or length != send[1]):
                self.wrong(f"message {i + before} on {key}: {length} bytes received at {done}, {send[1]} sent at {send[0]}")

    def finish(self, comms, partial):
        for l in self.locations.values():
            if l.stack:
                self.wrong(f"location {l.ref}: {len(l.stack)} regions are never left")
        if self.created != self.begun:
            self.wrong(f"threads created and begun differ: {sorted(self.created ^ self.begun)[:5]}")
        if not partial:
            self.finish_operations()
        for key, receives in self.receives.items():
            sends = self.sends.get(key, [])
            if any(half[-1] for half in sends + receives):
                self.match_in_windows(key, sends, receives)
                continue
            if len(receives) > len(sends) and not partial:
                self.wrong(f"{len(receives)} receives but {len(sends)} sends on {key}")
            for done, send in zip(sorted(r[1] for r in receives), sends):
                if done < send[0]:
                    self.backwards = max(self.backwards, send[0] - done)
                    self.wrong(f"a message on {key} is received before it is sent")
            sizes = Counter(r[2] for r in receives if r[2])  # MPICH tells no size of what MPI_Isendrecv received
            if sizes - Counter(s[1] for s in sends) and not partial:
                self.wrong(f"messages on {key}: sizes differ")
        for key, by_rank in self.collectives.items():
            sequences = list(by_rank.values())
            if key[2] == "nonblocking":
                sequences = [sorted(s) for s in sequences]
            shortest = min(len(s) for s in sequences)
            if any(s[:shortest] != sequences[0][:shortest] for s in sequences) and not (partial and key[2] == "nonblocking"):
                self.wrong(f"members of {key} disagree about their collectives")
            members = self.members(comms, key)
            if members and not partial and (sorted(by_rank) != members or any(len(s) != shortest for s in sequences)):
                self.wrong(f"collectives of {key} are not complete on all members")


NOT_RECORDED = {"MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version", "MPI_Pcontrol"}


def check_tally(checker, directory, in_callbacks):
    """Calls that the program counted: lines "[rank] calls MPI_Send 3". Those made inside callbacks are not in the trace."""
    counted = defaultdict(Counter)
    for file in Path(directory).glob("calls.*"):
        for line in file.read_text().splitlines():
            rank, _, name, number = line.split()
            counted[int(rank.strip("[]"))][name] += int(number)
    missing, problems = 0, []
    for rank in sorted(counted):
        seen = Counter()
        for l in checker.locations.values():
            if l.rank == rank:
                seen += l.calls
        for name in sorted((set(counted[rank]) | set(seen)) - NOT_RECORDED):
            missing += counted[rank][name] - seen[name]
            if counted[rank][name] != seen[name]:
                problems.append(f"rank {rank}: {seen[name]} records of {name}, but {counted[rank][name]} calls")
            if seen[name] > counted[rank][name]:
                checker.wrong(problems[-1])
    if missing != in_callbacks:
        checker.wrong(f"{missing} calls without records, {in_callbacks} inside callbacks: " + "; ".join(problems))


def check(path, partial=False, tally=None):
    checker = Checker()
    done = subprocess.run(["otf2-print", "--silent", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0 or "warning" in done.stderr.lower() or "error" in (done.stdout + done.stderr).lower():
        checker.wrong("otf2-print complains: " + (done.stdout + done.stderr).strip()[:300])
    with otf2.reader.open(str(path)) as trace:
        comms = {c._ref: c for c in trace.definitions.comms}
        for location, event in trace.events:
            checker.event(location, event)
    checker.finish(comms, partial)
    if tally:
        meta = json.loads((Path(path).parent / "meta.json").read_text())
        check_tally(checker, tally, meta["coverage"]["calls_in_callbacks"])
    return checker


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partial", action="store_true")
    parser.add_argument("--tally")
    parser.add_argument("archive")
    args = parser.parse_args()
    checker = check(args.archive, args.partial, args.tally)
    for problem in checker.problems[:20]:
        print(problem)
    print(f"{sum(checker.events.values())} events, {len(checker.locations)} locations, {len(checker.problems)} problems")
    sys.exit(1 if checker.problems else 0)


if __name__ == "__main__":
    main()
