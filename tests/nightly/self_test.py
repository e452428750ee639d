#!/usr/bin/python3
"""The drivers of the long tests by themselves: slices of made-up items, the line that a log of the gate gives, work beside a command."""
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

import nightly
from busy import Busy
from parts import Item

GATE = Path(__file__).resolve().parents[1] / "gate_check.sh"
LOG = """== build/release: 3 tests
flaky (failed, then 3 of 3 alone):
  programs.probe.mpich  build/test-logs/release.programs.probe.mpich.first.log
  programs.comm_sanitized.mpich (asan)  build/test-logs/asan.programs.comm_sanitized.mpich.first.log
FAILED run.parent_process  [failed, 2.3 s, alone: failed in turn 1 of 3]  build/test-logs/release.run.parent_process.first.log
  again: ctest --test-dir build/release -R '^run\\.parent_process$'
  | wrong
FAILED fuzz.left (asan)  [failed, 2.3 s]  build/test-logs/asan.fuzz.left.first.log
machine: 2 cores
510 passed, 2 failed, 4 skipped
"""


def sh(text):
    return ["sh", "-c", text]


def kind(name, command):
    return lambda turn: Item(f"{name}:{turn}", command, kind=name, cases=10)


class Slices(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        nightly.TABLE = Path(self.folder.name) / "nightly.tsv"

    def tearDown(self):
        self.folder.cleanup()

    def go(self, kinds, number, only=""):
        self.piece = nightly.Slice("made", 60, number, only)
        self.piece.go(kinds)
        self.piece.note()
        return self.piece

    def endless(self, name, **more):
        """A kind: the slice is over as soon as its item begins."""
        def item(turn):
            self.piece.end = time.monotonic()
            return Item(f"{name}:{turn}", sh("sleep 600"), **more)
        return item

    def test_nothing_begins_while_held(self):
        with tempfile.NamedTemporaryFile() as file, unittest.mock.patch.dict(os.environ, {"LC_HOLD": file.name}):
            self.piece = piece = nightly.Slice("made", 1 / 60, 0)
            piece.go([kind("good", sh("exit 0"))])
            self.assertEqual((piece.passed, piece.next), (0, 0))
        piece = self.go([kind("good", sh("exit 0")), self.endless("long")], 0)
        self.assertEqual((piece.passed, piece.next), (1, 1))

    def test_items_are_numbered_through(self):
        kinds = [kind("good", sh("exit 0")), kind("bad", sh("echo why; exit 3")), kind("out", sh("exit 77")), self.endless("long")]
        piece = self.go(kinds, 4)
        self.assertEqual((piece.passed, piece.skipped, [item.name for _, item in piece.failed]), (1, 1, ["bad:1"]))
        self.assertEqual((piece.first, piece.next), (4, 7))  # the long one was cut off
        self.assertEqual(nightly.next_number("made"), 7)
        self.assertEqual(nightly.next_number("other"), 0)
        piece = self.go(kinds, nightly.next_number("made"))  # it has all of the slice, and takes longer
        self.assertEqual([item.name for _, item in piece.failed], ["long:1"])
        lines = [line.split("\t") for line in nightly.TABLE.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(lines[0], nightly.COLUMNS)
        self.assertEqual([line[2:4] + line[5:] for line in lines[1:]], [["4", "6", "1", "1", "bad:1", "good=10"], ["7", "7", "0", "1", "long:1", "-"]])

    def test_sums(self):
        """What is run again adds no line and no case; the next slice begins behind all others."""
        nightly.parts.PARTS = {"made": None, "other": None}

        def last(turn):
            self.piece.end = time.monotonic()
            return Item(f"last:{turn}", sh("sleep 600"), resumes=True)
        kinds = [kind("good", sh("exit 0")), kind("fine (asan)", sh("exit 0")), kind("bad", sh("exit 1")), last]
        for number in (0, 4, 0):
            self.go(kinds, number)
        self.assertEqual(nightly.next_number("made"), 7)
        self.assertEqual(list(nightly.sums()), ["made: 2 slices, 0 minutes, 4 passed, 2 failed", "        20 fine(asan)", "        20 good",
                                                "other: 0 slices, 0 minutes, 0 passed, 0 failed"])

    def test_tallies(self):
        """What items tell of their cases is added up, also of an item that failed."""
        nightly.parts.PARTS = {"made": None}

        def last(turn):
            self.piece.end = time.monotonic()
            return Item(f"last:{turn}", sh("exit 77"))
        kinds = [kind("pairs", sh("echo tally own 4/5; echo tally own 1/2; echo tally other 0/0")), kind("pairs", sh("echo tally own 3/6; exit 1")), last]
        for number in (0, 3):
            self.go(kinds, number)
        self.assertEqual(list(nightly.sums()), ["made: 2 slices, 0 minutes, 2 passed, 2 failed", "        20 pairs", "     16/26 pairs:own"])

    def test_only(self):
        def last(turn):
            self.piece.end = time.monotonic()
            return Item(f"odd-last:{turn}", sh("exit 77"))
        piece = self.go([kind("even", sh("exit 1")), kind("odd", sh("exit 0")), kind("even-too", sh("exit 1")), last], 0, "odd")
        self.assertEqual((piece.passed, piece.failed, piece.skipped, piece.next), (1, [], 1, 4))

    def test_what_resumes_does_not_fail(self):
        piece = self.go([self.endless("pairs", resumes=True)], 0)
        self.assertEqual((piece.failed, piece.next), ([], 0))

    def test_nothing_but_skips_ends_the_slice(self):
        piece = self.go([kind("out", sh("exit 77")), kind("off", sh("exit 77"))], 3)
        self.assertEqual((piece.skipped, piece.next), (2, 5))

    def test_commands_are_printed_whole(self):
        self.assertEqual(nightly.shown(Item("x", sh("exit 1"), {"LC_TEST_SEED": "7"})), "env LC_TEST_SEED=7 sh -c 'exit 1'")


class Builds(unittest.TestCase):
    def test_a_line_for_each_build(self):
        for part, lines in (("mutations", []), ("sanitizers", ["release latecomer-cli", "asan sanitizer-tests-nightly", "tsan sanitizer-tests-nightly"])):
            done = subprocess.run([sys.executable, nightly.__file__, part, "--builds"], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.splitlines(), lines)


class GateCheck(unittest.TestCase):
    def test_the_line_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            log, table, flaky = f"{folder}/log", Path(folder) / "table", Path(folder) / "flaky"
            Path(log).write_text(LOG, encoding="utf-8")
            subprocess.run([GATE, "--note", "load", "600", log, table, flaky], check=True)
            fields = table.read_text(encoding="utf-8").splitlines()[1].split("\t")
            listed = [line.split("\t") for line in flaky.read_text(encoding="utf-8").splitlines()[1:]]
        self.assertEqual(fields[2:7], ["load", "600", "510", "2", "2"])
        self.assertEqual(fields[7].split(), ["fuzz.left(asan)", "programs.comm_sanitized.mpich(asan)", "programs.probe.mpich", "run.parent_process"])
        self.assertEqual([line[2:] for line in listed], [["programs.probe.mpich", "-"], ["programs.comm_sanitized.mpich(asan)", "-"]])
        self.assertEqual(listed[0][:2], fields[:2])


class BusyTest(unittest.TestCase):
    def test_all_of_it_ends(self):
        with tempfile.TemporaryDirectory() as folder, Busy(folder) as busy:
            pids, group = busy.pids, busy.group
            self.assertGreaterEqual(len(pids), 3)
            done = subprocess.run(["cat", "/proc/self/cgroup"], preexec_fn=busy.enter, capture_output=True, text=True, check=True)
            self.assertTrue(group is None or group.name in done.stdout)
        for pid in pids:
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)
        self.assertFalse(group is not None and group.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
