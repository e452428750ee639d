"""Samples in virtual time: sim_kernels.py LATECOMER SIM-MPIRUN SIM-KERNELS DEMO

The kernel that makes a rank late is the first finding, with its waiting, also once the trace was analysed; one among others in the same interval too; time
without a processor is a finding of its own; each cause planted in the demo is one finding; loops whose period is that of the samples, half and twice of it, are
divided as they are, within three standard errors. Every sample falls to the nanosecond, so a run gives the same each time."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

RANKS, ROUNDS = 3, 20
PERIOD_NS = 1997001  # of 500 samples per second
LATE_S = (RANKS - 1) * ROUNDS * 0.020  # what the others wait
found = []


def check(what, right, *more):
    if not right:
        found.append(f"{what}: {' '.join(str(m) for m in more)[:1500]}")


class Runs:
    def __init__(self, root):
        self.latecomer, self.mpirun, self.program, self.demo = (Path(argument).absolute() for argument in sys.argv[1:5])
        self.root = Path(root)

    def show(self, *words):
        return subprocess.run([self.latecomer, "show", *words], capture_output=True, text=True, check=True, timeout=patience(60)).stdout

    def analyze(self, directory):
        subprocess.run([self.latecomer, "analyze", "-q", directory], capture_output=True, text=True, check=True, timeout=patience(60))
        return json.loads(self.show("--json", directory))

    def run(self, *options, trace=False, program=None, ranks=RANKS):
        """The result of a run, as JSON, and where it is."""
        directory = self.root / "-".join(options or ["demo"])
        command = [self.latecomer, "run", "-q", "--sample=500", *(["--trace"] if trace else []), "-o", directory, "--", program or self.program, *options]
        done = subprocess.run([self.mpirun, "-n", str(ranks), *command], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.root)}, timeout=patience(60), check=False,
                              stdin=subprocess.DEVNULL)
        check(f"{options}: run", done.returncode == 0 and done.stderr == "", done.stderr)
        return json.loads(self.show("--json", directory)), directory


def near(seconds, wanted, error):
    """Within three standard errors, and half a per cent for what lies around the kernels."""
    return abs(seconds - wanted) <= 3 * error + 0.005 * wanted


def blamed(result):
    return [f for f in result["findings"] if f["kind"] in ("late_rank", "imbalance")]


def late(runs):
    """The analysis of the trace keeps the function, and tells its waiting once, with the gain by replay."""
    for what, path in (("late", "main/iterate/straggle"), ("asleep", "main/iterate/doze/(off CPU)")):
        result, directory = runs.run(what, str(ROUNDS), trace=True)
        first = result["findings"][0]
        check(f"{what}: first finding", (first["kind"], first["callpath"], first["ranks"]) == ("late_rank", path, [1]), first)
        check(f"{what}: waiting", near(first["severity_s"], LATE_S, 0), first)
        spent = result["sampled"].get(path, {"seconds": 0, "error_s": 0})
        check(f"{what}: its own time", near(spent["seconds"], ROUNDS * 0.020, spent["error_s"]), spent)
        check(f"{what}: the same waiting twice", len(blamed(result)) == 1, blamed(result))
        joined = runs.analyze(directory)
        sharper = joined["findings"][0]
        check(f"{what}: analysed", (sharper["kind"], sharper["callpath"], sharper["ranks"]) == ("late_rank", path, [1]), sharper)
        check(f"{what}: analysed, waiting", near(sharper["severity_s"], LATE_S, 0), sharper)
        check(f"{what}: analysed, gain", "replay" in sharper["gain_by"] and near(sharper["gain_s"], ROUNDS * 0.020, 0), sharper)
        check(f"{what}: analysed, the same waiting twice", len(blamed(joined)) == 1, blamed(joined))


def mixed(runs):
    result, directory = runs.run("mixed", str(ROUNDS))
    error_ms = 1000 * result["sampled"]["main/iterate/straggle"]["error_s"]
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
    check("mixed: first finding", result["findings"][0]["callpath"] == "main/iterate/straggle", result["findings"][0])


def preempted(runs):
    """Neither work nor an imbalance of it: a finding of its own, with how much it is."""
    result, directory = runs.run("preempted", str(ROUNDS), trace=True)
    of = {f["kind"]: f for f in result["findings"]}
    lost = of.get("preempted", {"severity_s": 0, "ranks": [], "text": ""})
    check("preempted: how long", near(lost["severity_s"], ROUNDS * 0.020, 0), lost)
    check("preempted: who, and what it does", lost["ranks"] == [1] and "400 ms of it on the critical path; others wait" in lost["text"], lost)
    check("preempted: blamed", not blamed(result), blamed(result))
    joined = runs.analyze(directory)
    check("preempted: analysed", [f["text"] for f in joined["findings"] if f["kind"] == "preempted"] == [lost["text"]] and not blamed(joined), joined["findings"])
    check("preempted: on the screen", "rank 1 lost the processor to other threads for 400 ms" in runs.show(directory), runs.show(directory))


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
        mixed(runs)
        preempted(runs)
        demo(runs)
        in_step(runs)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


sys.exit(main())
