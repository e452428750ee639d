#!/usr/bin/env python3
"""Gains that `analyze` predicts, with exact answers: small programs are played here, their traces analysed, and played again with the cause removed.

check_gains.py LATECOMER SEEDS (SEEDS: 0-19 or 0-19,10050)

A program is a list of steps per rank: ("work", name, ticks), ("send", to), ("send_now", to), which takes no time, ("recv", from), ("recv_all", from ..), ("barrier",), ("allreduce",), ("bcast", root), ("reduce", root).
("sampled", name, ticks) is work in a function that one sample found, or none (None). Sends never wait, so they are buffered ones: a standard one that is not over when its receiver comes has waited for it, by definition.
In programs of even numbers every MPI call takes OVERHEAD besides its waiting, so that no two events that depend on each other are at the same instant; in the others (and in "at one instant") calls take no time, and chains of messages through several ranks are at one instant.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

import otf2
from otf2.enums import Base, CollectiveOp, GroupFlag, GroupType, InterruptGeneratorMode, LocationGroupType, LocationType, Paradigm, RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER = sys.argv[1]
OVERHEAD = {"MPI_Bsend": 5, "MPI_Recv": 7, "MPI_Waitall": 23, "MPI_Barrier": 11, "MPI_Allreduce": 13, "MPI_Bcast": 17, "MPI_Reduce": 19}
OPS = {"barrier": ("MPI_Barrier", CollectiveOp.BARRIER, RegionRole.BARRIER), "allreduce": ("MPI_Allreduce", CollectiveOp.ALLREDUCE, RegionRole.COLL_ALL2ALL),
       "bcast": ("MPI_Bcast", CollectiveOp.BCAST, RegionRole.COLL_ONE2ALL), "reduce": ("MPI_Reduce", CollectiveOp.REDUCE, RegionRole.COLL_ALL2ONE)}
NO_TIME = dict.fromkeys(OVERHEAD, 0)
RATE = 1_000_000
NONE = 0xFFFFFFFF


class Player:
    """Plays a program; events[rank]: (kind, name, begin, end, detail)."""

    def __init__(self, program, overhead=OVERHEAD, unawaited=None):
        self.program, self.overhead, self.unawaited = program, overhead, unawaited
        n = len(program)
        self.now, self.at, self.events = [0] * n, [0] * n, [[] for _ in range(n)]
        self.sent, self.skipped = defaultdict(list), 0   # (from, to): (instant, what was before)
        self.got, self.met, self.number = defaultdict(int), defaultdict(dict), [0] * n
        while any(self.at[r] < len(program[r]) for r in range(n)):
            if not any([self.step(r) for r in range(n)]):
                sys.exit(f"the test's own program stands still at {self.at}")
        self.length = max(self.now)

    def before(self, rank):
        longest, name = -1, None
        for kind, what, begin, end, _ in reversed(self.events[rank]):
            if kind != "work":
                break
            if end - begin > longest:
                longest, name = end - begin, what
        return name

    def add(self, rank, kind, name, end, detail=None):
        self.events[rank].append((kind, name, self.now[rank], end, detail))
        self.now[rank] = end
        self.at[rank] += 1
        return True

    def step(self, rank):
        if self.at[rank] == len(self.program[rank]):
            return False
        kind, *args = self.program[rank][self.at[rank]]
        now = self.now[rank]
        if kind in ("work", "sampled"):
            return self.add(rank, kind, args[0], now + args[1])
        if kind in ("send", "send_now"):
            self.sent[rank, args[0]].append((now, self.before(rank)))
            return self.add(rank, "send", "MPI_Bsend", now + (self.overhead["MPI_Bsend"] if kind == "send" else 0), args[0])
        if kind in ("recv", "recv_all"):
            keys, call = [(source, rank) for source in args], "MPI_Recv" if kind == "recv" else "MPI_Waitall"
            if any(self.got[key] == len(self.sent[key]) for key in keys):
                return False
            until = now
            for key in keys:
                instant, before = self.sent[key][self.got[key]]
                self.got[key] += 1
                if self.unawaited is None or before != self.unawaited:
                    until = max(until, instant)
            return self.add(rank, kind, call, until + self.overhead[call], args)
        name = OPS[kind][0]
        met, root = self.met[self.number[rank]], args[0] if args else None
        met[rank] = now
        others = [t for r, t in met.items() if r != rank] if kind == "reduce" else met.values()
        if kind == "bcast":
            ready = root in met
        else:
            ready = len(met) == len(self.program) or (kind == "reduce" and rank != root)
        if not ready:
            return False
        if kind == "bcast":
            until = max(now, met[root])
        elif kind == "reduce" and rank != root:
            until = now
        else:
            until = max(now, *others)
        self.number[rank] += 1
        return self.add(rank, kind, name, until + self.overhead[name], root)


def write(events, directory):
    with otf2.writer.open(directory, timer_resolution=RATE) as archive:
        defs = archive.definitions
        node = defs.system_tree_node("node0", class_name="node", parent=defs.system_tree_node("m", class_name="machine"))
        locations = []
        for i in range(len(events)):
            group = defs.location_group(f"MPI Rank {i}", system_tree_parent=node, location_group_type=LocationGroupType.PROCESS)
            locations.append(defs.location("Master thread", group=group, type=LocationType.CPU_THREAD))
        defs.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        world = defs.comm("", group=defs.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, group_flags=GroupFlag.NONE, members=locations))
        regions = {}
        sampled = {e[1] for rank in events for e in rank if e[0] == "sampled" and e[1]}
        for name in sorted({e[1] for rank in events for e in rank if e[1]} | {"main"}):
            mpi = name.startswith("MPI_")
            role = next((role for function, _, role in OPS.values() if function == name), RegionRole.POINT2POINT if mpi else RegionRole.FUNCTION)
            regions[name] = defs.region(name, region_role=role, paradigm=Paradigm.MPI if mpi else Paradigm.SAMPLING if name in sampled else Paradigm.COMPILER,
                                         source_file="")
        if sampled:
            main = defs.calling_context(region=regions["main"], parent=None)
            contexts = {name: defs.calling_context(region=regions[name], parent=main) for name in sorted(sampled)}
            timer = defs.interrupt_generator("timer", interrupt_generator_mode=InterruptGeneratorMode.TIME, base=Base.DECIMAL, exponent=-3, period=2)
        for rank, own in enumerate(events):
            writer = archive.event_writer_from_location(locations[rank])
            writer.enter(0, regions["main"])
            for kind, name, begin, end, detail in own:
                if kind == "sampled":
                    if name:
                        writer.calling_context_sample((begin + end) // 2, contexts[name], 1, timer)
                    continue
                writer.enter(begin, regions[name])
                if kind == "send":
                    writer.mpi_send(begin, detail, world, 0, 8)
                elif kind in ("recv", "recv_all"):
                    for source in detail:
                        writer.mpi_recv(end, source, world, 0, 8)
                elif kind != "work":
                    writer.mpi_collective_begin(begin)
                    writer.mpi_collective_end(end, OPS[kind][1], world, NONE if detail is None else detail, 8, 8)
                writer.leave(end, regions[name])
            writer.leave(own[-1][3] if own else 0, regions["main"])


def portions(steps, name):
    """Lists of the steps that are one portion."""
    found, is_open = [], False
    for i, (kind, *args) in enumerate(steps):
        if kind != "work":
            is_open = False
        elif args[0] == name:
            if not is_open:
                found.append([])
            found[-1].append(i)
            is_open = True
    return found


def changed(program, name, late):
    """The program with the time in `name` evened out; late: only this rank, to the mean of the others. None: not defined."""
    n = len(program)
    parts = [portions(steps, name) for steps in program]
    ticks = [[sum(program[r][i][2] for i in part) for part in parts[r]] for r in range(n)]
    together = len({len(t) for t in ticks}) == 1
    if late is None and not all(map(sum, ticks)):
        return None
    if not together:
        ticks = [[sum(t)] for t in ticks]
    result = [list(steps) for steps in program]
    for r in range(n):
        for k, part in enumerate(parts[r]):
            k = k if together else 0
            others = [ticks[q][k] for q in range(n) if late is None or q != r]
            factor = sum(others) / len(others) / ticks[r][k] if ticks[r][k] else 1
            for i in part:
                if late is None or r == late:
                    result[r][i] = ("work", name, program[r][i][2] * factor)
    return result


def expected(program, gain, overhead):
    name, kind = gain["callpath"].removeprefix("main/"), gain["without"]
    if kind in ("late_rank", "imbalance"):
        other = changed(program, name, gain.get("rank"))
        return Player(other, overhead).length if other else None
    if kind == "mpi_cost":
        return Player(program, {**overhead, name: 0}).length
    return Player(program, overhead, unawaited=name).length


def gains(directory, program, overhead, *options):
    player = Player(program, overhead)
    write(player.events, directory)
    out = f"{directory}.cubex"
    done = subprocess.run([LATECOMER, "-q", "analyze", *options, "-o", out, directory], capture_output=True, text=True, timeout=patience(120))
    if done.returncode:
        sys.exit(f"analyze: {done.stderr}")
    text = subprocess.run(["tar", "-xOf", out, "critical_path.json"], check=True, capture_output=True, text=True).stdout
    return player.length, json.loads(text)["gains"]


def most_costly(directory):
    """{(call path, rank)} of what a late rank is looked for in: by either delay-cost model the eight call paths outside MPI that cost most (half a
    percent of all time at least), each with the rank of most cost."""
    shown = subprocess.run([LATECOMER, "show", "--json", f"{directory}.cubex"], check=True, capture_output=True, text=True, timeout=patience(60))
    metrics, chosen = json.loads(shown.stdout)["metrics"], set()
    for model in "", "_waitfirst":
        costs = {path: row for path, row in metrics[f"delay{model}"]["callpaths"].items() if "/MPI_" not in path and sum(row) >= 0.0051 * metrics["time"]["total"]}
        for path in sorted(costs, key=lambda path: -sum(costs[path]))[:8]:
            ranks = sorted(range(len(costs[path])), key=lambda rank: -costs[path][rank])
            if costs[path][ranks[0]] > costs[path][ranks[1]] + 1e-5:  # the others are equal in whole ticks
                chosen.add((path, ranks[0]))
    return chosen


def repeat(n, *bodies):
    return [[step for i in range(n) for step in (body(i) if callable(body) else body)] for body in bodies]


def known():
    """(name, program, {(what is removed, call path): ticks then})"""
    work, barrier, more = ("work", "solve", 1200), ("barrier",), ("work", "solve", 2400)
    yield "late rank", repeat(10, *[[work, barrier]] * 3, [more, barrier]), {("late_rank", "solve"): 10 * 1211, ("imbalance", "solve"): 10 * 1511}
    turns = [lambda i, r=r: [("work", "solve", 3600 if i % 4 == r else 1200), barrier] for r in range(4)]
    yield "late in turn", repeat(8, *turns), {("imbalance", "solve"): 8 * 1811}
    # Samples have not found the function each time: by chance, the work is there.
    sampled = [lambda i, r=r: [("sampled", None if i == 0 and r == 1 else "kernel", 3600 if i % 4 == r else 1200), barrier] for r in range(4)]
    yield "sampled in turn", repeat(8, *sampled), {("imbalance", "kernel"): 8 * 1811}
    yield ("late root", repeat(10, [("work", "prepare", 2400), ("bcast", 0), work, barrier], *[[("bcast", 0), work, barrier]] * 3),
           {("late_rank", "prepare"): 10 * (17 + 1200 + 11)})
    chain = [[*([("recv", r - 1)] if r else []), work, *([("send", r + 1)] if r < 3 else []), barrier] for r in range(4)]
    yield "chain", repeat(5, *chain), {("serialisation_chain", "solve"): 5 * (7 + 1200 + 5 + 11)}
    # By the trace's clock a send takes no time, and the next receive begins at the same instant.
    pipeline = [[*([("recv", r - 1)] if r else []), work, *([("send_now", r + 1)] if r < 3 else [])] * 2 + [barrier] for r in range(4)]
    yield "pipeline", repeat(5, *pipeline), {("serialisation_chain", "solve"): 5 * (2 * (7 + 1200) + 11)}
    yield ("MPI itself", repeat(50, *[[("work", "solve", 50), ("allreduce",)]] * 4), {("mpi_cost", "MPI_Allreduce"): 50 * 50})
    # The message is there before the receiver comes; without the receiver's excess it waits for it.
    yield ("early message", [[("work", "solve", 1000), ("work", "other", 4000), ("send", 1), barrier], [("work", "solve", 6000), ("recv", 0), barrier]],
           {("late_rank", "solve"): 5000 + 7 + 11})
    # Nobody waits for the broadcast at first: its root is early.
    yield ("early root", [[("work", "solve", 1000), ("work", "other", 3000), ("bcast", 0), barrier], [("work", "solve", 6000), ("bcast", 0), barrier]],
           {("late_rank", "solve"): 4000 + 17 + 11})
    # Two ranks are late together and exchange at one instant; then the next bit, as in conjugate gradients.
    pairs = [[("work", "solve", 4000 if r < 2 else 1000), *(step for bit in (1, 2) for step in (("send", r ^ bit), ("recv", r ^ bit)))] for r in range(4)]
    yield "at one instant", repeat(5, *pairs), {("late_rank", "solve"): 5 * 4000, ("imbalance", "solve"): 5 * 2500}
    # The other message comes 500 ticks earlier; then that is what the receiver waits for.
    yield ("second message", [[("work", "solve", 1000), ("recv_all", 1, 2), barrier], [("work", "slow", 4000), ("send", 0), barrier],
                              [("work", "other", 3500), ("send", 0), barrier]], {("late_rank", "slow"): 3500 + 23 + 11})


def made_up(seed):
    """Ranks with different work per iteration, neighbours that exchange, a collective now and then; the first ranks may have parts of their own."""
    dice = random.Random(seed)
    n, iterations = dice.choice([3, 4, 5]), dice.randint(4, 9)
    slow, favour = dice.randrange(n), dice.choice([1, 1, 3])
    pattern = [dice.choice(["ring", "halo", "line", "barrier", "allreduce", "bcast", "reduce", "own"]) for _ in range(dice.randint(2, 4))]
    program = [[] for _ in range(n)]
    for _ in range(iterations):
        for at, kind in enumerate(pattern):
            for r in range(n):
                program[r].append(("work", dice.choice(["force", f"part{at}"]), dice.randrange(60, 5000) * (favour if r == slow else 1)))
                if dice.random() < 0.2:
                    program[r].append(("work", "extra", dice.randrange(60, 5000)))
            for r in range(n):
                left, right = (r - 1) % n, (r + 1) % n
                if kind == "ring":
                    program[r] += [("send", right), ("recv", left)]
                elif kind == "halo":
                    program[r] += [("send", left), ("send", right), ("recv_all", left, right)]
                elif kind == "line":
                    program[r] += [*([("recv", left)] if r else []), ("work", "sweep", dice.randrange(60, 5000)), *([("send", right)] if right else [])]
                elif kind == "own" and r == slow:
                    program[r].append(("work", "serial", dice.randrange(60, 5000)))
                elif kind in ("bcast", "reduce"):
                    program[r].append((kind, at % n))
                elif kind in ("barrier", "allreduce"):
                    program[r].append((kind,))
    for steps in program:
        steps.append(("barrier",))
    return program


def main():
    seeds = [seed for part in sys.argv[2].split(",") for seed in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]
    bad = n = models = 0
    kinds = defaultdict(int)
    with tempfile.TemporaryDirectory() as tmp:
        for name, program, wanted in known():
            overhead = NO_TIME if name == "at one instant" else OVERHEAD
            length, found = gains(f"{tmp}/{name.replace(' ', '_')}", program, overhead)
            told = {(g["without"], g["callpath"].removeprefix("main/")): g for g in found}
            for what, ticks in wanted.items():
                n += 1
                then = told[what]["then_s"] * RATE if what in told else None
                if then is None or abs(then - ticks) > 1e-3 or abs(told[what]["now_s"] * RATE - length) > 1e-3:
                    print(f"{name}: without {what} {then} instead of {ticks}, now {length}; told: {found}")
                    bad += 1
                elif not any(kind == "sampled" for steps in program for kind, *_ in steps) and abs(expected(program, told[what], overhead) - ticks) > 1e-3:
                    print(f"{name}: the test itself expects {expected(program, told[what], overhead)}")
                    bad += 1
        for seed in seeds:
            program = made_up(seed)
            overhead = NO_TIME if seed % 2 else OVERHEAD
            length, found = gains(f"{tmp}/{seed}", program, overhead)
            if not found:
                print(f"seed {seed}: no gains")
                bad += 1
            wanted = most_costly(f"{tmp}/{seed}")
            late = {(gain["callpath"], gain["rank"]) for gain in found if gain["without"] == "late_rank"}
            models += len({path for path, _ in wanted}) < len(wanted)
            if not wanted <= late:
                print(f"seed {seed}: no gains without {wanted - late}")
                bad += 1
            for gain in found:
                n += 1
                kinds[gain["without"]] += 1
                then, right = gain["then_s"] * RATE, expected(program, gain, overhead)
                if right is None or abs(then - right) > 1e-3 or abs(gain["now_s"] * RATE - length) > 1e-3:
                    print(f"seed {seed}: {gain['without']} {gain['callpath']} {gain.get('rank')}: {then:.3f} instead of {right}, now {length}")
                    bad += 1
    print(f"{n} checks ({dict(kinds)}), {bad} not as expected; in {models} programs the models blame different ranks")
    return bad != 0 or models == 0


if __name__ == "__main__":
    sys.exit(main())
