"""Random programs on the simulated MPI under the tool, the result against the truth:
sim_truth.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST [PROGRAMS [JOBS]]

Seeds FIRST to LAST, PROGRAMS in one launch, JOBS launches at a time. For each launch: visits, times, wait states and who was late, per call path; who waited for
whom and sent how much; the critical path by call path, its length also of what-if scenarios, and the factors, within 1 ns. Of every fifth a trace is written,
too, and analysed: waiting, delay costs in both models, classification, the critical path and its indicators, the run time of a what-if scenario. Some are
on 2 to 8 nodes, within the bounds that the result states; some send clocks in messages on one node; some have several threads a rank, some windows,
neighbourhoods, files and sessions, some operations, types, attributes and error handlers of their own and other ways to send, some sends that are cancelled: of these, but for threads, the analysis is judged for its waiting alone. Some have a network that takes no time: with whom waiting began (costs.tsv) is exact there, but for what docs/clocks.md
leaves out. What fails is made smaller, and printed as a line for FOUND."""
import gc
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import logged_trace  # noqa: E402
import logged_what_if  # noqa: E402
import truth  # noqa: E402
from patience import patience, wait_while_held  # noqa: E402

FUNCTIONS = ("alpha", "beta", "gamma_rays", "ring", "stencil", "wavefront", "master", "collective", "send_to", "complete")  # of what-if scenarios
INDICATORS = ("critical", "non_critical", "intra", "inter")  # not of several threads: the log does not know where locations of further ones begin
ANALYSED = ("mpi_late", "mpi_wait", "mpi_barrier", "mpi_early", "mpi_mgmt", "mpi_finalize_wait", "delay", *INDICATORS)
POLLS = 50  # of the tool's own in a call between nodes, at 1 ns
PATH_ENTRIES = 64  # of the critical path that are kept apart: by call site, of which "handles" and "cancels" have more than paths
THREADS = "begin_thread/"  # of the simulation, in which threads start: before the function of the program
PHASES = 12  # of sim_random.c
PROGRAMS = 3  # of a launch, unless told
BLAME_ROWS, BLAME_TABLE = 64, 256  # that a result has, the largest; that ranks keep
PAST_NS = 2000  # docs/clocks.md: shorter waits and stretches of work are not looked into
FREE = ("--latency", "0", "--call", "0")  # a network on which whoever is in an operation leaves it when the last one has come
NETWORKS = [[], ["--random"], ["--random", "--jitter", "3000"], ["--random", "--eager", "0"], ["--latency", "20000", "--ns-per-kib", "300", "--lazy"],
            ["--worst"], ["--random", "--worst"]]
# Several nodes: far apart, with clocks of their own; no MPI makes small messages between nodes wait.
NODES = [["--node-latency", "20000", "--node-ns-per-kib", "100", "--offset", "3000000", "--drift", "20000"],
         ["--node-latency", "50000", "--random", "--eager", "16384", "--buffer", "1000000", "--call", "0"],
         ["--node-latency", "100000", "--offset", "3000000", "--drift", "5000", "--wobble", "10000", "--shape", "tree", "--lazy"],
         ["--node-latency", "2000000", "--node-ns-per-kib", "1000", "--offset", "3000000", "--drift", "20000", "--shape", "tree"],
         ["--node-latency", "1000", "--node-ns-per-kib", "10", "--offset", "2000000"],
         ["--node-latency", "0", "--offset", "2000000"]]
MOST_NODES = (2, 2, 4, 8)
RECORDS = [["--random", "--eager", "16384", "--buffer", "1000000"], ["--latency", "20000", "--ns-per-kib", "300", "--lazy"], ["--jitter", "3000", "--call", "0"]]
METRICS = ["mpi_latesender", "mpi_latereceiver", "mpi_probe_wait", "mpi_barrier_wait", "mpi_wait_nxn", "mpi_latebroadcast", "mpi_earlyreduce", "mpi_earlyscan",
           "mpi_mgmt_comm_wait", "mpi_finalize_wait", "mpi_neighbor_wait", "mpi_rma_wait_at_create", "mpi_rma_wait_at_free", "mpi_rma_wait_at_fence",
           "mpi_rma_early_wait", "mpi_rma_sync_late_post", "mpi_rma_sync_lock_competition", "mpi_io_collective_wait"]


class Case(NamedTuple):
    """A launch."""
    seed: int
    programs: tuple  # (seed, phase) of sim_random
    ranks: int
    words: tuple = ()  # options of sim-mpirun
    kind: str = ""  # "threads", "wide", "handles" or "cancels": what sim_random has besides
    traced: bool = False
    transport: str = ""  # "mpi": clocks travel in messages on one node, too

    def nodes(self):
        return int(self.words[self.words.index("--nodes") + 1]) if "--nodes" in self.words else 1

    def wobble_ns(self):
        """By how much clocks of two nodes get apart and together again, unseen: up to 10 ms by that much (sim_clock.c)."""
        ppb = int(self.words[self.words.index("--wobble") + 1]) if "--wobble" in self.words else 0
        return 2 * 10_000_000 * ppb / 1e9

    def drift(self):
        """By what part of it a length of time may differ that a node's own clock says."""
        return sum(int(self.words[self.words.index(word) + 1]) for word in ("--drift", "--wobble") if word in self.words) / 1e9

    def what_if(self):
        """Two scenarios, drawn from the seed."""
        first, second = (FUNCTIONS[self.seed * factor % len(FUNCTIONS)] for factor in (3, 7))
        return [[(first, 0.5)], [(second, 0)]]

    def analysed_what_if(self, run):
        """The scenario of `analyze`, which takes one: functions that the trace has, or a network that takes no time."""
        names = sorted({name for call in run.all() for name in call.path[:-1]})
        first, second = (names[self.seed * factor % len(names)] for factor in (3, 7))
        return [(first, 0.5), *([("mpi", 0)] if self.seed % 4 == 1 else [(second, 0)] if second != first else [])]

    def list(self):
        return ",".join(f"{seed}:{phase}" for seed, phase in self.programs)


# What found something.
FOUND = [Case(24, ((24, 0),), 2, ("--nodes", "2", "--node-latency", "50000", "--random", "--node-ns-per-kib", "180")),  # an edge back that came too late was not counted
         Case(56, tuple((56, phase) for phase in range(PHASES)), 2,
              ("--nodes", "2", "--node-latency", "20000", "--offset", "3000000", "--drift", "20000")),  # edges of turns were missing, late ones without a bound
         Case(94, ((95, 0), *((95, phase) for phase in range(6, 11))), 16,
              ("--nodes", "16", "--node-latency", "50000", "--random", "--node-ns-per-kib", "381", "--eager", "16384", "--buffer", "1000000")),
         # seed 94 found a fault of the simulation itself: a clock read cost 9 us
         Case(15, ((15, 7), (15, 8), (15, 9)), 4, FREE),  # costs: a wait in a scan that is too short to be traced back, but meets others there
         Case(30071, tuple((seed, phase) for seed in range(30071, 30081) for phase in range(PHASES)), 5, ("--worst",)),  # more blame than the table holds
         Case(40, ((42, 3),), 3, ("--latency", "20000"), "threads", transport="mpi"),  # the truth's: a small send over records hears of no late receiver
         Case(20040, tuple((seed, phase) for seed in range(20040, 20050) for phase in range(PHASES)), 4, tuple(RECORDS[0]), "wide",
              transport="mpi"),  # a row that one rank's table had no place for, and another's had
         Case(50201, ((50210, 11),), 3, transport="mpi"),  # blame stayed with the late sender where a receiver turned out to be later
         Case(387, ((389, 9),), 3, ("--nodes", "2", "--node-latency", "0"), "wide"),  # the truth's: of epochs that end at once each may be told first
         Case(129, ((130, 9),), 3, ("--nodes", "2", "--node-latency", "0"), "wide"),  # a synchronous send ended with the post of its receive: no wait
         Case(130, ((130, 10), (130, 11)), 3, ("--nodes", "2", "--node-latency", "0", "--drift", "20000")),  # a constructor ended with the last one's coming
         Case(10250, ((10259, 9), (10259, 10)), 4, ("--nodes", "4", "--node-latency", "0"), traced=True),  # the truth's: a send within the error of a post
         Case(20039, ((20041, 6),), 2, kind="handles"),  # a sender did not hear of a late receiver that had cancelled another receive
         Case(20000, ((20001, 8),), 2, kind="handles"),  # a cancelled receive that was freed kept its place in the stream
         Case(20069, ((20070, 0), (20070, 1)), 3, ("--nodes", "2", "--node-latency", "0"), "handles", traced=True),  # analyze went by times alone
         Case(10040, ((10048, 4),), 2, ("--cancel-sends",), "cancels"),  # a cancelled send counted as a message
         Case(14200, ((14202, 4),), 3, ("--latency", "20000"), "handles", traced=True, transport="mpi"),  # the truth's: a trace has posts of small sends, too
         Case(18950, ((18959, 11),), 2, ("--jitter", "3000"), "threads"),  # the truth's: a thread begins as a call of the first one ends
         Case(21000, ((21003, 11), *((21004, phase) for phase in range(1, 5))), 3, ("--random",), traced=True, transport="mpi"),  # .. its calls end later
         Case(15750, ((15758, 11), (15759, 0), (15759, 2), *((15759, phase) for phase in range(7, 12))), 4, ("--random", "--eager", "0"), traced=True),
         # what-if: three came last to MPI_Finalize at once
         Case(21900, ((21907, 11), (21908, 0), (21909, 2), (21909, 5)), 4, ("--latency", "0"), traced=True),  # what-if: two came last to a constructor at once
         Case(36050, ((36059, 8),), 3, ("--random", "--eager", "0"), "threads", traced=True),  # the truth's: intervals of costs begin when MPI_Init ends
         Case(17750, ((17759, 10), (17759, 11)), 2, kind="threads", traced=True),  # the truth's: a thread goes on behind its last call
         Case(10550, ((10559, 11),), 3, kind="threads"), Case(10858, ((10858, 8),), 3, kind="threads"),  # threads began with work of a call in progress
         Case(27340, tuple((27346, phase) for phase in (3, 5, 6, 8)), 5, ("--latency", "0", "--call", "0")),
         # costs: who left an operation first had forgotten the one before, in which both had been
         Case(39900, ((39903, 7),), 3, ("--latency", "0", "--call", "0")),  # costs: a short wait in a nonblocking operation, that meets others there
         Case(56950, ((56951, 1), (56951, 9)), 4, ("--random",), "wide", traced=True),  # analyze: all were in MPI_File_iwrite_at_all at once
         Case(105870, (*((105875, phase) for phase in (*range(2, 10), 11)), (105876, 0)), 5,
              ("--nodes", "2", "--node-latency", "2000000", "--node-ns-per-kib", "1000", "--drift", "20000", "--shape", "tree")),
         # truth: of two waits in a call that end 0.6 us apart, by clocks of two nodes either is the longer one
         Case(814, ((815, 10), (815, 11), *((816, phase) for phase in (0, 1, 2, 3, 4, 6, 11))), 3, kind="wide"),  # the truth's: the shortest parts of a path are lost
         Case(83, ((83, 8), (83, 9), (83, 10)), 3, FREE), Case(53, ((53, 10),), 3, FREE)]  # both are in MPI_Sendrecv after the wait is over


def case_of(first, last):
    """The launch of these seeds."""
    n = first // (last - first + 1)
    programs = tuple((seed, phase) for seed in range(first, last + 1) for phase in range(PHASES))
    traced = n % 5 == 0
    if n % 7 == 3:
        nodes = MOST_NODES[n // 7 % len(MOST_NODES)]
        return Case(first, programs, max(nodes, 2 + n % 4), ("--nodes", str(nodes), *NODES[n % len(NODES)]), kind=("", "handles", "wide")[n // 7 % 3], traced=traced)
    if n % 9 == 8:
        kind, more = (("handles", ()), ("cancels", ("--cancel-sends",)))[n // 9 % 2]
        return Case(first, programs, 2 + n // 9 % 4, (*NETWORKS[n // 9 % len(NETWORKS)], *more), kind, traced)
    if n % 6 == 5:
        return Case(first, programs, 2 + n % 2, tuple(NETWORKS[n // 2 % len(NETWORKS)]), kind="threads", traced=traced)
    if n % 6 == 1:
        return Case(first, programs, 3 + n // 6 % 3, tuple(NETWORKS[n // 3 % len(NETWORKS)]), kind="wide", traced=traced)
    if n % 8 == 4:
        return Case(first, programs, 2 + n // 8 % 4, tuple(RECORDS[n // 4 % len(RECORDS)]), kind=("wide", "handles", "")[n % 3], traced=traced, transport="mpi")
    if n % 4 == 2:
        return Case(first, programs, 2 + n // 4 % 4, FREE, traced=traced)
    return Case(first, programs, 2 + n % 4, tuple(NETWORKS[n // 2 % len(NETWORKS)]), traced=traced)


def measured(result, metric):
    """path -> place -> value."""
    values = defaultdict(dict)
    for path, row in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
        for place, value in enumerate(row):
            values[path.removeprefix(THREADS)][place] = float("nan") if value is None else value  # None: not known
    return values


def of_mpi(values):
    return {path: row for path, row in values.items() if path.split("/")[-1].startswith("MPI_")}


def differences(wanted, found, unit, tolerance, unsure=None):
    """tolerance: of a path and a place; unsure: what may be missing."""
    for path in sorted(set(wanted) | set(found)):
        for place in sorted(set(wanted.get(path, {})) | set(found.get(path, {}))):
            a, b = wanted.get(path, {}).get(place, 0), found.get(path, {}).get(place, 0) * unit
            less, error = (unsure or {}).get(path, {}).get(place, 0), tolerance(path, place)
            if not a - less - error <= b <= a + error:
                yield f"{path} location {place}: {a} wanted, {b:g} measured"


def member(exp, name, cubex="profile.cubex", without=None):
    """Its text, or `without`: what would be empty is not there."""
    with tarfile.open(exp / cubex) as archive:
        if without is not None and name not in archive.getnames():
            return without
        return archive.extractfile(name).read().decode()


def tsv(exp, name):
    """Rows of a table in the profile."""
    head, *rows = member(exp, name, without="\n").splitlines()
    return [dict(zip(head.split("\t"), (cell.removeprefix(THREADS) for cell in row.split("\t")))) for row in rows]


class Measured(NamedTuple):
    result: dict
    blame: list
    costs: list
    pairs: list
    analysis: dict
    what_if: dict  # of the analysis
    run: truth.Run
    apart: int  # nodes that send records to each other; 2 where one node does so

    def nodes(self):
        return self.result["meta"]["clock_sync"]["nodes"]


def measure(tools, case):
    """What the tool says, and the program; or what went wrong."""
    latecomer, mpirun, program = tools
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        log, exp = Path(root) / "log", Path(root) / "exp"
        spec = ";".join(f"{name}={factor}" for scenario in case.what_if() for name, factor in scenario)
        options = ["--what-if", spec, *(["--trace", "--trace-handles"] if case.traced else [])]
        command = [mpirun, "-n", case.ranks, "--seed", case.seed, *case.words, latecomer, "run", "-q", *options, "-o", exp, "--", program, case.list(), log,
                   *([case.kind] if case.kind else [])]
        limit = patience(60 + case.ranks * len(case.programs) // 4)
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=limit,
                              env={**os.environ, "TMPDIR": root, **({"LATECOMER_TRANSPORT": case.transport} if case.transport else {})})
        if done.returncode != 0 or done.stderr:
            return f"status {done.returncode}: {done.stderr[-500:]}"

        def show(*options):
            shown = subprocess.run([latecomer, "show", "--json", *options, exp], capture_output=True, text=True, check=True, timeout=limit)
            return json.loads(shown.stdout)

        run, analysis, what_if = truth.Run(log, case.ranks), None, None
        if case.traced:
            spec = ",".join(f"{name}={factor}" for name, factor in case.analysed_what_if(run))
            analyzed = subprocess.run([latecomer, "-q", "analyze", "-n", "1", "--what-if", spec, exp], capture_output=True, text=True, check=False,
                                      timeout=patience(60))
            if analyzed.returncode != 0:
                return f"analyze --what-if {spec}: status {analyzed.returncode}: {analyzed.stderr[-500:]}"
            analysis, what_if = show("--analysis"), json.loads(member(exp, "critical_path.json", "analysis.cubex"))["what_if"]
        result = show()
        apart = max(result["meta"]["clock_sync"]["nodes"], 2 if case.transport else 1)
        if apart > 1:
            run.error_ns = truth.AT_ONCE_NS + 2e9 * result["meta"]["clock_sync"]["wait_error_s"] + case.wobble_ns()
        run.host = [rank * case.nodes() // case.ranks for rank in range(case.ranks)]
        run.apart, run.node = apart, list(range(case.ranks)) if case.transport else run.host  # node: of those that share memory
        return Measured(result, tsv(exp, "blame.tsv"), tsv(exp, "costs.tsv"), json.loads(member(exp, "pairs.json", without='{"rows": []}'))["rows"], analysis, what_if, run, apart)


def judge_waits(result, found, unsure, wobble_ns):
    """Within 1 ns, and the error of the clocks of several nodes per call."""
    run, clocks = found.run, found.result["meta"]["clock_sync"]
    wanted, short = truth.waits(run, found.apart, result is found.analysis)
    if result is found.analysis:
        wanted = {metric: {path: row for path, row in rows.items() if path.split("/")[-1] not in truth.NOT_TRACED} for metric, rows in wanted.items()}
    visits, error = truth.visits(run), 2e9 * clocks["wait_error_s"] + wobble_ns
    for metric in METRICS:
        for line in differences(wanted.get(metric, {}), of_mpi(measured(result, metric)), 1e9, lambda path, place: 1 + error * visits[path][place], short[metric] if unsure else None):
            yield f"{metric} {line}"


def judge_blame(found):
    run, wanted, rows, most_of = found.run, truth.blame(found.run, found.apart), defaultdict(float), defaultdict(float)
    for row in found.blame:
        if not row["late_thread"]:
            late = row["late_callpath"]
            key = row["waiting_callpath"], int(row["late_rank"]), "worker" if late == "begin_thread" else late
            rows[key] += 1e9 * float(row["seconds"])
            most_of[key] += 1e9 * float(row["most_seconds"])
    if found.nodes() > 1:
        return
    left_out = min(rows.values()) if len(found.blame) == BLAME_ROWS else 0
    if len(wanted) > BLAME_TABLE:  # as of rows that are there: other ranks' tables had no place for some of it
        left_out += max(most_of[row] - rows[row] for row in rows)
    for row in sorted(set(wanted) | set(rows)):
        (least, most), told, told_most = wanted.get(row, (0, 0)), rows.get(row, 0), most_of.get(row, left_out)
        if not (told <= most + run.ranks and least - run.ranks <= told_most):
            yield f"blame {row}: {least} to {most} wanted, {told:.12g} to {told_most:.12g} measured"


def judge_costs(found, case):
    """With whom waiting began: all of it is in a row, or unknown; on a free network the delay costs (wait-first) of the definitions, less what has no row or
    is not known any more."""
    sums, rows, late = found.result["meta"]["waiting_costs"], defaultdict(float), found.result["late"]
    for row in found.costs:
        rows[int(row["late_rank"]), row["late_callpath"]] += 1e9 * float(row["seconds"])
    if sums["waits_s"] != sums["costs_s"] or abs(sum(row["direct_s"] + row["indirect_s"] for row in late) - sums["waits_s"]) > 1e-9 * (len(late) + 1):
        yield f"costs: {sums}, in rows {sum(row['seconds'] for row in late):.9g} s"
    if case.words != FREE or case.kind or case.transport:
        return
    unknown = 1e9 * (sums["unknown_direct_s"] + sums["unknown_indirect_s"])
    wanted, calls = logged_trace.delay_costs(found.run, measured(found.result, "time")), sum(map(len, found.run.calls))
    for key in sorted(set(wanted) | set(rows)):
        error = 0.001 * 1e9 * sums["waits_s"] + PAST_NS * calls / 100
        if not wanted[key] - error - unknown <= rows[key] <= wanted[key] + error:
            yield f"costs of {key}: {wanted[key]:.0f} ns wanted, {rows[key]:.0f} measured, of {1e9 * sums['waits_s']:.0f} in all"


def judge_pairs(found):
    """Who waited for whom, and sent how much."""
    run, rows = found.run, {(rank, other): rest for rank, other, *rest in found.pairs}
    for pair, (least, most, *sent) in sorted(truth.pairs(run, found.apart).items()):
        seconds, *got = rows.get(pair, (0, 0, 0))
        if found.nodes() == 1 and not least - len(run.calls[0]) <= 1e9 * seconds <= most + len(run.calls[0]):
            yield f"{pair} waited: {least} to {most} ns wanted, {1e9 * seconds:.12g} measured"
        if got != sent:
            yield f"{pair} sent: {sent} wanted, {got} measured"


def judge_path(found, case):
    """Critical path, factors, scenarios."""
    result, run, nodes = found.result, found.run, found.apart
    chained = nodes == 1 and case.kind not in ("threads", "handles", "cancels")
    most, least = (truth.factors(run, sure, chained) for sure in (False, True))
    late = result["pop"]["critical_path_error_s"]
    in_a_call = POLLS if found.nodes() > 1 else truth.OWN_WORK_NS  # the clocks' error of several nodes, below, is more than that
    small = 1e-9 + (1e-9 * in_a_call * max(map(len, run.calls)) + 2 * result["meta"]["clock_sync"]["error_s"] + 2e-9 * case.wobble_ns() if nodes > 1 else 0)
    for name, value in most.items():
        low, high = sorted((value, least[name]))
        if name == "critical_path_s":
            low -= late
        elif late > 0 and not name.endswith("_s") and name != "load_balance":
            continue  # follows from the critical path
        error = small * (1 if name.endswith("_s") else 2 * value / most["elapsed_s"])
        if not low - error <= result["pop"][name] <= high + error:
            yield f"{name}: {value:.12g} wanted, {result['pop'][name]:.12g} measured"
    path, surely = (truth.parts(truth.critical_path(run, sure, chained=True)[1]) if chained else None for sure in (False, True))
    if path == surely is not None and sum(map(len, path.values())) <= PATH_ENTRIES:
        lost = 1e9 * result["pop"]["not_attributed"] * result["pop"]["critical_path_s"]  # of entries that were too many by call site
        yield from (f"critical_path_useful {line}" for line in differences(path, measured(result, "critical_path_useful"), 1e9, lambda path, place: 1 + lost))
    for scenario, told in zip(case.what_if(), result["pop"]["what_if"]):
        if told["edges_lost"]:
            continue
        high, low = (truth.critical_path(run, sure, scenario)[0] / 1e9 for sure in (False, True))
        rounding = 1e-9 * max(map(len, run.calls))  # a nanosecond for each stretch of work
        if not low - small - rounding - told["error_s"] <= told["critical_path_s"] <= high + small:
            yield f"critical path with {scenario}: {high:.12g} wanted, {told['critical_path_s']:.12g} measured"
        predicted = told["critical_path_s"] + result["pop"]["elapsed_s"] - result["pop"]["critical_path_s"]
        if not abs(told["predicted_s"] - predicted) <= 2e-9:
            yield f"run time with {scenario}: {predicted:.12g} wanted, {told['predicted_s']:.12g} predicted"


def judge_order(meta, wobble_ns):
    """Messages that were received before they were sent: only by clocks of several nodes, within their bound."""
    n, clocks = meta["piggyback"]["order_violations"], meta["clock_sync"]
    allowed = clocks["wait_error_s"] + 1e-9 * wobble_ns if clocks["nodes"] > 1 else 0
    if clocks["largest_violation_s"] > allowed or (n > 0) != (clocks["largest_violation_s"] > 0):
        yield f"order: {n} violations, up to {clocks['largest_violation_s']:.9f} s, {allowed:.9f} allowed"


def judge_profile(found, case):
    result, run = found.result, found.run
    yield from judge_order(result["meta"], case.wobble_ns())
    visits = truth.visits(run)
    yield from (f"visits {line}" for line in differences(visits, of_mpi(measured(result, "visits")), 1, lambda path, place: 0))
    yield from judge_waits(result, found, True, case.wobble_ns())
    times = {path: row for path, row in measured(result, "time").items() if "/" in path and path.split("/")[-1] not in truth.ENDS}
    wanted = {path: row for path, row in truth.times(run).items() if path.split("/")[-1] not in truth.ENDS}
    own = truth.OWN_WORK_NS if found.apart > 1 else 0
    calls = max(map(len, run.calls))
    for line in differences(wanted, times, 1e9, lambda path, place: 1 + own * (visits[path][place] if path in visits else calls)
                                                                    + case.drift() * wanted.get(path, {}).get(place, 0)):
        yield f"time {line}"
    yield from judge_blame(found)
    yield from judge_costs(found, case)
    yield from judge_pairs(found)
    yield from judge_path(found, case)


def judge_analysis(found, case):
    """Waiting, delay costs and classification in both models, critical path and indicators, what-if; between nodes only waiting, within the error of the clocks."""
    if found.apart > 1 or case.kind in ("wide", "handles", "cancels"):  # the oracle has neither windows nor neighbourhoods, nor all ways to send
        yield from judge_waits(found.analysis, found, found.apart > 1, case.wobble_ns())
        return
    wanted = logged_trace.analysis(found.run, measured(found.analysis, "time"))
    for name, metric in wanted.result()["metrics"].items():
        rows = {path: dict(enumerate(row)) for path, row in metric["callpaths"].items()}
        largest = max((abs(value) for row in rows.values() for value in row.values()), default=0)
        if name.startswith(ANALYSED) and not (case.kind == "threads" and name.startswith(INDICATORS)):
            yield from (f"{name} {line}" for line in differences(rows, measured(found.analysis, name), 1, lambda path, place, largest=largest: 1e-9 * largest + 1e-12))
    scenario, starts = case.analysed_what_if(found.run), 2 * (len(found.run.calls) - found.run.ranks)  # of further threads, ns
    now = wanted.t.t1 - wanted.t.t0
    for key, (least, most) in (("now_s", (now, now)), ("then_s", logged_what_if.length(wanted, scenario))):
        if not least - 1 - starts <= 1e9 * found.what_if[key] <= most + 1 + starts:
            yield f"what if {scenario}: {key} {least / 1e9:.9f} to {most / 1e9:.9f} wanted, {found.what_if[key]:.9f} measured"


def judge(tools, case):
    """Lines that say what is wrong with this launch."""
    found = measure(tools, case)
    if isinstance(found, str):
        return [found]
    return [*judge_profile(found, case), *(f"analysis: {line}" for line in (judge_analysis(found, case) if case.traced else ()))]


def smallest(case, fails):
    """The case without all that it fails without."""
    parts = 2
    while len(case.programs) > 1:  # phases: halves, quarters, ..
        size = -(-len(case.programs) // parts)
        for at in range(0, len(case.programs), size):
            fewer = case._replace(programs=case.programs[:at] + case.programs[at + size:])
            if fewer.programs and fails(fewer):
                case, parts = fewer, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(case.programs))
    options = [i for i, word in enumerate(case.words) if word.startswith("--")]
    for i, end in reversed(list(zip(options, [*options[1:], len(case.words)]))):
        fewer = case._replace(words=case.words[:i] + case.words[end:])
        if fewer.nodes() == 1 or case.words[i] not in ("--eager", "--buffer"):  # else small messages might wait: another thing
            case = fewer if fails(fewer) else case
    for change in ({"kind": ""}, {"transport": ""}, {"traced": False}, *({"ranks": ranks} for ranks in range(2, case.ranks))):
        fewer = case._replace(**change)
        if fewer.nodes() <= fewer.ranks < case.ranks + ("ranks" not in change) and fewer != case and fails(fewer):
            case = fewer
    return case


def judge_smallest(tools, case):
    """The case, made smaller if it fails, and what is wrong with it."""
    wrong = judge(tools, case)
    if wrong and not judge(tools, case):
        wrong.insert(0, "not again the second time: the simulation is not the same each time")
    elif wrong:
        case = smallest(case, lambda fewer: bool(judge(tools, fewer)))
        wrong = judge(tools, case)
    return case, wrong


def main():
    tools = [Path(argument).absolute() for argument in sys.argv[1:4]]
    first, last = map(int, sys.argv[4:6])
    programs = int(sys.argv[6]) if len(sys.argv) > 6 else PROGRAMS
    jobs = int(sys.argv[7]) if len(sys.argv) > 7 else 1
    failed = 0
    gc.freeze()
    gc.disable()  # it would look again and again at what a launch needs until its end
    cases = [case_of(seed, seed + programs - 1) for seed in range(first, last + 2 - programs, programs)]

    def judged(case):
        wait_while_held()
        try:
            return judge_smallest(tools, case)
        finally:
            gc.collect()

    with ThreadPoolExecutor(jobs) as pool:
        for case, wrong in pool.map(judged, (FOUND if first == 1 else []) + cases):
            failed += bool(wrong)
            print(*([f"{case}", *wrong[:6]] if wrong else ()), sep="\n  ", end="\n" if wrong else "", flush=True)
    cost = sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    print(f"{failed} wrong; {cost / max(1, sum(len({seed for seed, _ in case.programs}) for case in cases)):.3f} s of a processor for each program")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
