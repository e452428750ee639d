"""What the tool costs and what it says of it, in virtual time: sim_budget.py LATECOMER SIM-MPIRUN SIM-BUDGET SIM-ANSWERS

Each stamp and each lock of the tool takes a fixed time (sim-mpirun --tool-cost), so what a run costs is the difference to the bare one. It stays within
the budget of 5 % (of a second at least) where less detail makes calls or samples cheaper, in short runs as in long ones; what is told is what is lost,
within 10 %; what was left out is said, and so is it where nothing is left to leave out. What OpenMP costs is an estimate by lot (measure/callpath/budget.h)
whose error is as it should be: chance has no part in it here, as the lot depends on nothing but the thread's number."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from patience import patience  # noqa: E402

BUDGET, LEAST_S, TOLD_WITHIN = 0.05, 1.0, 0.10
found = []


def check(what, right, *more):
    if not right:
        found.append(f"{what}: {' '.join(str(m) for m in more)[:1500]}")


def took(line, root):
    """Seconds between MPI_Init and MPI_Finalize, and with both."""
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(root), "OMP_NUM_THREADS": "1"}, timeout=patience(60), check=False,
                          stdin=subprocess.DEVNULL)
    words = done.stdout.split()
    if done.returncode != 0 or len(words) != 3:
        sys.exit(f"{' '.join(map(str, line))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return [int(word) * 1e-9 for word in words[1:]]


class Case:
    """A program bare and measured."""

    def __init__(self, root, what, rounds, ns, cost, *options, ranks=1, simulation=()):
        latecomer, mpirun, *programs = (Path(argument).absolute() for argument in sys.argv[1:5])
        program = programs[what in ("answers", "uneven")]
        self.name = " ".join([what, str(rounds), str(ns), *options, *(["on", str(ranks)] if ranks > 1 else []), *simulation])
        directory = Path(root) / self.name.replace(" ", "_")
        launch, command = [mpirun, "-n", str(ranks), "--tool-cost", cost, *simulation], [program, what, str(rounds), str(ns)]
        self.bare_s, bare_whole_s = took([*launch, *command], root)
        took_s, whole_s = took([*launch, latecomer, "-q", "run", "-o", directory, *options, "--", *command], root)
        self.lost_s, self.whole_lost_s = took_s - self.bare_s, whole_s - bare_whole_s
        self.result = json.loads(self.show(latecomer, "--json", directory))
        self.text = " ".join(self.show(latecomer, "--full", directory).split())
        self.overhead = self.result["meta"]["overhead"]
        self.told_s = self.overhead["total_s"] / ranks
        apart = self.result["meta"]["start_and_end"]
        self.apart_s = apart["start_s"] + apart["finish_s"]
        self.reduced = {(step.get("function"), step["how"]) for step in self.overhead.get("reduced", [])}
        for step in self.overhead.get("reduced", []):
            self.check("each step is said", step["text"] in self.text, step)
        print(f"{self.name}: lost {self.lost_s:.4f} s of {self.bare_s:.2f} s ({self.lost_s / self.bare_s:.2%}), told {self.told_s:.4f} s; "
              f"with start and end {self.whole_lost_s:.4f} s, told {self.told_s + self.apart_s:.4f} s; {self.reduced}")

    @staticmethod
    def show(latecomer, *words):
        return subprocess.run([latecomer, "show", *words], capture_output=True, text=True, check=True, timeout=patience(60)).stdout

    def check(self, what, right, *more):
        check(f"{self.name}: {what}", right, *more)

    def holds(self, start_and_end=True):
        """start_and_end: with these."""
        lost_s = self.whole_lost_s if start_and_end else self.lost_s
        self.check("above the budget", lost_s <= BUDGET * max(self.bare_s, LEAST_S), lost_s, self.bare_s, self.overhead)
        self.check("says that it takes more", "the tool itself took" not in self.text, self.text)
        short = "a run of less than a second may cost 5 % of a whole one (--max-overhead):" in self.text
        self.check("what short runs may cost is said where it is more", short == (self.told_s > BUDGET * self.bare_s and self.bare_s > 0.1), self.text)

    def tells(self, start_and_end=True):
        self.check("told is not lost", abs(self.told_s - self.lost_s) <= TOLD_WITHIN * self.lost_s, self.told_s, self.lost_s, self.overhead)
        told = self.told_s + self.apart_s
        self.check("told is not lost with start and end", not start_and_end or abs(told - self.whole_lost_s) <= TOLD_WITHIN * self.whole_lost_s, told, self.whole_lost_s)

    def estimates(self, costs_us, stamps=0):
        """What calls for OpenMP cost (how many they are by how much each costs), and what it costs to measure some: so many stamps, told as they are. That
        is what is lost, and what is told of it is within 4 standard errors of drawing the distances d from 1 to 15, the last 15 calls, which are not told,
        and what the rest of the account may be wrong by. Nothing else costs here."""
        calls, squares = sum(costs_us.values()), sum(d * d for d in range(1, 16)) / 15
        mean = sum(us * n for us, n in costs_us.items()) / calls
        differ = math.sqrt(sum((us - mean) ** 2 * n for us, n in costs_us.items()) / calls)
        error_s = math.sqrt(squares / 8 * calls) * differ * 1e-6
        rest_s = self.told_s - self.overhead["openmp_s"]
        bound_s = 4 * error_s + 15e-6 * max(costs_us) + TOLD_WITHIN * rest_s + 1e-9
        true_s, right_s = self.lost_s - rest_s, mean * calls * 1e-6 + stamps * 1e-6
        drawn_s = 4 * math.sqrt(squares / 8 - 8) / math.sqrt(8 * calls) * stamps * 1e-6 + TOLD_WITHIN * rest_s
        print(f"{self.name}: calls for OpenMP took {true_s:.6f} s, {right_s:.6f} s as expected, told {self.overhead['openmp_s']:.6f} s, "
              f"standard error {error_s:.6f} s")
        self.check("calls cost something else", abs(true_s - right_s) <= drawn_s + 1e-5, true_s, right_s, drawn_s)
        self.check("the estimate is wrong", abs(self.overhead["openmp_s"] - true_s) <= bound_s, self.overhead["openmp_s"], true_s, bound_s)
        self.check("calls for OpenMP are not told", "at constructs of OpenMP" in self.text, self.text)

    def paths(self):
        return self.result["metrics"]["visits"]["callpaths"]

    def visits(self, regions, around="main"):
        """Each region counts once in its path, whatever was left out of it."""
        visits = {path: sum(filter(None, numbers)) for path, numbers in self.paths().items()
                  if re.fullmatch(around + r"/regions/!\$omp parallel @[^/]*", path)}
        self.check("regions are not all there", sum(visits.values()) == regions, visits)

    def polls(self, place, calls, call_ns, own_s=0.0, stamps=2):
        """Each poll counts in its path; those that are not timed take as long as those that are, which take so many stamps more: at their end and after it.
        own_s: the tool's at most, within them (between nodes clocks are brought forward there)."""
        path, = (path for path in self.result["metrics"]["visits"]["callpaths"] if path.endswith(place))
        visits, time_s = (sum(filter(None, self.result["metrics"][name]["callpaths"][path])) for name in ("visits", "time"))
        longest_s = max(filter(None, self.result["metrics"]["max_time"]["callpaths"][path]))
        right_s = calls * call_ns * 1e-9 + (calls - self.overhead["calls_counted_only"]) * stamps * 1e-6
        self.check("polls are not all there", visits == calls, visits, calls)
        error = math.sqrt(64 / calls) * math.sqrt(1 / 3)  # docs/result-format.md; drawn evenly from 0 to twice the mean
        self.check("the time of polls is not theirs", -3 * error <= time_s / right_s - 1 <= 3 * error + own_s / right_s, time_s, right_s, error)
        self.check("no poll took so long", longest_s <= (2 * call_ns + (stamps + 1) * 1000) * 1e-9 + own_s, longest_s)

    def works(self, useful_s, ranks):
        """Of all ranks, by the clocks: what was worked, and at most what the tool took besides. So polls that are not timed are MPI's time there, too."""
        pop = self.result["pop"]
        found_s = pop["parallel_efficiency"] * pop["elapsed_s"] * len(self.result["locations"])
        print(f"{self.name}: useful time {found_s:.4f} s of {useful_s:.4f} s")
        self.check("useful time", useful_s <= found_s <= useful_s + ranks * self.lost_s, found_s, useful_s)

    def unwinds(self, most):
        """The end of a region has the path of its begin."""
        unwinds = self.result["meta"]["callpath"]["unwinds"]
        self.check("paths that were known are unwound", unwinds <= most, unwinds)

    def in_turns(self, wanted, call_ns):
        """Each poll is booked before the call that comes next, on its own path, and so is its time."""
        visits, times = ({path: sum(filter(None, self.result["metrics"][name]["callpaths"].get(path, []))) for path in wanted} for name in ("visits", "time"))
        self.check("calls are not where they were made", visits == wanted, visits)
        counted, polls = self.overhead["calls_counted_only"], {path: n for path, n in wanted.items() if path.endswith("/MPI_Iprobe")}
        for path, n in polls.items():
            least_s = n * call_ns * 1e-9
            most_s = least_s + (sum(polls.values()) - counted) * 2e-6
            self.check(f"the time of {path}", 0.97 * least_s <= times[path] <= 1.03 * most_s, times, least_s, most_s)

    def path_in(self, place):
        """Share of the critical path."""
        all_of = {path: sum(filter(None, numbers)) for path, numbers in self.result["metrics"]["critical_path_useful"]["callpaths"].items()}
        return sum(seconds for path, seconds in all_of.items() if path.endswith("/" + place)) / sum(all_of.values())

    def draws(self, right):
        """The shares of the critical path are those that are right, within 4 standard errors that are told."""
        error = re.search(r"standard error of a share: at most ([\d.e-]+) points", self.text)
        shares = {place: self.path_in(place) for place in right}
        print(f"{self.name}: {shares}, right {right}, standard error {error and error[1]} points, {self.vectors()} vectors")
        self.check("the error is not told", error, self.text)
        self.check("critical path", error and all(abs(shares[place] - right[place]) < 4 * float(error[1]) / 100 for place in right), shares, right)

    def vectors(self):
        return self.result["meta"]["piggyback"]["vectors_published"]

    def took_steps(self, *steps):
        self.check("steps", self.reduced == set(steps), self.reduced)


def main():
    with tempfile.TemporaryDirectory(prefix="lcbudg-") as root:
        for rounds in (1000, 3000, 10000, 30000):  # 0.3 s to 9 s
            calls = Case(root, "calls", rounds, 300000, "1000:0", "--sample=off")
            calls.holds()
            calls.tells()
            if rounds > 1000:
                calls.check("steps", calls.reduced >= {("MPI_Wtime", "counted"), ("MPI_Comm_rank", "counted")}, calls.reduced)
        long = Case(root, "calls", 10000, 520000, "1000:60000", "--sample=off")  # below the budget but for start and end
        long.holds()
        long.check("steps", {how for _, how in long.reduced} == {"counted"}, long.reduced)
        for call in (1, 3):  # of the start, and in MPI_Init
            crowded = Case(root, "calls", 600, 300000, "1000:0", "--sample=off", simulation=("--system", f"0:{call}:mmap=30000000"))
            crowded.check("waits for no processor", crowded.whole_lost_s > 0.03, crowded.whole_lost_s)
            crowded.took_steps()  # waiting for a processor is no work
        paths = Case(root, "paths", 5000, 500000, "1000:20000", "--sample=off")
        paths.holds()
        paths.tells()
        for rounds in (1000, 4000):
            for what, place, n in (("polls", "/look/MPI_Iprobe", 40), ("tests", "/test/MPI_Test", 41), ("takes", "/take/MPI_Improbe", 41)):
                polls = Case(root, what, rounds, 1000000, "1000:0", "--sample=off", simulation=("--call", "3000"))
                polls.holds(start_and_end=False)
                polls.tells(start_and_end=False)
                polls.polls(place, n * rounds, 1500)  # drawn, at most twice as long
                polls.took_steps((place.rsplit("/", 1)[1], "some"))
        turns = Case(root, "turns", 4000, 200000, "1000:0", "--sample=off", simulation=("--call", "3000"))
        turns.took_steps(("MPI_Iprobe", "some"))
        turns.in_turns({"main/near/look/MPI_Iprobe": 5 * 4000, "main/far/look/MPI_Iprobe": 3 * 4000, "main/MPI_Barrier": 2 * 4000}, 1500)
        ranks = Case(root, "ranks", 1000, 1000000, "1000:0", "--sample=off", ranks=2, simulation=("--call", "3000", "--nodes", "2"))
        ranks.polls("/look/MPI_Iprobe", 2 * 40 * 1000, 1500, own_s=2 * ranks.lost_s)
        ranks.works(2 * 1000 * 1e-3, 2)
        ranks.took_steps(("MPI_Iprobe", "some"))
        apart = Case(root, "open", 1000, 1000000, "1000:0", "--sample=off", simulation=("--call", "3000"))  # MPI_Finalize books them
        apart.polls("/look/MPI_Iprobe", 40 * 1000, 1500, stamps=3)
        apart.took_steps(("MPI_Iprobe", "some"))
        start = Case(root, "start", 3000, 1000000, "1000:60000", "--sample=off")
        start.holds()
        start.took_steps()
        samples = Case(root, "work", 300, 10000000, "0:500000", "--sample=500")
        samples.holds(start_and_end=False)  # locks of half a millisecond: these alone take more
        samples.took_steps((None, "rarer samples"))
        for ns in (2000000, 200000):  # 476 and 3,333 naps per second
            naps = Case(root, "naps", 2000000000 // ns, ns, "0:0:9000", "--sample=500")
            naps.holds(start_and_end=False)
            naps.tells(start_and_end=False)
        inside = Case(root, "inside", 10000, 1000, "0:0:9000", "--sample=500")  # 99 % of the time in calls, where each switch is waiting
        inside.check("switches in calls are told", inside.overhead["sampling_s"] < 0.05 * inside.lost_s, inside.overhead, inside.lost_s)
        messages = Case(root, "messages", 20000, 50000, "2000:0", "--sample=off")
        messages.check("nothing is left to leave out, and nobody says so", "the tool itself took" in messages.text, messages.text)
        messages.tells()
        matched = Case(root, "matched", 20000, 1000000, "1000:20000", "--sample=off", "--max-overhead=off")  # dear calls among cheap ones are no interruptions
        matched.tells(start_and_end=False)
        exact = Case(root, "answers", 20000, 10000, "1000:0", "--sample=off", "--max-overhead=off", ranks=2)
        exact.check("vectors", exact.vectors() >= 40000, exact.vectors())
        for what in ("answers", "uneven"):
            answers = Case(root, what, 20000, 10000, "1000:0", "--sample=off", ranks=2)
            answers.tells()
            answers.took_steps((None, "rarer vectors"))
            answers.check("vectors are carried as often", answers.vectors() < 0.6 * exact.vectors(), answers.vectors(), exact.vectors())
            right = {"ask": exact.path_in("ask"), "answer": exact.path_in("answer")} if what != "uneven" else {"longer": 1.0, "shorter": 0.0}
            answers.draws(right)
        compare = Case(root, "compare", 1100, 100000, "1000:0", "--sample=off", "--max-overhead=off", ranks=4)  # at the 4th, 8th, .. 1,024th barrier
        compare.tells(start_and_end=False)
        for rounds, ns in ((800, 300000), (3000, 1000000), (300, 10000000)):  # the last one is within the budget
            regions = Case(root, "regions", rounds, ns, "1000:0", "--sample=off")
            regions.holds()
            regions.tells()
            regions.visits(10 * rounds)
            regions.unwinds(6)
            regions.took_steps(*({800: [(None, "counted regions")], 3000: [(None, "plain regions")]}.get(rounds, [])))
        regions.estimates({4: 10 * rounds, 2: 10 * rounds}, 12.5 * rounds)  # of a region: 4 stamps in its entry (6 to measure it), 2 in its share (4)
        for rounds, ns, ask, *steps in ((800, 300000, 10000, (None, "counted regions")), (300, 10000000, 1000)):
            asks = Case(root, "usual", rounds, ns, f"0:0:0:{ask}", "--sample=off")  # what comes before any event: questions to the runtime
            asks.tells(start_and_end=False)
            asks.took_steps(*steps)
        asks.estimates({1: 10 * rounds, 2: 10 * rounds})
        outside = Case(root, "outside", 2000, 1000000, "1000:0", "--sample=off")  # no event; each that is measured takes 4 stamps
        outside.estimates({0: 40 * 2000}, 4 / 8 * 40 * 2000)
        outside.tells(start_and_end=False)
        places = Case(root, "places", 800, 300000, "1000:0", "--sample=off")
        places.visits(8000, ".*")  # those that are only counted at "main/.../regions"
        places.tells()
        places.took_steps((None, "counted regions"))
        places.check("one place stands for the others", any(path.startswith("main/.../regions/!$omp parallel") for path in places.paths()), places.paths())
        constructs = Case(root, "constructs", 200, 300000, "1000:0", "--sample=off", "--max-overhead=0.1%")
        constructs.took_steps((None, "counted regions"))
        constructs.visits(2000)
        constructs.tells(start_and_end=False)
        groups = Case(root, "groups", 300, 10000000, "1000:0", "--sample=off")
        groups.tells()
        groups.estimates({4: 3000, 2: 3000, 0: 12000, 3: 12000}, 12.5 * 300 + 2 / 8 * 12000 + 4 / 8 * 12000)  # begins of taskgroups take no stamp
        within = Case(root, "calls", 5000, 1200000, "1000:0", "--sample=off")
        within.holds()
        within.tells()
        within.took_steps()
    print("\n".join(found) or "all as it should be")
    return 1 if found else 0


sys.exit(main())
