#!/usr/bin/python3
"""Runs the tests of several builds, repeats what may be repeated, and ends with everything that a reader needs.

gate.py [--nightly] [--limit SECONDS] [--times TEXT] BUILD[:LABELS[:TARGETS]] ..
    BUILD as in build/BUILD; LABELS: regular expression of ctest -L; TARGETS: what has to be built first, which is done beside the tests of
    the builds before (latecomer.sh build-for-tests)
gate.py --patience      prints the factor for limits of time on this machine as it is now

A failed test labelled `real` is repeated three times alone, when everything else is done and the machine has come to rest: if all three
pass, it is flaky, and listed as such; more than FLAKY_AT_MOST of these, or more than FIRST_AT_MOST first failures, are no accident, and the gate fails.
A test that tests/flaky.tsv has twice within RUNS_LOOKED_AT runs, and that is not mended, is not repeated.
Tests labelled `exact` are never repeated. Logs of failed attempts are kept in build/test-logs. The end of the output says of each failed
test how to repeat it alone, and what it said; the last line is "N passed, N failed". So it is when a signal or --limit ends the run.
Exit status: 0 if nothing failed, 1 otherwise, 75 if the machine is not fit (FIRST_AT_MOST)."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml
from pathlib import Path

FLAKY_AT_MOST, FIRST_AT_MOST, ALONE, RUNS_LOOKED_AT = 3, 12, 3, 10
QUIET_PRESSURE, QUIET_WAIT_S = 20.0, 180
AT_ONCE = min(8, 2 * len(os.sched_getaffinity(0)))  # PROCESSORS of a test is in halves of cores: tests.cmake
LOG_LINES, LINE_CHARACTERS = 15, 300
LOGS = Path("build/test-logs")
FLAKY, RUNS = Path("tests/flaky.tsv"), Path("tests/gate_runs.tsv")  # gate_check.sh writes them
NOT_FIT = 75


class Ended(Exception):
    """The run has to stop: a signal, or the limit of time."""


def loop_seconds(times=2_000_000):
    """Seconds of the clock for a fixed piece of work: what other work on the machine takes from us is in it."""
    begin, x = time.monotonic(), 1
    for _ in range(times):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return time.monotonic() - begin


def patience():
    """3 on a machine that does the work in 0.3 s, more on a slower or busier one."""
    slowest = max(loop_seconds() for _ in range(3))
    return max(3, min(15, round(3 * slowest / 0.3)))


def first_line(path, pattern=r"(.*)", default="?"):
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"))
    except OSError:
        return default
    return found.group(1).strip() if found else default


def pressure():
    """Share of the last ten seconds in which something waited for a processor, in %; 0 where the kernel does not tell."""
    return float(first_line("/proc/pressure/cpu", r"some avg10=([\d.]+)", "0"))


def ticks():
    """(stolen, idle, all) ticks of the processors since the machine started."""
    found = [int(word) for word in first_line("/proc/stat", r"cpu +(.*)", "0").split()]
    return (found[7], found[3] + found[4], sum(found)) if len(found) > 7 else (0, 0, 0)


def shares(since):
    """Percent of the processors' time since `since` that was stolen, and that was used."""
    stolen, idle, whole = (now - then for now, then in zip(ticks(), since))
    return 100 * stolen / max(whole, 1), 100 * (whole - idle) / max(whole, 1)


class Machine:
    def __init__(self):
        self.load, self.begin = os.getloadavg()[0], ticks()
        self.loop = min(loop_seconds(200_000) for _ in range(5))  # machines of one kind differ by half, and from hour to hour

    def told(self):
        stolen, used = shares(self.begin)
        return (f"machine: {os.cpu_count()} cores, loop {1e4 * self.loop:.0f} ms, load {self.load:.1f} before, {os.getloadavg()[0]:.1f} after, "
                f"{used:.0f} % of them used, cpu pressure {pressure():.0f} %, steal {stolen:.1f} %, "
                f"{shutil.disk_usage('.').free / 1e9:.0f} GB free, kernel {os.uname().release}, perf_event_paranoid "
                f"{first_line('/proc/sys/kernel/perf_event_paranoid')}, mmap_rnd_bits {first_line('/proc/sys/vm/mmap_rnd_bits')}")


def lines_of(table, columns):
    """Those that have so many columns."""
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()[1:]] if table.exists() else []
    return [line for line in lines if len(line) == columns]


def often_flaky():
    """Tests that were flaky twice within RUNS_LOOKED_AT runs and are not mended: a repetition would hide what is wrong with them."""
    runs = {line[0] for line in lines_of(RUNS, 8)}
    found = {}
    for date, _, test, mended in lines_of(FLAKY, 4):
        if mended == "-":
            found.setdefault(test, []).append(sum(run <= date for run in runs))
    return {test for test, at in found.items() if any(b - a < RUNS_LOOKED_AT for a, b in zip(sorted(at), sorted(at)[1:]))}


class Test:
    def __init__(self, build, entry):
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.build, self.name, self.labels = build, entry["name"], properties.get("LABELS", [])
        self.status, self.seconds, self.output, self.alone = "not reached", 0.0, "", ""
        self.again = f"ctest --test-dir build/{build} -R '^{re.escape(self.name)}$' -FA '.*' --output-on-failure"

    def title(self):
        return self.name if self.build == "release" else f"{self.name} ({self.build})"

    def take(self, status, why, case):
        """What came out: status, what ctest said of it (Timeout, Exception: SegFault), its JUnit test case (None where the run was ended)."""
        self.status = status
        if case is not None:
            self.seconds = float(case.get("time") or 0)
            self.output = case.findtext("system-out") or ""
        if status == "failed" and why != "Failed":
            self.output += f"\nctest: {why}\n"
        if status in ("failed", "not run"):
            self.log("first").write_text(self.output, encoding="utf-8")

    def log(self, attempt):
        return LOGS / f"{self.build}.{self.name}.{attempt}.log"


class Builder(threading.Thread):
    """Makes builds one after the other, with what the tests leave of the processors."""

    def __init__(self, wanted):
        """wanted: build -> targets."""
        super().__init__(daemon=True)
        self.wanted, self.done = wanted, {build: threading.Event() for build in wanted}
        self.failures, self.seconds = {}, {}
        self.lock, self.process, self.stopped = threading.Lock(), None, False

    def run(self):
        for build, targets in self.wanted.items():
            begin = time.monotonic()
            try:
                failure = self.make(build, targets)
            except OSError as error:
                failure = str(error)
            if failure is not None:
                self.failures[build] = failure
            self.seconds[build] = time.monotonic() - begin
            self.done[build].set()

    def make(self, build, targets):
        """None, or what was printed by a build that failed."""
        with self.lock:
            if self.stopped:
                return "stopped"
            self.process = subprocess.Popen(["nice", "-n", "19", "./latecomer.sh", "build-for-tests", build, *targets], stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            Path(f"/proc/{self.process.pid}/autogroup").write_text("19", encoding="ascii")  # where sessions share the processors, not processes
        except OSError:
            pass
        output = self.process.communicate()[0]
        return None if self.process.returncode == 0 else output

    def wait(self, build):
        """When the build is there: what it printed if it failed, and None if not. In slices, for signals."""
        while not self.done[build].wait(0.5):
            pass
        return self.failures.get(build)

    def stop(self):
        with self.lock:
            self.stopped = True
            if self.process and self.process.poll() is None:
                end_group(self.process.pid)


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGTERM)
        time.sleep(2)
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def heed(handler):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, handler)


class Run:
    """One ctest after another; what is running now."""

    def __init__(self, limit, times):
        self.machine, self.begin, self.limit, self.times = Machine(), time.monotonic(), limit, [times] if times else []
        self.tests, self.running, self.ended = [], {}, None
        self.builder = Builder({})

    def begin_to_heed(self):
        heed(self.stop)
        if self.limit:
            signal.alarm(self.limit)

    def stop(self, number, _):
        heed(signal.SIG_IGN)  # the end is on its way
        what = f"the limit of {self.limit} s" if number == signal.SIGALRM else signal.Signals(number).name
        raise Ended(f"ended by {what} after {self.seconds()} s")

    def seconds(self):
        return round(time.monotonic() - self.begin)

    def hear(self, line, seen):
        """A line of ctest's: what runs now; what has ended goes into `seen` and is printed."""
        started = re.match(r" +Start +(\d+): (\S+)", line)
        finished = re.match(r" *(?:\d+/\d+)? +Test +#(\d+): (\S+) [. ]*(?:\*\*\*)?(\w.*?) +[\d.]+ sec", line)
        if started:
            self.running[started[1]] = started[2]
        elif finished:
            self.running.pop(finished[1], None)
            seen[finished[2]] = {"Passed": "passed", "Skipped": "skipped"}.get(finished[3], "failed"), finished[3]
            print(line, end="", flush=True)
        elif re.match(r"No tests were found|Unable to|CMake Error", line):
            print(line, end="", flush=True)

    def call_ctest(self, build, words, seen):
        """Prints one line per test as they end, and sets seen[name] to its status and ctest's words; returns the JUnit file's test cases by name."""
        report = LOGS / f"{build}.xml"
        report.unlink(missing_ok=True)
        words = ["ctest", "--test-dir", f"build/{build}", "--no-tests=error", "--output-junit", str(report.absolute()),
                 "--test-output-size-failed", "65536", "--test-output-size-passed", "256", *words]
        ctest = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        reader = threading.Thread(target=lambda: [self.hear(line, seen) for line in ctest.stdout], daemon=True)
        reader.start()
        try:
            while reader.is_alive():  # a signal that comes just before a call that waits is seen after it
                reader.join(0.5)
        except Ended:
            end_group(ctest.pid)
            reader.join()  # what it had said by then
            raise
        finally:
            ctest.wait()
        self.running.clear()
        try:
            return {case.get("name"): case for case in xml.parse(report).getroot().iter("testcase")}
        except (OSError, xml.ParseError):
            return {}

    def wait_for_build(self, build):
        """Whether it can be tested; if not, that is a failed test."""
        begin = time.monotonic()
        self.running["build"] = f"the build of build/{build}"
        printed = self.builder.wait(build)
        self.running.clear()
        self.times.append(f"build {build} {self.builder.seconds[build]:.0f} s ({time.monotonic() - begin:.0f} s waited for)")
        if printed is None:
            return True
        test = Test(build, {"name": "build"})
        test.status, test.output, test.seconds = "failed", printed, self.builder.seconds[build]
        test.again = f"./latecomer.sh build-for-tests {build} {' '.join(self.builder.wanted[build])}"
        test.log("first").write_text(printed, encoding="utf-8")
        self.tests.append(test)
        return False

    def run_build(self, build, select):
        begin, since = time.monotonic(), ticks()
        listed = subprocess.run(["ctest", "--test-dir", f"build/{build}", "--show-only=json-v1", *select], capture_output=True, text=True, check=True)
        # a list of this size comes behind ctest's own first line
        known = [Test(build, entry) for entry in json.loads(listed.stdout[listed.stdout.index("{"):])["tests"]]
        print(f"== build/{build}: {len(known)} tests", flush=True)
        self.tests += known
        seen, cases = {}, {}
        try:
            cases = self.call_ctest(build, [f"-j{AT_ONCE}", *select], seen)
        finally:
            for test in known:
                status, why = seen.get(test.name, ("not run" if cases else "not reached", ""))
                test.take(status, why, cases.get(test.name))
            self.times.append(f"{build} {time.monotonic() - begin:.0f} s (cores used {shares(since)[1]:.0f} %)")

    def repeat(self, test):
        for turn in range(1, ALONE + 1):
            seen = {}
            case = self.call_ctest(test.build, ["-R", f"^{re.escape(test.name)}$", "-FA", ".*"], seen).get(test.name)
            if seen.get(test.name, ("", ""))[0] != "passed":
                output = case.findtext("system-out") if case is not None else None
                test.log(f"alone{turn}").write_text(output or "", encoding="utf-8")
                test.alone = f"alone: failed in turn {turn} of {ALONE}"
                return
        test.alone, test.status = f"{ALONE} of {ALONE} alone", "flaky"

    def repeat_failed(self):
        failed = self.failed()
        if not failed or len(failed) > FIRST_AT_MOST:
            return
        begin, often = time.monotonic(), often_flaky()
        for test in failed:
            if test.title().replace(" ", "") in often:
                test.alone = f"flaky before, not repeated: {FLAKY}"
        candidates = [test for test in failed if "real" in test.labels and test.status == "failed" and not test.alone]
        print(f"== {len(failed)} failed, {len(candidates)} of them are repeated {ALONE} times, alone", flush=True)
        while candidates and pressure() > QUIET_PRESSURE and time.monotonic() - begin < QUIET_WAIT_S:
            time.sleep(5)
        for test in candidates:
            self.repeat(test)
        self.times.append(f"alone {time.monotonic() - begin:.0f} s")

    def failed(self):
        return [test for test in self.tests if test.status in ("failed", "not run")]

    def summary(self):
        failed = self.failed()
        flaky = [test for test in self.tests if test.status == "flaky"]
        skipped = [test for test in self.tests if test.status == "skipped"]
        print()
        for test in skipped:
            words = [line for line in test.output.splitlines() if line.strip()]
            print(f"skipped {test.title()}: {words[-1][:LINE_CHARACTERS] if words else 'no reason given'}")
        if flaky:
            print(f"flaky (failed, then {ALONE} of {ALONE} alone):")
            for test in flaky:
                print(f"  {test.title()}  {test.log('first')}")
        for test in failed[:40]:
            print(f"FAILED {test.title()}  [{test.status}, {test.seconds:.1f} s{', ' + test.alone if test.alone else ''}]  {test.log('first')}")
            print(f"  again: {test.again}")
            for line in [line for line in test.output.splitlines() if line.strip()][-LOG_LINES:]:
                print(f"  | {line[:LINE_CHARACTERS]}")
        if len(failed) > 40:
            print(f"FAILED and {len(failed) - 40} more: {' '.join(test.title() for test in failed[40:])}")
        bad = len(failed)
        if len(flaky) > FLAKY_AT_MOST:
            print(f"FAILED the machine or the tree is unstable: {len(flaky)} flaky tests, {FLAKY_AT_MOST} are allowed")
            bad += 1
        first = len(failed) + len(flaky)
        if first > FIRST_AT_MOST:
            print(f"the machine is not fit, or the tree is broken: {first} tests failed, none was repeated")
        if self.ended:
            left = sum(test.status == "not reached" for test in self.tests)
            print(f"FAILED {self.ended}; {left} tests of the builds begun were not reached")
            bad += 1
        print(self.machine.told())
        print(f"time: {', '.join(self.times)}, tests {self.seconds()} s{f', limit {self.limit} s' if self.limit else ''}, "
              f"limits of tests x {os.environ.get('LC_PATIENCE', '3')}")
        passed = sum(test.status in ("passed", "flaky") for test in self.tests)
        left_out = f", {len(skipped)} skipped" if skipped else ""
        print(f"{passed} passed, {bad} failed{left_out}", flush=True)
        if not bad:
            return 0
        return NOT_FIT if first > FIRST_AT_MOST and not self.ended else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patience", action="store_true")
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--times", default="", help="what went before, for the line of times")
    parser.add_argument("builds", nargs="*")
    args = parser.parse_args()
    if args.patience:
        print(patience())
        return 0
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    run = Run(args.limit, args.times)
    try:
        run.begin_to_heed()
        builds = [(*word.split(":"), "", "")[:3] for word in args.builds]
        run.builder = Builder({build: targets.split() for build, _, targets in builds if targets})
        run.builder.start()  # not before it is there to be stopped
        for build, labels, targets in builds:
            if not targets or run.wait_for_build(build):
                run.run_build(build, (["-L", labels] if labels else []) + ([] if args.nightly else ["-LE", "nightly"]))
        run.repeat_failed()
    except Ended as ended:
        run.ended = f"{ended} while running {', '.join(run.running.values()) or 'nothing'}"
        run.builder.stop()
    heed(signal.SIG_IGN)
    return run.summary()


if __name__ == "__main__":
    sys.exit(main())
