"""Known patterns under the tool, judged by an own computation from the log of time stamps: clocks and factors by the rules of the spec, waits by those
docs/definitions/wait-states.md, 2.1 to 2.4. Usage: constructed_waits.py LATECOMER PROGRAM FLAVOUR (the program is constructed_waits.c)."""
import json
import math
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

BARRIER, N2N, V2V, ONE2N, N2ONE, SCAN, EXSCAN, NEIGHBOR, MEET = range(9)
COLL_WAIT = {BARRIER: "mpi_barrier_wait", N2N: "mpi_wait_nxn", ONE2N: "mpi_latebroadcast", N2ONE: "mpi_earlyreduce", SCAN: "mpi_earlyscan", EXSCAN: "mpi_earlyscan",
             V2V: "mpi_wait_nxn", NEIGHBOR: "mpi_neighbor_wait"}
MEETS = (("MPI_Win_fence", "mpi_rma_wait_at_fence"), ("MPI_Win_free", "mpi_rma_wait_at_free"), ("MPI_Win_", "mpi_rma_wait_at_create"),
         ("MPI_File_", "mpi_io_collective_wait"), ("MPI_", "mpi_mgmt_comm_wait"))
EPOCHS = {"MPI_Win_wait": "mpi_rma_early_wait", "MPI_Win_complete": "mpi_rma_sync_late_post"}
KINDS = ("mpi_latesender", "mpi_latereceiver", "mpi_probe_wait", *sorted({*COLL_WAIT.values(), *EPOCHS.values(), *(name for _, name in MEETS)}))
WAITS = ("MPI_Recv", "MPI_Wait", "MPI_Waitall", "MPI_Sendrecv")


class Call:
    def __init__(self, rank, lines, words, names):
        self.rank, self.function = rank, words[1]
        self.begin, self.end, self.interval, node = map(int, words[2:6])
        self.path = names.get(node, words[1])
        self.marks, self.sure = defaultdict(list), set()  # sends that surely end only after their receive was posted
        for line in lines:
            self.marks[line[0]].append(tuple(map(int, line[1:])))


def functions(program):
    """Address of its begin -> name, for every function of the program."""
    out = launch.subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {int(words[0], 16): words[2] for words in map(str.split, out.splitlines()) if len(words) == 3 and words[1] in "tT"}


def paths(lines, symbols, program):
    """Call paths of the nodes of one rank, as `show` names them."""
    nodes = {}
    for _, node, parent, name in (line.split(maxsplit=3) for line in lines if line.startswith("N ")):
        module, _, offset = name.partition("+0x")
        if offset and os.path.basename(module) == os.path.basename(program):
            name = symbols[int(offset, 16)]
        nodes[int(node)] = nodes[int(parent)] + "/" + name if int(parent) in nodes else name
    return nodes


def read(path, size, program):
    ranks, rates, rests, ends = [], [], [], []  # rests: work after the last call
    symbols = functions(program)
    for rank in range(size):
        calls, pending, work, begin, end, skipped = [], [], [], None, None, 0
        lines = Path(f"{path}.{rank}").read_text().splitlines()
        names = paths(lines, symbols, program)
        for words in map(str.split, lines):
            if words[0] == "B":
                begin, rate, skipped = int(words[1]), float(words[2]) * 1e-9, 0
            elif words[0] == "D":  # the tool's own work is not useful time
                skipped += int(words[1])
            elif words[0] == "E":
                end = int(words[1])
            elif words[0] == "C":
                if begin is not None and words[1] != "MPI_Init":
                    calls.append(Call(rank, pending, words, names))
                    calls[-1].skipped, skipped = skipped, 0
                    calls[-1].work, work = work, []
                pending = []
            elif words[0] == "W":  # logged_patterns.c: named work since the last call
                work.append((words[1], int(words[2])))
            elif words[0] not in "FN":
                pending.append(words)
        ranks.append((begin, end - skipped, calls))
        ends.append(end)
        rates.append(rate)
        rests.append(work)
    return ranks, rates[0], rests, max(ends)


def streams(ranks):
    """Calls of the k-th send, post and reception of every stream; collectives by (context, number)."""
    sent, posted, got, coll = defaultdict(list), defaultdict(list), defaultdict(list), defaultdict(dict)
    for _, _, calls in ranks:
        for call in calls:
            for to, context, tag, surely in call.marks["S"]:
                if surely:
                    call.sure.add(((call.rank, to, context, tag), len(sent[call.rank, to, context, tag])))
                sent[call.rank, to, context, tag].append(call)
            for source, context, tag in call.marks["P"]:
                posted[source, call.rank, context, tag].append(call)
            for source, context, tag in call.marks["R"]:
                got[source, call.rank, context, tag].append(call)
            for context, number, kind, root, sends, receives in call.marks["X"]:
                coll[context, number][call.rank] = (call, kind, root, sends, receives)
    return sent, posted, got, coll


def sources(me, members, pattern):
    """Those whose entry an operation's member reads."""
    _, kind, root, _, receives = members[me]
    ranks = [r for r, m in members.items() if r != me and m[3]]
    if not receives:
        return kind, []
    if pattern == "remote" and members[me][0].path != "main/MPI_Gather" and kind in (BARRIER, N2N, N2ONE, ONE2N) and len(members) > 2:  # between even and odd ranks; the root is rank 0
        ranks = [r for r in ranks if (r - me) % 2]
        return kind, [r for r in ranks if r == 0] if kind == ONE2N else ranks
    if pattern == "neighbours" and kind in (NEIGHBOR, V2V):
        near = {(me - 1) % len(members)} | ({(me + 1) % len(members)} if kind == NEIGHBOR else set())
        ranks = [r for r in ranks if r in near]
    if kind == ONE2N:
        ranks = [r for r in ranks if r == root]
    if kind in (SCAN, EXSCAN):
        ranks = [r for r in ranks if r < me]
    return kind, ranks


class Judge:
    """scale: named work counts so many times (what-if). After result(): waits, blame, and per call the one whose clock won."""

    def __init__(self, path, size, program, pattern="", scale=None):
        self.ranks, self.rate, self.rests, self.latest_end = read(path, size, program)
        self.pattern, self.scale = pattern, scale or {}
        self.won, self.blame = {}, defaultdict(float)
        self.sent, self.posted, self.got, self.coll = streams(self.ranks)
        self.index = {}
        for name, table in (("S", self.sent), ("R", self.got), ("P", self.posted)):
            count = defaultdict(int)
            for key, calls in table.items():
                for call in calls:
                    self.index.setdefault((name, id(call)), []).append((key, count[key]))
                    count[key] += 1
        self.before, self.after = {}, {}
        self.windows()
        self.waits = defaultdict(float)

    def windows(self):
        self.told, self.locks, heard = defaultdict(list), defaultdict(list), defaultdict(int)
        for _, _, calls in self.ranks:
            for call in calls:
                for to, context, tag in call.marks["U"]:
                    self.told[call.rank, to, context, tag].append(call)
                for source, context, tag in call.marks["V"]:
                    key = source, call.rank, context, tag
                    self.index.setdefault(("V", id(call)), []).append((key, heard[key]))
                    heard[key] += 1
                for context, target, shared in call.marks["K"]:
                    self.locks[context, target].append((call, shared))

    def clock_at(self, call):
        """useful at the entry of a call: what the previous one left, and the work since."""
        if id(call) in self.before:
            return self.before[id(call)]
        begin, _, calls = self.ranks[call.rank]
        at = self.place[id(call)]
        if at == 0:
            value, last = 0, begin
        else:
            value, last = self.clock_after(calls[at - 1]), calls[at - 1].end
        self.before[id(call)] = value + call.begin - last - call.skipped + self.more(call.work)
        return self.before[id(call)]

    def more(self, work):
        """Ticks by which named work counts more than it took."""
        return sum((self.scale.get(name, 1) - 1) * ticks for name, ticks in work)

    def edge(self, call, value, other):
        """The clock with the edge from the entry of another call."""
        theirs = self.clock_at(other)
        if theirs > value:
            self.won[id(call)] = other
        return max(value, theirs)

    def reply(self, key, number, call):
        """The call that posted the receive of a message that this sender waited for, or None."""
        posts = self.posted.get(key, [])
        if number < len(posts) and call.begin < posts[number].begin < call.end and posts[number].begin > self.sent[key][number].begin:
            return posts[number]
        return None

    def posted_before(self, key, number, call):
        """The call that posted the receive of a send that surely ends only after that, and before it ended."""
        posts = self.posted.get(key, [])
        sure = key[0] != key[1] and (key, number) in self.sent[key][number].sure
        return posts[number] if sure and number < len(posts) and posts[number].begin < call.end else None

    def started(self, call):
        """Streams and numbers of the nonblocking sends that a call completes."""
        calls = self.ranks[call.rank][2]
        for before in reversed(calls[: self.place[id(call)]]):
            if before.function in ("MPI_Waitall", "MPI_Wait"):
                return
            if before.function in ("MPI_Isend", "MPI_Issend", "MPI_Startall"):
                yield from self.index.get(("S", id(before)), [])

    def epoch(self, call, cause):
        """The wait for the latest of the other side, or none: MPI_Win_start may have had it before MPI_Win_complete."""
        calls = self.ranks[call.rank][2][: self.place[id(call)]]
        start = next((c for c in reversed(calls) if c.function == "MPI_Win_start"), None) if call.function == "MPI_Win_complete" else None
        if start and cause.begin < start.end:
            self.book(start, cause.begin - start.begin, EPOCHS[call.function], cause)
        else:
            yield min(cause.begin, call.end) - call.begin, EPOCHS[call.function], cause

    def book(self, call, ticks, metric, cause):
        if ticks > 0:
            self.waits[call.rank, call.path, metric] += ticks * self.rate
            self.blame[call.path, cause.rank] += ticks * self.rate

    def found(self, call):
        """The call that sent the message that a probe found: of the next receive that is posted; None: of the rank itself."""
        receive = next(c for c in self.ranks[call.rank][2][self.place[id(call)] + 1:] if c.marks["P"] or c.function == "MPI_Mrecv")
        key, number = self.index["R" if receive.function == "MPI_Mrecv" else "P", id(receive)][0]
        return self.sent[key][number] if key[0] != key[1] else None

    def clock_after(self, call):
        if id(call) in self.after:
            return self.after[id(call)]
        value = self.clock_at(call)
        candidates = []
        for key, number in self.index.get(("R", id(call)), []):
            sender = self.sent[key][number]
            value = self.edge(call, value, sender)
            if key[0] != key[1] and not call.function.startswith("MPI_Test"):
                candidates.append((min(sender.begin, call.end) - call.begin, "mpi_latesender", sender))
        sender = self.found(call) if call.function in ("MPI_Probe", "MPI_Mprobe") else None
        if sender is not None:
            candidates.append((min(sender.begin, call.end) - call.begin, "mpi_probe_wait", sender))
        ended = self.index.get(("S", id(call)), []) if not call.function.startswith(("MPI_I", "MPI_Start")) else []
        for key, number in [*ended, *(self.started(call) if call.function in ("MPI_Waitall", "MPI_Wait") else [])]:
            post = self.posted_before(key, number, call)
            if post is not None:
                value = self.edge(call, value, post)
        if call.function in ("MPI_Send", "MPI_Ssend"):
            for key, number in self.index.get(("S", id(call)), []):
                post = self.reply(key, number, call)
                if post is not None:
                    value = self.edge(call, value, post)
                    candidates.append((post.begin - call.begin, "mpi_latereceiver", post))
        if call.function == "MPI_Waitall" or (call.function == "MPI_Wait" and not (call.marks["R"] or call.marks["Y"])):  # sends started since the last one; not those to a process whose message was waited for
            waited = {key[0] for key, number in self.index.get(("R", id(call)), []) if self.sent[key][number].begin > call.begin}
            for key, number in self.started(call):
                post = self.reply(key, number, call)
                if key[1] not in waited and post is not None:
                    value = self.edge(call, value, post)
                    candidates.append((post.begin - call.begin, "mpi_latereceiver", post))
        for operation in call.marks["Y"]:
            kind, ranks = sources(call.rank, self.coll[operation], self.pattern)
            if kind == MEET and ("/unordered/" in call.path or any(m[0].begin > call.end for m in self.coll[operation].values())):
                continue  # it need not wait; it ended before all had come
            others = [self.coll[operation][r][0] for r in ranks]
            for other in others:
                value = self.edge(call, value, other)
            metric = COLL_WAIT.get(kind)
            if kind == MEET and any(m[:2] == operation for m in call.marks["X"]):  # not one that was started before
                metric = next(name for begin, name in MEETS if call.function.startswith(begin))
            if others and metric:
                cause = (min if kind == N2ONE else max)(others, key=lambda c: c.begin)
                candidates.append((min(cause.begin, call.end) - call.begin, metric, cause))
        heard = [self.told[key][number] for key, number in self.index.get(("V", id(call)), [])]  # windows: posts and completions
        for other in heard:
            value = self.edge(call, value, other)
        if heard and call.function in EPOCHS:
            candidates += self.epoch(call, max(heard, key=lambda c: c.begin))
        for context, target, shared in call.marks["K"]:  # locks: conflicting epochs that were over before
            for other, others_shared in self.locks[context, target]:
                if other.rank != call.rank and other.end < call.end and not (shared and others_shared):
                    value = max(value, self.clock_after(other))
        choose = min if call.function == "MPI_Waitsome" else max
        ticks, metric, cause = choose(candidates, default=(0, None, None), key=lambda c: c[0])
        self.book(call, ticks, metric, cause)
        self.after[id(call)] = value
        return value

    def result(self):
        sys.setrecursionlimit(100000)
        self.place = {id(c): i for _, _, calls in self.ranks for i, c in enumerate(calls)}
        useful, chains, self.inside = [], [], []  # inside: time in MPI
        for (begin, end, calls), rest in zip(self.ranks, self.rests):
            inside = sum(min(c.end, end) - c.begin for c in calls if c.begin < end)
            useful.append((end - begin - inside - sum(c.skipped for c in calls)) * self.rate)
            last = calls[-1] if calls[-1].begin < end or calls[-1].end <= end else calls[-2]  # not MPI_Finalize, which begins at the end
            chains.append((self.clock_after(last) + end - last.end + self.more(rest)) * self.rate)
            self.inside.append(inside * self.rate)
        self.longest = chains.index(max(chains))
        elapsed = (self.latest_end - min(b for b, _, _ in self.ranks)) * self.rate
        return useful, max(chains), elapsed

    def path(self):
        """Seconds of named work on the longest chain, by name."""
        found, rank = defaultdict(float), self.longest
        at, work = len(self.ranks[rank][2]) - 1, self.rests[rank]
        while True:
            for name, ticks in work:
                found[name] += ticks * self.rate
            if at < 0:
                return found
            call = self.ranks[rank][2][at]
            call = self.won.get(id(call), call)
            rank, at, work = call.rank, self.place[id(call)] - 1, call.work


EXACT = 2e-9 if launch.simulated() else 1e-5  # seconds: virtual time; on the simulated MPI but rounding
READS = 1e-8  # of the clock, 1 ns each: between two processes that compare clocks


def near(found, what, is_value, wanted, tolerance):
    if abs(is_value - wanted) > tolerance:
        found.append(f"{what}: {is_value:.9f} instead of {wanted:.9f}")


def check_judged(found, label, log, size, program, result, skew, pattern=""):
    judge = Judge(log, size, program, pattern)
    useful, chain, elapsed = judge.result()
    pop = result["pop"]
    mean = sum(useful) / size
    ratio = (EXACT + skew) / elapsed
    near(found, f"{label} load balance", pop["load_balance"], mean / max(useful), ratio)
    near(found, f"{label} serialisation", pop["serialisation_efficiency"], max(useful) / chain, 2 * ratio)
    near(found, f"{label} transfer", pop["transfer_efficiency"], chain / elapsed, ratio)
    near(found, f"{label} parallel efficiency", pop["parallel_efficiency"], mean / elapsed, ratio)
    near(found, f"{label} identities", pop["identity_error"], 0, 1e-9)
    path = sum(sum(v) for v in result["metrics"].get("critical_path_useful", {"callpaths": {}})["callpaths"].values())
    near(found, f"{label} critical path by call path", path, pop["critical_path_s"] * (1 - pop["not_attributed"]), EXACT)
    near(found, f"{label} not attributed", pop["not_attributed"], 0, 0.01)
    measured = defaultdict(float)
    for metric in KINDS:
        for callpath, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
            for rank, value in enumerate(values):
                measured[rank, callpath, metric] += value
    for key in set(measured) | set(judge.waits):
        near(found, f"{label} {key}", measured.get(key, 0), judge.waits.get(key, 0), EXACT + (200 if pattern == "turns" else 20) * skew)
    return useful, elapsed


def check_naps(found, label, out, useful):
    naps = {int(w[1]): float(w[2]) for w in map(str.split, out.splitlines()) if w[:1] == ["napped"]}
    for rank, value in enumerate(useful):
        if value < naps[rank] - EXACT:
            found.append(f"{label}: rank {rank} worked {value:.4f} s, napped {naps[rank]:.4f} s")


def run(work, program, size, words, **env):
    name = "-".join([os.path.basename(program), str(size), *words, *map(str, env.values())]).replace("/", "_").replace(",", "_")
    launch.shutil.rmtree(work.root / f"exp-{name}", ignore_errors=True)
    log = work.root / f"log-{name}"
    done = work.run(work.launcher(size) + work.tool(directory=f"exp-{name}") + [program, *words],
                    env=work.environment(LATECOMER_CLOCKS_LOG=log, **env))
    if done.status != 0:
        raise RuntimeError(f"{name}: status {done.status}\n{done.out[-500:]}{done.err[-1500:]}")
    result = work.show(directory=f"exp-{name}")
    if not result["meta"]["complete"]:
        raise RuntimeError(f"{name}: only part of a result: {json.dumps(result['meta'])[:1000]}\n{done.out[-500:]}{done.err[-1500:]}")
    return log, done, result


PATTERNS = (("chain", 4), ("imbalance", 4), ("rotating", 4), ("transfer", 4), ("farm", 4), ("probes", 4), ("mixture", 4), ("mixture", 2), ("others", 4), ("rotating", 8), ("made", 4), ("halves", 4), ("posted", 2), ("posted", 4), ("streams", 4), ("remote", 4), ("between", 4), ("parts", 2), ("crowd", 2), ("neighbours", 4), ("epochs", 4),
            ("locks", 4), ("lockers", 4), ("turns", 2), ("turns", 4))
# Nobody waits for the record by which an epoch of a lock gets to know those that ended before it: by the true clock there is time, while others work.
BY_TRUE_CLOCK = {"locks": ("mpi", "mixed"), "lockers": ("mpi", "mixed")}
# Senders look late for the line of their receive, which 16 later receives have overwritten.
ENVIRONMENT = {"crowd": {"VT_LINGER_MS": 20}}


PATTERN_NAMES = {name for name, _ in PATTERNS}
NOMINAL = {"chain": {"serialisation_efficiency": 1 / 4}, "imbalance": {"load_balance": 30 / 60, "serialisation_efficiency": 1},
           "rotating": {"load_balance": 1, "serialisation_efficiency": 30 / 60}}


def combinations(flavour):
    """How many a reduction over 4 ranks makes one after the other, in the root: the height of a binomial tree of all ranks. MPICH has one inside the node of the
    root and one between nodes, which take their ranks in turn."""
    nodes = len(os.environ.get("HOSTS_NAMES", "node1").split()) if flavour == "mpich" else 1
    return sum(math.ceil(math.log2(n)) for n in (math.ceil(4 / nodes), nodes))


def check_nominal(found, label, pattern, flavour, result):
    """What follows from the naps as asked for, with 4 ranks."""
    nominal = {"transfer_efficiency": 1 / (1 + combinations(flavour))} if pattern == "transfer" else NOMINAL.get(pattern, {})
    for name, value in nominal.items():
        near(found, f"{label} nominal {name}", result["pop"][name], value, 1e-4)


def patterns(work, program, flavour, transport, only=None):
    found = []
    for pattern, size in PATTERNS:
        if pattern not in (only or PATTERN_NAMES) or bool(work.virtual) == (transport in BY_TRUE_CLOCK.get(pattern, ())):
            continue
        label = f"{pattern} {size} {flavour} {transport}"
        env = {"mixed": {"LATECOMER_TEST_NODES": 2}, "hosts": {}}.get(transport, {"LATECOMER_TRANSPORT": transport})
        if work.simulated:  # no clocks chosen in the run: what ranks tell each other for that takes time there, which the log has not
            env["LATECOMER_WHAT_IF"] = "mpi=0"
        log, done, result = run(work, program, size, [pattern], **env, **ENVIRONMENT.get(pattern, {}))
        skew = result["meta"]["clock_sync"]["error_s"] if transport in ("mixed", "hosts") else 0
        useful, elapsed = check_judged(found, label, log, size, program, result, skew, pattern)
        check_naps(found, label, done.out, useful)
        if size == 4 and not (work.simulated and pattern == "transfer"):  # it has a reduction of its own
            check_nominal(found, label, pattern, flavour, result)
        meta = result["meta"]
        if meta["messages_matched"] != meta["messages_total"]:
            found.append(f"{label}: {meta['messages_matched']} of {meta['messages_total']} messages matched")
        print(f"{label}: {elapsed:.3f} s, " + ", ".join(f"{k} {result['pop'][k]:.4f}" for k in
              ("load_balance", "serialisation_efficiency", "transfer_efficiency")))
    return found


def prediction(work, program, flavour):
    """work=0.5 predicted against really halved work, where `work` is a region of the interface, and where it is a function compiled with
    -finstrument-functions."""
    found = []
    for binary in (program, program + "-functions"):
        label = f"what-if {os.path.basename(binary)}"
        _, _, result = run(work, binary, 4, ["exactly"], LATECOMER_WHAT_IF="work=0.5;mpi=0;work=2,work=0.25")
        _, _, halved = run(work, binary, 4, ["exactly", "0.5"])
        pop = result["pop"]
        predicted, free, both = pop["what_if"]
        near(found, f"{label} mpi=0", free["predicted_s"], pop["critical_path_s"], 1e-6)
        near(found, f"{label} two factors for one name", both["critical_path_s"], predicted["critical_path_s"], 1e-6)
        near(found, f"{label} critical path", predicted["critical_path_s"], halved["pop"]["critical_path_s"], EXACT)
        near(found, f"{label} run time", predicted["predicted_s"], halved["pop"]["elapsed_s"], EXACT)
        print(f"{label}: path {predicted['critical_path_s']:.6f} predicted, really {halved['pop']['critical_path_s']:.6f}; "
              f"run time {predicted['predicted_s']:.6f}, really {halved['pop']['elapsed_s']:.6f}")
    return found


def late_call_sites(work, program, flavour):
    """Blame names the two calls between which the late rank was."""
    run(work, program, 4, ["imbalance"])
    out = launch.subprocess.run([work.latecomer, "show", "--only", "all", str(work.root / f"exp-{os.path.basename(program)}-4-imbalance")], capture_output=True, text=True, check=True).stdout
    source = (Path(__file__).parent / "constructed_waits.c").read_text().splitlines()
    first, last = ([i for i, line in enumerate(source, 1) if call in line][0] for call in ('latecomer_begin("work")', 'latecomer_end("work")'))
    wanted = f"between constructed_waits.c:{first} and constructed_waits.c:{last}"
    blamed, path = out.split("Largest wait states")[0], out.split("Critical path")[1].split("Call tree")[0]
    return [] if re.search(r"rank 3\n +main/imbalance/work", blamed) and wanted in blamed and wanted in path else [f"blame {flavour}: no '{wanted}' in\n{out}"]


def intervals(work, program, flavour):
    found = []
    _, _, result = run(work, program, 2, ["stopped"])
    pop = result["pop"]
    if len(pop.get("intervals", [])) != 2:
        return [f"intervals {flavour}: {pop.get('intervals')}"]
    if pop["elapsed_s"] < 0.11:
        found.append(f"intervals {flavour}: {pop['elapsed_s']} s in all")
    first = pop["intervals"][0]
    near(found, f"intervals {flavour}: work of the first", first["factors"]["load_balance"] * first["critical_path_s"], 0.055, EXACT)
    near(found, f"intervals {flavour}: transfer of the first", first["factors"]["transfer_efficiency"], 1, 1e-3)
    name = f"exp-{os.path.basename(program)}-2-stopped"
    out = launch.subprocess.run([work.latecomer, "show", "--only", "all", str(work.root / name)], capture_output=True, text=True, check=True).stdout
    found += [f"intervals {flavour}: no interval {i} in\n{out}" for i in (1, 2) if f"  interval {i}, " not in out]
    near(found, f"intervals {flavour}", sum(i["elapsed_s"] for i in pop["intervals"]), pop["elapsed_s"], 1e-9)
    return found


def iterations(log, size):
    """Per phase and iteration: what every rank worked before, and after, the one barrier in it; latest end - earliest begin. Own work (D)
    of the tool that is logged once the barrier has begun (X) came after it; the line of the call itself (C) is written later still."""
    rounds = defaultdict(lambda: defaultdict(list))
    for rank in range(size):
        count, start, barrier, begun, skipped = defaultdict(int), None, None, False, [0, 0]  # before the barrier, and after it
        for words in map(str.split, Path(f"{log}.{rank}").read_text().splitlines()):
            if words[0] == "B":
                rate = float(words[2]) * 1e-9
            elif words[0] == "C" and words[1] == "MPI_Barrier":
                barrier = int(words[2]), int(words[3])
            elif words[0] == "X":
                begun = True
            elif words[0] == "D":
                skipped[begun] += int(words[1])
            elif words[0] == "F" and words[1] == "1":
                start, begun, skipped = int(words[2]), False, [0, 0]
            elif words[0] == "F":
                end, name = int(words[2]), words[3]
                rounds[name][count[name]].append(tuple(rate * t for t in (start, end, barrier[0] - start - skipped[0], end - barrier[1] - skipped[1])))
                count[name] += 1
    for name, all_of in rounds.items():
        yield name, [(max(e for _, e, _, _ in r) - min(b for b, _, _, _ in r), [x + y for _, _, x, y in r],
                      max(x for _, _, x, _ in r) + max(y for _, _, _, y in r)) for r in all_of.values()]


def phases(work, program, flavour):
    """Factors of named phases and of their iterations against an own computation from the log of time stamps."""
    found = []
    for size, transport, kind in ((4, "shm", ""), (2, "mpi", ""), (2, "shm", "-functions")): # the last: inside regions that are functions
        log, done, result = run(work, program + kind, size, ["phased"], LATECOMER_TRANSPORT=transport)
        told = {p["name"]: p for p in result["pop"].get("phases", [])}
        if list(told) != ["assemble", "solve"]:
            return [f"phases{kind} {flavour}: {list(told)}"]
        for name, rounds in iterations(log, size):
            label, phase = f"phase {name} {size} {transport} {flavour}{kind}", told[name]
            elapsed, mean = [r[0] for r in rounds], [sum(r[1]) / size for r in rounds]
            most, path = [max(r[1]) for r in rounds], [r[2] for r in rounds]
            own = [m / e for m, e in zip(mean, elapsed)]
            near(found, f"{label} count", phase["count"], 5, 0)
            near(found, f"{label} elapsed", phase["elapsed_s"], sum(elapsed), 1e-6)
            for key, wanted in (("load_balance", sum(mean) / sum(most)), ("serialisation_efficiency", sum(most) / sum(path)),
                                ("transfer_efficiency", sum(path) / sum(elapsed)), ("parallel_efficiency", sum(mean) / sum(elapsed))):
                near(found, f"{label} {key}", phase["factors"][key], wanted, 1e-4)
            ordered, told_of = sorted(own), phase["iterations"]["parallel_efficiency"]
            middle = (len(own) - 1) / 2
            slope = sum((i - middle) * v for i, v in enumerate(own)) / sum((i - middle) ** 2 for i in range(len(own)))
            for key, wanted in (("first", own[0]), ("best", ordered[-1]), ("median", ordered[2]), ("worst", ordered[0]),
                                ("worst_at", own.index(ordered[0]) + 1), ("drift", slope * (len(own) - 1))):
                near(found, f"{label} {key} iteration", told_of[key], wanted, 1e-4)
            near(found, f"{label} longest", phase["iterations"]["elapsed_s"]["worst"], max(elapsed), 1e-6)
        print(f"phases {size} {flavour}: {told['solve']['factors']} {told['solve']['iterations']}")
    return found


def wrong_clocks(work, program, flavour, rounds):
    """Two believed nodes, the clock of the second one shows 5 ms more and runs 50 ppm faster: both are recovered within the bound that the result
    states, and the factors are those of the stamps."""
    found = []
    offset_ns, drift_ppm, size = 5000000, 50, 4
    script = work.root / "bend.sh"
    script.write_text('#!/bin/sh\nr=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ "$r" -ge 2 ] && export LATECOMER_TEST_CLOCK='
                      f'{offset_ns},{drift_ppm}\nexec "$@"\n')
    script.chmod(0o755)
    log = work.root / "log-wrong_clocks"
    done = work.run([*work.launcher(size), str(script), *work.tool(directory="exp-wrong_clocks"), program, "drift", "1", str(rounds)],
                    env=work.environment(LATECOMER_CLOCKS_LOG=log, LATECOMER_TEST_NODES=2))
    if done.status != 0:
        return [f"wrong_clocks {flavour}: status {done.status}\n{done.err[-1500:]}"]
    result = work.show(directory="exp-wrong_clocks")
    sync = result["meta"]["clock_sync"]
    node, bound = sync["per_node"][1], sync["error_s"]
    elapsed = result["pop"]["elapsed_s"]
    print(f"wrong_clocks {flavour}: {sync}, {elapsed:.2f} s")
    near(found, f"wrong_clocks {flavour} offset at begin", node["offset_begin_s"] - sync["per_node"][0]["offset_begin_s"], offset_ns * 1e-9, bound + 1e-6)
    near(found, f"wrong_clocks {flavour} drift", node["drift_ppm"], drift_ppm / (1 + 1e-6 * drift_ppm), 2e6 * (bound + READS) / elapsed)
    if rounds > 100 and (elapsed < 10 or sync["during_run"] < 2):
        found.append(f"wrong_clocks {flavour}: {elapsed} s, {sync}")
    check_judged(found, f"wrong_clocks {flavour}", log, size, program, result, 2 * bound + drift_ppm * 1e-6 * min(elapsed, 2.5) + 1e-4)
    return found


def main():
    latecomer, program, flavour, what = sys.argv[1:]
    what, *only = what.split(",")  # for a look at some patterns: shm,chain,rotating
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=what != "by_true_clock") as work:
        program = os.path.abspath(program)
        if what == "by_true_clock":
            global EXACT
            EXACT = 2e-3
            found = [fault for transport in ("shm", "mpi", *["mixed"] * (flavour == "openmpi"))
                     for fault in patterns(work, program, flavour, transport)]
        elif what in ("shm", "mpi", "mixed"):
            found = patterns(work, program, flavour, what, only or None)
        elif what == "wrong_clocks":
            found = wrong_clocks(work, program, flavour, int(only[0]) if only else 20)
        elif what == "prediction":
            found = prediction(work, program, flavour) + intervals(work, program, flavour) + late_call_sites(work, program, flavour)
        elif what == "phases":
            found = phases(work, program, flavour)
        else:
            sys.exit(f"{what}?")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
