"""Every figure of the tool: what is wanted of it, and where its values come from. measure.py runs them and judges.

A Source is a command, run `runs` times (`quick` times with --quick; 0: not then), and the rows that it gives. The command is that of the ctest test of
the same name, or `words` ({build}: the build directory, {root}: the sources, {python}: Debian's). A Row is read from the lines
`figure NAME VALUE UNIT` of the output (tests/figure.py): NAME is the row's, behind the source's, and each line is one value. A source without such
lines (passes()) is judged by the exit status of its test, which has many conditions and tries of its own: how many of its runs passed.

`seconds`: what one run takes on a quiet machine, about; --quick leaves out what its limit of time has no room for. `load`: whether other work on the
machine changes the values (it does not change how much memory something takes)."""
from dataclasses import dataclass, field
from typing import Optional

FLAVOURS = ("openmpi", "mpich")
COMPILERS = ("gcc", "clang")


@dataclass(frozen=True)
class Wanted:
    operator: str  # "<=", ">=", "between", "share"
    bound: tuple

    def text(self, unit):
        if self.operator == "share":
            return "all" if self.bound[0] == 1 else f"{100 * self.bound[0]:g} % at least"
        words = {"<=": "{0:g} {u} at most", ">=": "{0:g} {u} at least", "between": "{0:g} to {1:g} {u}"}[self.operator]
        return words.format(*self.bound, u=unit)


def at_most(bound):
    return Wanted("<=", (bound,))


def at_least(bound):
    return Wanted(">=", (bound,))


def between(low, high):
    return Wanted("between", (low, high))


def share(bound):
    """Of the cases counted (values RIGHT/OF)."""
    return Wanted("share", (bound,))


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    wanted: Optional[Wanted]  # None: told, nothing is promised
    what: str
    load: bool = True


@dataclass(frozen=True)
class Source:
    name: str
    part: str
    runs: int
    quick: int
    seconds: float
    rows: tuple = field(default_factory=tuple)
    words: tuple = ()         # (): the test of this name
    quick_words: tuple = ()   # behind the others with --quick
    quick_seconds: float = 0  # a run then, if it takes another time

    def full_name(self, row):
        return f"{self.name}.{row.name}" if row.name else self.name


def passes(part, name, what, runs, quick, seconds):
    return Source(name, part, runs, quick, seconds, (Row("", "runs", share(1), what),))


def hot_path(flavour):
    """The goals were set with Open MPI on cores that are near each other (docs/benchmarks.md); both MPIs are held to them."""
    goals = {"profile": (40, 35, 35, 35, 60), "clocks": (70, 65, 50, 40, 90)}
    rows = tuple(Row(f"near.{operation}.{mode}", "ns", at_most(goal), f"{operation}, {mode}: added, near cores")
                 for mode, all_of in goals.items() for operation, goal in zip(("pair", "allreduce", "barrier", "bcast", "waitall"), all_of))
    words = ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "profile,clocks", "--iterations", "50000")
    return Source(f"overhead.{flavour}", "overhead", 7, 1, 40, rows, (*words, "--runs", "5"), ("--runs", "2"), 18)


def over_messages(flavour):
    """What OTF-CPT adds to the same operations (it receives a message of its own in each of them), with Open MPI on cores that were far apart."""
    goals = {"pair": 340, "allreduce": 1340, "barrier": 1340, "bcast": 580, "waitall": 720}
    rows = tuple(Row(f"near.{operation}.clocks-mpi", "ns", at_most(goal), f"{operation}, clocks over messages: added, near cores")
                 for operation, goal in goals.items())
    words = ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "clocks-mpi", "--iterations", "50000")
    return Source(f"overhead.messages.{flavour}", "overhead", 5, 0, 30, rows, (*words, "--runs", "5"))


def minima(flavour):
    """What Mao et al. 2014, 4.2, report of the extra statistics: less than 8 %."""
    words = ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "no-minima,profile", "--iterations", "50000")
    rows = tuple(Row(f"near.{operation}.minima", "%", at_most(8), f"{operation}: minima and classes of sizes, of a call with plain statistics")
                 for operation in ("pair", "allreduce", "barrier", "bcast", "waitall"))
    return Source(f"overhead.minima.{flavour}", "overhead", 7, int(flavour == "openmpi"), 40, rows, (*words, "--runs", "5"), ("--runs", "2"), 18)


def loops(flavour):
    words = ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "no-loops,profile", "--iterations", "50000")
    rows = tuple(Row(f"near.{operation}.loops", "ns", at_most(5), f"{operation}: to find and count iterations of loops") for operation in ("allreduce", "barrier", "bcast"))
    return Source(f"overhead.loops_ns.{flavour}", "overhead", 5, 0, 40, rows, (*words, "--runs", "5"))


def carried(flavour):
    """At most what chosen_scenarios.c takes them to cost: of a message each side has a half."""
    words = ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "clocks,what-if", "--iterations", "50000")
    rows = tuple(Row(f"near.{operation}.carried", "ns", at_most(ns), f"{operation}: what-if clocks of the library, carried")
                 for operation, ns in (("pair", 200), ("allreduce", 220)))
    return Source(f"overhead.what_if.{flavour}", "overhead", 5, 0, 40, rows, (*words, "--runs", "5"))


# A third of what OTF-CPT adds to the same loop, on two cores that are far apart (LLVM's runtime 14).
OPENMP = {"parallel": 402, "barrier": 193, "single": 200, "critical": 142, "task_one_producer": 403, "task_all_produce": 149, "taskwait": 173,
          "dependence_chain": 465}


def overhead():
    yield from map(hot_path, FLAVOURS)
    yield from map(over_messages, FLAVOURS)
    yield from map(minima, FLAVOURS)
    yield from map(loops, FLAVOURS)
    yield from map(carried, FLAVOURS)
    for runtime, ways in (("openmp", {"empty": "an OMPT tool that does nothing", "trace": "a trace, beyond the profile"}), ("native", {"trace": "a trace, beyond the profile"})):
        on = "" if runtime == "openmp" else ", GCC's runtime"
        rows = [Row(name, "ns", at_most(ns), f"{name}{on}: added by the profile") for name, ns in OPENMP.items()]
        rows += [Row(f"{name}.{way}", "ns", None, f"{name}{on}: added by {what}") for name in OPENMP for way, what in ways.items()]
        yield Source(f"overhead.{runtime}", "overhead", 7, int(runtime == "openmp"), 15, tuple(rows),
                     ("{python}", "{root}/tests/bench/overhead/openmp.py", "{build}/bin/latecomer", f"{{build}}/tests/bench/overhead-{runtime}", "3"))
        kinds = {"nested": "1,000 regions inside of one: each", "threads": "10,000 threads that end after a region: each", "tasks": "ten million tasks, one after the other: each"}
        rows = [Row(kind, "ns", None, f"{what}{on}") for kind, what in kinds.items()]
        # each thread is a location of its own, whose clocks stay
        rows += [Row(f"{kind}.memory", "KB", at_most(120000 if kind == "threads" else 4096), f"{what.split(':')[0]}{on}: memory that grows after a tenth of them", load=False)
                 for kind, what in kinds.items()]
        yield Source(f"overhead.extremes.{runtime}", "overhead", 3, 0, 60, tuple(rows),
                     ("{python}", "{root}/tests/bench/overhead/openmp_extremes.py", "{build}/bin/latecomer", f"{{build}}/tests/bench/extremes-{runtime}", "1"))
    yield Source("overhead.trace", "overhead", 7, 1, 10,
                 (Row("self", "ns", at_most(60), "a call of MPI: a trace beyond the profile"),
                  Row("solo", "ns", at_most(60), "a collective of one rank: a trace beyond the profile"),
                  Row("bytes_per_event", "bytes", at_most(20), "an event of a trace", load=False)),
                 ("{python}", "{root}/tests/bench/trace/trace.py", "{build}", "--runs", "3", "--alone"))
    for flavour in FLAVOURS:
        yield Source(f"call_paths.cost.{flavour}", "overhead", 5, int(flavour == "openmpi"), 12,
                     (Row("useful", "%", between(-3, 3), "useful time against the work alone"),
                      Row("told", "%", between(-10, 10), "cost of a call: what the tool tells against what it is (30 ns less may be unseen)")))
    for flavour in FLAVOURS:
        yield Source(f"overhead.between_hosts.{flavour}", "overhead", 7, 1, 15,
                     (Row("message", "times", at_most(1.1), "a message of 8 bytes between hosts, with clocks"),
                      Row("allreduce", "times", at_most(1.1), "MPI_Allreduce between hosts, with clocks")),
                     ("{python}", "{root}/tests/bench/nodes/between.py", "{build}", "--flavour", flavour, "--modes", "clocks", "--runs", "3"))
        for delay in ("0", "0.1"):  # what it takes to keep composed_collectives.c
            yield Source(f"overhead.composed_{delay.replace('.', '')}.{flavour}", "overhead", 7, 0, 30,
                         (Row("allreduce.saved", "%", at_least(10), f"MPI_Allreduce in a row between hosts, packets of {delay} ms: time saved by reducing clocks together"),),
                         ("{python}", "{root}/tests/bench/nodes/between.py", "{build}", "--flavour", flavour, "--modes", "clocks,apart", "--runs", "5", "--delay", delay,
                          "--iterations", "5000" if delay == "0" else "2000"))
    for flavour in FLAVOURS:
        yield Source(f"piggyback.own_packets.{flavour}", "overhead", 5, int(flavour == "openmpi"), 5,
                     (Row("allreduce", "packets", at_most(0.25), "packets of the tool's per allreduce and rank, over messages"),
                      Row("mixed", "packets", at_most(0.67), "the same of collectives of several kinds"),
                      Row("rally", "packets", at_most(0.125), "packets per message, of messages in turn"),
                      Row("swaps", "packets", at_most(0.125), "packets per message, of exchanges in turn")))
    yield Source("overhead.lammps", "overhead", 5, 1, 15, (Row("profile", "%", None, "LAMMPS, 2 ranks: dilation, writing the result included"),),
                 ("{python}", "{root}/tests/bench/overhead/dilation.py", "{build}", "--runs", "3"))
    yield Source("overhead.hpcc", "overhead", 5, 0, 40,
                 (Row("profile", "%", None, "HPCC, 4 ranks: dilation"), Row("trace", "%", None, "HPCC, 4 ranks: dilation with a trace")),
                 ("{python}", "{root}/tests/bench/overhead/dilation.py", "{build}", "--program", "hpcc", "--ranks", "4", "--modes", "profile,trace",
                  "--runs", "3"))
    for program, name in (("fasttree", "FastTree"), ("xtb", "xtb (Fortran)")):
        yield Source(f"overhead.{program}", "overhead", 5, 0, 40, (Row("profile", "%", None, f"{name}, 2 threads of OpenMP: dilation, writing the result included"),),
                     ("{python}", "{root}/tests/bench/overhead/dilation.py", "{build}", "--program", program, "--runs", "3"))
    yield Source("overhead.samples", "overhead", 1, 0, 300, (Row("dilation", "%", at_most(1), "LAMMPS, 2 ranks: dilation by the samples of the default"),
                                                             Row("resolution", "%", at_most(0.5), "how well that is known: half of its 95 % interval"),
                                                             Row("start_and_end", "ms", None, "LAMMPS, 2 ranks: start and end, by samples")),
                 ("{python}", "{root}/tests/bench/overhead/samples_cost.py", "{build}"))
    for flavour in FLAVOURS:
        yield Source(f"overhead.samples_call.{flavour}", "overhead", 3, 0, 35, (Row("call.sampled", "ns", at_most(3), "a call, by samples"),),
                     ("{python}", "{root}/tests/bench/overhead/overhead.py", "{build}", "--flavour", flavour, "--modes", "clocks,sampled", "--iterations", "20000"))
    yield Source("overhead.samples_team", "overhead", 1, 0, 120, (Row("dilation", "%", at_most(1), "a team of two threads: dilation by the samples of the default"),
                                                                 Row("resolution", "%", at_most(0.5), "how well that is known: half of its 95 % interval")),
                 ("{python}", "{root}/tests/bench/overhead/samples_cost.py", "{build}", "--team", "{build}/tests/system/openmp/team_shares-native"))
    yield Source("overhead.python", "overhead", 3, 0, 30, (Row("caller", "ns", None, "mpi4py, Python functions 8 deep: a call, calling function alone"),
                                                           Row("full", "ns", None, "mpi4py, Python functions 8 deep: a call, full call paths")),
                 ("{python}", "{root}/tests/bench/overhead/python.py", "{build}", "--runs", "5"))
    for flavour in FLAVOURS:
        yield Source(f"overhead.short_threads.{flavour}", "overhead", 5, 0, 10,
                     (Row("times", "times", at_most(2), "10,001 threads of one call each, one after the other, against the bare run"),),
                     ("{python}", "{root}/tests/bench/overhead/short_threads.py", "{build}", flavour, "3"))
    for flavour in FLAVOURS:
        yield Source(f"overhead.loops.{flavour}", "overhead", 1, 0, 20,
                     (Row("call", "instructions", at_most(20), "a call in a loop that was found: instructions to find and count iterations (20: some 5 ns)", load=False),),
                     ("{python}", "{root}/tests/bench/overhead/loops_cost.py", "{build}", "--flavour", flavour))
    yield Source("overhead.unknown_mpi", "overhead", 5, 1, 1, (Row("call", "ns", at_most(5), "a call of an MPI that cannot be measured: added"),),
                 ("{python}", "{root}/tests/bench/overhead/unknown_mpi.py", "{build}"))
    for app in ("abinit", "bagel", "cp2k", "dolfinx", "freefem", "gpaw", "gromacs", "lammps", "meep", "nwchem", "nwchem-mpich", "openfoam", "quantum-espresso"):
        yield Source(f"apps.times.{app}", "overhead", 3, 0, 120,
                     (Row("useful", "%", between(-3, 3), f"{app}: useful time against that of the bare run; by the median of all turns and both ends of its 95 % interval"),
                      Row("told", "%", between(90, 110), f"{app}: what the tool tells of the time that was lost; of each run by its median loss and both ends of that one's 95 % interval")))
        ranks = "4 ranks" if app == "lammps" else "2 ranks"
        yield Source(f"apps.dilation.{app}", "overhead", 1, 0, 300,
                     (Row("wall", "times", at_most(1.03 if app == "lammps" else 1.05), f"{app}, {ranks}: dilation, all that the tool does before and after it included"),
                      Row("resolution", "times", at_most(0.01), f"{app}: how well that is known: half of its 95 % interval"),
                      Row("processor", "times", None, f"{app}, {ranks}: processor time of all processes, measured against bare")),
                     ("{python}", "{root}/tests/apps/apps.py", "{build}/bin/latecomer", app, "--dilation", "300"))
    for app in ("cp2k", "gromacs"):
        yield Source(f"overhead.app_threads.{app}", "overhead", 1, 0, 120,
                     (Row("dilation", "times", None, f"{app}, 2 ranks x 2 threads: shortest measured run against the shortest bare one"),),
                     ("{python}", "{root}/tests/apps/apps.py", "{build}/bin/latecomer", app, "--threads", "2", "--runs", "7"))


def speed():
    yield Source("bench.walk", "speed", 11, 5, 1, (Row("frame", "ns", at_most(10), "a frame whose rule of unwinding is known"),))
    yield Source("bench.probe_cost", "speed", 11, 5, 1,
                 (Row("pair", "ns", at_most(5), "a pair of a timer's probes, less its two clock reads"), Row("disabled", "ns", at_most(1), "a disabled probe")))
    yield Source("bench.message_match", "speed", 7, 3, 3,
                 (Row("reverse_tags", "s", at_most(0.5), "60,000 messages of as many tags, read last first"),
                  Row("many_pending", "s", at_most(3), "100,000 pending receives, worst of 15 orders and patterns")))
    yield Source("bench.minima.time", "speed", 11, 3, 1,
                 (Row("time", "s", at_most(1), "estimates of 65,536 ranks x 10 functions"),
                  Row("memory", "MB", at_most(100), "estimates of 65,536 ranks x 10 functions: memory", load=False)))
    yield Source("analysis.linear_cost", "speed", 5, 1, 20,
                 tuple(Row(case, "times", at_most(24), f"processor time of 8 times the records: {case}")
                       for case in ("parallel_regions", "missing_leaves", "window_epochs", "nested_records", "never_synchronised")))
    yield Source("page", "speed", 5, 0, 60,
                 (Row("profile.size", "MB", at_most(25), "page of 4,096 ranks x 2,000 call paths x 60 metrics", load=False),
                  Row("profile.written", "s", at_most(3), "processor time to write that page"),
                  Row("profile.usable", "s", at_most(3), "the page of 4,096 ranks: until it can be used"),
                  Row("profile.tree", "ms", at_most(17.5), "the page of 4,096 ranks: a frame while its tree is scrolled"),
                  Row("trace.size", "MB", at_most(25), "page of a trace of 512 locations", load=False),
                  Row("trace.usable", "s", at_most(3), "the page of 512 locations: until it can be used"),
                  Row("trace.timeline", "ms", at_most(17.5), "the page of 512 locations: a frame while its timeline is zoomed")),
                 ("{python}", "{root}/tests/bench/page/page_budgets.py", "{build}", "{build}/tests/system/page/modules"))


def memory():
    rows = (Row("waits.bytes_per_event", "bytes", at_most(40), "analysis up to the wait states: memory of an event", load=False),
            Row("all.bytes_per_event", "bytes", at_most(64), "analysis, everything: memory of an event", load=False),
            Row("growth", "times", at_most(1.5), "processor time per event, the largest archive against 1e6 events"),
            Row("waits.speed", "M/s", at_least(15), "events per second of one rank, wait states"),
            Row("all.speed", "M/s", at_least(5), "events per second of one rank, everything"),
            Row("waits.times_plain", "times", at_most(3), "wait states against plain reading by libotf2"))
    words = ("{python}", "{root}/tests/bench/analyze/analyze.py", "{build}")
    yield Source("analyze", "memory", 5, 1, 60, rows, words, ("--up-to", "1e6"), 12)
    yield Source("bench.analyze_linear", "memory", 1, 0, 300, rows)
    each = [(Row(f"{n}.bytes_per_event", "bytes", at_most(64), f"analysis on {n} ranks, 64 locations of 1e5 events: memory of an event", load=False),
             Row(f"{n}.largest", "times", at_most(1.25), f"root causes on {n} ranks: memory of the rank with the most against the mean", load=False),
             Row(f"{n}.seconds", "s", None, f"analysis on {n} ranks, 64 locations of 1e5 events: time without gains")) for n in (8, 16)]
    yield Source("analyze.ranks", "memory", 3, 0, 30,
                 (Row("wait_state", "bytes", at_most(520), "root causes on one rank: memory of a wait state", load=False),
                  Row("forecast", "times", between(1, 3), "memory forecast for root causes and gains against what they take", load=False),
                  *(row for rows_of in each for row in rows_of)),
                 ("{python}", "{root}/tests/bench/analyze/many_ranks.py", "{build}"))
    yield Source("analysis.forecast", "memory", 5, 1, 3,
                 (Row("peak", "times", between(0.8, 1.3), "memory forecast for an analysis against what it takes at most", load=False),))
    yield Source("report", "memory", 3, 0, 60, (Row("time", "s", at_most(120), "`latecomer report` on 1e8 events"),
                                                Row("memory", "MiB", at_most(1024), "`latecomer report` on 1e8 events: memory", load=False)),
                 ("{python}", "{root}/tests/bench/page/page_memory.py", "{build}"))


def clocks():
    for flavour in FLAVOURS:
        once = int(flavour == "openmpi")
        for name, what, runs, quick, seconds in (("clock_bound", "clocks of three hosts, idle and loaded: within the stated error", 3, once, 27),
                                                 ("clock_bound_2ms", "clocks of three hosts 2 ms apart: within the stated error", 3, 0, 30),
                                                 ("clock_bound_often", "clocks of three hosts, 100 offsets and more: within the stated error", 1, 0, 250)):
            yield Source(f"nodes.{name}.{flavour}", "clocks", runs, quick, seconds, (Row("within", "offsets", share(1), what),))
        yield Source(f"bench.clocks.{flavour}", "clocks", 10, once, 20,
                     (Row("within", "runs", share(0.95), "the harness' global clock on 2 to 6 ranks: within its stated bound"),))


def bench():
    for flavour in FLAVOURS:
        rows = []
        for sync in ("roundtime", "window", "barrier", "none"):
            rows += [Row(f"{sync}.empty", "ns", None, f"{sync}: what the benchmark adds to each run time"),
                     Row(f"{sync}.start_to_start", "ns", None, f"{sync}: what a repetition costs, with all counters"),
                     Row(f"{sync}.allreduce", "ns", None, f"{sync}: MPI_Allreduce of 8 bytes, 2 ranks, less `empty`"),
                     Row(f"{sync}.pingpong", "ns", None, f"{sync}: ping-pong of 8 bytes, less `empty`"),
                     Row(f"{sync}.spread", "times", None, f"{sync}: 95 % quantile of MPI_Allreduce against the 5 % quantile"),
                     Row(f"{sync}.agreement", "times", between(0.4, 2.5) if sync != "none" else None,
                         f"{sync}: four operations less `empty`, against a plain loop")]
        rows += [Row(f"loop.{name}", "ns", None, f"plain loop: {text}") for name, text in (("allreduce", "MPI_Allreduce of 8 bytes"), ("pingpong", "ping-pong"))]
        yield Source(f"bench.synchronisation.{flavour}", "bench", 3, int(flavour == "openmpi"), 40, tuple(rows),
                     ("{python}", "{root}/tests/bench/overhead/synchronisation.py", "{build}", "--flavour", flavour), ("--launches", "1"), 12)
        yield Source(f"bench.plausible.{flavour}", "bench", 3, 0, 120,
                     tuple(Row(f"ranks_{n}", "times", at_most(10), f"{n} ranks: half of all operations, off a plain loop by") for n in (2, 3, 4, 8)))
        yield Source(f"bench.equals.{flavour}", "bench", 1, 0, 2000,
                     (*(Row(name, "pairs", share(0.95), f"{what}: told to be the same")
                        for name, what in (("equal", "equals"), ("own", "equals, MPI's own"), ("own_one_launch", "equals, one launch each"),
                                           ("own_64KiB", "equals, MPI's own, 64 KiB"), ("ranked", "equals, MPI's own, not ranked by a sweep"),
                                           ("ranked_64KiB", "equals, MPI's own, 64 KiB, not ranked by a sweep"))),
                      *(Row(name, "pairs", share(0.9), f"{what}: named")
                        for name, what in (("shifted", "5 % longer"), ("tail", "another tail"), ("modes", "a second mode")))))


def samples():
    for flavour in FLAVOURS:
        for kind in ("fp", "nofp", "cxx", "fortran"):
            rows = (Row("farthest", "limits", at_most(1), f"{kind}: the share that is farthest off, in 4 standard errors and 2 %"),
                    Row("named", "%", at_least(80), f"{kind}: waiting for the late rank that has a name"))
            if kind in ("fp", "nofp"):
                rows += (Row("asleep", "s", between(0.29, 0.6), f"{kind}: time off the CPU of 0.3 s asleep"),)
            yield Source(f"samples.shares.{kind}.{flavour}", "samples", 5, int(kind == "nofp"), 15, rows)
        yield Source(f"samples.coverage.{flavour}", "samples", 1, 0, 150,
                     (Row("within_three", "%", at_least(98.25), "shares within three standard errors"),
                      Row("within_one", "%", between(58, 88), "shares within one standard error (68 if exact)")))
    for compiler in (*COMPILERS, "native"):
        yield Source(f"samples.team.{compiler}", "samples", 5, int(compiler == "gcc"), 5,
                     (Row("farthest", "limits", at_most(1), "an OpenMP team: the share that is farthest off, in 4 standard errors and 3 %"),))
    yield Source("samples.numpy", "samples", 5, 1, 8, (Row("farthest", "limits", at_most(1), "numpy: the share that is farthest off, in 4 standard errors and 3 %"),))


def waits():
    for flavour in FLAVOURS:
        yield passes("waits", f"piggyback.constructed_waits.by_true_clock.{flavour}", "locks of windows over messages, of known waiting", 3, 0, 5)
        for name, text, quick, seconds in (("messages_at_scale", "messages and bytes with up to 64 ranks", 0, 200),
                                           ("estimates_beside_measured", "estimates beside measured waits", 0, 200)):
            yield passes("waits", f"piggyback.{name}.{flavour}", text, 3, quick and int(flavour == "openmpi"), seconds)
        yield passes("waits", f"openmp.hybrid.{flavour}", "MPI x OpenMP that knows its critical path and waiting", 3, int(flavour == "openmpi"), 10)
        yield Source(f"analysis.estimates_of_programs.{flavour}", "waits", 3, 0, 25,
                     (Row("late_sender", "%", at_most(2), "estimates beside the trace: MPI_Recv, MPI_Wait, of all time (published: 2 points)"),
                      Row("nxn", "%", at_most(0.45), "estimates beside the trace: Wait at NxN, of all time (published: 0.45 points)"),
                      Row("nxn_share", "%", at_most(10), "estimates beside the trace: Wait at NxN, of the waiting (published: 10 %)")))
    for compiler in (*COMPILERS, "native"):  # native: GCC's programs on GCC's runtime
        quick = int(compiler == "native")
        yield passes("waits", f"openmp.known.{compiler}", "OpenMP that knows its critical path, 1 %", 5, quick, 10)
        yield passes("waits", f"openmp.waits.{compiler}", "OpenMP of known waiting, 1 % and 2 ms", 5, quick, 10)
        yield passes("waits", f"openmp.traces.waits.{compiler}", "OpenMP of known waiting, by the analysis of a trace", 3, 0, 20)
        if compiler == "native":
            continue
        yield passes("waits", f"openmp.newer.known.{compiler}", "OpenMP that knows its critical path, on LLVM's runtime 19", 3, 0, 10)
        yield passes("waits", f"openmp.newer.waits.{compiler}", "OpenMP of known waiting, on LLVM's runtime 19", 3, 0, 10)
        yield passes("waits", f"openmp.newer.traces.waits.{compiler}", "OpenMP of known waiting, by the analysis of a trace, on LLVM's runtime 19", 3, 0, 20)
    yield passes("waits", "openmp.slides.native", "the demo of tasks with priorities, on GCC's runtime: critical path of tasks within 5 % in every row", 3, 0, 15)
    yield passes("waits", "openmp.slides", "the demo of tasks, on LLVM's runtime", 3, 0, 15)
    yield passes("waits", "openmp.newer.slides", "the demo of tasks with priorities, on LLVM's runtime 19", 3, 0, 15)


def gains():
    for flavour in FLAVOURS:
        quick = int(flavour == "openmpi")
        kinds = ("turns", "half", "slow_rank", "serial", "late_root", "chain")
        yield Source(f"analysis.knobs.{flavour}", "gains", 3, quick, 40,
                     (Row("named", "findings", share(1), "the first finding names the fault"),
                      *(Row(f"{kind}.{source}", "%", between(-3, 3), f"{kind}: run time predicted by the {source}, against that without the fault")
                        for kind in kinds for source in ("profile", "analysis"))))
        yield Source(f"real.demo_gains.{flavour}", "gains", 3, quick, 25,
                     (Row("named", "findings", share(1), "the planted causes are found"),
                      *(Row(f"{step}.{source}", "%", between(-3, 3), f"{step}: run time predicted by the {source}, against that without the cause")
                        for step in ("step_barrier", "step_allreduce", "step_message") for source in ("profile", "analysis"))))
        yield passes("gains", f"piggyback.chosen_clocks.{flavour}", "what-if clocks chosen in the run", 3, 0, 20)
    yield Source("real.slab_times", "gains", 3, 0, 60,
                 (Row("named", "findings", share(1), "LAMMPS, a box that is not balanced: the first finding names it"),
                  *(Row(f"{cure}.{source}", "%", between(-3, 3), f"LAMMPS: run time with even work predicted by the {source}, against that with {command}")
                    for cure, command in (("once", "balance"), ("fix", "fix balance")) for source in ("profile", "trace"))))


PARTS = {"speed": speed, "memory": memory, "overhead": overhead, "clocks": clocks, "samples": samples, "gains": gains, "waits": waits, "bench": bench}
SOURCES = [source for part in PARTS.values() for source in part()]
