#!/usr/bin/python3
"""The long tests, in slices: `./latecomer.sh nightly PART [--minutes M] [--seed S]` builds what the part needs and calls this.

nightly.py PART [--minutes M] [--seed S] [--only WORD] [--hold FILE]
                                           items of the part (parts.py) one after the other until M minutes are over (60 at most), from where the
                                           last slice of tests/nightly.tsv ended, or from number S; adds a line to that file;
                                           with --only those with this word in their names: the others are passed over;
                                           while FILE is there nothing new begins: items, launches of sim.truth
nightly.py --list [PART]                   the parts; what the next turn of a part would run, with the commands
nightly.py --sums                          what all slices together have tried, by part, and how many seeds, pairs or mutations of each kind passed
nightly.py --check BUILD_DIR               every part can name its items from the tests of this build; runs nothing
nightly.py --builds PART                   presets and targets that the part needs, one preset a line
nightly.py --version                       of the tree, as in the tables

A number that was run once is repeated by --seed NUMBER --minutes 1, which adds no line, or by the command that is printed with each failure. An item that the end of
the slice cuts off is the first of the next one; only if it had all of 60 minutes it has failed. Exit status: 1 if something failed."""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import parts  # noqa: E402
from busy import Busy  # noqa: E402
from patience import is_held  # noqa: E402

TABLE = ROOT / "tests/nightly.tsv"
COLUMNS = ["part", "version", "first", "last", "minutes", "passed", "failed", "names of failed", "cases passed"]
SKIPPED, LOG_LINES, MOST_MINUTES = 77, 30, 60
TURNS_CHECKED = 2


class Ended(Exception):
    """The slice has to stop: a signal."""


def version():
    """As git describes it, with -dirty if something is changed but the tables of results."""
    done = subprocess.run(["git", "describe", "--always"], cwd=ROOT, capture_output=True, text=True, check=False)
    same = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", ".", *(f":!tests/{name}.tsv" for name in ("nightly", "gate_runs"))], cwd=ROOT, check=False)
    return (done.stdout.strip() or "unknown") + ("-dirty" if same.returncode == 1 else "")


def end(pid):
    """The process and all below it, in whatever sessions they are."""
    for number, seconds in ((signal.SIGTERM, 2), (signal.SIGKILL, 0)):
        tree = [pid]
        for each in tree:
            try:
                tree += map(int, Path(f"/proc/{each}/task/{each}/children").read_text(encoding="ascii").split())
            except OSError:
                pass
        for each in tree:
            try:
                os.kill(each, number)
            except ProcessLookupError:
                pass
        time.sleep(seconds)


def lines_of(part=None):
    """Lines of the table as dictionaries, of one part or all."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:] if TABLE.exists() else []
    return [line for line in (dict(zip(COLUMNS, line.split("\t"))) for line in lines) if part in (None, line["part"])]


def next_number(part):
    """Behind the largest number of any slice of this part: no seed is tried twice."""
    return max((int(line["last"]) + 1 for line in lines_of(part)), default=0)


def told(right, of):
    return f"{right}/{of}" if of else str(right)


def sums():
    """Lines that say what the slices of the table come to."""
    for part in parts.PARTS:
        lines, right, of = lines_of(part), Counter(), Counter()
        for line in lines:
            for word in line["cases passed"].split() if line["cases passed"] != "-" else ():
                kind, _, number = word.rpartition("=")
                passed, _, tried = number.partition("/")
                right[kind] += int(passed)
                of[kind] += int(tried or 0)
        passed, failed, minutes = (sum(int(line[column]) for line in lines) for column in ("passed", "failed", "minutes"))
        yield f"{part}: {len(lines)} slices, {minutes} minutes, {passed} passed, {failed} failed"
        yield from (f"  {told(right[kind], of[kind]):>8} {kind}" for kind in sorted(right))


def shown(item):
    return shlex.join([*(["env", *(f"{key}={value}" for key, value in item.env.items())] if item.env else []), *item.command])


def item_of(kinds, number):
    return kinds[number % len(kinds)](number // len(kinds))


class Slice:
    def __init__(self, part, minutes, number, only=""):
        self.only, self.part, self.begin, self.end, self.longest = only, part, time.monotonic(), time.monotonic() + 60 * minutes, minutes == MOST_MINUTES
        self.first, self.next, self.passed, self.skipped, self.failed = number, number, 0, 0, []
        self.in_vain = 0  # skipped one after the other
        self.cases, self.version = Counter(), version()  # that of the beginning: what is committed meanwhile is not what runs
        self.right, self.of = Counter(), Counter()  # of tally lines (tests/figure.py)

    def minutes(self):
        return (time.monotonic() - self.begin) / 60

    def run(self, item, preexec):
        """Exit status and output; None: the slice ended before it did."""
        with subprocess.Popen(item.command, cwd=ROOT, env={**os.environ, **item.env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, preexec_fn=preexec) as process:
            try:
                output, _ = process.communicate(timeout=max(0.1, self.end - time.monotonic()))
                return process.returncode, output
            except (subprocess.TimeoutExpired, Ended) as why:
                end(process.pid)
                process.communicate()
                if isinstance(why, Ended):
                    raise
                return None, ""

    def take(self, item, preexec):
        """False: the slice is over."""
        begin = time.monotonic()
        status, output = self.run(item, preexec)
        seconds = time.monotonic() - begin
        if status == 0 and "***Skipped" in output:  # of a test in ctest, which ends with 0 then
            status = SKIPPED
        if status is None and (item.resumes or self.next > self.first or not self.longest):
            print(f"#{self.next} {item.name}: cut off after {seconds:.0f} s, the next slice begins with it")
            return False
        number, self.next = self.next, self.next + 1
        for name, right, of in re.findall(r"^tally (\S+) (\d+)/(\d+)$", output, re.M):
            self.right[f"{item.kind}:{name}"] += int(right)
            self.of[f"{item.kind}:{name}"] += int(of)
        self.in_vain = self.in_vain + 1 if status == SKIPPED else 0
        if status == 0:
            self.passed += 1
            self.cases[item.kind] += item.cases
            said = "passed"
        elif status == SKIPPED:
            self.skipped += 1
            said = f"skipped: {(output.strip().splitlines() or ['no reason given'])[-1]}"
        else:
            self.failed.append((number, item))
            said = "FAILED" if status is not None else "FAILED: it takes longer than a slice"
        print(f"#{number} {item.name}: {said} [{seconds:.0f} s]", flush=True)
        if self.failed and self.failed[-1][0] == number:
            print("\n".join(f"  | {line[:300]}" for line in output.splitlines()[-LOG_LINES:]), flush=True)
            print(f"  again: {shown(item)}", flush=True)
        return status is not None

    def go(self, kinds, preexec=None):
        while time.monotonic() < self.end and self.in_vain < len(kinds):
            item = item_of(kinds, self.next)
            if is_held():
                time.sleep(1)
            elif self.only not in item.name:
                self.next += 1
            elif not self.take(item, preexec):
                break

    def note(self):
        """A line of the table, unless these numbers were run before."""
        if self.passed + self.skipped + len(self.failed) == 0 or self.first < next_number(self.part):
            return
        words = {kind: str(number) for kind, number in self.cases.items() if number} | {kind: told(self.right[kind], of) for kind, of in self.of.items() if of}
        cases = " ".join(f"{kind.replace(' ', '')}={number}" for kind, number in sorted(words.items())) or "-"
        names = " ".join(item.name.replace(" ", "_") for _, item in self.failed) or "-"
        fields = [self.part, self.version, self.first, self.next - 1, round(self.minutes()), self.passed, len(self.failed), names, cases]
        new = not TABLE.exists()
        with TABLE.open("a", encoding="utf-8") as table:
            if new:
                table.write("\t".join(COLUMNS) + "\n")
            table.write("\t".join(map(str, fields)) + "\n")

    def summary(self):
        print(f"\n{self.part}: numbers {self.first} to {self.next - 1} in {self.minutes():.1f} minutes, {self.skipped} skipped")
        for number, item in self.failed:
            print(f"FAILED #{number} {item.name}\n  again: {shown(item)}")
        print(f"{self.passed} passed, {len(self.failed)} failed", flush=True)


def run_slice(part, minutes, number, only):
    def stop(signo, _):
        raise Ended(signal.Signals(signo).name)

    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, stop)
    kinds = parts.kinds_of(part)
    if not any(only in kind(0).name for kind in kinds):
        raise SystemExit(f"--only {only}: no item of {part} has this word in its name: see --list {part}")
    parts.SCRATCH.mkdir(parents=True, exist_ok=True)
    piece = Slice(part, minutes, number, only)
    print(f"{part}: from number {number}, {len(kinds)} kinds of items, {minutes} minutes, version {piece.version}", flush=True)
    try:
        if parts.PARTS[part].loaded:
            with Busy(parts.SCRATCH) as busy:
                print(busy.told(), flush=True)
                piece.go(kinds, busy.enter)
        else:
            piece.go(kinds)
    except Ended as ended:
        print(f"ended by {ended}")
    piece.summary()
    piece.note()
    return bool(piece.failed)


def check(build):
    """Every part whose tests are all of this build names items. Others are not looked at: the gate may be making their builds just now."""
    bad = 0
    for name, part in parts.PARTS.items():
        presets = [preset for preset, *_ in part.builds]
        if any(preset != build.name for preset in presets):
            print(f"{name}: needs build/{' and build/'.join(presets)}: not looked at")
            continue
        kinds = parts.kinds_of(name)
        items = [item_of(kinds, number) for number in range(TURNS_CHECKED * len(kinds))]
        names = [item.name for item in items[:len(kinds)]]
        missing = sorted({word for item in items for word in item.command if word.endswith((".py", ".sh")) and not (ROOT / word).is_file()})
        twice = sorted({name for name in names if names.count(name) > 1})
        bad += bool(missing or twice or not items)
        print(f"{name}: {len(kinds)} kinds{', MISSING ' + ' '.join(missing) if missing else ''}{', TWICE ' + ' '.join(twice) if twice else ''}")
    return bool(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=list(parts.PARTS), metavar="PART")
    parser.add_argument("--minutes", type=float, default=MOST_MINUTES)
    parser.add_argument("--seed", type=int, metavar="S")
    parser.add_argument("--only", metavar="WORD", default="")
    parser.add_argument("--hold", type=Path, metavar="FILE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sums", action="store_true")
    parser.add_argument("--builds", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--check", type=Path, metavar="BUILD_DIR")
    args = parser.parse_args()
    os.chdir(ROOT)
    if args.version:
        print(version())
        return 0
    if args.sums:
        print("\n".join(sums()))
        return 0
    if args.check:
        return check(args.check)
    if args.list and not args.part:
        print("\n".join(parts.PARTS))
        return 0
    if not args.part:
        parser.error(f"which part? {', '.join(parts.PARTS)}")
    if args.builds:
        for build in parts.PARTS[args.part].builds:  # of some parts none: no line, which latecomer.sh would build
            print(" ".join(build))
        return 0
    if not 0 < args.minutes <= MOST_MINUTES:
        parser.error(f"--minutes: more than 0 and at most {MOST_MINUTES}")
    if args.hold:
        os.environ["LC_HOLD"] = str(args.hold.absolute())
    number = args.seed if args.seed is not None else next_number(args.part)
    if args.list:
        kinds = parts.kinds_of(args.part)
        for n in range(number, number + len(kinds)):
            item = item_of(kinds, n)
            print(f"#{n} {item.name}: {shown(item)}")
        return 0
    return run_slice(args.part, args.minutes, number, args.only)


if __name__ == "__main__":
    sys.exit(main())
