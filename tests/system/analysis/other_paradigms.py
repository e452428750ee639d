#!/usr/bin/env python3
"""Random traces of what the other random traces do not have: windows (creation, fences, post-start-complete-wait, locks),
files, neighbourhoods, inter-communicators, messages of masters and of threads in teams, teams of threads (also inside of others) with
barriers, critical regions, tasks. Each block of a trace says
itself which waiting it makes, by the definitions; the analysis has to find just that, and to keep its invariants.

other_paradigms.py LATECOMER WRITE_TRACE FIRST-LAST [RANKS]       the waiting
other_paradigms.py LATECOMER WRITE_TRACE FIRST-LAST every_kind    the same; every kind of waiting has to be in some of the traces, which of seeds drawn at random is not sure
other_paradigms.py LATECOMER WRITE_TRACE FIRST-LAST oracle        costs, critical path and indicators, as oracle_other_paradigms.py finds them
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

import oracle
import oracle_other_paradigms
from otf2.enums import Paradigm, RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

NONE, SELF, OTHERS = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
BARRIER, BCAST, ALLGATHER, ALLREDUCE, REDUCE, CREATE, DESTROY = 0, 1, 6, 11, 12, 17, 18
METRICS = ["mpi_latesender", "mpi_latereceiver", "mpi_rma_wait_at_create", "mpi_rma_wait_at_free", "mpi_rma_wait_at_fence", "mpi_rma_early_wait",
           "mpi_rma_sync_late_post", "mpi_rma_sync_lock_competition", "mpi_io_collective_wait", "mpi_neighbor_wait",
           "mpi_barrier_wait", "mpi_wait_nxn", "mpi_latebroadcast", "mpi_earlyreduce", "omp_ebarrier_wait", "omp_ibarrier_wait",
           "omp_lock_contention_critical", "omp_taskwait_wait", "omp_idle_threads", "omp_limited_parallelism", "omp_fork",
           "omp_management", "bytes_put"]
ROLES = {"parallel": RegionRole.PARALLEL, "barrier": RegionRole.BARRIER, "ibarrier": RegionRole.IMPLICIT_BARRIER,
         "critical": RegionRole.CRITICAL, "task": RegionRole.TASK, "taskwait": RegionRole.TASK_WAIT}


class Trace:
    def __init__(self, seed, tasks=True):
        self.rng = rng = random.Random(seed)
        self.tasks = tasks
        self.threads = [rng.choice([1, 1, 3, 4]) for _ in range(rng.choice([4, 6]))]
        self.n = len(self.threads)
        self.first = [sum(self.threads[:p]) for p in range(self.n)]
        self.definitions, self.events, self.regions = [f"process {t}" for t in self.threads], [], {}
        self.counts = defaultdict(int)
        self.now = [0] * sum(self.threads)
        self.expected = defaultdict(int)  # (metric, location, name of the call)
        self.lock_order, self.teams = defaultdict(int), [[] for _ in self.threads]
        self.messages = self.locks_of_teams = 0
        self.waits = []  # of workers: (process, location, its last team, next fork, who forks)
        self.born = {}  # workers: their first fork
        # Threads that fork: the first of a process; of four the last one, too (not in the traces for the oracle).
        self.forking = [[f, f + 3] if t == 4 and tasks else [f] for f, t in zip(self.first, self.threads)]
        self.world = self.define("comm", *range(self.n))
        for location in sum(self.forking, []):
            self.enter(location, "main")

    def define(self, kind, *args):
        self.definitions.append(" ".join([kind, *map(str, args)]))
        self.counts[kind if kind in ("window", "file", "region") else "comm"] += 1
        return self.counts[kind if kind in ("window", "file", "region") else "comm"] - 1

    def emit(self, location, what, *args):
        self.events.append(" ".join(map(str, (location, self.now[location], what, *args))))

    def region(self, name):
        if name not in self.regions:
            paradigm = Paradigm.MPI if name.startswith("MPI_") else Paradigm.OPENMP if name in ROLES else Paradigm.COMPILER
            self.regions[name] = self.define("region", paradigm.value, ROLES.get(name, RegionRole.FUNCTION).value, name)
        return self.regions[name]

    def enter(self, location, name):
        self.emit(location, "enter", self.region(name))
        return self.now[location]

    def leave(self, location, name, at=0):
        self.now[location] = max(self.now[location], at)
        self.emit(location, "leave", self.region(name))
        return self.now[location]

    def work(self, locations):
        for l in locations:
            self.now[l] += self.rng.randrange(1, 60)

    def some(self, least):
        return sorted(self.rng.sample(range(self.n), self.rng.randrange(least, self.n + 1)))

    def expect(self, metric, location, name, ticks):
        if ticks > 0:
            self.expected[metric, location, name] += ticks

    # operations of all members: (ranks, name of the call) and what is written at the begin and the end

    def together(self, ranks, name, metric, begin, end):
        """Only if synchronising: everybody waits for the last, unless there is no metric of that."""
        locations = [self.first[p] for p in ranks]
        self.work(locations)
        starts = []
        for l in locations:
            self.enter(l, name)
            if begin:
                self.now[l] += self.rng.randrange(3)
                self.emit(l, begin)
            starts.append(self.now[l])
        synchronising, ends = self.rng.random() < 0.7, []
        for l, s in zip(locations, starts):
            self.now[l] = (max(starts) if synchronising else s) + self.rng.randrange(1, 4)
            self.emit(l, *end)
            ends.append(self.leave(l, name) if not begin else self.now[l])
            if begin:
                self.leave(l, name)
        if metric and max(starts) <= min(ends):
            for l, s in zip(locations, starts):
                self.expect(metric, l, name, max(starts) - s)

    def window(self):
        ranks = self.some(2)
        w = self.define("window", self.define("comm", *ranks))
        self.together(ranks, "MPI_Win_create", "mpi_rma_wait_at_create", "rma_begin", ("rma_end", CREATE, w))
        for _ in range(self.rng.randrange(3)):
            l = self.first[self.rng.choice(ranks)]
            self.enter(l, "MPI_Put")
            self.emit(l, "put", w, 0, 8)
            self.leave(l, "MPI_Put")
            self.expect("bytes_put", l, "MPI_Put", 8)
            self.together(ranks, "MPI_Win_fence", "mpi_rma_wait_at_fence", "rma_begin", ("rma_end", BARRIER, w))
        for _ in range(self.rng.randrange(3)):
            self.epoch(ranks, w)
        self.locks(ranks, w)
        self.together(ranks, "MPI_Win_free", "mpi_rma_wait_at_free", "rma_begin", ("rma_end", DESTROY, w))

    def epoch(self, ranks, w):
        order = self.rng.sample(ranks, len(ranks))
        cut = self.rng.randrange(1, len(ranks))
        targets, origins = sorted(order[:cut]), sorted(order[cut:])
        to, of = self.define("comm", *targets), self.define("comm", *origins)
        self.work(self.first[p] for p in ranks)
        posts, completes = {}, {}
        for p in targets:
            l = self.first[p]
            posts[p] = self.enter(l, "MPI_Win_post")
            self.emit(l, "rma_group", w, of)
            self.leave(l, "MPI_Win_post")
        posted = max(posts.values())
        for p in origins:
            l = self.first[p]
            start = self.enter(l, "MPI_Win_start")
            self.emit(l, "rma_group", w, to)
            blocks = self.rng.random() < 0.5
            left = self.leave(l, "MPI_Win_start", posted + 1 if blocks else 0)
            self.work([l])
            completes[p] = self.enter(l, "MPI_Win_complete")
            self.emit(l, "rma_group", w, to)
            self.leave(l, "MPI_Win_complete", posted + 1)
            if left > posted:
                self.expect("mpi_rma_sync_late_post", l, "MPI_Win_start", posted - start)
            else:
                self.expect("mpi_rma_sync_late_post", l, "MPI_Win_complete", posted - completes[p])
        self.work(self.first[p] for p in targets)
        for p in targets:
            l = self.first[p]
            wait = self.enter(l, "MPI_Win_wait")
            self.emit(l, "rma_group", w, of)
            self.leave(l, "MPI_Win_wait", max(completes.values()) + 1)
            self.expect("mpi_rma_early_wait", l, "MPI_Win_wait", max(completes.values()) - wait)

    def locks(self, ranks, w):
        """Of one or two targets, or of all at once. Either each MPI_Win_lock returns with the lock, which the call that releases it hands
        over before it returns, or some return without it: two, in the beginning, while one holds it."""
        last, held, some_lazy = 0, [], self.rng.random() < 0.5
        conflict = lambda a, b: not (a[2] and b[2]) and (a[3] == b[3] or NONE in (a[3], b[3]))
        for k in range(self.rng.randrange(8)):
            forced = some_lazy and k < 2
            target = 0 if forced else self.rng.choice([0, 0, len(ranks) - 1, NONE])
            suffix = "_all" if target == NONE else ""
            p = ranks[k] if forced else self.rng.choice(ranks)
            l, shared, lazy = self.first[p], target == NONE or not forced and self.rng.random() < 0.4, forced or some_lazy and self.rng.random() < 0.4
            conflicting = [h for h in held if conflict(h, (l, 0, shared, target))]
            self.work([l])
            free = max([h[4] for h in conflicting], default=0)
            lock = self.enter(l, "MPI_Win_lock" + suffix)
            self.now[l] = last = max(self.now[l], last, 0 if lazy else free) + 1
            self.emit(l, "acquire", w, target, int(shared))
            locked = self.leave(l, "MPI_Win_lock" + suffix)
            self.work([l])
            flush = flushed = self.now[l]
            if self.rng.random() < 0.5:
                self.enter(l, "MPI_Win_flush")
                self.now[l] = max(self.now[l], self.rng.choice([0, free])) + 1
                self.emit(l, "complete_remote", w)
                flushed = self.leave(l, "MPI_Win_flush")
                self.work([l])
            if forced and k == 0:  # held until the other one has come
                self.now[l] = max(self.now[l], self.now[self.first[ranks[1]]] + 61)
            unlock = self.enter(l, "MPI_Win_unlock" + suffix)
            self.now[l] = max(self.now[l], free) + (1 if some_lazy else self.rng.randrange(1, 40))
            self.emit(l, "release", w, target)
            released, unlocked = self.now[l], self.leave(l, "MPI_Win_unlock" + suffix)
            held.append((l, released, shared, target, released if some_lazy else self.rng.randrange(unlock, released + 1), unlock))
            before = [h for i, h in enumerate(conflicting) if not any(conflict(h, x) for x in conflicting[i + 1:])]
            if not before:
                continue
            holder = min(before, key=lambda h: (-h[1], h[2]))
            if holder[0] == l:
                continue
            calls = [(min(holder[1], end) - start, name) for name, start, end in (
                ("MPI_Win_lock" + suffix, lock, locked), ("MPI_Win_flush", flush, flushed), ("MPI_Win_unlock" + suffix, unlock, unlocked))
                if holder[5] <= end]
            ticks, name = max(calls if some_lazy else calls[:1], key=lambda c: c[0], default=(0, ""))
            self.expect("mpi_rma_sync_lock_competition", l, name, ticks)

    def file(self):
        ranks = self.some(2)
        f = self.define("file", self.define("comm", *ranks))
        self.together(ranks, "MPI_File_open", "mpi_io_collective_wait", None, ("open", f))
        for _ in range(self.rng.randrange(3)):
            if self.rng.random() < 0.7:
                self.together(ranks, "MPI_File_write_all", "mpi_io_collective_wait", None, ("io", f))
            else:  # whoever only starts an operation waits for nobody, even if all do so at once
                self.together(ranks, "MPI_File_iwrite_all", None, None, ("io_start", f))

    def neighbourhood(self):
        sizes = self.rng.choice([[self.n], [2, self.n // 2], [self.n // 2, 2]])
        periodic = [self.rng.randrange(2) for _ in sizes]
        comm = self.define("comm", *range(self.n))
        self.definitions.append(f"cart {comm} " + " ".join(f"{s} {p}" for s, p in zip(sizes, periodic)))
        sends = [self.rng.choice([0, 8, 8]) for _ in range(self.n)]
        self.work(self.first)
        nonblocking = self.rng.random() < 0.5
        name = "MPI_Ineighbor_allgather" if nonblocking else "MPI_Neighbor_allgather"
        begin = []
        for l in self.first:
            begin.append(self.enter(l, name))
            self.emit(l, *(("request", 7) if nonblocking else ("begin",)))
            if nonblocking:
                self.leave(l, name)
        if nonblocking:
            self.work(self.first)
        for p, l in enumerate(self.first):
            near = [q for q in self.neighbours(p, sizes, periodic) if sends[q]]
            until = max([begin[q] for q in near], default=0)
            call, start = ("MPI_Wait", self.enter(l, "MPI_Wait")) if nonblocking else (name, begin[p])
            self.now[l] = max(self.now[l], until) + 1
            record = (ALLGATHER, comm, NONE, sends[p], 8)
            self.emit(l, *(("complete", *record, 7) if nonblocking else ("end", *record)))
            self.leave(l, call)
            self.expect("mpi_neighbor_wait", l, call, until - start)

    @staticmethod
    def neighbours(rank, sizes, periodic):
        at = [rank] if len(sizes) == 1 else list(divmod(rank, sizes[1]))
        for d in range(len(sizes)):
            for step in (-1, 1):
                to = list(at)
                to[d] += step
                if periodic[d]:
                    to[d] %= sizes[d]
                if 0 <= to[d] < sizes[d] and to != at:
                    yield to[0] if len(sizes) == 1 else to[0] * sizes[1] + to[1]

    def inter(self):
        ranks = self.rng.sample(range(self.n), self.n)
        cut = self.rng.randrange(1, self.n)
        groups = sorted(ranks[:cut]), sorted(ranks[cut:])
        comm = self.define("inter", self.define("comm", *groups[0]), self.define("comm", *groups[1]))
        op, name, metric = self.rng.choice([(BARRIER, "MPI_Barrier", "mpi_barrier_wait"),
                                            (ALLREDUCE, "MPI_Allreduce", "mpi_wait_nxn"),
                                            (BCAST, "MPI_Bcast", "mpi_latebroadcast"),
                                            (REDUCE, "MPI_Reduce", "mpi_earlyreduce")])
        side = self.rng.randrange(2)
        number = self.rng.randrange(len(groups[side]))
        root = groups[side][number]
        self.work(self.first)
        begin = {}
        for p in range(self.n):
            self.enter(self.first[p], name)
            self.emit(self.first[p], "begin")
            begin[p] = self.now[self.first[p]]
        for p in range(self.n):
            own = 0 if p in groups[0] else 1
            other = [begin[q] for q in groups[1 - own]]
            named, until, released = NONE, max(other), max(other)
            sent, received = (0, 0) if op == BARRIER else (8, 8)
            if op in (BCAST, REDUCE):
                named = SELF if p == root else OTHERS if own == side else number
                at_root = (8, 0) if op == BCAST else (0, 8)
                sent, received = at_root if p == root else (0, 0) if own == side else at_root[::-1]
                until = begin[root] if op == BCAST else min(other)
                released = begin[root] if op == BCAST else max(other)
            l = self.first[p]
            waits = received or op == BARRIER
            self.now[l] = max(self.now[l], released if waits else 0) + 1
            self.emit(l, "end", op, comm, named, sent, received)
            self.leave(l, name)
            self.expect(metric, l, name, until - begin[p] if waits else 0)

    # messages

    def message(self, p=None, team=None):
        """Between two processes, of which one may be in a team: then any of its threads communicates."""
        p = self.rng.randrange(self.n) if p is None else p
        q = self.rng.choice([q for q in range(self.n) if q != p])
        ends = [(p, self.rng.choice(team) if team else self.first[p]), (q, self.first[q])]
        self.rng.shuffle(ends)
        (source, sender), (destination, receiver) = ends
        name = self.rng.choice(["MPI_Send", "MPI_Ssend"])
        self.messages += 1
        self.work([sender, receiver])
        sent, posted = self.enter(sender, name), self.enter(receiver, "MPI_Recv")
        self.emit(sender, "send", destination, self.world, self.messages, 8)
        waits = name == "MPI_Ssend" or self.rng.random() < 0.5
        self.now[receiver] = max(sent, posted) + 1
        self.emit(receiver, "recv", source, self.world, self.messages, 8)
        self.leave(receiver, "MPI_Recv")
        self.now[sender] = max(sent, posted if waits else 0) + 1
        self.leave(sender, name)
        self.expect("mpi_latesender", receiver, "MPI_Recv", sent - posted)
        self.expect("mpi_latereceiver", sender, name, posted - sent if waits else 0)

    # threads

    def parallel(self):
        p = self.rng.choice([p for p in range(self.n) if self.threads[p] > 1] or [0])
        if self.threads[p] == 1:
            return
        workers = self.workers(p)
        self.region_of(p, [self.rng.choice(self.forking[p])] + workers[:self.rng.randrange(len(workers) + 1)], 5)

    def workers(self, p):
        return [l for l in range(self.first[p], self.first[p] + self.threads[p]) if l not in self.forking[p]]

    def nested(self, p, team):
        """A team of a thread of this team and those workers that are in none, with locks of its own."""
        free = [l for l in self.workers(p) if not any(l in t[2][1:] and t[1] is None for t in self.teams[p])]
        if free:
            self.locks_of_teams += 1
            self.region_of(p, [self.rng.choice(team)] + free[:self.rng.randrange(len(free) + 1)], 5 + self.locks_of_teams, False)

    def region_of(self, p, team, lock, nest=True):
        comm = self.define("team", *team)
        self.now[team[0]] = max(self.now[l] for l in (team if not nest else range(self.first[p], self.first[p] + self.threads[p])))
        self.work(team[:1])
        fork = self.now[team[0]]
        self.emit(team[0], "fork", len(team))
        entered = {}
        for l in team[1:]:
            self.born.setdefault(l, fork)
        self.idle(p, team, fork)
        self.teams[p].append([fork, None, team])
        this = self.teams[p][-1]
        for l in team:
            self.now[l] = max(self.now[l], fork) + self.rng.randrange(1, 5)
            self.emit(l, "team_begin", comm)
            entered[l] = self.enter(l, "parallel")
        for _ in range(self.rng.randrange(1, 4)):
            what = self.rng.choice([self.barrier, self.critical, self.message] + [self.nested] * nest + [self.taskwait] * self.tasks)
            what(p, team, *([lock] if what == self.critical else []))
        self.barrier(p, team, "ibarrier")
        for l in team:
            self.leave(l, "parallel")
            self.emit(l, "team_end", comm)
        left = {l: self.now[l] for l in team}
        self.now[team[0]] = join = max(left.values()) + self.rng.randrange(1, 5)
        self.emit(team[0], "join")
        for l in team:
            self.expect("omp_fork", l, "parallel", entered[l] - fork)
            self.expect("omp_management", l, "parallel", entered[l] - fork + join - left[l])
        this[1] = join

    def idle(self, p, team, fork):
        """Workers of this team, since the last one that they were in."""
        for l in team[1:]:
            mine = [t for t in self.teams[p] if l in t[2][1:]]
            if mine and fork > mine[-1][1]:
                self.waits.append((p, l, mine[-1], fork, team[0]))

    def expect_idle(self):
        """When all teams are known: a team may be idle for while others still work."""
        for p, l, last, fork, forker in self.waits:
            _, since, others = last
            self.expect("omp_idle_threads", l, self.depth(p, last), fork - since)
            smaller = [t for t in self.teams[p] if t[2][0] == forker]
            self.expect("omp_limited_parallelism", l, self.depth(p, last), sum(max(0, min(t[1], fork) - max(t[0], since)) for t in smaller))

    def depth(self, p, team):
        """Name of the call that a worker of the team is in after it: that of the fork."""
        around = [t for t in self.teams[p] if t is not team and team[2][0] in t[2] and t[0] <= team[0] and team[1] <= t[1]]
        return "parallel" if around else "main"

    def barrier(self, p, team, name="barrier"):
        self.work(team)
        begin = {l: self.enter(l, name) for l in team}
        for l in team:
            busy = 0
            for _ in range(self.rng.randrange(3) * self.tasks):
                room = max(begin.values()) - self.now[l]
                if room > 3 and self.rng.random() < 0.6:
                    self.now[l] += self.rng.randrange(2)
                    t = self.enter(l, "task")
                    self.now[l] += self.rng.randrange(1, room - 1)
                    busy += self.leave(l, "task") - t
            self.leave(l, name, max(begin.values()) + self.rng.randrange(1, 3))
            metric = "omp_ebarrier_wait" if name == "barrier" else "omp_ibarrier_wait"
            self.expect(metric, l, name, max(begin.values()) - begin[l] - busy)

    def critical(self, p, team, lock):
        free, holder = 0, None
        self.work(team)
        for l in self.rng.sample(team, len(team)):
            t = self.enter(l, "critical")
            self.now[l] = max(self.now[l], free) + 1
            self.lock_order[p, lock] += 1
            self.emit(l, "lock", lock, self.lock_order[p, lock])
            if holder is not None:
                self.expect("omp_lock_contention_critical", l, "critical", free - t)
            self.now[l] += self.rng.randrange(1, 20)
            free, holder = self.now[l], l
            self.emit(l, "unlock", lock, self.lock_order[p, lock])
            self.leave(l, "critical")
        self.barrier(p, team)  # so that the next one does not meet holders of this one

    def taskwait(self, p, team):
        l = self.rng.choice(team)
        t, busy = self.enter(l, "taskwait"), 0
        for _ in range(self.rng.randrange(3)):
            self.work([l])
            begin = self.enter(l, "task")
            self.work([l])
            busy += self.leave(l, "task") - begin
        self.work([l])
        self.expect("omp_taskwait_wait", l, "taskwait", self.leave(l, "taskwait") - t - busy)

    def make(self):
        for _ in range(self.rng.randrange(8, 25)):
            self.rng.choice([self.window, self.file, self.neighbourhood, self.inter, self.message, self.parallel, self.parallel])()
        self.expect_idle()
        for location in sum(self.forking, []):
            self.leave(location, "main")
        return "\n".join(self.definitions + self.events) + "\n"


def before_life(trace, result):
    """Workers that are on the critical path for longer than they live."""
    rows = result["metrics"]["critical_path"]["callpaths"].values()
    return [(l, on_path) for l, born in trace.born.items()
            if (on_path := round(1000 * sum(row[l] for row in rows))) > max(trace.now) - born]


def found(result):
    out = {}
    for metric in METRICS:
        for path, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
            scale = 1 if metric == "bytes_put" else 1000
            for location, value in enumerate(values):
                key = metric, location, path.rsplit("/", 1)[-1]
                if value:
                    out[key] = out.get(key, 0) + round(value * scale)
    return out


def against_oracle(latecomer, write_trace, first, last):
    bad, costs = 0, dict.fromkeys(oracle_other_paradigms.COST_KINDS, 0.0)
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(first, last + 1):
            archive, out = f"{tmp}/{seed}", f"{tmp}/a.cubex"
            subprocess.run([write_trace, archive], input=Trace(seed, tasks=False).make(), text=True, check=True, timeout=patience(60))
            subprocess.run([latecomer, "-q", "analyze", "-n", "1", "-o", out, archive], check=True, timeout=patience(120))
            shown = subprocess.run([latecomer, "show", "--json", out], check=True, capture_output=True, text=True, timeout=patience(60))
            found = json.loads(shown.stdout)["metrics"]
            expected = oracle_other_paradigms.Analysis(oracle_other_paradigms.Trace(archive + "/traces.otf2")).result()["metrics"]
            expected = {name: metric for name, metric in expected.items() if metric["callpaths"] or name in found}
            lines = oracle.differences(found, expected, 1e-9, 1e-12)
            bad += bool(lines)
            for kind in costs:
                costs[kind] += sum(expected.get(f"delay_{kind}{term}", {"total": 0})["total"] for term in ("", "_longterm"))
            for line in lines[:5]:
                print(f"seed {seed}: {line}")
    print(f"{last - first + 1} traces, {bad} differ; costs {costs}")
    sys.exit(bool(bad) or not all(costs.values()))


def main():
    latecomer, write_trace, seeds = sys.argv[1:4]
    if sys.argv[4:] == ["oracle"]:
        first, _, last = seeds.partition("-")
        against_oracle(latecomer, write_trace, int(first), int(last or first))
    every_kind = sys.argv[4:] == ["every_kind"]
    ranks = sys.argv[4] if len(sys.argv) > 4 and not every_kind else "1"
    first, _, last = seeds.partition("-")
    bad, kinds = 0, defaultdict(int)
    with tempfile.TemporaryDirectory() as tmp:
        for seed in range(int(first), int(last or first) + 1):
            trace, out = Trace(seed), f"{tmp}/a.cubex"
            text = trace.make()
            subprocess.run([write_trace, f"{tmp}/{seed}"], input=text, text=True, check=True, timeout=patience(60))
            subprocess.run([latecomer, "-q", "analyze", "-n", ranks, "-o", out, f"{tmp}/{seed}"], check=True, timeout=patience(120))
            shown = subprocess.run([latecomer, "show", "--json", out], check=True, capture_output=True, text=True, timeout=patience(60))
            result = json.loads(shown.stdout)
            have, failed = found(result), result["meta"]["invariants"].get("broken") + before_life(trace, result)
            wrong = [(k, trace.expected.get(k, 0), have.get(k, 0)) for k in sorted(set(have) | set(trace.expected))
                     if have.get(k, 0) != trace.expected.get(k, 0)]
            health = {k: n for k, n in result["meta"]["health_counts"].items() if k != "no_events"}
            for metric, _, _ in trace.expected:
                kinds[metric] += 1
            if wrong or health or failed:
                bad += 1
                print(f"seed {seed}: {len(wrong)} differ: {wrong[:6]} {health} {failed}")
    missing = [m for m in METRICS if not kinds[m]] if every_kind else []
    print(f"{bad} traces differ; kinds without a wait: {missing}")
    sys.exit(bool(bad or missing))


if __name__ == "__main__":
    main()
