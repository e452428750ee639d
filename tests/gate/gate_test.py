#!/usr/bin/python3
"""gate.py by itself: builds whose tests are lines of shell, in a temporary folder.

gate_test.py [CLASS.NAME ..]     as unittest"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
# as `gate.py` does, but it does not wait until the machine has come to rest
GATE = [sys.executable, "-c", "import sys, gate; gate.QUIET_WAIT_S = 0; sys.exit(gate.main())"]
# a signal that comes once something is built, and before whoever began that goes on
ENDED_AT_ONCE = """
import os, signal, threading, time
def start(builder):
    threading.Thread.start(builder)
    while builder.wanted and not os.path.exists("builder"):
        time.sleep(0.02)
    if builder.wanted:
        signal.raise_signal(signal.SIGTERM)
gate.Builder.start = start
"""


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def build(self, name, *tests):
        """A build with tests: (name, label, shell command, *properties)."""
        lines = []
        for test, label, command, *properties in tests:
            lines += [f'add_test({test} sh -c [==[{command}]==])', f'set_tests_properties({test} PROPERTIES LABELS {label} {" ".join(properties)})']
        (self.root / "build" / name).mkdir(parents=True)
        (self.root / "build" / name / "CTestTestfile.cmake").write_text("\n".join(lines), encoding="utf-8")

    def builder(self, text):
        """A latecomer.sh: `build-for-tests BUILD TARGET ..` does this."""
        script = self.root / "latecomer.sh"
        script.write_text(f'#!/bin/sh\n[ "$1" = build-for-tests ] || exit 99\nshift\n{text}\n', encoding="utf-8")
        script.chmod(0o755)

    def start(self, *words, gate=GATE):
        env = {**os.environ, "PYTHONPATH": str(HERE), "LC_PATIENCE": "3", "HERE": str(self.root)}
        return subprocess.Popen([*gate, *words], cwd=self.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ended(self, process, printed=""):
        """Exit status and output, of which the last lines must be those that a reader looks for; `printed` has been read before."""
        printed += process.communicate()[0]
        lines = printed.splitlines()
        self.assertRegex(lines[-1], r"^\d+ passed, \d+ failed(, \d+ skipped)?$", printed)
        self.assertRegex(lines[-2], r"^time: ", printed)
        self.assertRegex(lines[-3], r"^machine: \d+ cores, ", printed)
        return process.returncode, printed

    def run_gate(self, *words):
        return self.ended(self.start(*words))

    def wait_for(self, name):
        """Until a command has made the file; nothing else says that it has begun. Builds begin when nobody else wants a processor: ctest's limit ends it."""
        while not (self.root / name).exists():
            time.sleep(0.02)

    def check_gone(self, name):
        """The process whose number is in the file has ended, or ends as soon as it gets a processor, for which builds come last: SIGKILL is on its way.
        Nobody may have asked yet how it ended."""
        status = Path("/proc", (self.root / name).read_text(encoding="utf-8").strip(), "status")
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text(encoding="utf-8").splitlines() if ":\t" in line)
        except (FileNotFoundError, ProcessLookupError):
            return
        pending = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
        self.assertTrue(fields["State"][0] in "ZX" or pending & 1 << signal.SIGKILL - 1, f"{name} runs on: {fields['State']}")

    def log(self, name):
        return (self.root / "build/test-logs" / name).read_text(encoding="utf-8")

    def attempts(self, name):
        return len((self.root / name).read_text(encoding="utf-8").split())


# fails at the attempts given, counts in a file of its own
def attempt(name, *bad):
    tests = " || ".join(f"[ $n = {number} ]" for number in bad) or "false"
    return f"echo x >>$HERE/{name}; n=$(wc -l <$HERE/{name}); if {tests}; then echo attempt $n is bad; exit 1; fi"


class Verdicts(Gate):
    def test_all_passed(self):
        self.build("release", ("one", "exact", "true"), ("two", "real", "true"))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (0, "2 passed, 0 failed"))
        self.assertNotIn("FAILED", printed)

    def test_exact_is_never_repeated(self):
        self.build("release", ("good", "exact", "true"), ("bad.one", "exact", attempt("bad", 1)))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "1 passed, 1 failed"))
        self.assertEqual(self.attempts("bad"), 1)
        self.assertRegex(printed, r"(?m)^FAILED bad\.one  \[failed, [\d.]+ s\]  build/test-logs/release\.bad\.one\.first\.log\n  again: (.*)\n  \| attempt 1 is bad$")
        self.assertIn("attempt 1 is bad", self.log("release.bad.one.first.log"))
        again = re.search(r"(?m)^  again: (.*)$", printed)[1]
        self.assertEqual(subprocess.run(again, shell=True, cwd=self.root, env={**os.environ, "HERE": str(self.root)}, capture_output=True, check=False).returncode, 0)
        self.assertEqual(self.attempts("bad"), 2)  # it is the command that runs this test and no other

    def test_real_that_passes_three_times_is_flaky(self):
        self.build("release", ("good", "real", attempt("good")), ("late", "real", attempt("late", 1)))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (0, "2 passed, 0 failed"))
        self.assertEqual((self.attempts("good"), self.attempts("late")), (1, 4))
        self.assertRegex(printed, r"(?m)^flaky \(failed, then 3 of 3 alone\):\n  late  build/test-logs/release\.late\.first\.log$")
        self.assertIn("attempt 1 is bad", self.log("release.late.first.log"))

    def test_real_that_fails_once_more_has_failed(self):
        self.build("release", ("late", "real", attempt("late", 1, 3)))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "0 passed, 1 failed"))
        self.assertEqual(self.attempts("late"), 3)
        self.assertRegex(printed, r"(?m)^FAILED late  \[failed, [\d.]+ s, alone: failed in turn 2 of 3\]")
        self.assertIn("attempt 3 is bad", self.log("release.late.alone2.log"))

    def test_often_flaky_is_not_repeated(self):
        """Twice within ten runs, and not mended."""
        (self.root / "tests").mkdir()
        dates = [f"2000-01-{day:02}T00:00Z" for day in range(1, 21)]
        (self.root / "tests/gate_runs.tsv").write_text("date\n" + "".join(f"{date}\tv\tquiet\t900\t5\t0\t1\tx\n" for date in dates), encoding="utf-8")
        for name, first, second, mended, repeated in (("near", 3, 12, "-", False), ("far", 3, 13, "-", True), ("mended", 3, 4, "abc1234", True), ("once", 3, None, "-", True)):
            with self.subTest(name=name):
                lines = "".join(f"{dates[at]}\tv\tlate(b{name})\t{mended}\n" for at in (first, second) if at is not None)
                (self.root / "tests/flaky.tsv").write_text("date\tversion\ttest\tmended\n" + lines, encoding="utf-8")
                self.build(f"b{name}", ("late", "real", attempt(name, 1)))
                status, printed = self.run_gate(f"b{name}")
                self.assertEqual((status, self.attempts(name)), (0, 4) if repeated else (1, 1), printed)
                self.assertEqual("flaky before, not repeated: tests/flaky.tsv" in printed, not repeated)

    def test_more_than_three_flaky_ones_are_a_failure(self):
        for number, wanted in ((3, (0, "3 passed, 0 failed")), (4, (1, "4 passed, 1 failed"))):
            with self.subTest(number=number):
                self.build(f"b{number}", *((f"late{i}", "real", attempt(f"late{number}.{i}", 1)) for i in range(number)))
                status, printed = self.run_gate(f"b{number}")
                self.assertEqual((status, printed.splitlines()[-1]), wanted)
                self.assertEqual("FAILED the machine or the tree is unstable: 4 flaky tests, 3 are allowed" in printed, number == 4)

    def test_more_than_twelve_first_failures_are_not_repeated(self):
        for number, wanted, repeated in ((12, (1, "0 passed, 12 failed"), "late12.0"), (13, (75, "0 passed, 13 failed"), None)):
            with self.subTest(number=number):
                # one that a repetition would excuse
                self.build(f"b{number}", *((f"late{i}", "exact" if i else "real", attempt(f"late{number}.{i}", 1, 2)) for i in range(number)))
                status, printed = self.run_gate(f"b{number}")
                self.assertEqual((status, printed.splitlines()[-1]), wanted)
                self.assertEqual(self.attempts(f"late{number}.0"), 2 if repeated else 1)
                self.assertEqual("the machine is not fit, or the tree is broken: 13 tests failed, none was repeated" in printed, number == 13)

    def test_skipped_with_its_reason(self):
        self.build("release", ("good", "exact", "true"), ("out", "real", "echo no such machine here; exit 77", "SKIP_RETURN_CODE 77"))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertRegex(printed, r"(?m)^skipped out: .*no such machine here")

    def test_time_is_up_for_a_test(self):
        self.build("release", ("hangs", "exact", "echo begun; exec sleep 600", "TIMEOUT 3"))
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "0 passed, 1 failed"))
        self.assertRegex(printed, r"(?m)^  \| begun$")
        self.assertIn("Timeout", self.log("release.hangs.first.log"))

    def test_program_that_is_not_there(self):
        self.build("release", ("good", "exact", "true"))
        with open(self.root / "build/release/CTestTestfile.cmake", "a", encoding="utf-8") as file:
            file.write("\nadd_test(gone /nowhere/at/all)\nset_tests_properties(gone PROPERTIES LABELS exact)\n")
        status, printed = self.run_gate("release")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("FAILED gone  [", printed)

    def test_what_is_selected(self):
        self.build("release", ("day", "exact", "true"), ("night", '"exact;nightly"', "false"))
        self.build("asan", ("of_both", '"unit;exact"', "true"), ("other", '"programs;exact"', "false"))
        self.assertEqual(self.run_gate("release", "asan:unit|fuzz")[0], 0)
        status, printed = self.run_gate("--nightly", "release", "asan:unit|fuzz")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "2 passed, 1 failed"))

    def test_name_says_the_build(self):
        self.build("release", ("good", "exact", "true"))
        self.build("asan", ("bad", "exact", "false"))
        self.assertRegex(self.run_gate("release", "asan")[1], r"(?m)^FAILED bad \(asan\)  \[failed, .*build/test-logs/asan\.bad\.first\.log$")


class Ends(Gate):
    """However it ends, the log does so with all that a reader needs, and nothing is left running."""

    def setUp(self):
        super().setUp()
        self.build("release", ("bad", "exact", "echo why; exit 3"), ("slow", "exact", "echo $$ >$HERE/slow.new; mv $HERE/slow.new $HERE/slow; exec sleep 600"),
                   ("mark", "exact", "while [ ! -e $HERE/slow ]; do sleep 0.02; done", "DEPENDS bad"), ("later", "exact", "true", "DEPENDS slow"))

    def begin(self, *words):
        """The gate, and what it had printed when `mark` had ended: by then it has read that `bad` has failed and that `slow` runs."""
        process, printed = self.start(*words, "release"), ""
        for line in process.stdout:
            printed += line
            if ": mark " in line:
                break
        return process, printed

    def check(self, process, printed, why):
        status, printed = self.ended(process, printed)
        self.assertEqual((status, printed.splitlines()[-1]), (1, "1 passed, 2 failed"), printed)
        self.assertRegex(printed, rf"(?m)^FAILED ended by {why} after \d+ s while running slow; 2 tests of the builds begun were not reached$")
        self.assertRegex(printed, r"(?m)^FAILED bad  \[failed")
        self.check_gone("slow")
        (self.root / "slow").unlink()

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process, printed = self.begin()
                process.send_signal(number)
                self.check(process, printed, number.name)

    def test_own_limit(self):
        process, printed = self.begin("--limit", "500")
        process.send_signal(signal.SIGALRM)
        self.check(process, printed, "the limit of 500 s")
        self.assertIn("FAILED ended by the limit of 1 s after ", self.run_gate("--limit", "1", "release")[1])


class Builds(Gate):
    """What is built beside the tests of the builds before."""

    def test_built_beside(self):
        made = 'echo "add_test(built sh -c true)" >build/$1/CTestTestfile.cmake; echo "set_tests_properties(built PROPERTIES LABELS exact)" >>build/$1/CTestTestfile.cmake'
        self.builder(f'echo "$*" >>words; mkdir -p build/$1; {made}; touch made-$1')
        self.build("release", ("waits", "exact", "while [ ! -e made-tsan ]; do sleep 0.02; done", f"WORKING_DIRECTORY {self.root}", "TIMEOUT 100"))
        status, printed = self.run_gate("release", "asan:exact:unit-tests more", "tsan::sanitizer-tests")
        self.assertEqual((status, printed.splitlines()[-1]), (0, "3 passed, 0 failed"))
        self.assertEqual((self.root / "words").read_text(encoding="utf-8"), "asan unit-tests more\ntsan sanitizer-tests\n")
        self.assertRegex(printed, r"(?m)^time: .*build asan \d+ s .*build tsan \d+ s")

    def test_build_that_fails_is_a_failed_test(self):
        self.builder('[ $1 = tsan ] || { echo "x.c:3: error: no such thing"; exit 1; }; mkdir -p build/$1; echo "add_test(built sh -c true)" >build/$1/CTestTestfile.cmake')
        self.build("release", ("good", "exact", "true"))
        status, printed = self.run_gate("release", "asan:exact:unit-tests", "tsan::all")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "2 passed, 1 failed"))
        self.assertRegex(printed, r"(?m)^FAILED build \(asan\)  .*\n  again: \./latecomer\.sh build-for-tests asan unit-tests\n  \| x\.c:3: error: no such thing$")

    def test_builds_that_cannot_begin(self):
        self.build("release", ("good", "exact", "true"))  # and there is no latecomer.sh
        status, printed = self.run_gate("release", "asan::all")
        self.assertEqual((status, printed.splitlines()[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("FAILED build (asan)", printed)

    def begin_a_build(self, **how):
        self.builder("echo $$ >builder.new; mv builder.new builder; sleep 600")
        self.build("release", ("good", "exact", "true"))
        process = self.start("release", "asan:exact:unit-tests", **how)
        self.wait_for("builder")
        return process

    def check_ended(self, process):
        status, printed = self.ended(process)
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"(?m)^FAILED ended by SIGTERM after ")
        self.check_gone("builder")

    def test_end_in_the_middle_of_a_build(self):
        process = self.begin_a_build()
        process.send_signal(signal.SIGTERM)
        self.check_ended(process)

    def test_end_while_a_build_begins(self):
        *python, code = GATE
        self.check_ended(self.begin_a_build(gate=[*python, code.replace("gate; ", f"gate; exec({ENDED_AT_ONCE!r}); ")]))


if __name__ == "__main__":
    unittest.main(verbosity=1)
