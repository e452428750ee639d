"""OpenMP programs of GCC of known times, in virtual time: sim_openmp_known.py LATECOMER SIM-MPIRUN DIRECTORY-OF-LIBRARIES COMPILER MPICC

Factors, paths and waiting are those worked out by hand, to the nanosecond; what is said of a program without MPI has no word of MPI or of ranks."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

SOURCE = Path(__file__).with_suffix(".c")
TOP = Path(__file__).absolute().parent.parent.parent
LATENCY_NS = 1000
NODES = (("one node", ()), ("nodes", ("--nodes", "2", "--node-latency", str(LATENCY_NS))))
found = []


def check(what, wanted, have):
    if wanted != have and not (isinstance(wanted, float) and abs(wanted - have) < 5e-9):
        found.append(f"{what}: {wanted} wanted, {have}")


class Runs:
    def __init__(self, latecomer, mpirun, libraries, compiler, mpicc):
        self.latecomer, self.mpirun = latecomer, mpirun
        places = [word for path in (libraries / "gomp", libraries) for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
        for name, compile_it, library in (("alone", [compiler], []), ("with_mpi", [mpicc, "-DWITH_MPI"], ["-lmpich"])):
            subprocess.run([*compile_it, "-O1", "-g", "-Wall", "-fopenmp", f"-I{TOP}/include", "-c", SOURCE, "-o", f"{name}.o"], check=True)
            subprocess.run([compiler, "-o", name, f"{name}.o", *places, "-lgomp", "-lsim", *library], check=True)
        subprocess.run([compiler, "-O1", "-g", "-Wall", "-fopenmp", f"-I{TOP}/include", "-c", TOP / "src/demo/demo_tasks.c", "-o", "demo.o"], check=True)
        subprocess.run([compiler, "-o", "demo", "demo.o", *places, "-lgomp", "-lsim"], check=True)

    def run(self, program, words=(), options=(), env=()):
        """The result, and what is shown of it at first."""
        subprocess.run(["rm", "-rf", "result"], check=True)
        command = [self.mpirun, "-n", "1", "--seed", "1", "--call", "0", "--latency", str(LATENCY_NS), *words, self.latecomer, "run", "-q", *options, "-o", "result",
                   "--", *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience(60), check=False,
                              env={**os.environ, "TMPDIR": os.getcwd(), **dict(env)})
        check(f"{program}: status and messages", (0, ""), (done.returncode, done.stderr))
        return json.loads(self.show("--json")), self.show()

    def show(self, *words, of="result"):
        return subprocess.run([self.latecomer, "show", *words, of], capture_output=True, text=True, timeout=patience(60), check=True).stdout


def path(result, scope, counts="useful"):
    return next(path["length_s"] for path in result["pop"]["paths"] if (path["scope"], path["counts"]) == (scope, counts))


def imbalance(runs):
    result, screen = runs.run(["./alone", "imbalance"])
    pop = result["pop"]
    check("imbalance: critical path", 0.300, pop["critical_path_s"])
    check("imbalance: parallel efficiency", (5 * 100 + 100) / (4 * 300), pop["parallel_efficiency"])
    check("imbalance: barriers", 5 * 0.060, result["metrics"]["omp_ibarrier_wait"]["total"])
    check("imbalance: idle", 4 * 3 * 0.020, result["metrics"]["omp_idle_threads"]["total"])
    told = [(finding["kind"], finding["text"].split(" (")[0]) for finding in result["findings"]]
    check("imbalance: findings", ["thread_imbalance", "serial_part"], [kind for kind, _ in told])
    for finding in result["findings"]:
        check("imbalance: words for ranks", [], [word for word in ("rank", "MPI") if word in finding["text"] + finding["advice"] + finding["gain_by"]])
    check("imbalance: words of MPI", [], [line for line in (screen + runs.show("--full")).splitlines() if "MPI" in line])


def serial_parts(runs):
    """Three threads are idle while one works alone (5 times 20 ms, 6 times 10), two while a region has two: which code was around that region is not known, and bounds say so."""
    result, screen = runs.run(["./alone", "serial_parts"])
    told = {finding["callpath"]: finding for finding in result["findings"] if finding["kind"] == "serial_part"}
    limited, alone = 5 * 2 * 0.030, {"main/first_part": 5 * 3 * 0.020, "main/second_part": 6 * 3 * 0.010}
    check("serial parts: limited", [limited], [round(finding["severity_s"], 9) for finding in result["findings"] if finding["kind"] == "limited_parallelism"])
    check("serial parts: call paths", sorted(alone), sorted(told))
    for callpath, seconds in alone.items():
        finding = {"severity_low_s": 1.0, "severity_s": 0.0, "severity_high_s": 0.0, "gain_low_s": 1.0, "gain_high_s": 0.0, **told.get(callpath, {})}
        around = limited if callpath == "main/first_part" else 0.0
        check(f"{callpath}: severity", (seconds + around) * sum(alone.values()) / (sum(alone.values()) + limited), finding["severity_s"])
        check(f"{callpath}: within its bounds", True, finding["severity_low_s"] - 1e-9 <= seconds <= finding["severity_high_s"] + 1e-9)
        check(f"{callpath}: at least", around and seconds, finding["severity_low_s"])
        check(f"{callpath}: at most", min(seconds + around, sum(alone.values())), finding["severity_high_s"])
        check(f"{callpath}: gain", (0.0, True), (finding["gain_low_s"], finding["gain_low_s"] <= seconds / 4 <= finding["gain_high_s"] + 1e-9))
        check(f"{callpath}: certainty", "estimated", finding.get("certainty"))
    check("serial parts: shown", True, "threads are idle for 369 ms (300 ms to 480 ms; " in " ".join(screen.split()))


def scenarios(runs):
    """Regions take 40 ms of 60, five times; four tasks of a loop take 10 ms each, on two threads."""
    region = "!$omp parallel=0.5"
    for program, scenario, wanted in (("imbalance", region, 0.200), ("imbalance", "omp=0", 0.300), ("imbalance", "tasks=infinite", 0.300),
                                      ("independent", "omp=0", 0.020), ("independent", "tasks=infinite", 0.010)):
        result, _ = runs.run(["./alone", program], options=["--what-if", scenario])
        told = result["pop"]["what_if"][0]
        check(f"{program}, {scenario}: unknown", [], told["unknown"])
        check(f"{program}, {scenario}: predicted", wanted, round(told["predicted_s"], 8))


def function(runs):
    """All the work of the regions is in one function, which samples find; in virtual time they are exact but for its ends."""
    result, _ = runs.run(["./alone", "imbalance"], options=["--sample=1000", "--what-if", "skewed=0.5"])
    told = result["pop"]["what_if"][0]
    check("function: unknown", [], told["unknown"])
    check("function: predicted", True, abs(told["predicted_s"] - 0.200) < 0.005)


def sampled(runs):
    """Samples that nobody has asked for (sim-mpirun turns them off): all work of the regions is in the function, below their construct; factors and waiting are as without,
    and so it is in the analysis of a trace. Where the kernel has room for the events of two threads, as where too many threads are new, the others go on without."""
    for most, refused, seconds in (("100", 0, 5 * 0.100), ("6", 2, None)):
        result, screen = runs.run(["./alone", "imbalance"], env={"LATECOMER_SAMPLE": "", "SIM_SAMPLES_MOST": most}.items())
        inside = [e["seconds"] for path, e in result["sampled"].items() if "!$omp parallel" in path and path.endswith("/skewed")]
        check(f"samples of {most} events: threads refused", refused, result["meta"]["coverage"]["threads_refused_samples"])
        check(f"samples of {most} events: a fourth of 500 per second, as what each takes is not known", 125.2, result["meta"]["sample_rate"])
        check(f"samples of {most} events: told", refused > 0, f"{refused} threads were not sampled" in screen)
        check(f"samples of {most} events: critical path", 0.300, result["pop"]["critical_path_s"])
        check(f"samples of {most} events: barriers", 5 * 0.060, result["metrics"]["omp_ibarrier_wait"]["total"])
        if seconds is not None:
            check(f"samples of {most} events: time inside", [seconds], [round(seconds, 6) for seconds in inside])
    result, _ = runs.run(["./alone", "imbalance"], env={"LATECOMER_SAMPLE": "500"}.items())
    check("samples of a rate that was asked for: per second", 500.8, result["meta"]["sample_rate"])
    profile, _ = runs.run(["./alone", "imbalance"], options=["--trace"], env={"LATECOMER_SAMPLE": ""}.items())
    done = subprocess.run([runs.latecomer, "-q", "analyze", "result"], capture_output=True, text=True, timeout=patience(60), check=False)
    check("samples in a trace: analyze", 0, done.returncode)
    analysis, joined = (json.loads(runs.show("--json", of=of)) for of in ("result/analysis.cubex", "result"))
    known, seen = ({path for path in result["sampled"] if path.endswith("/skewed")} for result in (profile, analysis))
    check("samples in a trace: the call paths of the profile", known, seen)
    check("samples in a trace: findings", [finding["kind"] for finding in profile["findings"]], [finding["kind"] for finding in joined["findings"]])
    result, screen = runs.run(["./alone", "short_threads"], env={"LATECOMER_SAMPLE": ""}.items())
    check("short threads: not sampled", 600 + 1 - 256, result["meta"]["coverage"]["short_threads_not_sampled"])
    check("short threads: told", True, "345 new threads were not sampled" in screen)


def constructs(runs):
    """Teams and a target region on the host come one after the other."""
    result, _ = runs.run(["./alone", "constructs"])
    check("constructs: critical path", 0.400 + 0.100 + 0.030 + 0.020 + 0.040, result["pop"]["critical_path_s"])
    check("constructs: sinks", 9 * 0.010, result["metrics"]["omp_lock_contention_critical"]["total"])
    check("constructs: barriers", 0.010 + 0.030, result["metrics"]["omp_ibarrier_wait"]["total"])
    check("constructs: useful", 0.400 + 0.050 + 0.030 + 0.020 + 0.040, path(result, "thread"))


def independent(runs):
    """What it takes at least on more threads, and of which construct the tasks are."""
    result, _ = runs.run(["./alone", "independent"])
    (construct,) = result["task_constructs"]
    for key, wanted in (("work_s", 0.040), ("span_s", 0.010), ("parallelism", 4.0), ("at_once", 2), ("created", 4), ("ready_s", 0.020)):
        check(f"independent: {key}", wanted, construct[key])
    check("independent: curve", [0.040, 0.020, 0.010, 0.010], [round(at["at_least_s"], 9) for at in result["pop"]["task_curve"][:4]])


def chains(runs, program, of_tasks_s, of_threads_s):
    """The critical path of tasks, and that of threads."""
    result, _ = runs.run(["./alone", program])
    check(f"{program}: path of tasks", of_tasks_s, result["pop"]["task_critical_path_s"])
    check(f"{program}: critical path", of_threads_s, result["pop"]["critical_path_s"])
    return result


def in_last_barrier(runs):
    """Four tasks of 10 ms, two on a worker and two on the thread that came 5 ms later."""
    chains(runs, "in_last_barrier", 0.010, 0.025)


def locked_alone(runs):
    chains(runs, "locked_alone", 0.080, 0.140)


def strangers(runs):
    """A critical section of three threads of the program, one after the other."""
    result, _ = runs.run(["./alone", "strangers"])
    check("strangers: critical path", 0.020 + 0.030 + 0.040, round(result["pop"]["critical_path_s"], 6))
    check("strangers: edges lost", 0, result["meta"]["openmp_edges_lost"])


def phases(runs):
    """In each of two iterations 3 ms before four tasks of 10 ms: the path of tasks, the curve, the factors of the phase alone."""
    result, _ = runs.run(["./alone", "phases"])
    (phase,) = result["pop"]["phases"]
    for key, wanted in (("critical_path_s", 0.046), ("task_critical_path_s", 0.026), ("task_work_s", 0.086)):
        check(f"phases: {key}", wanted, round(phase[key], 8))
    check("phases: curve", [0.086, 0.043, 0.026, 0.026], [round(at["at_least_s"], 8) for at in phase["task_curve"][:4]])
    check("phases: OpenMP", round(phase["factors"]["parallel_efficiency"], 8), round(phase["omp"]["parallel_efficiency"], 8))
    check("phases: MPI", 1.0, round(phase["mpi"]["parallel_efficiency"], 8))
    check("phases: shown", True, "work 86 ms, 3.3 times the chain of tasks; at least 86 ms on 1, 43 ms on 2, 26 ms on 4 threads" in runs.show("--full"))


def exclusive(runs):
    chains(runs, "exclusive", 0.100, 0.100)


def all_memory(runs):
    result = chains(runs, "all_memory", 0.090, 0.090)
    check("all_memory: not known", [], result["meta"].get("openmp_unknown_calls", []))


def stopped(runs):
    """Two regions of 40 ms, measured alone: what threads waited and worked in these, and nothing of the time between."""
    result, _ = runs.run(["./alone", "stopped"])
    check("stopped: critical path", 0.080, result["pop"]["critical_path_s"])
    check("stopped: barriers", 2 * 0.060, result["metrics"]["omp_ibarrier_wait"]["total"])
    check("stopped: useful", 2 * 0.040, path(result, "thread"))
    in_regions = [sum(row) for callpath, row in result["metrics"]["time"]["callpaths"].items() if "!$omp" in callpath and "barrier" not in callpath]
    check("stopped: time in regions", [2 * 4 * 0.040], [round(time, 6) for time in in_regions])
    check("stopped: idle", 0.0, round(result["metrics"]["omp_idle_threads"]["total"], 6))


def late_team(runs):
    """50 ms alone and 20 in a team, the same and 40 in a larger one: each part of the path has its code, that before a thread was made, too."""
    for where, program, words in (("alone", "./alone", ()), *((where, "./with_mpi", ("-n", "2", *words)) for where, words in NODES)):
        result, _ = runs.run([program, "late_team"], words)
        check(f"late team, {where}: critical path", 0.160, result["pop"]["critical_path_s"])
        check(f"late team, {where}: without a call path", 0.0, round(result["pop"]["not_attributed"], 6))


def come_and_go(runs):
    """Ten threads, each of 10 ms, one after the other, beside the one that makes them: two at once, and what the factors count is said."""
    for where, program, words in (("alone", "./alone", ()), *((where, "./with_mpi", ("-n", "2", *words)) for where, words in NODES)):
        result, screen = runs.run([program, "come_and_go"], words)
        pop, ranks = result["pop"], len(words) and 2 or 1
        check(f"come and go, {where}: threads", (11 * ranks, 2.0 * ranks), (pop["threads"], round(pop["threads_at_once"], 3)))
        check(f"come and go, {where}: said", True, f"{11 * ranks} threads, {2 * ranks}.0 at once on average" in screen and "<- threads come and go" in screen)
    result, screen = runs.run(["./alone", "imbalance"])
    check("imbalance: threads", (4, 4.0), (result["pop"]["threads"], round(result["pop"]["threads_at_once"], 3)))
    check("imbalance: nothing is said of threads that come and go", False, "come and go" in screen or "at once" in screen)


def hybrid(runs):
    """On one node, and where clocks travel in messages and lag behind the program."""
    for where, words in NODES:
        result, screen = runs.run(["./with_mpi", "hybrid"], ["-n", "2", *words])
        pop = result["pop"]
        check(f"{where}: critical path", 0.024, pop["critical_path_s"])
        check(f"{where}: useful", 0.016, path(result, "thread"))
        check(f"{where}: parallel efficiency", 0.016, pop["parallel_efficiency"] * pop["elapsed_s"])
        check(f"{where}: barriers", 2 * 4 * 2 * 0.002, result["metrics"]["omp_ibarrier_wait"]["total"])
        check(f"{where}: warning", False, "several nodes" in screen)


def relay(runs):
    """Tasks of 10 ms, four on each of two ranks with two threads, one rank after the other, and 5 ms: the clock of tasks goes with messages and collectives."""
    for where, words in NODES:
        result, _ = runs.run(["./with_mpi", "relay"], ["-n", "2", *words])
        check(f"relay, {where}: critical path", 0.045, result["pop"]["critical_path_s"])
        check(f"relay, {where}: path of tasks", 0.025, result["pop"]["task_critical_path_s"])
        check(f"relay, {where}: scenarios", None, result["pop"].get("what_if"))


def experiment(runs):
    """The demo of tasks: after one round, 115 tasks of a round and one of five, which is the first to run (good) or the last."""
    small, long, round_s = 115, 5, 0.020
    for threads in (2, 4, 8, 16, 24, 48, 96):
        left = max(0, small - long * (threads - 1))
        for schedule, rounds in (("good", long + -(-left // threads)), ("bad", small // threads + long)):
            result, _ = runs.run(["./demo", str(threads), schedule], env={"OMP_MAX_TASK_PRIORITY": "1"}.items())
            pop, row = result["pop"], f"{threads} threads, {schedule} schedule"
            check(f"{row}: ThrCP", (1 + rounds) * round_s, round(pop["critical_path_s"], 6))  # reading a clock takes 1 ns
            check(f"{row}: TaCP", (1 + long) * round_s, round(pop["task_critical_path_s"], 6))


def main():
    runs_of = [Path(argument).absolute() for argument in sys.argv[1:4]]
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        os.chdir(root)
        runs = Runs(*runs_of, *sys.argv[4:6])
        for case in (imbalance, serial_parts, scenarios, function, sampled, constructs, independent, in_last_barrier, locked_alone, strangers, phases, exclusive, all_memory, stopped, late_team, come_and_go, hybrid, relay, experiment):
            case(runs)
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
