#!/usr/bin/env python3
"""Both delay-cost models on the kernels of tests/apps/kernels, LAMMPS and HPCC: the tables of docs/applications.md, in the form of chapter 4 of the
thesis that has the models (docs/references.md): waiting, what moves from short-term to long-term costs, classes of wait states, on how few ranks and call paths the
costs are, and what was found; then times.

usage: delay_cost_table.py BUILD_DIR [--only exact|times] [--flavour openmpi|mpich] [--ranks 16] [--runs 5] [--minutes 4.5] [--document PAGE | --check PAGE] [PROGRAM..]

exact: the kernels in virtual time, the same on any machine. times: all programs on 2 ranks in true time, for a quiet machine: bare, measured, and
traced runs take turns, then each trace is analysed; no turn begins that would end after the minutes. Dilation: shortest measured / shortest bare run,
as the launcher sees it, end of the tool included. Replay: what `analyze` says that it took on one rank. Costs are means over the runs, with how far
the least and the most are from the mean (tables A.1 and A.2 there). --document: the tables replace those between the comments of PAGE that begin with
MARK; --check: the exact table has to be the one that stands there.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system/programs"))
sys.path.insert(0, str(HERE.parent / "system/analysis"))
import estimates_of_programs  # noqa: E402
import kernels  # noqa: E402
import launch  # noqa: E402

LARGER = 4  # than in the test of the kernels, on as many times the ranks
MODELS = ("proportional", "waitfirst")
MARK = "<!-- delay_cost_table"
WHAT = {"lammps": "LAMMPS (melt)", "hpcc": "HPCC"}
# What the most expensive code must be called, and what that means. Of HPCC with 2 ranks next to nothing waits.
FOUND = {"lammps": ("setup|run|force|pair|comm|neigh|Verlet", "what one rank waits for the other is spread over the steps (`Verlet`), with no rank that is late each time"),
         "hpcc": ("hpcc|HPL|HPCC|dgemm|dlas|dgetr", "the parts of the suite that one rank begins or ends later")}


def costs_of(item, model):
    return item[model]["short_term"] + item[model]["long_term"]


def both(text, values):
    """One value where the models agree as printed."""
    first, second = (text(value) for value in values)
    return first if first == second else f"{first} / {second}"


def percent(value):
    return f"{100 * value:.1f} %"


def first_of(items, models):
    """The item of most costs and its share, in each model."""
    best = [max(items, key=lambda item, model=model: costs_of(item, model)) for model in models]
    sums = [sum(costs_of(item, model) for item in items) for model in models]
    return best, [costs_of(item, model) / max(all_of, 1e-300) for item, model, all_of in zip(best, models, sums)]


def covering(curve, share):
    return next((i + 1 for i, covered in enumerate(curve) if covered >= share - 1e-9), 0)


def code(callpath):
    """The last function that has a name of its own."""
    names = [name for name in callpath.split("/") if not re.match(r"\(|.*\+0x|clock_nanosleep", name)]
    return re.sub(r"\(.*", "", names[-1]) if names else callpath


def model_cells(compared, whole):
    """whole: seconds of all ranks, mean of the runs."""
    sums, metrics = compared["sums"], compared["short_term"]
    waiting = sum(compared["sums"][kind]["proportional"] for kind in ("direct", "indirect"))
    paths, path_shares = first_of(compared["callpaths"], MODELS)
    ranks, rank_shares = first_of(compared["ranks"], MODELS)
    of = lambda kind: both(percent, [sums[kind][model] / max(waiting, 1e-300) for model in MODELS])
    return [percent(waiting / whole), percent(metrics["shifted_to_long_term"] / max(metrics["proportional"], 1e-300)), of("indirect"), of("propagating"),
            both(lambda pair: f"`{pair[0]}` {pair[1]}", [(code(path["callpath"]), percent(share)) for path, share in zip(paths, path_shares)]),
            both(lambda pair: f"{pair[0]}: {pair[1]}", [(rank["rank"], percent(share)) for rank, share in zip(ranks, rank_shares)]),
            *(both(str, [covering(compared["pareto"][what][model], 0.8) for model in MODELS]) for what in ("ranks", "callpaths"))]


HEAD = ["program", "ranks", "waiting", "moved to long-term", "indirect", "propagating", "costs most: code", "costs most: rank", "ranks with 80 %", "call paths with 80 %", "what was found"]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def parts_of(page, name):
    """What stands before, between and behind the comments of this name."""
    text = Path(page).read_text(encoding="utf-8")
    begin, end = f"{MARK}: {name} -->\n", f"{MARK}: end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{page}: {begin.strip()} and {end.strip()} must stand there once")
    before, rest = text.split(begin)
    inside, behind = rest.split(end)
    return before + begin, inside, end + behind


def give(args, name, text):
    print(text, flush=True)
    if args.document is not None:
        before, _, behind = parts_of(args.document, name)
        Path(args.document).write_text(before + text + behind, encoding="utf-8")
    if args.check is not None and name == "exact" and parts_of(args.check, name)[1] != text:
        sys.exit(f"{args.check}: its table is not this one: delay_cost_table.py BUILD --only exact --document {args.check}")


def exact(args):
    os.environ["LC_VIRTUAL_TIME"] = str(Path(args.build, "tests/virtual", args.flavour).absolute())
    os.environ["LD_PRELOAD"] = str(Path(args.build, "tests/idle/sleep_when_idle.so").absolute())
    rows = []
    with launch.Workspace(args.flavour, os.path.abspath(f"{args.build}/bin/latecomer"), virtual=True) as work:
        for name, kernel in kernels.KERNELS.items():
            steps, size, unit_ns = kernel.arguments
            found = kernels.run(work, Path(args.build, "tests/apps", args.flavour).absolute(), name, args.ranks, (steps, LARGER * size, unit_ns))
            for line in kernels.faults(name, found):
                sys.exit(f"{name}: {line}")
            codes = [(finding["callpath"] or "").split("/")[-1] for finding in found.analysis["findings"]]
            if codes[:1] != [kernel.code]:
                sys.exit(f"{name}: findings name {codes}, not first {kernel.code}")
            rows.append([f"`{name}`: {kernel.what}", str(args.ranks), *model_cells(found.models, found.models["runs"][0]["time_s"]), kernel.found])
    del os.environ["LD_PRELOAD"]
    give(args, "exact", table(HEAD, rows))


class Program:
    """Runs of a program, one after the other in the turns of all."""

    def __init__(self, work, name, command):
        self.work, self.name, self.command = work, name, command
        self.seconds = {"bare": [], "profile": [], "trace": []}
        self.replay, self.events, self.results = [], 0, []

    def run(self, mode):
        directory = f"{self.name}.{mode}.{len(self.seconds[mode])}"
        tool = {"bare": [], "profile": self.work.tool("-q", directory=directory), "trace": self.work.tool("-q", "--trace", directory=directory)}[mode]
        done = self.work.run([*self.work.launcher(2), *tool, *self.command])
        if done.status != 0:
            sys.exit(f"{self.name}: {mode}: status {done.status}: {done.err[-2000:]}")
        self.seconds[mode].append(done.seconds)
        return self.work.root / directory

    def turn(self):
        self.run("bare")
        shutil.rmtree(self.run("profile"))
        result = self.run("trace")
        done = subprocess.run([self.work.latecomer, "analyze", "-n", "1", str(result)], check=True, capture_output=True, text=True)
        events, seconds = re.search(r"(\d+) events of .* in ([0-9.]+) s", done.stderr + done.stdout).groups()
        self.events = int(events)
        self.replay.append(float(seconds))
        shutil.rmtree(result / "traces")
        self.results.append(str(result))

    def rows(self):
        done = subprocess.run([self.work.latecomer, "compare", "--delay-models", "--json", *self.results], check=True, capture_output=True, text=True)
        compared = json.loads(done.stdout)
        costs = [run["delay_costs_s"]["proportional"] for run in compared["runs"]]
        shortest = {mode: min(seconds) for mode, seconds in self.seconds.items()}
        title = WHAT.get(self.name, f"`{self.name}`")
        middle = mean(costs)
        cells = model_cells(compared, mean(run["time_s"] for run in compared["runs"]))
        pattern, said = FOUND.get(self.name) or (kernels.KERNELS[self.name].code, "as above")
        found = said if re.search(pattern, cells[4]) else f"no code stands out: {cells[0]} waits, for what {cells[7]} call paths do"
        return ([title, "2", *cells, found],
                [title, str(len(costs)), f"{shortest['bare']:.2f} s", f"{shortest['profile'] / shortest['bare']:.3f}", f"{shortest['trace'] / shortest['bare']:.3f}",
                 f"{self.events:,}", f"{min(self.replay):.2f} s", f"{middle:.3f} s", f"{100 * (min(costs) / middle - 1):+.0f} % .. {100 * (max(costs) / middle - 1):+.0f} %"])


TIMES = ["program", "runs", "bare", "dilation: profile", "dilation: trace", "events", "replay", "delay costs, mean", "least .. most"]


def times(args):
    end = time.monotonic() + 60 * args.minutes
    with launch.Workspace(args.flavour, os.path.abspath(f"{args.build}/bin/latecomer")) as work:
        commands = estimates_of_programs.commands(Path(args.build, "tests/apps", args.flavour).absolute(), work.root)
        programs = [Program(work, name, command) for name, command in commands.items() if name in (args.programs or commands)]
        longest = 0.0
        for turn in range(args.runs):
            begin = time.monotonic()
            if turn > 0 and begin + longest > end:
                print(f"{turn} runs of {args.runs}: no time for more", file=sys.stderr)
                break
            for program in programs:
                program.turn()
            longest = max(longest, time.monotonic() - begin)
        rows = [program.rows() for program in programs]
    give(args, "times", table(HEAD, [row for row, _ in rows]) + "\n" + table(TIMES, [row for _, row in rows]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("programs", nargs="*", help="of those in true time; default: all that are installed")
    parser.add_argument("--only", choices=["exact", "times"])
    parser.add_argument("--flavour", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=4.5)
    parser.add_argument("--document", metavar="PAGE")
    parser.add_argument("--check", metavar="PAGE")
    args = parser.parse_intermixed_args()
    if args.only != "times":
        exact(args)
    if args.only != "exact":
        times(args)


if __name__ == "__main__":
    main()
