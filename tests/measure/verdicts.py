"""The logic of measure.py: verdicts, lines read, runs that fail, are skipped, or have no time; the table, the file and the page; that every test labelled
`figure` has a source, and every source without words is a test (--some: not in this build, which has one MPI or a sanitizer).

verdicts.py BUILD_DIR [--some]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import measure
from figures import SOURCES, Row, Source, at_least, at_most, between, passes, share

QUIET, BUSY = {"pressure": 0.0, "used": 3.0}, {"pressure": 60.0, "used": 100.0}


def row(wanted, load=True):
    return Row("r", "ns", wanted, "something", load)


class StubMachine(measure.Machine):
    def __init__(self, looks=(QUIET,)):
        self.looks = list(looks)

    def look(self, seconds=1.0):
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


class StubBuild(measure.Build):
    """Tests that are shell scripts."""

    def __init__(self, scripts, **properties):
        self.directory = Path("/")
        properties = [{"name": name, "value": value} for name, value in properties.items()]
        self.tests = {name: {"command": ["sh", "-c", script], "properties": properties} for name, script in scripts.items()}


def entries(source, build, *, quick=False, left=1e9, looks=(QUIET,)):
    return list(measure.measure(source, source.rows, build, StubMachine(looks), quick, lambda: left).entries())


class Verdicts(unittest.TestCase):
    def said(self, wanted, values, busy=False, load=True):
        return measure.verdict(row(wanted, load), values, busy)

    def test_bounds(self):
        for wanted, values, expected in (
                (at_most(10), [5.0], "yes"), (at_most(10), [10.0], "yes"), (at_most(10), [11.0], "no"),
                (at_most(10), [5, 6, 7, 8, 9], "yes"), (at_most(10), [11, 12, 13, 14], "no"),
                (at_most(10), [5, 6, 7, 8, 90], "yes"),                # a run that was disturbed
                (at_most(10), [8, 9, 9.5, 11, 12], "too noisy here"),  # the bound lies between the quartiles
                (at_most(10), [9, 9, 11, 12, 12], "too noisy here"),
                (at_least(15), [19, 20, 27], "yes"), (at_least(15), [9, 10, 11], "no"), (at_least(15), [14, 16], "too noisy here"),
                (between(-3, 3), [-1, 0, 2], "yes"), (between(-3, 3), [4, 5, 6], "no"), (between(-3, 3), [-6, -5, -4], "no"),
                (between(-3, 3), [-9, 0, 9], "too noisy here"), (between(-3, 3), [-9, -8, 8, 9], "too noisy here"),
                (None, [4.0], "none wanted"), (at_most(10), [], "not measured"), (None, [], "not measured")):
            with self.subTest(wanted=wanted, values=values):
                self.assertEqual(self.said(wanted, values), expected)

    def test_counted(self):
        for bound, values, expected in (
                (1, [(1, 1)] * 3, "yes"), (1, [(1, 1), (0, 1), (1, 1)], "no"), (1, [(24, 24)], "yes"), (1, [(23, 24)], "no"),
                (0.95, [(19, 20)], "yes"), (0.95, [(4, 4)], "yes"), (0.95, [(95, 100), (95, 100)], "yes"),
                (0.95, [(17, 20)], "too noisy here"),  # 1.6 % of attempts with a promise that holds have no more
                (0.95, [(14, 20)], "no"), (0.95, [(86, 100)], "no"), (0.95, [(180, 200)], "too noisy here")):
            with self.subTest(bound=bound, values=values):
                self.assertEqual(self.said(share(bound), values), expected)
        self.assertAlmostEqual(measure.at_or_below(17, 20, 0.95), 0.0755, places=4)
        self.assertAlmostEqual(measure.at_or_below(2, 2, 0.5), 1)

    def test_busy(self):
        for values in ([5.0], [50.0]):
            self.assertEqual(self.said(at_most(10), values, busy=True), "too noisy here")
        self.assertEqual(self.said(at_most(10), [50.0], busy=True, load=False), "no")
        self.assertEqual(self.said(None, [5.0], busy=True), "none wanted")
        self.assertTrue(measure.Machine.is_busy([QUIET, BUSY]))
        self.assertTrue(measure.Machine.is_busy([QUIET, {"pressure": 0.0, "used": 50.0}]))
        self.assertFalse(measure.Machine.is_busy([QUIET, QUIET]))

    def test_machine(self):
        look = measure.Machine().look(0.05)
        self.assertTrue(0 <= look["pressure"] <= 100 and 0 <= look["used"] <= 100, look)
        self.assertEqual(measure.Machine.described()["cores"], os.cpu_count())


class Lines(unittest.TestCase):
    def test_read(self):
        output = "words\nfigure a.b 1.5e-3 s\nfigure a.b 2 s\n figure no 1 s\nfigure c -3 %\nfigure d 22/24 offsets\nfigures say 1 more\n"
        self.assertEqual(measure.lines_of(output), {"a.b": [(0.0015, "s"), (2.0, "s")], "c": [(-3.0, "%")], "d": [((22, 24), "offsets")]})

    def test_printed(self):
        """What tests/figure.py prints is what is read."""
        code = "import figure; figure.figure('x', 2 / 3, 'M/s'); figure.count('y', 3, 4)"
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=measure.ROOT / "tests").stdout
        self.assertEqual(measure.lines_of(output), {"x": [(0.666667, "M/s")], "y": [((3, 4), "cases")]})


SPEED = Source("s", "speed", 3, 1, 1, (Row("a", "ns", at_most(10), "a thing"), Row("b", "MB", at_most(5), "its memory", load=False)))


class Runs(unittest.TestCase):
    def test_values(self):
        a, b = entries(SPEED, StubBuild({"s": "echo figure a 4 ns; echo figure b 9 MB; echo figure c 1 s"}))
        self.assertEqual((a["name"], a["values"], a["median"], a["quartiles"], a["runs"], a["verdict"]), ("s.a", [4, 4, 4], 4, [4, 4], 3, "yes"))
        self.assertEqual((b["name"], b["verdict"], b["wanted"]), ("s.b", "no", {"operator": "<=", "bound": [5], "text": "5 MB at most"}))
        self.assertIn("figure a 4 ns", a["command"])

    def test_quick(self):
        a, _ = entries(SPEED, StubBuild({"s": "echo figure a 4 ns"}), quick=True)
        self.assertEqual((a["runs"], a["verdict"]), (1, "yes"))
        a, = entries(passes("waits", "p", "something", 3, 0, 1), StubBuild({"p": "true"}), quick=True)
        self.assertEqual((a["verdict"], a["why"]), ("not measured", "not with --quick"))

    def test_busy(self):
        for looks in ((QUIET, BUSY), (BUSY, QUIET)):
            a, b = entries(SPEED, StubBuild({"s": "echo figure a 4 ns; echo figure b 4 MB"}), looks=looks)
            self.assertEqual((a["verdict"], b["verdict"], a["why"]), ("too noisy here", "yes", "the machine is busy"))

    def test_failed(self):
        a, b = entries(SPEED, StubBuild({"s": "echo figure a 4 ns; echo it broke; exit 3"}))
        self.assertEqual((a["verdict"], a["why"], b["verdict"]), ("no", "exit status 3: it broke", "no"))
        a, b = entries(SPEED, StubBuild({"s": "exit 3"}), looks=(BUSY,))
        self.assertEqual((a["verdict"], b["verdict"]), ("too noisy here", "no"))
        a, _ = entries(SPEED, StubBuild({"s": "sleep 60"}, TIMEOUT=0.2))
        self.assertEqual((a["verdict"], a["why"]), ("no", "took too long: no output"))

    def test_passed(self):
        source = passes("waits", "p", "something", 4, 1, 1)
        with tempfile.TemporaryDirectory() as folder:
            every_other = f"if [ -e {folder}/x ]; then rm {folder}/x; else touch {folder}/x; echo wrong; exit 1; fi"
            a, = entries(source, StubBuild({"p": every_other}))
        self.assertEqual((a["name"], a["values"], a["verdict"], a["why"], measure.told(a)), ("p", [(0, 1), (1, 1)] * 2, "no", "wrong", "2 of 4"))
        a, = entries(source, StubBuild({"p": "true"}))
        self.assertEqual((a["verdict"], a["why"], measure.wanted_text(a)), ("yes", "", "all"))

    def test_skipped(self):
        source = passes("waits", "p", "something", 4, 1, 1)
        a, = entries(source, StubBuild({"p": "echo no such thing; exit 77"}, SKIP_RETURN_CODE=77))
        self.assertEqual((a["verdict"], a["why"]), ("not measured", "skipped: no such thing"))
        a, = entries(source, StubBuild({"p": "echo left out: no samples"}, SKIP_REGULAR_EXPRESSION=["left out"]))
        self.assertEqual(a["verdict"], "not measured")
        a, = entries(source, StubBuild({}))
        self.assertEqual((a["verdict"], a["why"]), ("not measured", "not in this build"))

    def test_limit(self):
        a, _ = entries(SPEED, StubBuild({"s": "echo figure a 4 ns"}), left=0.5)
        self.assertEqual((a["verdict"], a["why"], a["runs"]), ("not measured", "no time left", 0))

        slow = Source("s", "speed", 1, 1, 60, SPEED.rows, quick_seconds=-4.8)  # 0.6 s: QUICK_START_S and three times as much
        a, _ = entries(slow, StubBuild({"s": "sleep 60"}), quick=True)
        self.assertEqual((a["verdict"], a["why"]), ("not measured", "ended after 1 s, to leave time for others"))

    def test_environment(self):
        a, _ = entries(SPEED, StubBuild({"s": 'echo "figure a $LC_VALUE ns"'}, ENVIRONMENT=["LC_VALUE=7"]))
        self.assertEqual(a["values"], [7, 7, 7])

    def test_unit(self):
        a, _ = entries(SPEED, StubBuild({"s": "echo figure a 4 us"}))
        self.assertEqual((a["verdict"], a["why"]), ("no", "a is told in us, and wanted in ns"))


class Shown(unittest.TestCase):
    def setUp(self):
        a, b = entries(SPEED, StubBuild({"s": "echo figure a 4 ns; echo figure b 9 MB"}))
        p, = entries(passes("waits", "p", "waiting", 2, 1, 1), StubBuild({"p": "true"}))
        self.result = {"version": "1.0", "commit": "abc", "date": "2000-01-02T03:04:05Z", "quick": False, "load": [0.1, 1.2], "seconds": 1, "figures": [a, b, p],
                       "machine": {"cores": 2, "processor": "a processor", "kernel": "6.1"}}

    def test_table(self):
        for entry, cells in zip(self.result["figures"], (("s.a", "10 ns at most", "4 ns (4 to 4), 3 runs", "yes"),
                                                         ("s.b", "5 MB at most", "9 MB (9 to 9), 3 runs", "no"), ("p", "all", "2 of 2", "yes"))):
            self.assertEqual(measure.table_line(entry), measure.shown(cells))
        self.assertEqual(measure.table_lines(SPEED, self.result["figures"][:2]), [measure.table_line(entry) for entry in self.result["figures"][:2]])
        nothing = entries(SPEED, StubBuild({}))
        self.assertEqual(measure.table_lines(SPEED, nothing), [measure.shown(("s.* (2)", "", "not in this build", "not measured"))])
        self.assertEqual(measure.summary(self.result["figures"]), "3 figures: 2 yes, 1 no")

    def test_file(self):
        self.assertEqual(json.loads(json.dumps(self.result))["figures"][2]["values"], [[1, 1], [1, 1]])

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"before\n<!-- {measure.MARK} begin -->\nold\n<!-- {measure.MARK} end -->\nafter\n", encoding="utf-8")
            for _ in range(2):  # again: the same
                measure.document(page, json.loads(json.dumps(self.result)))
                text = page.read_text(encoding="utf-8")
                self.assertTrue(text.startswith("before\n") and text.endswith("-->\nafter\n") and "old" not in text, text)
                for part in ("Measured 2000-01-02 with version 1.0 (abc): a processor, 2 cores", "| a thing (`s.a`) | 10 ns at most | 4 ns (4 to 4), 3 runs | yes |",
                             "| waiting (`p`) | all | 2 of 2 | yes |", "No other work was seen on it, before or after any of them."):
                    self.assertEqual(text.count(part), 1, text)
            self.assertNotIn("Not measured:", text)
            self.result["figures"] += json.loads(json.dumps(entries(SPEED, StubBuild({}))))
            self.assertIn("\nNot measured: not in this build: `s.*` (2).\n", measure.page_text(self.result))
            del self.result["figures"][3:]
            self.result["figures"][0]["busy"] = True
            self.assertIn("The machine was busy at 1 of 3 figures.", measure.page_text(self.result))
            page.write_text("no comments\n", encoding="utf-8")
            with self.assertRaises(SystemExit):
                measure.document(page, self.result)


class Table(unittest.TestCase):
    def test_sources(self):
        self.assertEqual(len({source.name for source in SOURCES}), len(SOURCES))
        for source in SOURCES:
            self.assertGreaterEqual(source.runs, source.quick, source.name)
            self.assertTrue(source.rows, source.name)
            self.assertEqual(len({one.name for one in source.rows}), len(source.rows), source.name)

    def test_build(self):
        build = measure.Build(BUILD)
        self.assertEqual(build.figures() - {source.name for source in SOURCES}, set(), "figures that tests/measure/figures.py does not have")
        if not SOME:
            known = {re.sub(r"\.(gcc|clang)$", "", name) for name in build.figures()}  # clang may be missing
            self.assertEqual({source.name for source in SOURCES if not source.words and re.sub(r"\.(gcc|clang)$", "", source.name) not in known}, set(),
                             "sources that are no test labelled figure")

    def test_commands(self):
        """Scripts that sources name are there."""
        for source in SOURCES:
            for word in source.words:
                path = Path(word.format(build=BUILD, root=measure.ROOT, python="/usr/bin/python3"))
                self.assertTrue(path.suffix != ".py" or path.is_file(), f"{source.name}: {path}")

    def test_quick(self):
        """--quick fits into its limit with room for a machine that is half as slow again."""
        seconds = sum(source.quick * (source.quick_seconds or source.seconds) + 2 * bool(source.quick) for source in SOURCES)
        self.assertLess(1.3 * seconds, measure.QUICK_LIMIT_S)

    def test_chosen(self):
        def names(*words):
            return [source.full_name(one) for source, rows in measure.chosen(words) for one in rows]
        self.assertEqual(names("bench.walk.frame"), ["bench.walk.frame"])
        self.assertEqual(names("bench.probe_cost.*"), ["bench.probe_cost.pair", "bench.probe_cost.disabled"])
        self.assertEqual(len(names("speed")), sum(len(source.rows) for source in SOURCES if source.part == "speed"))
        self.assertEqual(len(names()), sum(len(source.rows) for source in SOURCES))
        with self.assertRaises(SystemExit):
            names("nothing_of_this_name")


if __name__ == "__main__":
    BUILD, SOME = sys.argv[1], "--some" in sys.argv
    unittest.main(argv=sys.argv[:1])
