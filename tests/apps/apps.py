"""Real applications under the tool: the same results, a valid profile with call paths, and what it costs.

apps.py LATECOMER NAME [--runs N] [--length N] [--threads N] [--keep DIR]   NAME: one of inputs.APPS. Exit 77: the program is not installed.
Bare and measured runs take turns. Dilation: median over the pairs of the life of the program's processes, measured / bare. Start and end of
the tool, stated apart: what `latecomer run` lives longer than the program that it measures.

apps.py LATECOMER NAME --times STOPWATCH [--seconds S]   how right is what the tool says of times (figures). Useful time (outside of MPI, all ranks)
against that of the bare run, by stopwatch.c, and what of the loss the tool's account tells: of all ranks together, told seconds / lost seconds. Of both
three figures, by the median of all turns and by both ends of its 95 % interval (told: 1000 % at most: where nothing was lost that can be seen, the account
can be neither right nor wrong). Turns go on, six of them at least, until both are known to what is wanted of them, 3 % of useful time and 10 % of what is
lost, or the seconds are over.

apps.py LATECOMER NAME --dilation SECONDS   what it costs, start, end and all that `latecomer run` does included (figures): median over the pairs of the
time until the last process has ended, measured / bare, and the same of processor time, of all processes, the launcher's too. Pairs take turns until the
95 % interval of the median is +-0.01 or the seconds are over: how well it is known is a figure, too.
"""
import argparse
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from statistics import median

import inputs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/overhead"))
from samples_cost import interval, resolution  # noqa: E402


class Wrong(Exception):
    """A check failed."""


def launch(flavour, ranks, command, where):
    spread = ["--bind-to", "none"] if inputs.THREADS > 1 else []  # else Open MPI puts all threads of a rank on one core
    line = [*mpirun(flavour, ranks, *spread), "bash", "-c", TIMED, "timed", *command]
    done = subprocess.run(line, cwd=where, text=True, capture_output=True, timeout=patience(600), check=False)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(line)}: exit {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    begins, ends = [], []
    for name in [name for name in os.listdir(where) if name.startswith("life.")]:
        with open(os.path.join(where, name), encoding="ascii") as life:
            begin, end = life.read().split()
        begins.append(float(begin))
        ends.append(float(end))
        os.remove(os.path.join(where, name))
    if len(begins) != ranks:
        raise Wrong(f"{len(begins)} processes of {ranks} ended")
    return done.stdout, max(ends) - min(begins)


TIMED = 'begin=$EPOCHREALTIME; "$@"; status=$?; echo $begin $EPOCHREALTIME > life.$$; exit $status'


def results(output, pattern, file, where):
    """What the program found: lines of its output, or of a file that it wrote."""
    if file is not None:
        with open(os.path.join(where, file), encoding="utf-8", errors="replace") as text:
            output = text.read()
        os.remove(os.path.join(where, file))
    found = re.findall(pattern, output)
    if not found:
        raise Wrong(f"no result like {pattern} in the output:\n{output[-2000:]}")
    return found


NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
CLOSE = 1e-12  # of a number: CP2K's energies of equal bare runs differ by 1e-15


def same(found, wanted):
    """Equal results. Teams add in another order each run, also in a bare one: with threads the last digits may differ."""
    if inputs.THREADS == 1:
        return found == wanted
    texts, numbers = ([what(NUMBER, "\n".join(lines)) for lines in (found, wanted)] for what in (re.split, re.findall))
    return texts[0] == texts[1] and all(math.isclose(float(one), float(other), rel_tol=CLOSE) for one, other in zip(*numbers))


def check_threads(result):
    """Every thread that was asked for is measured, on the runtime that the program brought."""
    meta, factors = result["meta"], result["pop"]
    seen = max(sum(location["rank"] == rank for location in result["locations"]) for rank in range(2))
    if not meta["openmp"] or "openmp_runtime" not in meta or seen < inputs.THREADS:
        raise Wrong(f"{seen} threads of {inputs.THREADS} on {meta.get('openmp_runtime', 'no runtime')}")
    if meta.get("openmp_unknown_calls"):
        raise Wrong(f"calls of the runtime that are not measured: {meta['openmp_unknown_calls']}")
    said = "; ".join(finding["text"] for finding in result["findings"][:2]) or "no findings"
    return f"{seen} threads on {meta['openmp_runtime']}, parallel efficiency {factors['parallel_efficiency']:.3f}: {said}"


def check_profile(latecomer, out):
    shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise Wrong(f"show: {shown.stderr}")
    result = json.loads(shown.stdout)
    coverage, paths, pop = result["meta"]["coverage"], result["meta"]["callpath"], result["pop"]
    if coverage["calls"] == 0 or coverage["calls_lost"] != 0:
        raise Wrong(f"calls: {coverage}")
    if paths["mode"] != "unwind" or paths["uncacheable"] * 10 > coverage["calls"]:
        raise Wrong(f"call paths: {paths}")
    if pop["not_attributed"] > 0.02:
        raise Wrong(f"{100 * pop['not_attributed']:.1f} % of the critical path has no call path")
    times = result["metrics"]["time"]["callpaths"]
    # the interpreter's main ends in a jump to Py_BytesMain, which takes its frame
    if not any(path.startswith(("main/", "Py_BytesMain/")) for path in times):
        raise Wrong("no call path begins with main")
    return result


# The main loop, found without annotation: least iterations that a run of --length steps has. What prepares and ends the run has many loops, also longer ones.
MAIN_LOOP = {"cp2k": lambda length: 8 * length - 2, "nwchem": lambda length: 10, "nwchem-mpich": lambda length: 10}


def check_loops(result, name, length):
    """It is the first one of the result, of all ranks, with a third of the time, not counting its longest iteration. (Below 10 it is not found.)"""
    loops, elapsed = result["pop"]["iterations"], result["pop"]["elapsed_s"]
    least = MAIN_LOOP.get(name, lambda _: 0)(length)
    if least < 10:
        return
    said = [(loop["count"], loop["ranks"], loop["elapsed_s"], loop["callpath"]) for loop in loops]
    each = loops[0]["each"]["elapsed_s"] if loops else [0]
    if not loops or loops[0]["count"] < least or loops[0]["ranks"] != 2 or sum(each) - max(each) < elapsed / 3:
        raise Wrong(f"no main loop of {least} iterations in {elapsed} s: {said}")
    print(f"main loop: {said[0]}")


def processor_s():
    """Of all processes that have been started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Application:
    """One of inputs.APPS with its input in a directory of its own; bare and measured runs of it."""

    def __init__(self, latecomer, name, length, scratch):
        self.length = inputs.LENGTH = length
        make, self.package, self.pattern, self.file = inputs.APPS[name]
        self.flavour = "mpich" if name in inputs.OF_MPICH else "openmpi"
        self.ranks = inputs.RANKS.get(name, 2)
        self.latecomer, self.scratch, self.out = os.path.abspath(latecomer), scratch, os.path.join(scratch, "result")
        self.bare, self.measured, self.around, self.processor, self.wanted = [], [], [], [], []
        self.useful_with, self.useful_without, self.account, self.result = [], [], [], None
        self.command = make(scratch)

    def pair(self):
        """A bare and a measured run, with the same results."""
        begin = processor_s()
        output, seconds = launch(self.flavour, self.ranks, self.command, self.scratch)
        bare_s = processor_s() - begin
        self.wanted = results(output, self.pattern, self.file, self.scratch)
        shutil.rmtree(self.out, ignore_errors=True)
        output, around = launch(self.flavour, self.ranks, [self.latecomer, "run", "-q", "-o", self.out, "--", *self.command], self.scratch)
        self.processor.append((processor_s() - begin - bare_s) / bare_s)
        found = results(output, self.pattern, self.file, self.scratch)
        if not same(found, self.wanted):
            raise Wrong(f"results differ: {self.wanted[-3:]} bare, {found[-3:]} measured")
        if not os.path.exists(os.path.join(self.out, "meta.json")):
            raise Wrong("the run left no result: latecomer run without -q says why")
        self.bare.append(seconds)
        with open(os.path.join(self.out, "meta.json"), encoding="utf-8") as meta:
            self.measured.append(json.load(meta)["wall_time_s"])
        self.around.append(around - self.measured[-1])

    def useful_bare(self, stopwatch):
        """Seconds outside of MPI of all ranks together, without the tool: by stopwatch.c."""
        launch(self.flavour, self.ranks, ["env", f"LD_PRELOAD={stopwatch}", *self.command], self.scratch)
        seconds = []
        for name in [name for name in os.listdir(self.scratch) if name.startswith("stopwatch.")]:
            with open(os.path.join(self.scratch, name), encoding="ascii") as text:
                seconds.append(float(text.read()))
            os.remove(os.path.join(self.scratch, name))
        if len(seconds) != self.ranks:
            raise Wrong(f"{len(seconds)} of {self.ranks} ranks were timed")
        return sum(seconds)

    def useful_measured(self):
        """The same by the last result, and the seconds that the tool says it took of all ranks together, its start and end within them included."""
        self.result = result = check_profile(self.latecomer, self.out)
        apart = result["meta"]["start_and_end"]
        own = result["meta"]["overhead"]["total_s"] + self.ranks * (apart["start_s"] + apart["finish_s"])
        return self.ranks * result["pop"]["parallel_efficiency"] * result["pop"]["elapsed_s"], own

    def turn(self, stopwatch):
        """A pair, and a bare run on the stopwatch."""
        self.pair()
        useful, account = self.useful_measured()
        self.useful_with.append(useful)
        self.account.append(account)
        self.useful_without.append(self.useful_bare(stopwatch))

    def dilations(self):
        return [m / b for m, b in zip(self.measured, self.bare)]

    def whole_dilations(self):
        """With all that the tool does before and after the program."""
        return [(m + a) / b for m, a, b in zip(self.measured, self.around, self.bare)]

    def useful_error(self):
        """Of the useful time, by the least of all turns: other work on the machine only adds to times."""
        return min(self.useful_with) / min(self.useful_without) - 1

    def useful_errors(self):
        """Of the useful time of each turn."""
        return [measured / bare - 1 for measured, bare in zip(self.useful_with, self.useful_without)]

    def lost(self):
        """Seconds of all ranks, in each turn."""
        return [self.ranks * (m - b) for m, b in zip(self.measured, self.bare)]

    def told_of_lost(self):
        """What the account tells of these: by the low end of the loss's 95 % interval, its median, its high end."""
        lost, told = self.lost(), median(self.account)
        low, high = interval(lost)
        print(f"lost {median(lost):.3f} s ({low:.3f} to {high:.3f}) of {self.ranks * median(self.bare):.3f} s of all ranks, told {told:.3f} s")
        return [min(told / loss, MOST_TOLD) if loss > 0 else MOST_TOLD for loss in (low, median(lost), high)]

    def times_are_known(self):
        """The medians, to a part of what they are to be within."""
        lost = self.lost()
        return len(lost) >= LEAST_TURNS and resolution(self.useful_errors()) <= 0.015 and resolution(lost) <= 0.05 * abs(median(lost))


def installed(name):
    """The version of the package that the program is in; "": it is not installed."""
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", inputs.APPS[name][1]], capture_output=True, text=True, check=False)
    return asked.stdout if asked.returncode == 0 else ""


def times(app, stopwatch, seconds):
    end = time.monotonic() + seconds
    while len(app.bare) < LEAST_TURNS or (time.monotonic() < end and not app.times_are_known()):
        app.turn(stopwatch)
    errors = app.useful_errors()
    low, high = interval(errors)
    print(f"useful time {median(app.useful_without):.3f} s bare, measured {median(errors):+.2%} ({low:+.2%} to {high:+.2%}), the least of all turns {app.useful_error():+.2%}; "
          f"{len(errors)} turns")
    for error in (low, median(errors), high):
        figure("useful", 100 * error, "%")
    for told in app.told_of_lost():
        figure("told", 100 * told, "%")


LEAST_TURNS = 6  # below that the interval of a median is infinite
MOST_TOLD = 10.0


def dilation(app, seconds):
    end = time.monotonic() + seconds
    while not app.bare or (time.monotonic() < end and resolution(app.whole_dilations()) > 0.01):
        app.pair()
    whole = app.whole_dilations()
    print(f"{len(whole)} pairs: {', '.join(f'{d:.3f}' for d in whole)}")
    figure("wall", median(whole), "times")
    figure("resolution", resolution(whole), "times")
    figure("processor", median(app.processor), "times")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("latecomer")
    parser.add_argument("name", choices=sorted(inputs.APPS))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--length", type=int, default=1, help="how many times as many steps")
    parser.add_argument("--threads", type=int, default=1, help="of OpenMP in each rank")
    parser.add_argument("--keep", metavar="DIR", help="keep the last result in DIR/NAME")
    parser.add_argument("--times", metavar="STOPWATCH", help="useful time and account; STOPWATCH: lib/apps-stopwatch.so")
    parser.add_argument("--seconds", type=float, default=100, help="for --times")
    parser.add_argument("--dilation", type=float, metavar="SECONDS", help="pairs until the dilation is known to 0.01, for so long at most")
    args = parser.parse_args()
    inputs.THREADS = args.threads
    if args.threads > 1:
        os.environ.update(OMP_NUM_THREADS=str(args.threads), OMP_WAIT_POLICY="passive")
    version = installed(args.name)
    if not version:
        print(f"skipped: package {inputs.APPS[args.name][1]} is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            app = Application(args.latecomer, args.name, args.length, scratch)
            if args.times is not None:
                times(app, os.path.abspath(args.times), args.seconds)
                return
            if args.dilation is not None:
                dilation(app, args.dilation)
                return
            for _ in range(args.runs):
                app.pair()
            result = check_profile(app.latecomer, app.out)
            if args.threads > 1:
                print(f"{args.name}: {check_threads(result)}")
                figure("dilation", min(app.measured) / min(app.bare), "times")
            else:
                check_loops(result, args.name, args.length)
            if args.keep is not None:
                shutil.copytree(app.out, os.path.join(args.keep, args.name), dirs_exist_ok=True)
        except Wrong as wrong:
            sys.exit(f"wrong: {wrong}")
    paths, overhead = result["meta"]["callpath"], result["meta"]["overhead"]
    print(f"{args.name} {version}: {len(app.wanted)} results equal; bare {median(app.bare):.2f} s, dilation "
          f"{median(app.dilations()):.3f} ({', '.join(f'{d:.2f}' for d in app.dilations())}), "
          f"start and end {median(app.around):.3f} s; {result['meta']['coverage']['calls']} calls, {paths['unwinds']} unwound, "
          f"{paths['by_libunwind']} by libunwind, {paths['recycled']} recycled, own work {overhead['total_s']:.3f} s")


if __name__ == "__main__":
    main()
