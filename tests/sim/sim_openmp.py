"""Random programs of OpenMP on the simulated libgomp under the tool, the result against the truth:
sim_openmp.py LATECOMER SIM-MPIRUN DIRECTORY-OF-LIBRARIES COMPILER FIRST LAST [SEED | PROGRAM.c ..]

Programs are those of random_openmp.py, where working means that virtual time passes. The same output and status as without the tool; to the nanosecond
the critical path, that of tasks, the most useful time of a thread, and per thread every kind of waiting and the balance of its time: useful time, synchronisation,
management, idle time and the runtime outside of regions are all of its life. No edge is lost. Of every fourth a trace is written, in which `analyze` finds the same
waiting in barriers, for tasks and locks (so of programs in files), but for what traces do not tell (docs/openmp.md: sinks, waits for some tasks only, barriers that were seen late).

Events of OpenMP go one of two ways (src/measure/openmp/usual.h); with a scenario all go the general one. Of every second program without a trace the result is the
same both ways, number by number: times and visits of call paths, waiting and who was late, paths, factors, task constructs. Not the call paths of the critical path:
of two chains of equal length either is one, and with scenarios call paths go along in finer grain."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "system" / "openmp"))
import random_openmp  # noqa: E402
from patience import patience  # noqa: E402

WAITS = ("omp_ibarrier_wait", "omp_taskwait_wait", "omp_lock_contention_critical", "omp_lock_contention_api", "omp_idle_threads")
COST_NS = 200  # of the runtime, at most, where it takes time
TRACED = 4  # one program of so many
BOTH_WAYS = 2  # one of so many
NOT_IN_TRACES = {"omp_ibarrier_wait": "copyprivate", "omp_taskwait_wait": "taskwait depend", "omp_lock_contention_critical": "depend(sink"}
OF_FILES = (4, 5)  # their seeds: with a trace, and without
NESTED = 3  # one program of so many has teams of several threads inside of others
SEEDS_WITHOUT = 3  # one program of so many is on a runtime that takes no time


class Program(random_openmp.Program):
    WORK = "void sim_work(unsigned long long ns);\nstatic void work(int n) { sim_work(100ull * n); }\nstatic char *all_memory;"

    def dependences(self):
        """Some as newer compilers make them of `omp_all_memory`."""
        return "depend(out: *all_memory)" if self.rng.randint(0, 5) == 0 else super().dependences()


class Runs:
    def __init__(self, latecomer, mpirun, libraries, compiler):
        self.latecomer, self.mpirun, self.libraries, self.compiler = latecomer, mpirun, libraries, compiler
        self.newer = random_openmp.newer_of(compiler)

    def build(self, text):
        Path("program.c").write_text(text, encoding="ascii")
        places = [word for path in (self.libraries / "gomp", self.libraries) for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
        subprocess.run([self.compiler, "-O1", "-g", "-w", "-fopenmp", "-c", "program.c"], check=True)
        subprocess.run([self.compiler, "-o", "program", "program.o", *places, "-lgomp", "-lsim"], check=True)

    def run(self, seed, before=()):
        env = {**os.environ, "SIM_GOMP_TRUTH": os.path.abspath("truth"), "SIM_GOMP_COST": str(COST_NS if seed % SEEDS_WITHOUT else 0), "TMPDIR": os.getcwd()}
        done = subprocess.run([self.mpirun, "-n", "1", "--seed", str(seed), *before, "./program"], capture_output=True, text=True, env=env,
                              timeout=patience(60), check=False)
        return done.returncode, done.stdout, done.stderr

    def measure(self, seed, *options):
        subprocess.run(["rm", "-rf", "result", "truth"], check=True)
        done = self.run(seed, [self.latecomer, "run", "-q", *options, "-o", "result", "--"])
        return done, self.show("result")

    def show(self, path):
        shown = subprocess.run([self.latecomer, "show", "--json", path], capture_output=True, text=True, timeout=patience(60), check=False)
        return json.loads(shown.stdout) if shown.returncode == 0 else None

    def analyse(self):
        """None: it failed."""
        done = subprocess.run([self.latecomer, "analyze", "result"], capture_output=True, text=True, timeout=patience(120), check=False)
        return self.show("result/analysis.cubex") if done.returncode == 0 and ", 0 failed" in done.stderr else None


def rows(result, metric, threads, wanted=lambda path: True):
    """Per thread, ns; unknown metrics are missing on purpose."""
    paths = result["metrics"][metric]["callpaths"]
    return [sum(1e9 * values[thread] for path, values in paths.items() if wanted(path)) for thread in range(threads)]


def off(pairs):
    return (f"{what}: {wanted} ns wanted, {found:.1f} measured" for what, wanted, found in pairs if abs(wanted - found) > 0.5)


def truth():
    return [line.split() for line in Path("truth").read_text(encoding="ascii").splitlines()]


def trace_differences(result):
    text, threads = Path("program.c").read_text(encoding="ascii"), [list(map(int, line[2:])) for line in truth()[1:]]
    for place, metric in enumerate(WAITS[:4]):  # idle threads: between forks of the same thread only
        if metric not in NOT_IN_TRACES or NOT_IN_TRACES[metric] not in text:
            yield from off((f"{metric} of thread {i} in the trace", threads[i][5 + place], value) for i, value in enumerate(rows(result, metric, len(threads))))


def differences(result):
    lines = truth()
    chain, tasks, most = map(int, lines[0][1:])
    threads = [list(map(int, line[2:])) for line in lines[1:]]
    pop, meta = result["pop"], result["meta"]
    lengths = {(path["scope"], path["counts"]): path["length_s"] for path in pop["paths"]}
    pairs = [("critical path", chain, pop["critical_path_s"] * 1e9), ("most useful time", most, lengths["thread", "useful"] * 1e9)]
    if meta.get("openmp_tasks"):
        pairs.append(("critical path of tasks", tasks, pop["task_critical_path_s"] * 1e9))
    n = len(threads)
    if meta["threads"] != [n]:
        yield f"{n} threads, {meta['threads']} measured"
        return
    for place, metric in enumerate(WAITS):
        pairs += [(f"{metric} of thread {i}", threads[i][5 + place], value) for i, value in enumerate(rows(result, metric, n))]
    time = rows(result, "time", n, lambda path: "/" not in path)
    parts = [rows(result, metric, n) for metric in ("omp_synchronization", "omp_management", "omp_idle_threads")]
    acquisitions = rows(result, "omp_synchronization", n, lambda path: path.count("!$omp ") == 1)  # outside of regions: of the time in the runtime there
    for i, (life, early, useful, rest, outside, *_) in enumerate(threads):
        pairs.append((f"time of thread {i}", life, time[i]))
        pairs.append((f"balance of thread {i}", early + life, useful + rest + outside - acquisitions[i] + sum(part[i] for part in parts)))
        if acquisitions[i] > outside + 0.5:
            yield f"thread {i} took locks for {acquisitions[i]:.0f} of {outside} ns in the runtime outside of regions"
    yield from off(pairs)
    if meta["openmp_edges_lost"]:
        yield f"{meta['openmp_edges_lost']} edges lost"
    if pop["identity_error"] > 1e-9:
        yield f"identities off by {pop['identity_error']}"


def apart(usual, general, where=""):
    """What differs between two results, or parts of them."""
    if isinstance(usual, dict) and isinstance(general, dict):
        for key in sorted(usual.keys() | general.keys()):
            yield from apart(usual.get(key), general.get(key), f"{where} {key}")
    elif isinstance(usual, list) and isinstance(general, list) and len(usual) == len(general):
        for place, (one, other) in enumerate(zip(usual, general)):
            yield from apart(one, other, f"{where} {place}")
    elif usual != general:
        yield f"both ways:{where}: {usual} usually, {general} in general"


def told(result):
    """But for what scenarios add, how the run was, and in which code the critical path is."""
    metrics = {name: metric for name, metric in result["metrics"].items() if name != "critical_path_useful"}
    pop = {key: value for key, value in result["pop"].items() if key not in ("what_if", "not_attributed", "attributed_further_out")}
    pop["paths"] = [{key: value for key, value in path.items() if key not in ("callpath", "thread")} for path in pop["paths"]]
    return {"metrics": metrics, "pop": pop, **{key: result.get(key) for key in ("late", "locations", "task_constructs")}}


def judge(runs, seed, text):
    runs.build(text)
    bare = runs.run(seed)
    done, result = runs.measure(seed, *(["--trace"] if seed % TRACED == 0 else []))
    if bare[0] < 0 or bare[0] > 63 or done[:2] != bare[:2] or done[2]:
        yield f"{bare} bare, {done} under the tool"
    elif result is None or ("pop" in result) != (truth()[0][1] != "0"):
        yield "no result, or factors where nothing was done"
    elif "pop" in result:
        yield from differences(result)
        if seed % TRACED == 0:
            analysis = runs.analyse()
            yield from ["analyze fails"] if analysis is None else trace_differences(analysis)
        elif seed % BOTH_WAYS:
            done, general = runs.measure(seed, "--what-if", "mpi=0")
            yield from ["no result of a scenario"] if done[0] != bare[0] or general is None else apart(told(result), told(general))


def main():
    latecomer, mpirun, libraries = (Path(argument).absolute() for argument in sys.argv[1:4])
    runs, found = Runs(latecomer, mpirun, libraries, sys.argv[4]), 0
    first, last, *more = sys.argv[5:]
    files = [Path(word).absolute() for word in more if word.endswith(".c")]
    seeds = [*range(int(first), int(last) + 1), *(int(word) for word in more if not word.endswith(".c"))]
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        os.chdir(root)
        for what, seed in [*((f"seed {seed}", seed) for seed in seeds), *((file, seed) for file in files for seed in OF_FILES)]:
            text = what.read_text(encoding="ascii") if isinstance(what, Path) else Program(seed, newer=runs.newer, levels=2 if seed % NESTED == 1 else 1).text()
            for line in judge(runs, seed, text):
                print(f"{what}: {line}")
                found += 1
    print(f"{len(seeds) + len(files) * len(OF_FILES)} programs, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
