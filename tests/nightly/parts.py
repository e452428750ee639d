"""What the parts of nightly.py run. A part is a list of kinds; item number n of a part is turn n // len(kinds) of kind n % len(kinds)."""
import re
import sys
from pathlib import Path
from typing import NamedTuple

import listed
from mutation_table import MUTATIONS

HERE = Path(__file__).resolve().parent
SCRATCH = Path("build/nightly")
FIRST_SEED = 10_000      # other tests stay below
RELEASES = ("bookworm", "trixie")
SLICES = ("logic", "sim", "tools", "openmp", "nodes", *(f"{what}-{flavour}" for flavour in ("openmpi", "mpich") for what in ("programs", "faults", "rest")))


class Item(NamedTuple):
    name: str
    command: list
    env: dict = {}
    resumes: bool = False  # it is no failure if the slice ends before it does
    kind: str = ""         # of which it takes `cases`: seeds, pairs of runs, mutations
    cases: int = 0


class Part(NamedTuple):
    builds: tuple          # what latecomer.sh builds: preset and targets
    kinds: object          # function of the tests by build -> list of functions of the turn that return an Item
    loaded: bool = False   # beside other work


class Tests:
    """The tests of a build."""

    def __init__(self, preset):
        self.preset = preset
        properties = listed.properties(Path("build") / preset)
        self.commands, self.labels = listed.commands(Path("build") / preset), listed.labels(properties)
        self.after_others = {name for name, found in properties.items() if "FIXTURES_REQUIRED" in found}

    def labelled(self, wanted, without=()):
        return [name for name, labels in self.labels.items() if wanted <= labels and not labels & set(without)]

    def whole(self, name):
        """A kind: the test as it is, with those that it comes after: an earlier slice may have been in another build."""
        title = name if self.preset == "release" else f"{name} ({self.preset})"
        alone = [] if name in self.after_others else ["-FA", ".*"]
        command = ["ctest", "--test-dir", f"build/{self.preset}", "-R", f"^{re.escape(name)}$", *alone, "--no-tests=error", "--output-on-failure"]
        return lambda turn: Item(title, command)

    def drawn(self, name, width, old, new, cases=None, **env):
        """A kind: the command of the test with the words `new` for `old`, in which {first}, {last}, {width} and {scratch} stand for this turn's seeds; it takes
        as many cases. None: the compiler of its programs is not installed."""
        if name not in self.commands and f"openmp.left_out.{name.rpartition('.')[2]}" in self.commands:
            return None
        command = self.commands[name]
        places = [i for i in range(len(command) - len(old) + 1) if old and command[i:i + len(old)] == list(old)] or ([] if old else [len(command)])
        if len(places) != 1:
            raise SystemExit(f"{name}: {' '.join(old)} stands {len(places)} times in its command, not once: {' '.join(command)}")

        def item(turn):
            first = FIRST_SEED + turn * width
            words = dict(first=first, last=first + width - 1, width=width, scratch=SCRATCH.absolute() / name)
            changed = command[:places[0]] + [word.format(**words) for word in new] + command[places[0] + len(old):]
            build = "" if self.preset == "release" else f" ({self.preset})"
            return Item(f"{name}:{first}-{words['last']}{build}", changed, {key: value.format(**words) for key, value in env.items()},
                        kind=f"{name}{build}", cases=cases or width)
        return item

    def end_of(self, name, n):
        return self.commands.get(name, [])[-n:]


# Unit tests that draw and must hold for any seed (not those that promise a share of right answers). Turns are 1,000 seeds apart: as many as one takes
# at most.
DRAWING = ["unit.piggyback.message_match", "unit.piggyback.portions", "unit.piggyback.past", "unit.piggyback.logical_clocks", "unit.measure.task_graph",
           "unit.model.cubex", "unit.trace.archive", "unit.format.pop_factors", "unit.analyze.align", "unit.analyze.radix", "unit.analyze.time_map", "unit.base.lookup"]
BOTH = ("openmpi", "mpich")


def seeds(tests):
    t, pair = tests["release"], ("{first}", "{last}")
    kinds = []
    for index, flavour in enumerate(BOTH):  # the programs of the night's tests, which are with either MPI
        base = f"programs.random_{1000 + 50 * index}.{flavour}"
        kinds.append(t.drawn(base, 10, t.end_of(base, 2), pair))
        base = f"trace.random.31.{flavour}"
        kinds.append(t.drawn(base, 10, t.end_of(base, 1), ("random {first} {last}",)))
    for compiler in ("gcc", "clang", "native"):
        base = f"openmp.random_many.{compiler}"
        kinds.append(t.drawn(base, 10, t.end_of(base, 2), pair))
    base = "analysis.root_causes.random_all"
    kinds.append(t.drawn(base, 50, t.end_of(base, 3), ("{scratch}", "{width}", "{width}", "{first}")))
    for base, width, end, new in (("analysis.other_paradigms_many", 40, 1, "{first}-{last}"), ("analysis.other_paradigms_ranks", 10, 2, "{first}-{last} 3"),
                                  ("analysis.other_paradigms_oracle", 40, 2, "{first}-{last} oracle"), ("analysis.gains", 40, 1, "{first}-{last}"),
                                  ("analysis.time_correct", 12, 1, "{first}-{last}"), ("analysis.statistics", 26, 1, "{first}-{last}"),
                                  ("analysis.fuzz", 60, 1, "{width} {first}")):
        kinds.append(t.drawn(base, width, t.end_of(base, end), new.split()))
    kinds += [t.drawn(base, 1000, (), (), LC_TEST_SEED="{first}", LC_GOLDEN_DIR="build/release/golden") for base in DRAWING]
    return kinds


def simulated(tests):
    """On the simulated MPI a seed costs least: a part of its own, so that a slice tries many. Turns are short (but for 256 ranks): a slice has something of all."""
    t, pair = tests["release"], ("{first}", "{last}")
    kinds = [t.drawn("sim.truth", 100, t.end_of("sim.truth", 2), (*pair, "10", "2")), t.drawn("sim.what_if", 20, t.end_of("sim.what_if", 2), pair),
             t.drawn("sim.faults", 30, t.end_of("sim.faults", 3), (*pair, "1")), t.drawn("sim.clocks", 50, t.end_of("sim.clocks", 2), pair),
             t.drawn("sim.gains", 1, t.end_of("sim.gains", 2), (*pair, "2"))]
    mpirun = Path("build/release/bin/sim-mpirun").absolute()
    words = f"{mpirun} --seed {{first}} --random --eager 16384 --buffer 1000000"  # small messages are buffered, as these programs take for granted
    kinds += [t.drawn(base, 1, (), (), LC_SIMULATED=words)
              for base in (*(f"sim.constructed_waits.{transport}" for transport in ("shm", "mpi", "mixed")), "sim.logged_patterns")]
    kinds += [t.drawn(base, 10, t.end_of(base, 2), pair) for base in ("sim.openmp_many", "sim.hybrid_many") if base in t.commands]
    return [*kinds, t.drawn("sim.nodes_many", 1, t.end_of("sim.nodes_many", 3), ("{first}",))]


def real(tests):
    t = tests["release"]
    return [t.whole(name) for name in t.labelled({"real"}, without=("nightly",))]


def mutations(_):
    return [lambda turn, m=m: Item(f"mutation {m.name}", ["/usr/bin/python3", str(HERE / "mutations.py"), m.name], kind="mutation", cases=1)
            for m in MUTATIONS]


def fuzz(tests):
    t = tests["asan"]
    names = [name for name in t.commands if name.startswith("fuzz.")]
    # seeds of one number each: mutation i of seed s has state s + 7919 i
    return [t.drawn(name, 1, t.commands[name][1:3], ("100", "{first}"), cases=100) for name in names]


def sanitizers(tests):
    kinds = []
    for preset in ("asan", "tsan"):
        t = tests[preset]
        kinds += [t.whole(name) for name in t.labelled({"sanitizer"})]  # by day with one MPI only
        for flavour in BOTH:
            base = f"programs.random_sanitized.{flavour}"
            kinds.append(t.drawn(base, 5, t.end_of(base, 2), ("{first}", "{last}")))
        kinds += [t.drawn(name, 8, ("1", "4"), ("{first}", "{last}")) for name in t.commands if name.startswith("openmp.random_sanitized.")]
    return kinds


def long(tests):
    t = tests["release"]
    return [t.whole(name) for name in t.labelled({"nightly"}, without=("figure",))]


def claims(tests):
    """How close estimates of waiting are to the trace, in programs of Debian and our kernels: what was published must hold."""
    measure = ["/usr/bin/python3", str(HERE.parent / "measure" / "measure.py"), "build/release"]
    return [lambda turn, name=name: Item(f"{name}:{turn}", [*measure, f"{name}.*", "--out", str(SCRATCH / f"{name}.json")])
            for name in (f"analysis.estimates_of_programs.{flavour}" for flavour in BOTH) if name in tests["release"].commands]


PAIRS = 5  # of a turn: a slice of few minutes has some, of both MPIs


def pairs(tests):
    kinds = []
    for flavour in BOTH:
        command = tests["release"].commands[f"bench.equals.{flavour}"]
        place = 4  # python, equals.py, LATECOMER, FLAVOUR, SCRATCH_DIR, EFFECTS

        def equals(turn, command=command, flavour=flavour):
            scratch = str(SCRATCH.absolute() / f"equals-{flavour}")  # of all turns: few pairs tell little of 5 %
            return Item(f"bench.equals.{flavour}:{turn}", [*command[:place], scratch, *command[place + 1:], str(PAIRS), "go-on", "judge", "alike"], resumes=True,
                        kind=f"bench.equals.{flavour}", cases=PAIRS)
        kinds.append(equals)
    return kinds


def compare(_):
    """`latecomer compare` on runs of one program, 20 pairs of three runs a side in a turn; one that is cut off goes on where it was."""
    def kind(flavour):
        def item(turn):
            lines = SCRATCH.absolute() / f"equal_runs-{flavour}.tsv"
            command = ["/usr/bin/python3", str(HERE / "equal_runs.py"), "build/release/bin/latecomer", flavour, f"build/release/bin/latecomer-demo-{flavour}",
                       str(turn), "20", str(lines)]
            return Item(f"compare.equal_runs.{flavour}:{turn}", command, resumes=True, kind=f"compare.equal_runs.{flavour}", cases=20)
        return item
    return [kind(flavour) for flavour in BOTH]


def distributions(_):
    clean = [lambda turn, flavour=flavour, step=step: Item(f"clean root, {flavour}: {step}", [str(HERE / "clean_root.sh"), flavour, step])
             for step in ("deb", "build") for flavour in ("openmpi", "mpich")]
    return clean + [lambda turn, release=release, step=step: Item(f"debian {release}: {step}", [str(HERE / "other_debian.sh"), release, step], resumes=True)
                    for release in RELEASES for step in ("install", *SLICES)] + \
        [lambda turn, step=step: Item(f"aarch64: {step}", [str(HERE / "other_processor.sh"), "bookworm", step], resumes=True) for step in ("install", "unit", "sim")]


PARTS = {
    "seeds": Part((("release", "all"),), seeds),
    "simulated": Part((("release", "simulation-tests"),), simulated),
    "real": Part((("release", "all"),), real, loaded=True),
    "mutations": Part((), mutations),
    "fuzz": Part((("asan", "fuzz_cubex", "fuzz_records", "fuzz_left"),), fuzz),
    "sanitizers": Part((("release", "latecomer-cli"), *((preset, "sanitizer-tests-nightly") for preset in ("asan", "tsan"))), sanitizers),
    "long": Part((("release", "all"),), long),
    "claims": Part((("release", "all"),), claims),
    "pairs": Part((("release", "latecomer-cli", *(f"bench-effects-{flavour}" for flavour in BOTH)),), pairs),
    "compare": Part((("release", "latecomer-cli", *(f"latecomer-demo-{flavour}" for flavour in BOTH)),), compare),
    "distributions": Part((("release", "all"),), distributions),
}


def kinds_of(part):
    """All kinds of a part; its builds have to be configured."""
    return [kind for kind in PARTS[part].kinds({preset: Tests(preset) for preset, *_ in PARTS[part].builds}) if kind is not None]


if __name__ == "__main__":
    sys.exit("parts.py is a table: see nightly.py")
