#!/usr/bin/env python3
"""Writes OTF2 archives of simulated random MPI programs, as Score-P would have recorded them.

    random_trace.py [--skew] SEED DIR          one archive; the same seed gives the same archive
    random_trace.py [--skew] FIRST-LAST DIR    DIR/<seed> for each

A program is a random sequence of steps; each step involves some of the ranks and needs only what earlier steps did, so that
it cannot deadlock. Every rank has its own clock; a step ends for a rank when what it needs has happened elsewhere.
Waiting therefore travels along chains. Times are multiples of a quantum, so equal time stamps are frequent.
--skew shifts the clock of one rank: messages then seem to arrive before they are sent.
"""

import os
import random
import shutil
import sys

import otf2
from otf2.enums import (CollectiveOp, CommFlag, GroupFlag, GroupType, LocationGroupType, LocationType, MeasurementMode,
                        Paradigm, RegionRole)

NO_ROOT = 0xFFFFFFFF
USER = ["main", "solve", "exchange", "f", "g", "h", "io step", "a/b"]
ROLE = {"MPI_Barrier": RegionRole.BARRIER, "MPI_Ibarrier": RegionRole.BARRIER}
N2N = ["Allreduce", "Allgather", "Allgatherv", "Alltoall", "Reduce_scatter", "Reduce_scatter_block", "Alltoallv",
       "Alltoallw"]
ONE_TO_N = ["Bcast", "Scatter", "Scatterv"]
N_TO_ONE = ["Reduce", "Gather", "Gatherv"]
COLLECTIVES = ["Barrier"] + N2N + ONE_TO_N + N_TO_ONE + ["Scan", "Exscan"]
EAGER_BYTES = 1024
# The smallest that libotf2 allows. It clears all of a chunk of each file that it writes, 4 MiB for definitions: a third of the time to write small traces.
CHUNK_BYTES = 256 * 1024


class Rank:
    def __init__(self, number, now):
        self.number, self.now = number, now
        self.records = []
        self.stack = []
        self.requests = []  # open ones
        self.next_request = 1

    def emit(self, what, *args):
        self.records.append((self.now, what) + args)

    def enter(self, name):
        self.stack.append(name)
        self.emit("enter", name)

    def leave(self):
        self.emit("leave", self.stack.pop())

    def request(self):
        self.next_request += 1
        return self.next_request - 1


class Comm:
    def __init__(self, name, members):
        self.name, self.members = name, members

    def rank_of(self, r):
        return self.members.index(r)


class Message:
    """Either side may start first; `send_ready` and `post_ready` are when the calls that start them begin."""

    def __init__(self, comm, source, dest, tag, bytes_, mode):
        self.comm, self.source, self.dest, self.tag, self.bytes, self.mode = comm, source, dest, tag, bytes_, mode
        self.sent = self.posted = None
        self.latency = 0

    @property
    def synchronous(self):
        return self.mode == "s" or (self.mode == "" and self.bytes > EAGER_BYTES)

    @property
    def both(self):
        return self.sent is not None and self.posted is not None

    def send_done(self):
        return max(self.sent, self.posted) + self.latency if self.synchronous else self.sent

    def recv_done(self):
        return max(self.sent, self.posted) + self.latency


class Request:
    """done(): time at which it is complete, or None if that is not known yet. finish: emits the completion record."""

    def __init__(self, done, finish):
        self.done, self.finish = done, finish


class Program:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.n = rng.choice([2, 3, 3, 4, 4, 5, 6, 8, 12])
        self.quantum = rng.choice([1, 7, 10, 100, 1000])
        self.resolution = rng.choice([10**9, 2596175670, 10**6])
        self.zero_latency = rng.random() < 0.2
        self.with_init, self.with_finalize = rng.random() < 0.8, rng.random() < 0.8
        self.with_program = rng.random() < 0.5
        self.with_main = rng.random() < 0.8  # else time passes outside of all regions
        start = rng.randrange(10**9)
        self.ranks = [Rank(i, start + self.time(rng.choice([0, 5]))) for i in range(self.n)]
        self.comms = [Comm("MPI_COMM_WORLD", list(range(self.n)))]
        for i in range(rng.randrange(4)):
            size = rng.randrange(1, self.n + 1)
            self.comms.append(Comm("comm %d" % i, rng.sample(range(self.n), size)))
        self.lost_comms = []  # of operations that one member leaves out
        self.half_open = {}  # (comm, source, dest, tag): messages of which one side has started
        self.persistent = rng.random() < 0.3
        self.simulate(rng.randrange(20, 160))

    def time(self, most):
        return self.rng.randrange(most + 1) * self.quantum

    def latency(self):
        return 0 if self.zero_latency else self.time(3)

    # steps

    def simulate(self, steps):
        for r in self.ranks:
            self.switch(r)
            if self.with_program:
                r.emit("program_begin")
                r.now += self.time(2)
            if self.with_main:
                r.enter("main")
            r.now += self.time(3)
        self.all_of("MPI_Init" if self.rng.random() < 0.7 else "MPI_Init_thread", self.with_init)
        choices = [(self.work, 8), (self.message, 9), (self.second_side, 5), (self.complete, 6), (self.collective, 4),
                   (self.nonblocking_collective, 2), (self.sendrecv, 2), (self.blocking_pair, 7),
                   (self.construction, 1), (self.cancel, 1), (self.to_oneself, 1), (self.other_call, 1),
                   (self.lost_message, 1), (self.lost_collective, 1)]
        weighted = [f for f, weight in choices for _ in range(weight)]
        for _ in range(steps):
            self.rng.choice(weighted)()
        self.drain()
        for r in self.ranks:
            while len(r.stack) > self.with_main:
                r.now += self.time(1)
                r.leave()
        self.all_of("MPI_Finalize", self.with_finalize)
        for r in self.ranks:
            r.now += self.time(2)
            while r.stack:
                r.leave()
            if self.with_program:
                r.now += self.time(1)
                r.emit("program_end")
            r.now += self.time(3)
            self.switch(r)

    def switch(self, r):
        """Records outside of all regions."""
        if self.rng.random() < 0.1:
            r.emit("measurement_on_off", MeasurementMode.ON)
            r.now += self.time(5)

    def all_of(self, name, there):
        if not there:
            return
        for r in self.ranks:
            r.now += self.time(20)
            r.enter(name)
        latest = max(r.now for r in self.ranks)
        for r in self.ranks:
            r.now = latest + self.time(4)
            r.leave()

    def move(self, r):
        """Changes the user functions that r is in, now and then."""
        rng = self.rng
        if rng.random() < 0.3:
            while len(r.stack) > self.with_main and rng.random() < 0.6:
                r.leave()
                r.now += self.time(1)
        if rng.random() < 0.4 and len(r.stack) < 5:
            r.enter(rng.choice(USER[1:]))
            r.now += self.time(2)

    def work(self):
        for number in self.rng.sample(range(self.n), self.rng.randrange(1, self.n + 1)):
            r = self.ranks[number]
            self.move(r)
            name = self.rng.choice(USER[3:])
            r.enter(name)
            r.now += self.time(self.rng.choice([0, 5, 20, 60]))
            r.leave()

    def pick_pair(self):
        comm = self.rng.choice([c for c in self.comms if len(c.members) > 1])
        source, dest = self.rng.sample(comm.members, 2)
        return comm, source, dest

    def message(self):
        """Starts a message, by one side or by both."""
        rng = self.rng
        comm, source, dest = self.pick_pair()
        tag = rng.randrange(3)
        bytes_ = rng.choice([0, 0, 8, 500, 4000])
        mode = rng.choice(["", "", "", "s", "b", "r"])
        m = Message(comm, source, dest, tag, bytes_, mode)
        m.latency = self.latency()
        open_ = self.half_open.setdefault((comm, source, dest, tag), [])
        receive_first = open_[0].posted is not None if open_ else mode == "r" or rng.random() < 0.5
        if mode == "r" and not receive_first:
            m.mode = ""
        if receive_first:
            self.post(m)
        elif m.synchronous or rng.random() < 0.5:
            self.start_send(m)
        else:
            self.blocking_send(m)
        open_.append(m)
        if rng.random() < 0.5:
            self.second(open_)

    def second_side(self):
        open_ = [o for o in self.half_open.values() if o]
        if open_:
            self.second(self.rng.choice(open_))

    def blocking_pair(self):
        """MPI_Send or MPI_Ssend of a long message and its MPI_Recv: whoever is late delays the other."""
        comm, source, dest = self.pick_pair()
        m = Message(comm, source, dest, 4, self.rng.choice([2000, 4000]), self.rng.choice(["", "s"]))
        m.latency = self.latency()
        sender, receiver = self.ranks[source], self.ranks[dest]
        self.move(sender)
        self.move(receiver)
        m.sent, m.posted = sender.now, receiver.now
        self.blocking_send(m, moved=True)
        self.blocking_receive(m, moved=True)

    def second(self, open_):
        m = open_.pop(0)
        if m.posted is None:
            if self.rng.random() < 0.6:
                self.blocking_receive(m)
            else:
                self.post(m)
        elif self.rng.random() < 0.5:
            self.blocking_send(m)
        else:
            self.start_send(m)

    def name_of(self, m, nonblocking):
        if nonblocking:
            return "MPI_I" + m.mode + "send"
        return "MPI_" + ("S" if m.mode == "" else m.mode.upper() + "s") + "end"

    def blocking_send(self, m, moved=False):
        r = self.ranks[m.source]
        if not moved:
            self.move(r)
        r.enter(self.name_of(m, False))
        m.sent = r.now
        r.emit("mpi_send", m.comm.rank_of(m.dest), m.comm, m.tag, m.bytes)
        if m.synchronous:
            r.now = m.send_done()
        r.now += self.latency()
        r.leave()

    def start_send(self, m):
        r = self.ranks[m.source]
        self.move(r)
        persistent = self.persistent and self.rng.random() < 0.5 and m.mode in ("", "s")
        r.enter("MPI_Start" if persistent else self.name_of(m, True))
        m.sent = r.now
        request = r.request()
        r.emit("mpi_isend", m.comm.rank_of(m.dest), m.comm, m.tag, m.bytes, request)
        r.now += self.latency()
        r.leave()
        done = lambda: m.send_done() if m.both or not m.synchronous else None
        r.requests.append(Request(done, lambda: r.emit("mpi_isend_complete", request)))

    def post(self, m):
        r = self.ranks[m.dest]
        self.move(r)
        r.enter("MPI_Start" if self.persistent and self.rng.random() < 0.5 else "MPI_Irecv")
        m.posted = r.now
        request = r.request()
        r.emit("mpi_irecv_request", request)
        r.now += self.latency()
        r.leave()
        finish = lambda: r.emit("mpi_irecv", m.comm.rank_of(m.source), m.comm, m.tag, m.bytes, request)
        r.requests.append(Request(lambda: m.recv_done() if m.both else None, finish))

    def blocking_receive(self, m, moved=False):
        r = self.ranks[m.dest]
        if not moved:
            self.move(r)
        name = "MPI_Recv"
        if self.rng.random() < 0.15 and not m.synchronous:
            name = self.rng.choice(["MPI_Recv", "MPI_Mrecv"])
            r.enter("MPI_Probe" if name == "MPI_Recv" else "MPI_Mprobe")
            r.now = max(r.now, m.sent + m.latency)
            r.leave()
        r.enter(name)
        m.posted = r.now
        r.now = m.recv_done() + self.latency()
        r.emit("mpi_recv", m.comm.rank_of(m.source), m.comm, m.tag, m.bytes)
        r.now += self.time(1) if self.rng.random() < 0.3 else 0
        r.leave()

    def complete(self):
        r = self.rng.choice(self.ranks)
        ready = [q for q in r.requests if q.done() is not None]
        if not ready:
            return
        self.move(r)
        chosen = self.rng.sample(ready, self.rng.randrange(1, len(ready) + 1))
        call = self.rng.choice(["MPI_Wait", "MPI_Waitall", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test",
                                "MPI_Testall"])
        if call in ("MPI_Wait", "MPI_Test"):
            chosen = chosen[:1]
        self.complete_in(r, call, chosen)

    def complete_in(self, r, call, chosen):
        r.enter(call)
        if call in ("MPI_Test", "MPI_Testall"):
            finished = chosen if all(q.done() <= r.now for q in chosen) else []
        elif call == "MPI_Waitany":
            finished = [min(chosen, key=lambda q: q.done())]
        elif call == "MPI_Waitsome":
            until = max(r.now, min(q.done() for q in chosen))
            finished = [q for q in chosen if q.done() <= until]
        else:
            finished = chosen
        r.now = max([r.now] + [q.done() for q in finished])
        if finished:
            r.now += self.latency()
        for q in finished:
            q.finish()
            r.requests.remove(q)
        r.now += self.latency() if self.rng.random() < 0.3 else 0
        r.leave()

    def cancel(self):
        r = self.rng.choice(self.ranks)
        comm = self.comms[0]
        request = r.request()
        if self.rng.random() < 0.5:
            r.enter("MPI_Irecv")
            r.emit("mpi_irecv_request", request)
        else:
            r.enter("MPI_Isend")
            r.emit("mpi_isend", self.rng.randrange(self.n), comm, self.rng.randrange(3), 8, request)
        r.leave()
        r.enter("MPI_Cancel")
        r.leave()
        r.requests.append(Request(lambda: r.now, lambda: r.emit("mpi_request_cancelled", request)))

    def to_oneself(self):
        r = self.rng.choice(self.ranks)
        m = Message(self.comms[0], r.number, r.number, 5, 8, "")
        self.post(m)
        self.blocking_send(m)

    def other_call(self):
        r = self.rng.choice(self.ranks)
        r.enter(self.rng.choice(["MPI_Comm_rank", "MPI_Wtime", "MPI_Iprobe"]))
        r.now += self.time(1)
        r.leave()

    def sendrecv(self):
        comm = self.rng.choice([c for c in self.comms if len(c.members) > 1])
        ring = self.rng.sample(comm.members, self.rng.randrange(2, len(comm.members) + 1))
        tag = 3  # of its own, so that matching stays simple
        for number in ring:
            self.move(self.ranks[number])
            self.ranks[number].enter("MPI_Sendrecv")
        begin = {number: self.ranks[number].now for number in ring}
        bytes_ = self.rng.choice([0, 64, 4000])
        for i, number in enumerate(ring):
            r, to, source = self.ranks[number], ring[(i + 1) % len(ring)], ring[i - 1]
            r.emit("mpi_send", comm.rank_of(to), comm, tag, bytes_)
            r.now = max(begin[number], begin[source]) + self.latency()
            if bytes_ > EAGER_BYTES:
                r.now = max(r.now, begin[to])
            r.emit("mpi_recv", comm.rank_of(source), comm, tag, bytes_)
            r.leave()

    # collectives

    def sizes(self, op, comm, root):
        """(sent, received) for each rank of the communicator."""
        n, rng = len(comm.members), self.rng
        zero = rng.random() < 0.15
        result = []
        for i in range(n):
            sent = received = 0 if zero else 8 * n
            if op in ONE_TO_N:
                sent = sent if i == root else 0
            elif op in N_TO_ONE:
                received = received if i == root else 0
            elif op == "Exscan" and i == 0:
                received = 0
            if op.endswith("v") or op.endswith("w"):
                sent, received = sent * (rng.random() < 0.8), received * (rng.random() < 0.8)
            if op == "Barrier":
                sent = received = 0
            result.append((sent, received))
        if op in ONE_TO_N and result[root][0] == 0:
            result = [(0, 0)] * n
        return result

    def needs(self, op, sizes, root, i):
        """Whose begin the member i has to wait for."""
        n = len(sizes)
        everybody = range(n)
        send = [j for j in everybody if sizes[j][0] > 0]
        if op == "Barrier":
            return everybody
        if sizes[i][1] == 0:
            return []
        if op in ONE_TO_N:
            return [root] if sizes[root][0] else []
        if op in ("Scan", "Exscan"):
            return [j for j in send if j < i]
        return send

    def collective(self):
        comm = self.rng.choice(self.comms)
        op = self.rng.choice(COLLECTIVES)
        root = self.rng.randrange(len(comm.members))
        sizes = self.sizes(op, comm, root)
        begin = []
        for number in comm.members:
            r = self.ranks[number]
            self.move(r)
            r.enter("MPI_" + op)
            r.now += self.time(1) if self.rng.random() < 0.2 else 0
            r.emit("mpi_collective_begin")
            begin.append(r.now)
        together = op not in ("Alltoallv", "Alltoallw") or self.rng.random() < 0.6
        rooted = op in ONE_TO_N + N_TO_ONE
        for i, number in enumerate(comm.members):
            r = self.ranks[number]
            needed = self.needs(op, sizes, root, i) if together else []
            r.now = max([begin[i]] + [begin[j] for j in needed]) + self.latency()
            r.emit("mpi_collective_end", op.upper(), comm, root if rooted else NO_ROOT, *sizes[i])
            r.now += self.time(1) if self.rng.random() < 0.2 else 0
            r.leave()

    def nonblocking_collective(self):
        comm = self.rng.choice(self.comms)
        op = self.rng.choice(COLLECTIVES)
        root = self.rng.randrange(len(comm.members))
        sizes = self.sizes(op, comm, root)
        rooted = op in ONE_TO_N + N_TO_ONE
        begin = []
        started = []
        for number in comm.members:
            r = self.ranks[number]
            self.move(r)
            r.enter("MPI_I" + op.lower())
            request = r.request()
            r.emit("non_blocking_collective_request", request)
            begin.append(r.now)
            started.append(request)
            r.now += self.latency()
            r.leave()
            if self.rng.random() < 0.5:
                self.work()
        for i, number in enumerate(comm.members):
            r = self.ranks[number]
            time = max([begin[i]] + [begin[j] for j in self.needs(op, sizes, root, i)]) + self.latency()
            args = (op.upper(), comm, root if rooted else NO_ROOT) + sizes[i] + (started[i],)
            r.requests.append(self.collective_request(r, time, args))

    def lost_message(self):
        """A message that nobody receives; its sender completes it like others."""
        comm, source, dest = self.pick_pair()
        m = Message(comm, source, dest, 9, self.rng.choice([0, 8]), self.rng.choice(["", "", "b"]))
        if self.rng.random() < 0.3:
            self.blocking_send(m)
        else:
            self.start_send(m)
            self.late(self.ranks[source])

    def late(self, r):
        """The last request of r completes with another one, so that the call that completes both has only that to wait for."""
        ready = [q for q in r.requests[:-1] if (q.done() or 0) > r.now]
        if ready:
            other = self.rng.choice(ready)
            r.requests[-1].done = other.done
            self.complete_in(r, self.rng.choice(["MPI_Waitsome", "MPI_Waitall"]), [r.requests[-1], other])

    def lost_collective(self):
        """A nonblocking operation that one member never starts."""
        comm = Comm("lost %d" % len(self.lost_comms), self.pick_pair()[0].members)
        self.lost_comms.append(comm)
        absent = self.rng.choice(comm.members)
        for number in comm.members:
            r = self.ranks[number]
            if number == absent:
                continue
            self.move(r)
            r.enter("MPI_Iallreduce")
            request = r.request()
            r.emit("non_blocking_collective_request", request)
            r.leave()
            r.requests.append(self.collective_request(r, r.now, ("ALLREDUCE", comm, NO_ROOT, 8, 8, request)))
            self.late(r)

    @staticmethod
    def collective_request(r, time, args):
        return Request(lambda: time, lambda: r.emit("non_blocking_collective_complete", *args))

    def construction(self):
        comm = self.rng.choice(self.comms)
        name = self.rng.choice(["MPI_Comm_split", "MPI_Comm_dup", "MPI_Cart_create"])
        together = self.rng.random() < 0.7
        for number in comm.members:
            self.ranks[number].enter(name)
            self.ranks[number].emit("mpi_collective_begin")
        latest = max(self.ranks[number].now for number in comm.members)
        for number in comm.members:
            r = self.ranks[number]
            r.now = (latest if together else r.now) + self.time(3)
            r.emit("mpi_collective_end", "CREATE_HANDLE", comm, NO_ROOT, 0, 0)
            r.leave()

    def drain(self):
        """Both sides of all messages, and all requests."""
        for open_ in self.half_open.values():
            while open_:
                self.second(open_)
        for r in self.ranks:
            if r.requests:
                self.complete_in(r, "MPI_Waitall", list(r.requests))

    # writing

    def skew(self):
        r = self.rng.choice(self.ranks)
        shift = self.time(30) + 1
        r.records = [(record[0] + shift,) + record[1:] for record in r.records]

    def write(self, directory):
        with otf2.writer.open(directory, timer_resolution=self.resolution, chunk_size_events=CHUNK_BYTES, chunk_size_definitions=CHUNK_BYTES) as archive:
            defs = archive.definitions
            root = defs.system_tree_node("simulated", class_name="machine")
            node = defs.system_tree_node("node0", class_name="node", parent=root)
            locations = []
            for i in range(self.n):
                group = defs.location_group("MPI Rank %d" % i, system_tree_parent=node,
                                            location_group_type=LocationGroupType.PROCESS)
                locations.append(defs.location("Master thread", group=group, type=LocationType.CPU_THREAD))
            defs.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
            comms = {}
            for comm in self.comms + self.lost_comms:
                group = defs.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI,
                                   group_flags=GroupFlag.NONE, members=[locations[m] for m in comm.members])
                comms[comm] = defs.comm(comm.name, group=group, flags=CommFlag.NONE)
            regions = {}
            if self.with_program:
                defs.region("program", canonical_name="/opt/random program", region_role=RegionRole.ARTIFICIAL,
                            paradigm=Paradigm.MEASUREMENT_SYSTEM)
            for i, r in enumerate(self.ranks):
                self._write_rank(archive.event_writer_from_location(locations[i]), r, defs, regions, comms)

    @staticmethod
    def _write_rank(writer, r, defs, regions, comms):
        def region(name):
            if name not in regions:
                mpi = name.startswith("MPI_")
                regions[name] = defs.region(name, canonical_name=name, region_role=ROLE.get(name, RegionRole.FUNCTION),
                                            paradigm=Paradigm.MPI if mpi else Paradigm.COMPILER,
                                            source_file="MPI" if mpi else "random.c")
            return regions[name]

        for time, what, *args in r.records:
            if what in ("enter", "leave"):
                getattr(writer, what)(time, region(args[0]))
            elif what == "program_begin":
                writer.program_begin(time, "/opt/random", ("program",))
            elif what == "program_end":
                writer.program_end(time, 0)
            else:
                args = [comms[a] if isinstance(a, Comm) else a for a in args]
                if what.endswith("collective_end") or what.endswith("collective_complete"):
                    args[0] = getattr(CollectiveOp, args[0])
                getattr(writer, what)(time, *args)


def main():
    args = [a for a in sys.argv[1:] if a != "--skew"]
    if len(args) != 2:
        sys.exit("usage: random_trace.py [--skew] SEED|FIRST-LAST DIR")
    first, _, last = args[0].partition("-")
    for seed in range(int(first), int(last or first) + 1):
        directory = os.path.join(args[1], str(seed)) if last else args[1]
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(os.path.dirname(directory) or ".", exist_ok=True)
        program = Program(seed)
        if "--skew" in sys.argv:
            program.skew()
        program.write(directory)


if __name__ == "__main__":
    main()
