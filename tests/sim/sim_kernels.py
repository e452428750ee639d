"""Samples in virtual time: sim_kernels.py LATECOMER SIM-MPIRUN SIM-KERNELS DEMO KNOBS

The kernel that makes a rank late is the first finding, with its waiting, also once the trace was analysed; one among others in the same interval too; time
without a processor is a finding of its own; each cause planted in the demo is one finding; loops whose period is that of the samples, half and twice of it, are
divided as they are, within three standard errors; the gain of a function that only samples know is what comes out when the fault is taken away. Every sample
falls to the nanosecond, so a run gives the same each time."""
import bisect
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

import otf2
from otf2 import events

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

RANKS, ROUNDS = 3, 20
PERIOD_NS = 1997001  # of 500 samples per second
LATE_S = (RANKS - 1) * ROUNDS * 0.020  # what the others wait
UNEVEN = ("--seed", "3", "--random", "--latency", "2000")
NONE = {"callpaths": {}}
found = []


def check(what, right, *more):
    if not right:
        found.append(f"{what}: {' '.join(str(m) for m in more)[:1500]}")


class Samples:
    """Samples of each rank in a trace: (time, function), and those of the scheduler: (time, call path)."""

    def __init__(self, directory):
        self.clock, self.scheduler = defaultdict(list), defaultdict(list)
        with otf2.reader.open(str(directory / "traces.otf2")) as trace:
            assert trace.timer_resolution == 10 ** 9
            for location, event in trace.events:
                if not isinstance(event, events.CallingContextSample):
                    continue
                rank, path = location._ref & 0xffffffff, self.path(event.calling_context)
                if event.interrupt_generator.name == "scheduler":
                    self.scheduler[rank].append((event.time, "/".join(path)))
                else:
                    self.clock[rank].append((event.time, path[-1]))

    @staticmethod
    def path(context):
        regions = []
        while context is not None:
            regions.insert(0, context.region.name)
            context = context.parent
        return regions


def functions_of(program):
    """Begin of each function of the program, ascending, with its name."""
    listed = subprocess.run(["nm", "-n", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in listed.splitlines()]
    return [(int(w[0], 16), w[2].split(".")[0]) for w in words if len(w) == 3 and w[1] in "tT"]


def sampled(file, functions):
    """What the simulated kernel has sampled at the rate of the run: (time, function)."""
    rows = [line.split() for line in file.read_text().splitlines()]
    begins = [begin for begin, _ in functions]
    return [(int(time), functions[bisect.bisect_right(begins, int(at, 16)) - 1][1]) for time, period, at in rows if int(period) < 2 * PERIOD_NS]


class Runs:
    def __init__(self, root):
        self.latecomer, self.mpirun, self.program, self.demo, self.knobs = (Path(argument).absolute() for argument in sys.argv[1:6])
        self.root = Path(root)

    def show(self, *words):
        return subprocess.run([self.latecomer, "show", *words], capture_output=True, text=True, check=True, timeout=patience(60)).stdout

    def analyze(self, directory):
        subprocess.run([self.latecomer, "analyze", "-q", directory], capture_output=True, text=True, check=True, timeout=patience(60))
        return json.loads(self.show("--json", directory))

    def analyze_on(self, n, directory):
        """The analysis by n ranks: values, samples, root causes."""
        out = directory / f"by-{n}.cubex"
        subprocess.run([self.latecomer, "analyze", "-q", "-n", str(n), "-o", out, directory], capture_output=True, text=True, check=True,
                       timeout=patience(60))
        result = json.loads(self.show("--json", out))
        with tarfile.open(out) as archive:
            return [result["metrics"], result["sampled"], *(archive.extractfile(m).read() for m in ("samples.tsv", "root_causes.json", "critical_path.json"))]

    def run(self, *words, trace=False, program=None, ranks=RANKS, options=(), network=(), **env):
        """The result of a run, as JSON, and where it is; words: of the program, options: of the tool, network: of sim-mpirun."""
        directory = self.root / "-".join([*words, *network] or ["demo"])
        command = [self.latecomer, "run", "-q", "--sample=500", *(["--trace"] if trace else []), *options, "-o", directory, "--", program or self.program, *words]
        done = subprocess.run([self.mpirun, "-n", str(ranks), *network, *command], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.root), "SIM_SAMPLES": str(directory) + ".samples", **env}, timeout=patience(60), check=False,
                              stdin=subprocess.DEVNULL)
        check(f"{words}: run", done.returncode == 0 and done.stderr == "", done.stderr)
        return json.loads(self.show("--json", directory)), directory


def near(seconds, wanted, error):
    """Within three standard errors, and half a per cent for what lies around the kernels."""
    return abs(seconds - wanted) <= 3 * error + 0.005 * wanted


def blamed(result):
    return [f for f in result["findings"] if f["kind"] in ("late_rank", "imbalance")]


def late(runs):
    """The analysis of the trace keeps the function, and tells its waiting once, with the gain by replay."""
    for what, path in (("late", "main/iterate/straggle"), ("asleep", "main/iterate/doze/(off CPU)"),
                       ("fault", "main/iterate/touch/(off CPU: page fault)")):
        result, directory = runs.run(what, str(ROUNDS), trace=True)
        first = result["findings"][0]
        check(f"{what}: first finding", (first["kind"], first["callpath"], first["ranks"]) == ("late_rank", path, [1]), first)
        check(f"{what}: waiting", near(first["severity_s"], LATE_S, 0), first)
        spent = result["sampled"].get(path, {"seconds": 0, "error_s": 0})
        check(f"{what}: its own time", near(spent["seconds"], ROUNDS * 0.020, spent["error_s"]), spent)
        check(f"{what}: the same waiting twice", len(blamed(result)) == 1, blamed(result))
        joined = runs.analyze(directory)
        if what == "asleep":
            asleep(directory)
        sharper = joined["findings"][0]
        check(f"{what}: analysed", (sharper["kind"], sharper["callpath"], sharper["ranks"]) == ("late_rank", path, [1]), sharper)
        check(f"{what}: analysed, waiting", near(sharper["severity_s"], LATE_S, 0), sharper)
        certainty = {"late": "estimated"}.get(what, "measured")
        check(f"{what}: certainty", (first["certainty"], sharper["certainty"]) == (certainty, certainty), first, sharper)
        check(f"{what}: analysed, gain", "replay" in sharper["gain_by"] and near(sharper["gain_s"], ROUNDS * 0.020, 0), sharper)
        check(f"{what}: analysed, the same waiting twice", len(blamed(joined)) == 1, blamed(joined))


def beside(runs):
    """A call that follows itself: the function that makes it had returned, as samples tell; who slept was another one."""
    result, _ = runs.run("beside", str(ROUNDS))
    first = result["findings"][0]
    check("beside: first finding", (first["kind"], first["ranks"]) == ("late_rank", [1]) and first["callpath"] == "main/iterate/doze/(off CPU)", first)


def asleep(directory):
    """The scheduler's samples say where the thread slept, and how long; the second barrier is called in place of the return to main, which is all that is
    certain to have run since the first."""
    naps = Samples(directory).scheduler[1]
    begins, ends = naps[0::2], naps[1::2]
    check("asleep: where", {path for _, path in begins} == {"main/iterate/doze/(off CPU)"} and {path for _, path in ends} == {"main"}, naps[:4])
    check("asleep: how long", [end - begin for (begin, _), (end, _) in zip(begins, ends)] == [20_000_000] * ROUNDS, naps[:4])


def in_trace(runs, directory):
    """The trace holds what the kernel has sampled, each at its time, in its function."""
    functions, trace = functions_of(runs.program), Samples(directory)
    for rank in range(RANKS):
        truth = sampled(Path(f"{directory}.samples.{rank}"), functions)
        check(f"{directory.name}: samples of rank {rank}", trace.clock[rank] == truth and len(truth) > 50,
              len(truth), len(trace.clock[rank]), [pair for pair in zip(truth, trace.clock[rank]) if pair[0] != pair[1]][:3])


def mixed(runs):
    result, directory = runs.run("mixed", str(ROUNDS), trace=True)
    in_trace(runs, directory)
    error_ms = 1000 * result["sampled"]["main/iterate/straggle"]["error_s"]
    joined = runs.analyze(directory)
    check("mixed: analysed, first finding", [f["callpath"] for f in blamed(joined)] == ["main/iterate/straggle"], blamed(joined))
    for what, which in (("mixed", result), ("mixed: analysed", joined)):
        check(f"{what}, certainty", which["findings"][0]["certainty"] == "estimated", which["findings"][0])
    of = {path.rsplit("/", 1)[-1]: e for path, e in json.loads(runs.show("--json", directory / "analysis.cubex"))["sampled"].items()}
    several = {n: runs.analyze_on(n, directory) for n in (1, 3)}
    check("mixed: the same on any number of analysis ranks", several[1] == several[3])
    for kernel, ranks, ms, cost in (("assemble", RANKS, 5, 0), ("precondition", RANKS, 5, 0), ("straggle", 1, 20, LATE_S)):
        check(f"mixed: analysed, time of {kernel}", near(of[kernel]["seconds"], ranks * ROUNDS * ms * 1e-3, of[kernel]["error_s"]), of[kernel])
        check(f"mixed: analysed, path in {kernel}", near(of[kernel]["critical_path_s"], ROUNDS * ms * 1e-3, of[kernel]["critical_path_error_s"]), of[kernel])
        check(f"mixed: analysed, cost of {kernel}", near(of[kernel].get("cost_s", 0), cost, max(of[kernel].get("cost_error_s", 0), 0.002)), of[kernel])
    lines = [line.split() for line in runs.show("--full", "--only", "tree", directory).splitlines() if line.endswith("straggle")]
    check("mixed: error in the tree", len(lines) == 1 and lines[0][0].startswith("~") and abs(float(lines[0][3]) - error_ms) < 0.06 * error_ms, lines, error_ms)
    screen = runs.show(directory)
    marked = [line.split()[0] for line in screen.split("Heaviest")[1].splitlines() if " ~" in line and line.startswith("  main")]
    check("mixed: estimates are marked on the screen", "main/MPI_Barrier" not in marked and "main/iterate/straggle" in marked and "~ divided by samples" in screen, screen)
    parts = {e["callpath"].rsplit("/", 1)[-1]: e for e in result["late"] if e["rank"] == 1 and e["callpath"].startswith("main/iterate")}
    check("mixed: all of the waiting", near(sum(e["seconds"] for e in parts.values()), LATE_S, 0), parts)
    for kernel, part in (("assemble", 0), ("precondition", 0), ("straggle", 1)):  # what the others do as well delays nobody
        entry = parts.get(kernel, {"seconds": 0, "error_s": 0})
        check(f"mixed: {kernel}", near(entry["seconds"], part * LATE_S, entry["error_s"]), entry)
    late_in_gap("mixed", directory)
    on_lines(runs, result, directory)
    _, apart = runs.run("mixed", str(ROUNDS), network=["--nodes", str(RANKS), "--node-latency", "20000", "--offset", "3000000"])
    late_in_gap("mixed, on nodes", apart)
    check("mixed: first finding", result["findings"][0]["callpath"] == "main/iterate/straggle", result["findings"][0])


def late_at(directory, call):
    """Who was late at this call, in which function: (rank, function) -> [seconds, error] of its rows, one for each two calls that it was between."""
    with tarfile.open(directory / "profile.cubex") as archive:
        head, *rows = (line.split("\t") for line in archive.extractfile("blame.tsv").read().decode().splitlines())
    found = defaultdict(lambda: [0, 0])
    for row in (dict(zip(head, row)) for row in rows):
        if row["waiting_callpath"].endswith("/" + call):
            its = found[int(row["late_rank"]), row["late_callpath"].rsplit("/", 1)[-1]]
            its[:] = its[0] + float(row["seconds"]), math.hypot(its[1], float(row["error"]))
    return found


def late_in_gap(what, directory, call="MPI_Barrier", waited=LATE_S):
    """What the late rank was in: all that it did between the two calls, in proportion, not one function a wait."""
    of = late_at(directory, call)
    for kernel, part in (("assemble", 1 / 6), ("precondition", 1 / 6), ("straggle", 4 / 6)):
        seconds, error = of[1, kernel]
        check(f"{what}: late in {kernel}", abs(seconds / waited - part) < 0.02, seconds, "of", waited, dict(of))
        check(f"{what}: error of late in {kernel}", abs(seconds - part * waited) <= 3 * error < waited, seconds, error)
    return of


def late_reply(runs):
    """Clocks in messages, which arrive when they like: when the receive was posted, the sender hears after its call has ended. Its wait is divided as well, and nothing stays with the late
    sender of the same call, for which less was booked before."""
    for what, call in (("receiver", "MPI_Send"), ("reply", "MPI_Waitall")):
        result, directory = runs.run(what, str(ROUNDS), network=["--jitter", "20000"], LATECOMER_TRANSPORT="mpi")
        waited = ROUNDS * 0.030
        of = late_in_gap(what, directory, call, waited)
        check(f"{what}: nobody else was late", {rank for rank, _ in of} == {1} and near(sum(seconds for seconds, _ in of.values()), waited, 0), dict(of))
        told = [value for path, row in result["metrics"].get("mpi_latereceiver", NONE)["callpaths"].items() if path.endswith(call) for value in row if value]
        check(f"{what}: late receiver", len(told) == 1 and near(told[0], waited, 0), told)
        check(f"{what}: late sender", not any(value for path, row in result["metrics"].get("mpi_latesender", NONE)["callpaths"].items()
                                              if path.endswith(call) for value in row))
        sums = result["meta"]["waiting_costs"]
        check(f"{what}: costs", sums["waits_s"] == sums["costs_s"], sums)


def line_with(text):
    """`sim_kernels.c:17` of the one line with this text."""
    found_at = [n for n, line in enumerate((Path(__file__).parent / "sim_kernels.c").read_text().splitlines(), 1) if text in line]
    assert len(found_at) == 1, (text, found_at)
    return f"sim_kernels.c:{found_at[0]}"


def on_lines(runs, result, directory):
    """The line that all samples of a kernel fall on, in the function that the compiler has put there."""
    for kernel in ("assemble", "precondition", "straggle"):
        path = f"main/iterate/{kernel}"
        rows, its = result["source_lines"].get(path, []), result["sampled"][path]
        check(f"lines of {kernel}", [(r["line"], r["inlined"], r["called_at"]) for r in rows]
              == [(line_with("samples fall on this line"), "burn", line_with(f"KERNEL({kernel})"))], rows)
        errors = result["metrics"]["time_error"]["callpaths"].get(path, [])
        check(f"time_error of {kernel}", len(errors) > 0 and abs(sum(e * e for e in errors) ** 0.5 - its["error_s"]) < 1e-9, errors, its)
        check(f"lines of {kernel}: all of it", len(rows) == 1 and rows[0]["samples"] == its["samples"] and near(rows[0]["seconds"], its["seconds"], 0), rows, its)
    text = runs.show("--full", "--only", "lines", directory)
    check("lines: on the screen", f"inlined: burn, called at {line_with('KERNEL(straggle)')}" in text, text)


def preempted(runs):
    """Neither work nor an imbalance of it: a finding of its own, with how much it is."""
    result, directory = runs.run("preempted", str(ROUNDS), trace=True)
    of = {f["kind"]: f for f in result["findings"]}
    lost = of.get("preempted", {"severity_s": 0, "ranks": [], "text": ""})
    check("preempted: how long", near(lost["severity_s"], ROUNDS * 0.020, 0), lost)
    check("preempted: who, and what it does", lost["ranks"] == [1] and "400 ms of it on the critical path; others wait" in lost["text"], lost)
    spent = {path: e["seconds"] for path, e in result["sampled"].items() if path.endswith("(preempted)")}
    check("preempted: where", set(spent) == {"main/iterate/interrupted/(preempted)"} and near(sum(spent.values()), ROUNDS * 0.020, 0), spent)
    check("preempted: blamed", not blamed(result), blamed(result))
    joined = runs.analyze(directory)
    check("preempted: analysed", [f["text"] for f in joined["findings"] if f["kind"] == "preempted"] == [lost["text"]] and not blamed(joined), joined["findings"])
    check("preempted: on the screen", "rank 1 lost the processor to other threads for 400 ms" in runs.show(directory), runs.show(directory))


def counters(runs):
    """What was counted on the critical path: of the rank that the others wait for. Faults are the kernel's own: there may be some more."""
    result, directory = runs.run("pages", str(ROUNDS), options=("--counters=software",))
    of, some = result["pop"]["counters"], 50 * ROUNDS
    for part, pages in (("useful", ROUNDS * (100 + 300 * (RANKS - 1))), ("critical_path", ROUNDS * 100)):
        check(f"counters: {part}", pages <= of[part]["page_faults"] < pages + some, of)
    check("counters: the same by call path", result["metrics"]["page_faults"]["total"] == of["useful"]["page_faults"] + of["mpi"]["page_faults"], of)
    check("counters: bytes sent", (of["useful"]["bytes_sent"], of["mpi"]["bytes_sent"], of["critical_path"]["bytes_sent"])
          == (0, ROUNDS * 1500, ROUNDS * 1000), of)
    check("counters: what is not counted is not 0", of["asked"] == of["counted"] == ["page_faults", "context_switches", "bytes_sent"]
          and of["critical_path"]["cycles"] is None and "instructions" not in result["metrics"], of)
    text = runs.show("--full", "--only", "efficiency", directory)
    lines = [line.split()[2:] for line in text.splitlines() if line.startswith("  critical path ")]
    check("counters: on the screen", lines[-1:] == [["-", "-", "-", *(str(of["critical_path"][name]) for name in of["counted"])]], text)
    check("counters: nothing is missing", "could not be read" not in text, text)
    plain, _ = runs.run("late", str(2))
    check("counters: only where they are asked for", "counters" not in plain["pop"] and "page_faults" not in plain["metrics"])


def demo(runs):
    """Each planted cause is one finding, at the function that sleeps, before and after the analysis."""
    first, directory = runs.run(trace=True, program=runs.demo, ranks=4)
    for what, result in (("demo", first), ("demo, analysed", runs.analyze(directory))):
        of = {f["callpath"]: f for f in blamed(result)}
        cause = {step: "/".join(("main", "solve", step, "work", "(off CPU)")) for step in ("step_barrier", "step_allreduce", "step_message")}
        check(f"{what}: causes", set(of) == set(cause.values()) and len(blamed(result)) == 3, blamed(result))
        for step, waits_s in (("step_barrier", 0.6), ("step_allreduce", 0.8)):  # 20 ms for three ranks, 40 ms for two, ten times
            seconds = of.get(cause[step], {"severity_s": 0})["severity_s"]
            check(f"{what}: waiting for {step}", near(seconds, waits_s, 0), seconds)


def gains(runs):
    """What the clocks of the run say of the code between two calls, which is main's, is said of the function that sleeps there, right within 0.1 %: of ranks that work
    alike another one is the last each time, and main has short portions of work besides. What the network adds is not the same without the fault."""
    for kind, where, of in (("half", "half/work", "imbalance"), ("serial", "serial/prepare/work", "late_rank"), ("late_root", "late_root/root/work", "late_rank")):
        before, after = (runs.run(kind, on, "30", program=runs.knobs, ranks=4, network=UNEVEN)[0] for on in "10")
        first, then = before["findings"][0], after["pop"]["critical_path_s"]
        gained = before["pop"]["critical_path_s"] - then
        check(f"{kind}: first finding", (first["kind"], first["callpath"]) == (of, f"main/{where}/(off CPU)"), first)
        check(f"{kind}: by a clock of the run", "clock" in first["gain_by"] and abs(first["gain_s"] - gained) < 1e-3 * then, gained, then, first)
        check(f"{kind}: bounds", first["gain_low_s"] <= gained <= first["gain_high_s"], gained, first)


def in_step(runs):
    for factor in (0.5, 1, 2):
        loop = int(PERIOD_NS * factor)
        rounds = int(800 / factor)
        result, _ = runs.run("step", str(rounds), str(loop))
        total = RANKS * rounds * loop * 1e-9
        for kernel, part in (("assemble", 0.3), ("precondition", 0.7)):
            entry = result["sampled"].get(f"main/iterate/{kernel}", {"seconds": 0, "error_s": 0})
            check(f"step {factor}: {kernel}", near(entry["seconds"], part * total, entry["error_s"]), entry, "of", total)
            check(f"step {factor}: error of {kernel}", entry["error_s"] < 0.05 * total, entry)


def main():
    with tempfile.TemporaryDirectory(prefix="lckern-") as root:
        runs = Runs(root)
        late(runs)
        beside(runs)
        mixed(runs)
        late_reply(runs)
        preempted(runs)
        counters(runs)
        demo(runs)
        gains(runs)
        in_step(runs)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


sys.exit(main())
