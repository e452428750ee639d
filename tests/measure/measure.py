#!/usr/bin/python3
"""Judges what the tool costs and how exact it is: every figure of figures.py, which the gate leaves out since a busy machine would fail it.

measure.py BUILD [PART|NAME ..] [--quick] [--limit SECONDS] [--out FILE]
measure.py --list [PART|NAME ..]
measure.py --document PAGE [--out FILE]      writes the table of FILE into PAGE, between the two comments that begin with MARK

PART is a part of the list; NAME is a figure's name, * in it stands for anything. Printed is a table: what, wanted, measured, verdict; FILE
(build/measure.json) has all of it, with the values of every run. --quick: few runs, within 600 s (or --limit); what it has no time for is not
measured, and a run that takes more than three times what it should is ended.
Exit status: 1 if a verdict is "no", else 0.

Verdicts
    yes, no         The median and both quartiles of the runs are on the same side of the bound (of one run there is no spread: its value). Of cases
                    that are counted: yes where the share wanted is reached; no where, if the promise held, so few would be right in less than one
                    of 1,000 attempts; with "all" wanted, no as soon as one is wrong. A run that fails is a no.
    too noisy here  The bound lies between the quartiles (or too few cases were counted); or the machine was busy before the runs or after them, while
                    nothing of ours ran: for more than BUSY_PRESSURE % of a second something waited for a processor (PSI, /proc/pressure/cpu),
                    or more than BUSY_USED % of all processors were in use or taken by the host (/proc/stat). Then neither can be said of a figure that
                    load changes.
    none wanted     Told, nothing is promised.
    not measured    Skipped by its test, which says why; not in this build; no time left."""
import argparse
import fnmatch
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles

from figures import FLAVOURS, PARTS, SOURCES

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/gate"))
from gate import first_line  # noqa: E402

BUSY_PRESSURE, BUSY_USED = 10.0, 25.0
QUICK_LIMIT_S, END_S = 600, 10  # END_S of it is for the end of a run that has no time left
QUICK_START_S, QUICK_TIMES = 15, 3  # a run with --quick ends after so many times what it takes on a quiet machine
YES, NO, NOISY, NONE_WANTED, NOT_MEASURED = "yes", "no", "too noisy here", "none wanted", "not measured"
MARK = "measured figures:"


# --- verdicts

def at_or_below(right, of, probability):
    """Of `of` cases that are each right with `probability`, how likely no more than `right` are."""
    return sum(math.comb(of, k) * probability ** k * (1 - probability) ** (of - k) for k in range(right + 1))


def quartiles(values):
    """Lower quartile, median, upper quartile; of one value these are it."""
    return tuple(quantiles(values, n=4, method="inclusive")) if len(values) > 1 else (values[0],) * 3


def side(wanted, value):
    """-1: too small, 0: as wanted, 1: too large."""
    if wanted.operator == "between":
        return (value > wanted.bound[1]) - (value < wanted.bound[0])
    return int(value > wanted.bound[0]) if wanted.operator == "<=" else -int(value < wanted.bound[0])


def verdict(row, values, busy):
    """values: numbers, or (right, of) where cases are counted."""
    if not values:
        return NOT_MEASURED
    if row.wanted is None:
        return NONE_WANTED
    if busy and row.load:
        return NOISY
    if row.wanted.operator == "share":
        right, of = (sum(column) for column in zip(*values))
        if right >= row.wanted.bound[0] * of - 1e-9:
            return YES
        return NO if at_or_below(right, of, row.wanted.bound[0]) < 1e-3 else NOISY
    sides = {side(row.wanted, value) for value in quartiles(values)}
    if sides == {0}:
        return YES
    return NO if len(sides) == 1 else NOISY


# --- the output of commands

def lines_of(output):
    """{name: [(value, unit)]}"""
    found = {}
    for name, value, unit in re.findall(r"^figure (\S+) (\S+) (.+?)\s*$", output, re.M):
        right, slash, of = value.partition("/")
        found.setdefault(name, []).append(((int(right), int(of)) if slash else float(value), unit))
    return found


def last_line(output):
    words = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("figure ")]
    return words[-1][:200] if words else "no output"


# --- the machine

class Machine:
    """What others do on it, looked at while nothing of ours runs."""

    def look(self, seconds=1.0):
        """Share of a second in which something waited for a processor, share of the processors that were in use, in %."""
        def now():
            ticks = [int(word) for word in first_line("/proc/stat", r"cpu +(.*)", "0 0 0 1 0").split()[:8]]
            return int(first_line("/proc/pressure/cpu", r"some .*total=(\d+)", "0")), sum(ticks), ticks[3] + ticks[4]
        before = now()
        time.sleep(seconds)
        waited, ticks, idle = (b - a for a, b in zip(before, now()))
        return {"pressure": round(min(100.0, waited / (seconds * 1e4)), 1), "used": round(100 * (1 - idle / max(ticks, 1)), 1)}

    @staticmethod
    def is_busy(looks):
        return any(look["pressure"] > BUSY_PRESSURE or look["used"] > BUSY_USED for look in looks)

    @staticmethod
    def described():
        return {"cores": os.cpu_count(), "processor": first_line("/proc/cpuinfo", r"model name\s*: (.*)", os.uname().machine), "kernel": os.uname().release}


# --- sources

class Build:
    """The tests of a build directory, as ctest would run them."""

    def __init__(self, directory):
        self.directory = Path(directory).resolve()
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.directory, capture_output=True, text=True, check=True).stdout
        self.tests = {entry["name"]: entry for entry in json.loads(shown[shown.index("{"):])["tests"]}

    def figures(self):
        return {name for name, entry in self.tests.items() if "figure" in self.properties(entry).get("LABELS", [])}

    @staticmethod
    def properties(entry):
        return {one["name"]: one["value"] for one in entry.get("properties", [])}

    def command(self, source):
        """(words, environment, directory, seconds until it counts as hanging, properties); None: not in this build."""
        if source.words:
            flavour = source.name.rpartition(".")[2]
            if flavour in FLAVOURS and not any(name.endswith(flavour) for name in self.tests):
                return None
            places = {"build": self.directory, "root": ROOT, "python": "/usr/bin/python3"}
            words = [word.format(**places) for word in source.words]
            return words, {}, self.directory, max(600, 20 * source.seconds), {"SKIP_RETURN_CODE": 77}
        entry = self.tests.get(source.name)
        if entry is None or "command" not in entry:
            return None
        properties = self.properties(entry)
        environment = dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", []))
        return entry["command"], environment, properties.get("WORKING_DIRECTORY", self.directory), float(properties.get("TIMEOUT", 1500)), properties


def end(process):
    """With what it started: launchers end their ranks when they are asked to, which have groups of their own."""
    for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 60)):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=seconds)[0] or ""
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    return ""


def run(words, environment, directory, timeout):
    """(exit status or None where it took too long, output). What it started ends with it."""
    with subprocess.Popen(words, cwd=directory, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, end(process)
        except KeyboardInterrupt:
            end(process)
            raise


class Measured:
    """The values of a source's rows."""

    def __init__(self, source, rows):
        self.source, self.rows, self.values = source, rows, {row.name: [] for row in rows}
        self.why, self.failed, self.command, self.looks = "", False, "", []

    def take(self, status, output, properties):
        """The outcome of one run; False: further ones are in vain."""
        pattern = properties.get("SKIP_REGULAR_EXPRESSION", [])
        if status is not None and (str(status) == str(properties.get("SKIP_RETURN_CODE")) or
                                   any(re.search(one, output) for one in ([pattern] if isinstance(pattern, str) else pattern))):
            self.why = f"skipped: {last_line(output)}"
            return False
        if len(self.source.rows) == 1 and not self.source.rows[0].name:
            self.values[""].append((int(status == 0), 1))
            if status != 0:
                self.why = last_line(output)
            return True
        if status != 0:
            self.failed = True
            self.why = f"took too long: {last_line(output)}" if status is None else f"exit status {status}: {last_line(output)}"
            return True
        found = lines_of(output)
        for row in self.rows:
            for value, unit in found.get(row.name, []):
                if unit != row.unit:
                    self.failed, self.why = True, f"{row.name} is told in {unit}, and wanted in {row.unit}"
                self.values[row.name].append(value)
        return True

    def entries(self):
        """What is in the file, one per row."""
        busy = Machine.is_busy(self.looks)
        for row in self.rows:
            values = self.values[row.name]
            said = verdict(row, values, busy)
            if self.failed and row.wanted:
                said = NOISY if busy and row.load else NO
            why = "" if said == YES else self.why or ("the machine is busy" if said == NOISY and busy else "")
            counted = bool(values) and isinstance(values[0], tuple)
            spread = quartiles(values) if values and not counted else None
            yield {"name": self.source.full_name(row), "source": self.source.name, "part": self.source.part, "what": row.what, "unit": row.unit,
                   "wanted": row.wanted and {"operator": row.wanted.operator, "bound": list(row.wanted.bound), "text": row.wanted.text(row.unit)},
                   "values": values, "median": median(values) if spread else None, "quartiles": spread and [spread[0], spread[2]], "runs": len(values),
                   "verdict": said, "why": why, "busy": busy, "others": self.looks, "command": self.command}


def measure(source, rows, build, machine, quick, left):
    """left(): seconds until the limit. One run after the other; the machine is looked at before and after."""
    measured = Measured(source, rows)
    runs, seconds = (source.quick, source.quick_seconds or source.seconds) if quick else (source.runs, source.seconds)
    command = build.command(source)
    if command is None:
        measured.why = "not in this build"
    elif runs == 0:
        measured.why = "not with --quick"
    elif left() < seconds:
        measured.why = "no time left"
    else:
        words, environment, directory, timeout, properties = command
        words = [*words, *(source.quick_words if quick else ())]
        measured.command = " ".join([*(f"{name}={value}" for name, value in environment.items()), *words]).replace(f"{ROOT}/", "")
        measured.looks.append(machine.look())
        for number in range(runs):
            if number > 0 and left() < seconds:
                break
            least = min(timeout, left(), QUICK_START_S + QUICK_TIMES * seconds if quick else math.inf)
            status, output = run(words, environment, directory, max(least, 1))
            if status is None and least < timeout:
                measured.why = f"ended after {least:.0f} s, to leave time for others"
                break
            if not measured.take(status, output, properties):
                break
        measured.looks.append(machine.look())
    return measured


# --- what is shown

def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value or 0:.3g}"  # no -0


def told(entry):
    """Measured: median, spread, runs."""
    values = entry["values"]
    if not values:
        return entry["why"] or "the runs gave no such value"
    if entry["quartiles"] is None:
        right, of = (sum(column) for column in zip(*values))
        return f"{right} of {of}"
    spread = f" ({number(entry['quartiles'][0])} to {number(entry['quartiles'][1])})" if len(values) > 1 else ""
    return f"{number(entry['median'])} {entry['unit']}{spread}, {len(values)} run{'s' if len(values) > 1 else ''}"


def wanted_text(entry):
    return entry["wanted"]["text"] if entry["wanted"] else "-"


HEAD = ("what", "wanted", "measured (median, quartiles, runs)", "verdict")
WIDTHS = (52, 20, 42)


def shown(cells):
    return "  ".join([*(cell.ljust(width) for cell, width in zip(cells, WIDTHS)), cells[3]]).rstrip()


def table_line(entry):
    why = f": {entry['why']}" if entry["why"] and entry["values"] else ""
    return shown((entry["name"], wanted_text(entry), told(entry), entry["verdict"] + why))


def table_lines(source, entries):
    """Of a source that gave nothing one line."""
    if len(entries) > 1 and not any(entry["values"] for entry in entries):
        return [shown((f"{source.name}.* ({len(entries)})", "", told(entries[0]), entries[0]["verdict"]))]
    return [table_line(entry) for entry in entries]


def summary(entries):
    counts = {word: sum(entry["verdict"] == word for entry in entries) for word in (YES, NO, NOISY, NONE_WANTED, NOT_MEASURED)}
    return f"{len(entries)} figures: " + ", ".join(f"{n} {word}" for word, n in counts.items() if n)


def page_text(result):
    """The table in Markdown, of what was measured."""
    machine, entries = result["machine"], [entry for entry in result["figures"] if entry["values"] or entry["verdict"] == NO]
    busy = sum(entry["busy"] for entry in entries)
    lines = [f"Measured {result['date'][:10]} with version {result['version']} ({result['commit'] or 'commit not known'}){', --quick' if result['quick'] else ''}: {machine['processor']}, "
             f"{machine['cores']} cores, Linux {machine['kernel']}, load {result['load'][0]:.1f} at the beginning and {result['load'][1]:.1f} at the end.",
             f"The machine was busy at {busy} of {len(entries)} figures." if busy else "No other work was seen on it, before or after any of them.",
             f"{summary(result['figures'])}; medians, in brackets quartiles.", ""]
    for part in PARTS:
        rows = [entry for entry in entries if entry["part"] == part]
        if rows:
            lines += [f"| {part} | wanted | measured | verdict |", "|---|---|---|---|"]
            lines += [f"| {entry['what']} (`{entry['name']}`) | {wanted_text(entry)} | {told(entry)} | {entry['verdict']} |" for entry in rows] + [""]
    return "\n".join([*lines, *not_measured_text(result["figures"])])


def not_measured_text(entries):
    """Lines that name what gave no value, by the reason: figures, or their source and how many figures it has."""
    reasons = {}
    for entry in entries:
        if not entry["values"] and entry["verdict"] != NO:  # which are rows of the table
            reasons.setdefault(entry["why"] or "the runs gave no such value", {}).setdefault(entry["source"], []).append(entry["name"])
    for why, sources in reasons.items():
        names = [f"`{name[0]}`" if len(name) == 1 else f"`{source}.*` ({len(name)})" for source, name in sources.items()]
        yield f"Not measured: {why}: {', '.join(names)}.\n"


def document(page, result):
    """Puts the table between the two comments of a page."""
    text = Path(page).read_text(encoding="utf-8")
    begin, end = f"<!-- {MARK} begin -->\n", f"<!-- {MARK} end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"measure.py: {page} has no two comments: {begin.strip()} and {end}")
    head, _, rest = text.partition(begin)
    Path(page).write_text(f"{head}{begin}{page_text(result)}{end}{rest.partition(end)[2]}", encoding="utf-8")


# ---

def chosen(words):
    """[(source, rows)] of parts and names."""
    for word in words:
        if word not in PARTS and not any(fnmatch.fnmatchcase(source.full_name(row), word) for source in SOURCES for row in source.rows):
            raise SystemExit(f"measure.py: {word} is no part ({', '.join(PARTS)}) and no figure's name (--list)")
    for source in SOURCES:
        rows = [row for row in source.rows if not words or source.part in words or any(fnmatch.fnmatchcase(source.full_name(row), word) for word in words)]
        if rows:
            yield source, rows


def list_all(words):
    print(f"{'part':10}{'figure':58}{'wanted':22}runs  with --quick")
    for source, rows in chosen(words):
        for row in rows:
            print(f"{source.part:10}{source.full_name(row):58}{row.wanted.text(row.unit) if row.wanted else '-':22}{source.runs:4}{source.quick:14}")
            print(f"{'':10}  {row.what}")


def commit():
    """That of the sources, "" where they come without git."""
    try:
        return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def measure_all(args):
    build, machine = Build(args.build), Machine()
    begin, load = time.monotonic(), os.getloadavg()[0]
    limit = args.limit or (QUICK_LIMIT_S if args.quick else None)
    version = subprocess.run([build.directory / "bin/latecomer", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    result = {"version": version, "commit": commit(), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": Machine.described(), "quick": args.quick}
    entries, ended = [], ""

    def save():
        """After every source: it may be a run of hours."""
        result.update(load=[load, os.getloadavg()[0]], seconds=round(time.monotonic() - begin), figures=entries)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")

    def left():
        return limit - END_S - (time.monotonic() - begin) if limit else math.inf

    def interrupted(*_):
        raise KeyboardInterrupt

    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupted)
    print(shown(HEAD), flush=True)
    try:
        for source, rows in chosen(args.what):
            found = list(measure(source, rows, build, machine, args.quick, left).entries())
            entries += found
            if found[0]["why"] != "not with --quick":
                print(*table_lines(source, found), sep="\n", flush=True)
            save()
    except KeyboardInterrupt:
        ended = "interrupted; "
        save()
    print(f"{ended}{summary(entries)}; load {load:.1f} before, {result['load'][1]:.1f} after; {result['seconds']} s; all values: {args.out}")
    return any(entry["verdict"] == NO for entry in entries) or bool(ended)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="BUILD [PART|NAME ..]")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=float, help="seconds")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--document", metavar="PAGE")
    parser.add_argument("--out", type=Path, default=Path("build/measure.json"), metavar="FILE")
    args = parser.parse_intermixed_args()
    if args.list:
        list_all(args.words)
        return 0
    if args.document:
        document(args.document, json.loads(args.out.read_text(encoding="utf-8")))
        return 0
    if not args.words:
        parser.error("a build directory is wanted")
    args.build, *args.what = args.words
    list(chosen(args.what))  # mistakes are told before anything runs
    return int(measure_all(args))


if __name__ == "__main__":
    sys.exit(main())
