"""Random programs of MPI and OpenMP in virtual time: sim_hybrid.py LATECOMER SIM-MPIRUN DIRECTORY-OF-LIBRARIES COMPILER MPICC FIRST LAST

Ranks work, fork teams, create tasks, send messages and reduce, on one node and on as many nodes as there are ranks, where clocks lag behind the program.
To the nanosecond, but for rounding in records: the critical path (of programs without tasks, whose threads the seed would choose), that of tasks, and the useful time of all threads. No edge is
lost or late, and no clock is computed without its input."""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

RANKS, STEPS, LATENCY_NS = 3, 40, 1000
ENV = os.environ | {"OMP_MAX_TASK_PRIORITY": "1"}  # then the simulated libgomp puts off all tasks
ROUNDED_NS = {1: 1.5, RANKS: 2 * STEPS}  # in records clocks are whole nanoseconds


class Program:
    """Clocks of all ranks: of threads (unknown where tasks have run) and of tasks; the sum of all work."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.threads, self.tasks, self.work, self.words = [0] * RANKS, [0] * RANKS, 0, []
        self.any_tasks = False
        kinds = "wrrbmma" + "tt" * (seed % 3 > 0)
        for _ in range(STEPS):
            self.step(rng, rng.choice(kinds))

    def grow(self, rank, ns):
        self.threads[rank] += ns
        self.tasks[rank] += ns

    def step(self, rng, kind):
        rank = rng.randrange(RANKS)
        works = [rng.randrange(1000, 200000) for _ in range(rng.randint(1, 4))]
        if kind == "a":
            self.words.append("a")
            self.threads, self.tasks = [max(self.threads)] * RANKS, [max(self.tasks)] * RANKS
        elif kind == "m":
            to = (rank + rng.randrange(1, RANKS)) % RANKS
            self.words.append(f"m:{rank}:{to}")
            for clocks in (self.threads, self.tasks):
                clocks[to] = max(clocks[to], clocks[rank])
        else:
            works = works[:1] if kind == "w" else works
            self.words.append(f"{kind}:{rank}:{','.join(map(str, works))}")
            times = 2 if kind == "b" else 1
            self.work += sum(works) * times
            self.any_tasks |= kind == "t"
            self.grow(rank, max(works) * times)


def run(program, seed, nodes):
    subprocess.run(["rm", "-rf", "result"], check=True)
    words = ["--nodes", str(nodes), "--node-latency", str(LATENCY_NS)] if nodes > 1 else []
    command = [MPIRUN, "-n", str(RANKS), "--seed", str(seed), "--call", "0", "--latency", str(LATENCY_NS), *words, LATECOMER, "run", "-q", "-o", "result", "--", "./program"]
    done = subprocess.run([*command, *program.words], capture_output=True, text=True, timeout=patience(60), check=False, env=ENV | {"TMPDIR": os.getcwd()})
    shown = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=False)
    return (json.loads(shown.stdout) if shown.returncode == 0 else None), (done.returncode, done.stderr)


def differences(program, result, nodes):
    pop, meta = result["pop"], result["meta"]
    useful = pop["parallel_efficiency"] * pop["elapsed_s"] * len(result["locations"]) * 1e9
    pairs = [("path of tasks", max(program.tasks), pop["task_critical_path_s"] * 1e9), ("useful time", program.work, useful)]
    if not program.any_tasks:
        pairs.append(("critical path", max(program.threads), pop["critical_path_s"] * 1e9))
    yield from (f"{what}: {wanted} ns wanted, {found:.1f} measured" for what, wanted, found in pairs if abs(wanted - found) > ROUNDED_NS[nodes])
    for name, count in (("openmp_edges_lost", meta.get("openmp_edges_lost", 0)), ("edges_late", meta["piggyback"]["edges_late"]), ("events_forced", meta["piggyback"]["events_forced"])):
        if count:
            yield f"{name}: {count}"


def compile_program(libraries, compiler, mpicc):
    """The program that takes such words: ./program."""
    places = [word for path in (libraries / "gomp", libraries) for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
    source = Path(__file__).absolute().with_suffix(".c")
    subprocess.run([mpicc, "-O1", "-g", "-Wall", "-fopenmp", "-c", source, "-o", "program.o"], check=True)
    subprocess.run([compiler, "-o", "program", "program.o", *places, "-lgomp", "-lsim", "-lmpich"], check=True)


def main():
    found, n = 0, 0
    libraries = Path(sys.argv[3]).absolute()
    with tempfile.TemporaryDirectory(prefix="lcsim-") as root:
        os.chdir(root)
        compile_program(libraries, *sys.argv[4:6])
        for seed in range(int(sys.argv[6]), int(sys.argv[7]) + 1):
            for nodes in (1, RANKS):
                n += 1
                program = Program(seed)
                result, done = run(program, seed, nodes)
                lines = list(differences(program, result, nodes)) if result and "pop" in result and done == (0, "") else [f"no result: {done}"]
                for line in lines:
                    print(f"seed {seed}, {nodes} nodes: {line}")
                found += len(lines)
    print(f"{n} runs, {found} differences")
    return 1 if found else 0


LATECOMER, MPIRUN = (Path(argument).absolute() for argument in sys.argv[1:3])
if __name__ == "__main__":
    sys.exit(main())
