#!/usr/bin/python3
"""The drivers of the long tests by themselves: slices of made-up items, work beside a command."""
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import nightly
from busy import Busy
from parts import Item


def sh(text):
    return ["sh", "-c", text]


def kind(name, command):
    return lambda turn: Item(f"{name}:{turn}", command)


class Slices(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        nightly.TABLE = Path(self.folder.name) / "nightly.tsv"

    def tearDown(self):
        self.folder.cleanup()

    def go(self, kinds, number):
        self.piece = nightly.Slice("made", 60, number)
        self.piece.go(kinds)
        self.piece.note()
        return self.piece

    def endless(self, name, **more):
        """A kind: the slice is over as soon as its item begins."""
        def item(turn):
            self.piece.end = time.monotonic()
            return Item(f"{name}:{turn}", sh("sleep 600"), **more)
        return item

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
        self.assertEqual([line[2:4] + line[5:] for line in lines[1:]], [["4", "6", "1", "1", "bad:1"], ["7", "7", "0", "1", "long:1"]])

    def test_what_resumes_does_not_fail(self):
        piece = self.go([self.endless("pairs", resumes=True)], 0)
        self.assertEqual((piece.failed, piece.next), ([], 0))

    def test_commands_are_printed_whole(self):
        self.assertEqual(nightly.shown(Item("x", sh("exit 1"), {"LC_TEST_SEED": "7"})), "env LC_TEST_SEED=7 sh -c 'exit 1'")


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
