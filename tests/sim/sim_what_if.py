"""Predictions against what comes true: sim_what_if.py LATECOMER SIM-MPIRUN SIM-RANDOM FIRST LAST

Random programs on a network that takes no time, in which times do not change who waits for whom. Of each the profile (`run --what-if`) and the trace (`analyze
--what-if`) say how long it would take if some functions were faster or slower; then the program runs so. Both are right within a few ns a call, which is what
reading the clock takes."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
import sim_truth  # noqa: E402
import truth  # noqa: E402
from patience import patience  # noqa: E402

FUNCTIONS = ("ring", "stencil", "wavefront", "collective", "later", "phase")  # the profile has clocks for as many
FACTORS = (0.5, 0, 2, 0.9)
NS_PER_CALL = 4  # reads of the clock, which are work


class Launch:
    """Of a program, with the tool or with other times."""

    def __init__(self, tools, seed, options=(), **more):
        latecomer, mpirun, program = tools
        self.latecomer, self.root = latecomer, tempfile.TemporaryDirectory(prefix="lcsim-")
        self.exp, log, ranks = Path(self.root.name) / "exp", Path(self.root.name) / "log", 2 + seed % 4
        before = [latecomer, "run", "-q", "-o", self.exp, *options, "--"] if options else []
        command = [mpirun, "-n", ranks, "--seed", seed, *sim_truth.FREE, "--eager", 100000, "--buffer", 10 ** 9, *before, program, seed, log, "ordered"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=patience(60),
                              env={**os.environ, "TMPDIR": self.root.name, **more})
        if done.returncode != 0:
            sys.exit(f"seed {seed}: status {done.returncode}: {done.stderr[-500:]}")
        self.run = truth.Run(log, ranks)
        self.ns = 1e9 * truth.factors(self.run)["elapsed_s"]

    def of_profile(self, scenario):
        shown = subprocess.run([self.latecomer, "show", "--json", self.exp], capture_output=True, text=True, check=True, timeout=patience(60))
        pop = json.loads(shown.stdout)["pop"]
        return self.ns + 1e9 * (pop["what_if"][scenario]["predicted_s"] - pop["elapsed_s"])

    def of_trace(self, spec):
        subprocess.run([self.latecomer, "-q", "analyze", "-n", "1", "--what-if", spec, self.exp], capture_output=True, check=True, timeout=patience(60))
        told = json.loads(sim_truth.member(self.exp, "critical_path.json", "analysis.cubex"))["what_if"]
        return self.ns + 1e9 * (told["then_s"] - told["now_s"])


def judge(tools, seed):
    """Lines that say which prediction did not come true; and whether the program took another time."""
    specs = [f"{function}={FACTORS[seed % len(FACTORS)]}" for function in FUNCTIONS]
    now = Launch(tools, seed, ["--trace", "--trace-handles", "--what-if", ";".join(specs)])
    called = {name for call in now.run.all() for name in call.path}
    chosen = [i for i, function in enumerate(FUNCTIONS) if function in called]
    chosen = chosen[seed % len(chosen)]
    then = Launch(tools, seed, SIM_RANDOM_FACTORS=specs[chosen])
    allowed = NS_PER_CALL * max(map(len, now.run.calls))
    wrong = [f"seed {seed}: {specs[chosen]}: {now.ns:.0f} ns now, {then.ns:.0f} then, predicted by the {name} {told:.0f}"
             for name, told in (("profile", now.of_profile(chosen)), ("trace", now.of_trace(specs[chosen]))) if abs(told - then.ns) > allowed]
    return wrong, abs(then.ns - now.ns) > 10 * allowed


def main():
    tools = [Path(argument).absolute() for argument in sys.argv[1:4]]
    first, last = map(int, sys.argv[4:6])
    wrong, changed = [], 0
    for seed in range(first, last + 1):
        lines, differs = judge(tools, seed)
        wrong, changed = [*wrong, *lines], changed + differs
    print("\n".join(wrong) or "all came true", f"{changed} of {last + 1 - first} programs took another time", sep="\n")
    return 1 if wrong or changed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
