"""Traces of real runs. check_runs.py --latecomer FILE --flavour openmpi|mpich MODE ...

golden SOURCES ARCHIVES    the pattern programs, compiled here and run under the tool: the same records per location as in the golden archive
golden SOURCES ARCHIVES half   every other one of them; with the other MPI, the others
programs DIR RANKS NAME..  programs of tests/system/programs (a name may carry arguments: "random 1 30"): true archive, every call is one Enter
killed SLEEPER             a rank is killed: what was flushed or in memory becomes an archive by `latecomer recover`
full SLEEPER               a small buffer: flushed and marked, or stopped
windows PROGRAM            `--trace=PHASE` and `--trace=iterations A-B`: exactly the records inside, and no message meets one of another window
phases PROGRAM             named phases, and measurement off for a while
modes SLEEPER              --trace-callpath=context and none, a filter
filters SLEEPER            messages left out by size, communicator; functions by name
counts PROGRAM             records equal calls
names PROGRAM              thousands of regions, odd names
neighbours PROGRAM         neighbourhood operations of graphs: their neighbours are in the archive, waits are found
grids PROGRAM              Cartesian topologies: dimensions and coordinates are in the archive, and in the page
disk SLEEPER               files cannot grow: no archive, a message, the program's own status
clocks PROGRAM             clock offsets between nodes, at both ends and at barriers in between
"""
import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / part) for part in ("programs", "page", "faults")]
import check_trace  # noqa: E402
import launch  # noqa: E402
import launcher_statuses  # noqa: E402
from patience import patience  # noqa: E402
import sequences  # noqa: E402
from pages import Page  # noqa: E402

# archive: program, arguments, ranks; functions that other tools do not see in these programs (not instrumented there: `HIDDEN`)
GOLDEN = {
    "late_sender": ("late_sender", [], 4),
    "late_sender_wait": ("late_sender_wait", [], 2),
    "late_sender_waitany": ("late_sender_waitany", [], 3),
    "wrong_order_same": ("wrong_order_same", [], 2),
    "late_receiver_ssend": ("late_receiver_ssend", [], 4),
    "late_receiver_isend": ("late_receiver_isend", [], 3),
    "zero_byte_messages": ("zero_byte_messages", [], 2),
    "wait_at_barrier": ("wait_at_barrier", [], 4),
    "wait_at_nxn_allreduce": ("wait_at_nxn_allreduce", [], 4),
    "wait_at_nxn_allgather": ("wait_at_nxn_allgather", [], 4),
    "collectives_zero_bytes": ("collectives_zero_bytes", [], 4),
    "late_broadcast_bcast": ("late_broadcast_bcast", [], 4),
    "early_reduce_reduce": ("early_reduce_reduce", [], 4),
    "early_scan": ("early_scan", [], 4),
    "unanalysed": ("unanalysed", [], 4),
    "delay_late_sender_1": ("delay_chain", ["late_sender", "1"], 3),
    "delay_late_receiver_3": ("delay_chain", ["late_receiver", "3"], 3),
    "delay_barrier_2": ("delay_chain", ["barrier", "2"], 3),
    "delay_nxn_1": ("delay_chain", ["nxn", "1"], 3),
    "delay_broadcast_3": ("delay_chain", ["broadcast", "3"], 3),
    "mpmd": ("mpmd", [], 8),
    "imbalance_static": ("imbalance", ["static"], 8),
}
MANY = {"mpmd", "imbalance_static"}  # more ranks than MPICH, which polls without yielding, can run here
HIDDEN = {"meet"}
# How often a loop polls is chance, and which of several messages is first: of these archives the records of a location are compared in any order.
ANY_ORDER = {"late_sender_waitany": {"MPI_Test", "work_between_tests", "MPI_Waitsome"}}


class Failure(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Failure(text)


def run(ws, ranks, program, *options, status=0, timeout=patience(200), **how):
    outcome = ws.finish(*begin(ws, ranks, program, *options, **how), timeout)
    launch.wait_for_survivors(ws.root)
    need(status is None or outcome.status == status, f"{program}: status {outcome.status}: {outcome.err[-2000:]}")
    return outcome


def begin(ws, ranks, program, *options, before=(), env=None):
    command = ws.launcher(ranks) + [*before] + ws.tool("--trace", *options) + [str(w) for w in program]
    return ws.start(command, ws.environment(**(env or {}))), time.monotonic()


def archive(ws):
    return ws.root / "exp" / "traces.otf2"


def true_archive(ws, **options):
    checker = check_trace.check(archive(ws), **options)
    need(not checker.problems, f"{len(checker.problems)} problems: " + "; ".join(checker.problems[:10]))
    return checker


def without(records, names):
    return [r for r in records if not (r[0] in ("Enter", "Leave") and r[1] in names)]


def clock_offsets(path):
    """How many each location has."""
    shown = subprocess.run(["otf2-print", "-C", str(path)], capture_output=True, text=True, check=True).stdout
    return Counter(line.split()[1] for line in shown.splitlines() if line.startswith("CLOCK_OFFSET"))


def golden(args):
    sources, archives = Path(args.rest[0]), Path(args.rest[1])
    wrong = []
    parity = int(args.flavour == "mpich")
    for i, (name, (program, arguments, ranks)) in enumerate(GOLDEN.items()):
        if name in MANY and args.flavour == "mpich" or name not in MANY and args.rest[2:] == ["half"] and i % 2 != parity:
            continue
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            binary = ws.root / program
            subprocess.run([f"mpicc.{args.flavour}", "-w", "-g", "-O1", "-finstrument-functions", "-o", str(binary),
                            str(sources / f"{program}.c")], check=True)
            run(ws, ranks, [binary, *arguments], "--trace-handles")
            ours = sequences.read(archive(ws), True)
            theirs = sequences.read(archives / name / "traces.otf2", True)
            hidden = HIDDEN | ANY_ORDER.get(name, set())
            kept = [{k: without(v, hidden) for k, v in one.items()} for one in (ours, theirs)]
            if name in ANY_ORDER:
                kept = [{k: sorted(v, key=str) for k, v in one.items()} for one in kept]
            found = sequences.differences(*kept)
            defined = [sequences.definitions(path) for path in (archive(ws), archives / name / "traces.otf2")]
            for one in defined:
                for function in hidden:
                    one.pop(("region", function), None)
            found += sequences.definition_differences(*defined)
            offsets = [clock_offsets(path) for path in (archive(ws), archives / name / "traces.otf2")]
            if offsets[0] != offsets[1]:
                found.append(f"clock offsets per location {offsets[0]} instead of {offsets[1]}")
            records = sum(len(v) for v in theirs.values())
            print(f"{name}: {len(found)} differences in {records} records and {len(defined[1])} definitions")
            wrong += [f"{name}: {line}" for line in found[:5]]
    need(not wrong, "\n".join(wrong))


def programs(args):
    directory, ranks = Path(args.rest[0]), int(args.rest[1])
    for words in args.rest[2:]:
        name, *arguments = words.split()
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            run(ws, ranks, [directory / f"{name}-{args.flavour}", *arguments])
            checker = true_archive(ws, tally=ws.root / "tally")
            print(f"{words}: {sum(checker.events.values())} events in {len(checker.locations)} locations")


def recover(args, ws):
    done = subprocess.run([args.latecomer, "recover", str(ws.root / "exp")], capture_output=True, text=True, check=False)
    need(done.returncode == 0, f"recover: {done.stderr}")


def killed(args):
    rounds = 1300
    for options in ([], ["--buffer", "256K"]):
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            outcome = run(ws, 3, [args.rest[0], 1, rounds], *options, status=None)
            need(outcome.status in launcher_statuses.dies_of(signal.SIGKILL)[args.flavour], f"exit status {outcome.status}")
            need(not archive(ws).exists(), "an archive of a killed run must not look complete")
            early = subprocess.run([args.latecomer, "analyze", str(ws.root / "exp")], capture_output=True, text=True, check=False)
            need(early.returncode == 1 and "unfinished: finish it with `latecomer recover" in early.stderr and early.stderr.count("\n") == 1,
                 f"analyze of an unfinished archive: {early.returncode}: {early.stderr}")
            recover(args, ws)
            checker = true_archive(ws, partial=True)
            names = [checker.locations[r].calls["MPI_Allreduce"] for r in sorted(checker.locations)]
            print(f"killed {options}: calls of MPI_Allreduce per rank {names}")
            if options:
                need(checker.events["BufferFlush"] > 0, "the small buffer was never flushed")
            counted = analyse(args, ws)["metrics"]["visits"]["callpaths"]
            counted = next(v for k, v in counted.items() if k.endswith("/MPI_Allreduce"))
            need(counted == names, f"the analysis counts {counted} calls of MPI_Allreduce, the archive holds {names}")
            need(len(names) == 3, f"3 ranks, but {len(names)} in the archive")
            need(names[1] == rounds, f"the killed rank made {rounds} calls, {names[1]} are in the archive")
            recover(args, ws)  # again: nothing to do, no error


def neighbours(args):
    with launch.Workspace(args.flavour, args.latecomer, virtual=True) as ws:
        run(ws, 4, [args.rest[0]])
        metrics = analyse(args, ws)
        meta = metrics["meta"]
        need("coll_neighbors" not in meta["health_counts"], f"neighbours are unknown: {meta['health']}")
        waits = list(metrics["metrics"]["mpi_neighbor_wait"]["callpaths"].values())
        need(len(waits) >= 1, "no waits in neighbourhood operations")
        per_rank = [sum(row[r] for row in waits) for r in range(4)]
        print(f"neighbours: waits per rank {per_rank}")
        # rank 2 is 0.3 s late for rank 3 in both rings, for rank 1 in the second; others wait for nobody. Virtual time: within 10 us
        for r, wanted in enumerate((0, 0.3, 0, 0.6)):
            need(abs(per_rank[r] - wanted) < 1e-5, f"rank {r} waits {per_rank[r]} s, not {wanted}: {per_rank}")


def grids(args):
    """The program makes a grid of all (periodic, not), its rows of the first dimension, and topologies of other kinds."""
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 4, [args.rest[0]])
        shown = subprocess.run(["otf2-print", "-G", str(archive(ws))], capture_output=True, text=True, check=True).stdout
        lines = [line for line in shown.splitlines() if line.startswith("CART_")]
        print("\n".join(lines))
        dims = [re.search(r"Size: (\d+), Periodicity: (\w+)", line).groups() for line in lines if line.startswith("CART_DIMENSION")]
        need(sorted(dims) == sorted([("2", "TRUE"), ("2", "FALSE")] + 2 * [("2", "TRUE")]), f"dimensions {dims}")
        need(sum(line.startswith("CART_TOPOLOGY") for line in lines) == 3, "a grid and its two sub-grids")
        at = Counter(tuple(re.findall(r"\d+", re.split(r"Coordinates?:", line)[1])) for line in lines if line.startswith("CART_COORDINATE"))
        need(at == Counter([("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")] + 2 * [("0",), ("1",)]), f"coordinates {at}")
        done = subprocess.run([args.latecomer, "-q", "report", str(ws.root / "exp")], capture_output=True, text=True, check=False)
        need(done.returncode == 0, done.stderr)
        grid, = Page(str(ws.root / "exp" / "report.html")).timeline()[0]["topologies"]
        need(grid["dims"] == [2, 2] and grid["periodic"] == [1, 0] and sorted(grid["members"]) == [0, 1, 2, 3], f"topologies of the page {grid}")


def analyse(args, ws):
    """The result of `latecomer analyze` on the archive, as `show --json` gives it."""
    for words in (["analyze"], ["show", "--analysis", "--json"]):
        done = subprocess.run([args.latecomer, "-q", *words, str(ws.root / "exp")], capture_output=True, text=True, check=False)
        need(done.returncode == 0, f"{words[0]}: {done.stderr}")
    return json.loads(done.stdout)


def full(args):
    calls = 4 * 1500 + 4  # per round, and MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 2, [args.rest[0]], "--buffer", "256K", "--on-full", "flush")
        checker = true_archive(ws)
        need(checker.events["BufferFlush"] > 0, "no BufferFlush in the archive")
        need(sum(checker.locations[0].calls.values()) == calls, f"calls are missing: {checker.locations[0].calls}")
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        outcome = run(ws, 2, [args.rest[0]], "--buffer", "256K", "--on-full", "stop")
        checker = true_archive(ws, partial=True)
        need(checker.events["BufferFlush"] == 0 and checker.events["MeasurementOnOff"] == 2, f"records: {checker.events}")
        need("missing" in outcome.err, "what is missing must be said")


def modes(args):
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 2, [args.rest[0]], "--trace-callpath=context")
        checker = true_archive(ws)
        need(checker.events["Enter"] == 0 and checker.events["CallingContextEnter"] == 2 * (4 * 1500 + 4 + 1), f"records: {checker.events}")
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        rules = ws.root / "filter"
        rules.write_text("exclude exchange MPI_Comm_*\nmax-bytes 3\n")
        run(ws, 2, [args.rest[0]], "--filter", str(rules))
        checker = true_archive(ws)
        need(checker.events["MpiIsend"] == 0 and checker.events["MpiIrecv"] == 0, "messages of 4 bytes are excluded")
        need(checker.events["MpiCollectiveEnd"] == 3000, "collectives are not")
        need("MPI_Comm_rank" not in checker.locations[0].calls, "MPI_Comm_rank is excluded")


def filters(args):
    """Sizes: the program leaves the records out; communicators and functions: the archive has none."""
    rules = {"min-bytes 5": lambda c: (c["MpiIsend"], c["MpiIrecv"], c["MpiIrecvRequest"], c["MpiIsendComplete"]) == (0, 0, 0, 0),
             "min-bytes 4": lambda c: c["MpiIsend"] == c["MpiIrecv"] == c["MpiIrecvRequest"] == 2 * 1500,
             "exclude-comm MPI_COMM_W*": lambda c: c["MpiIsend"] == c["MpiCollectiveEnd"] == c["MpiIrecvRequest"] == 0,
             "exclude *\ninclude MPI_Wait*": lambda c: c["Enter"] == 2 * (1500 + 1)}
    for rule, holds in rules.items():
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            (ws.root / "filter").write_text(rule + "\n")
            run(ws, 2, [args.rest[0]], "--filter", str(ws.root / "filter"))
            checker = true_archive(ws)
            need(holds(checker.events), f"{rule}: {checker.events}")
    rounds = []
    for rule in ("min-bytes 4", "min-bytes 5"):  # what fits into a small buffer
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            (ws.root / "filter").write_text(rule + "\n")
            run(ws, 2, [args.rest[0]], "--filter", str(ws.root / "filter"), "--buffer", "256K", "--on-full=stop")
            rounds.append(true_archive(ws, partial=True).locations[0].calls["MPI_Allreduce"])
    need(rounds[0] < 1500 and rounds[1] > 1.2 * rounds[0], f"messages that are left out fill the buffer all the same: {rounds}")


def phases(args):
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 2, [args.rest[0]])
        checker = true_archive(ws)
        need(checker.events["ParameterString"] == 2 * 4, f"4 phases per rank: {checker.events}")
        need(checker.events["MeasurementOnOff"] == 2 * 2, f"off and on once per rank: {checker.events}")
        need(checker.locations[0].calls["MPI_Barrier"] == 5, f"5 of 6 barriers: {checker.locations[0].calls}")
        analyse(args, ws)
        with tarfile.open(ws.root / "exp" / "analysis.cubex") as result:
            found = json.load(result.extractfile("phases.json"))
        instances = {name: len(rounds) for name, rounds in found.items()}
        need(instances == {"solve": 2, "warm up": 2}, f"phases of the analysis: {instances}")


# What window_borders.c does in 12 rounds of its phase, and in the 2 rounds that are iterations 10 and 11 of its loop. Messages with both ends
# inside: by tag 12, 0, 12, 12, 11, 12 in phases, 5, 2, 2, 4, 1, 4 in rounds; the others have one end inside.
WINDOWS = {
    "solve": ({"MpiSend": 72, "MpiIsend": 12, "MpiIsendComplete": 12, "MpiRecv": 46, "MpiIrecvRequest": 24, "MpiIrecv": 24, "MpiCollectiveEnd": 36,
               "MeasurementOnOff": 2 * 2 * 12, "ParameterString": 2 * 12}, {"outside_window": 36, "coll_incomplete": 12}),
    "iterations 10-11": ({"MpiSend": 18, "MpiIsend": 2, "MpiIsendComplete": 2, "MpiRecv": 14, "MpiIrecvRequest": 6, "MpiIrecv": 6,
                          "MpiCollectiveEnd": 12, "MeasurementOnOff": 2 * 2, "ParameterString": 2 * 2}, {"outside_window": 4}),
}


WAITS = ["mpi_latesender", "mpi_latereceiver", "mpi_barrier_wait", "mpi_wait_nxn", "mpi_finalize_wait"]  # all that window_borders.c can have


def seconds_in(result, phase, suffix=""):
    return sum(sum(row) for metric in WAITS if metric + suffix in result["metrics"]
               for path, row in result["metrics"][metric + suffix]["callpaths"].items() if path.startswith(f"main/{phase}/"))


def equal(a, b):
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b)) + 1e-12


def advice(args, ws):
    """The windows that a profile calls worth a trace: their waiting is that of its call paths, and of the iterations that it lists."""
    words = [args.latecomer, "-q", "show", "--json", str(ws.root / "exp")]
    result = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    found = {w["window"]: w for w in result.get("trace_windows", [])}
    waiting = sum(sum(sum(row) for row in result["metrics"][metric]["callpaths"].values()) for metric in WAITS)
    if seconds_in(result, "solve") > 0:  # how much is chance
        phase = found.pop("solve")
        need(equal(phase["waiting_s"], seconds_in(result, "solve")) and equal(phase["waiting_share"], phase["waiting_s"] / waiting), f"{phase}")
        need(equal(phase["estimated_s"], seconds_in(result, "solve", "_estimated")), f"estimates of the phase: {phase}")
        (ws.root / "alone").mkdir()  # a profile without a trace
        shutil.copy(ws.root / "exp" / "profile.cubex", ws.root / "alone")
        words = [args.latecomer, "show", "--only", "efficiency,next", str(ws.root / "alone")]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        need("% of all; estimated from minima" in shown, f"waiting of the phase is not shown: {shown}")
        need(("`--trace=solve` alone: " in shown) == (phase["advised_for"] is not None), f"advice about the phase: {phase}: {shown}")
    for loop in result["pop"]["iterations"]:
        by_iteration = [sum(rank[i] for rank in loop["by_rank"]["waiting_s"]) for i in range(9, 11)]  # all from the tenth on
        if sum(by_iteration) > 0:
            window = found.pop("iterations 10-11")
            need(equal(window["waiting_s"], sum(by_iteration)) and window["callpath"] == loop["callpath"] == "main", f"{window}, but {by_iteration}")
    need(not found, f"more windows: {found}")


def windows(args):
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        outcome = run(ws, 2, [args.rest[0]], "--trace=resolve")
        need("no phase is called resolve" in outcome.err, f"a phase that is not there is not reported: {outcome.err}")
        advice(args, ws)
    for window, (records, wanted) in WINDOWS.items():
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            run(ws, 2, [args.rest[0]], f"--trace={window}")
            checker = true_archive(ws, partial=True)  # which messages belong together is for the analysis
            wrong = {kind: checker.events[kind] for kind, number in records.items() if checker.events[kind] != number}
            need(not wrong, f"{window}: wrong numbers of records: {wrong}")
            result = analyse(args, ws)  # the bytes of all messages differ: none meets another
            health, times = result["meta"]["health_counts"], result["metrics"]["time"]["callpaths"]
            need(health == wanted, f"{window}: health of the trace: {health}")
            need(all(times.get("main/(not traced)", [0])), f"{window}: time outside of windows has no call path: {list(times)}")
            need(result["meta"].get("trace_window") == window, f"{window}: the analysis does not say what was traced")
            with tarfile.open(ws.root / "exp" / "analysis.cubex") as cubex:
                phases = {name: len(rounds) for name, rounds in json.load(cubex.extractfile("phases.json")).items()}
            # the third one: round 12 completes in its phase what was begun in iteration 11
            need(phases == {"solve": 12 if window == "solve" else 3}, f"{window}: phases of the analysis: {phases}")
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 2, [args.rest[0], "started"], "--start-stopped")
        health = analyse(args, ws)["meta"]["health_counts"]
        # As "solve", but 12 receives of tag 3, and the last one of tag 6, are completed while measurement is stopped (so are sends that the MPI had not
        # completed at once).
        need(health.pop("request_open", 0) in range(13, 26), f"requests completed while measurement is stopped: {health}")
        need(health == {"outside_window": 49, "coll_incomplete": 12}, f"measurement started in the phases only: {health}")
    if args.flavour == "openmpi":  # what is left of a killed run does not depend on the MPI
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            run(ws, 2, [args.rest[0], 6], "--trace=solve", status=None)
            recover(args, ws)
            checker = true_archive(ws, partial=True)
            need(checker.events["MpiIsend"] == 7, f"killed in the seventh phase: {checker.events}")
            health = analyse(args, ws)["meta"]["health_counts"]
            need("bytes_differ" not in health and "recv_unmatched" not in health, f"messages meet others in what is left: {health}")


# Records per rank and round of counts.c; MPI_PROC_NULL has none. A request that is freed may have been complete before.
COUNTS = {"MpiIsend": 6, "MpiIrecvRequest": 8, "MpiIrecv": 7, "MpiRequestCancelled": 1, "MpiSend": 4, "MpiRecv": 3, "MpiCollectiveBegin": 2,
          "MpiCollectiveEnd": 2, "NonBlockingCollectiveRequest": 1, "NonBlockingCollectiveComplete": 1}


def counts(args):
    """Records equal the program's calls: persistent, MPI_Waitall, MPI_Waitsome, MPI_Waitany, MPI_Testall, cancelled, freed, MPI_PROC_NULL."""
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        run(ws, 2, [args.rest[0]])
        events = true_archive(ws).events
        wrong = {kind: events[kind] for kind, number in COUNTS.items() if events[kind] != 2 * 10 * number}
        need(not wrong, f"wrong numbers of records: {wrong}")
        need(2 * 10 * 5 <= events["MpiIsendComplete"] <= 2 * 10 * 6, f"completed sends: {events['MpiIsendComplete']}")


def names(args):
    """Thousands of regions, names of any characters and lengths, more threads than usual: all in the archive."""
    with launch.Workspace(args.flavour, args.latecomer) as ws:
        odd = ws.root / "a \"quoted\" näme %s"
        odd.symlink_to(args.rest[0])
        run(ws, 2, [odd])
        checker = true_archive(ws)
        need(checker.events["Enter"] >= 2 * (3000 + 6), f"3006 regions per rank: {checker.events}")
        with check_trace.otf2.reader.open(str(archive(ws))) as trace:
            found = {r.name for r in trace.definitions.regions}
        wanted = {f"region {i}" for i in range(3000)} | {'say "hello"', "tab\there", "two\nlines", "%s%n", "größe/λ", "x" * 4000}
        need(wanted <= found, f"missing: {sorted(wanted - found)[:5]}")
        analyse(args, ws)


def disk(args):
    """A rank's events cannot be written: a line says so, the program is none the wiser, nothing half-written is left; if something was in
    the way, the archive can be finished when it is gone."""
    for hindrance in ("100000", None):
        with launch.Workspace(args.flavour, args.latecomer) as ws:
            obstacle = ws.root / "exp" / "traces" / "tmp-0"
            outcome = run(ws, 2, [args.rest[0], -1, -1, hindrance or obstacle, 0])
            need("free space" in outcome.err or "too large" in outcome.err, f"what is wrong is not said: {outcome.err[-1000:]}")
            need("[OTF2]" not in outcome.err and len(outcome.tool_lines()) < 8, f"too many messages: {outcome.err[-2000:]}")
            left = [f.name for f in (ws.root / "exp").rglob("*") if f.name in ("0.evt", "traces.otf2") or ("tmp-" in f.name and f != obstacle)]
            need(not left, f"something half-written is left: {left}")
            if hindrance is None:
                obstacle.unlink(missing_ok=True)
                recover(args, ws)
                checker = true_archive(ws)
                need(checker.events["MpiIsend"] == 2 * 1500, f"recovered: {checker.events}")


def wrong_clock(args, interval):
    """One run of two believed nodes in virtual time; the clock of the second shows 5 ms more, runs 50 ppm faster, and its rate grows. Offsets per rank,
    the most that they are said to be off, and the interpolation between them is (curve / 8 gap^2), the most that a message goes back in
    time, in ticks."""
    curve = 2000
    ranks, step = (4, 2) if args.flavour == "openmpi" else (2, 1)
    with launch.Workspace(args.flavour, args.latecomer, virtual=True) as ws:
        script = ws.root / "bend.sh"
        script.write_text(f'#!/bin/sh\nr=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n[ "$r" -ge {ranks // 2} ] && '
                          'export LATECOMER_TEST_CLOCK=5000000,50,' f'{curve}\nexec "$@"\n')
        script.chmod(0o755)
        run(ws, ranks, [args.rest[0], 1000, step], before=[str(script)], env={"LATECOMER_TEST_NODES": 2, "LATECOMER_CLOCK_SYNC": interval})
        checker = check_trace.check(archive(ws))
        shown = subprocess.run(["otf2-print", "-C", str(archive(ws))], capture_output=True, text=True, check=True).stdout
        properties = subprocess.run(["otf2-print", "-G", str(archive(ws))], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in shown.splitlines() if line.startswith("CLOCK_OFFSET")]
    per_rank = [sum(int(words[1]) == r for words in lines) for r in range(ranks)]
    bound = max(float(words[-1]) for words in lines)
    times = sorted(int(words[3].rstrip(",")) for words in lines if int(words[1]) == ranks - 1)
    per_s = int(next(line for line in properties.splitlines() if line.startswith("CLOCK_PROP")).split("Seconds: ")[1].split(",")[0])
    gap = max(b - a for a, b in zip(times, times[1:])) / per_s
    between = curve * 1e-6 / 8 * gap ** 2 * per_s
    print(f"every {interval} s: {per_rank} offsets, off by at most {bound:.0f} ticks, {between:.0f} between them; "
          f"messages go back by at most {checker.backwards} ticks")
    return per_rank, 2 * bound + between, checker.backwards


def clocks(args):
    """Offsets of both ends are not enough for such a clock; with those measured at barriers no message goes back by more than they are
    said to be off."""
    per_rank, _, before = wrong_clock(args, 0)
    need(set(per_rank) == {2}, "without barriers there are two")
    need(before > 200000, "two offsets were enough: this test shows nothing")
    per_rank, bound, after = wrong_clock(args, 0.05)
    second = per_rank[len(per_rank) // 2:]
    need(min(second) > 15 and len(set(second)) == 1, "all ranks of a node have the same offsets")
    need(after <= bound and 2 * after < before, "messages go backwards")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latecomer", required=True)
    parser.add_argument("--flavour", required=True)
    parser.add_argument("mode", choices=["golden", "programs", "killed", "full", "modes", "filters", "phases", "windows", "clocks", "names", "disk", "counts", "neighbours", "grids"])
    parser.add_argument("rest", nargs="*")
    args = parser.parse_args()
    try:
        globals()[args.mode](args)
    except Failure as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)


if __name__ == "__main__":
    main()
