#!/usr/bin/python3
"""Whether two builds of the tool leave the same results behind, byte by byte: for a change of the measurement that should change no result.

same_results.py BASE NEW [FIRST LAST [JOBS]]   build folders; programs of 200 seeds (or of FIRST to LAST) on the simulated MPI, JOBS at a time:
                                               those of sim_truth.py, of every tenth seed one of sim_hybrid.py, too. Programs,
                                               MPI and launcher are those of BASE for both.
same_results.py BASE BASE FIRST LAST           what would not be reproducible anyway

Compared are status and messages of `run`, all files of the experiment (of profiles and analyses each member), and what `show` prints, as text
and as JSON (not of hybrid programs); of every fifth launch the trace and its analysis, too. A launch that differs is printed with the first place where it does. Exit
status: 1 if one does."""
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sim"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import sim_hybrid  # noqa: E402
import sim_truth  # noqa: E402
from patience import patience  # noqa: E402

FIRST, LAST, LIMIT = 1, 200, 200
HYBRID_EVERY = 10
AROUND = 100  # characters of a difference that are printed on either side
# What differs from run to run: threads that are busy in true time; process ids, in the definitions of traces; which line of a region its barrier is seen at first.
VARIES = re.compile(rb'busy_threads(&quot;|"): \[[^\]]*\]|@sim_hybrid\.c:\d+')
PROCESSES = ("traces.def", "traces.otf2")


class Launch:
    """One program under one build; `root` is the same for both builds, since results have it in their command line."""

    def __init__(self, build, tools, root):
        self.latecomer, self.tools, self.exp = build / "bin/latecomer", tools, root / "exp"
        self.env, self.left = {**os.environ, "TMPDIR": str(root)}, {}

    def call(self, name, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, env=self.env, timeout=patience(LIMIT), check=False)
        self.left[name] = b"status %d\n" % done.returncode + done.stderr + without(done.stdout)

    def members(self, path):
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if member.isfile():
                    self.left[f"{path.name}: {member.name}"] = without(archive.extractfile(member).read())

    def run(self, case, command):
        traced = ["--trace", "--trace-handles"] if case.traced else []
        env = {"LATECOMER_TRANSPORT": case.transport} if case.transport else {}
        self.env.update(env)
        spec = ";".join(f"{name}={factor}" for scenario in case.what_if() for name, factor in scenario)
        what_if = ["--what-if", spec] if case.seed % 3 else []  # else the run chooses its scenarios
        self.call("run", self.tools / "sim-mpirun", "-n", case.ranks, "--seed", case.seed, *case.words, self.latecomer, "run", "-q", *what_if,
                  *traced, "-o", self.exp, "--", *command)
        if traced:
            self.call("analyze", self.latecomer, "-q", "analyze", "-n", "1", self.exp)
        if case.programs:  # of others it has advice by the number of busy threads
            self.call("show --json", self.latecomer, "show", "--json", self.exp)
            self.call("show --full", self.latecomer, "show", "--full", self.exp)
        for path in sorted(self.exp.rglob("*")):
            if path.suffix == ".cubex":
                self.members(path)
            elif path.is_file() and path.name not in PROCESSES:
                self.left[str(path.relative_to(self.exp))] = without(path.read_bytes())
        return self.left


def without(text):
    return VARIES.sub(b"", text)


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return [f"    {side}: {text[max(0, at - AROUND):at + AROUND]!r}" for side, text in (("base", a), ("new", b))]


def cases_of(seed, tools, hybrid):
    case = sim_truth.case_of(seed, seed)
    yield case, [tools / "sim-random", case.list(), "log", *([case.kind] if case.kind else [])]
    if seed % HYBRID_EVERY == 0:
        nodes = ["--nodes", str(sim_hybrid.RANKS), "--node-latency", str(sim_hybrid.LATENCY_NS)] if seed % 20 else []
        yield sim_truth.Case(seed, (), sim_hybrid.RANKS, tuple(nodes)), [hybrid, *sim_hybrid.Program(seed).words]


def compare(base, new, hybrid, seed):
    """Lines that say in what the launches of the seed differ."""
    tools, lines = base / "bin", []
    for case, command in cases_of(seed, tools, hybrid):
        with tempfile.TemporaryDirectory(prefix="lcsame-") as place:
            root, left = Path(place) / "run", []
            for build in (base, new):
                root.mkdir()
                words = [root / word if word == "log" else word for word in command]
                left.append(Launch(build, tools, root).run(case, words))
                root.rename(Path(place) / f"run{len(left)}")
        names = [name for name in sorted(set(left[0]) | set(left[1])) if left[0].get(name) != left[1].get(name)]
        if names:
            lines.append(f"seed {seed} ({' '.join(map(str, [*case.words, case.kind]))}): {', '.join(names)}")
            lines += first_difference(left[0].get(names[0], b""), left[1].get(names[0], b""))
    return lines


def main():
    if len(sys.argv) not in (3, 5, 6):
        sys.exit(__doc__)
    base, new = (Path(word).resolve() for word in sys.argv[1:3])
    first, last = map(int, sys.argv[3:5]) if len(sys.argv) > 4 else (FIRST, LAST)
    jobs = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    differ = 0
    with tempfile.TemporaryDirectory(prefix="lcsame-") as place, ThreadPoolExecutor(jobs) as pool:
        os.chdir(place)
        sim_hybrid.compile_program(base / "tests/sim/lib", "gcc", "mpicc.mpich")
        for lines in pool.map(lambda seed: compare(base, new, Path(place) / "program", seed), range(first, last + 1)):
            differ += bool(lines)
            for line in lines:
                print(line, flush=True)
    print(f"{last - first + 1} seeds, {differ} differ")
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
