#!/usr/bin/python3
"""The fault matrix: how programs end, bare and under the tool, and what the tool preserves.

fault_matrix.py --latecomer BIN --programs DIR [--flavour F] [--case NAME] [--repeat N] [--document FILE] [--list]
One line of a Markdown table per ending and flavour; exit status 1 if the tool changed the program's exit status or output, lost calls
that it must preserve, left something behind, or took longer than the bare run by more than the bound. 77: not possible here.
--repeat: every ending that is not a success is run N times bare and N times measured with MPICH, whose launcher does not always give the
same exit status, twice with Open MPI; all exit statuses are shown; --document: the table replaces what follows the line `<!-- table -->` of the file.

A measured run may have the exit status of the bare run, or one of those that the launcher can make of such an ending (launcher_statuses.py):
which of these it is, is a race between ranks that die together, bare as well."""
import argparse
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

import fault_cases
from fault_cases import NotPossible, RANKS, ROUNDS
from launch import Workspace, calls_seen, kill_descendants, survivors, wait_for_survivors  # found by fault_cases
from patience import patience  # noqa: E402

BOUND_S = patience(5)  # more time to end than bare: what the parents may need on a busy machine

HEADER = ("| ending | MPI | preserved (rank 0, 1, 2) | `meta.ending` | exit status bare / measured | s to end bare / measured | verdict |\n"
          "|---|---|---|---|---|---|---|")


class Row:
    """One ending with one flavour: both runs and the verdict."""

    def __init__(self, args, flavour, name):
        self.args, self.flavour, self.name = args, flavour, name
        self.problems, self.preserved, self.ending = [], "-", "-"
        self.bare = self.measured = None
        self.bare_end = self.measured_end = 0.0
        self.left_by_launcher = False
        self.bare_statuses, self.measured_statuses = Counter(), Counter()

    def program(self, name="faults"):
        return f"{self.args.programs}/{name}-{self.flavour}"

    def run(self, space, command, send=None, measured=False, action=None):
        """Starts, waits until all ranks are ready, lets them go on, does `action`, sends the signal; the outcome, and the seconds from then to the end."""
        for path in (space.root / "tally").iterdir():
            path.unlink()
        begin = time.monotonic()
        with open(space.root / "out", "w+", encoding="utf-8") as out, open(space.root / "err", "w+", encoding="utf-8") as err:
            process = space.start(command, stdout=out, stderr=err)
            text = space.root / "out"
            while time.monotonic() - begin < patience(60) and process.poll() is None:
                if text.read_text(errors="replace").count("ready") >= RANKS:
                    break
                time.sleep(0.02)
            (space.root / "tally" / "go").touch()
            ready = time.monotonic()
            if (send or action) and process.poll() is None:
                time.sleep(0.2)
                if action:
                    action()
                targets = self.targets(space, send[1], process.pid, measured) if send else []
                ready = time.monotonic()
                for pid in targets:
                    os.kill(pid, send[0])
            outcome = space.finish(process, begin, patience(45))
            end = time.monotonic() - ready
            out.seek(0)
            err.seek(0)
            outcome.out, outcome.err = out.read(), err.read()
        return outcome, end

    @staticmethod
    def targets(space, whom, launcher, measured):
        pids = {int(p.name[4:]): int(p.read_text()) for p in (space.root / "tally").glob("pid.*") if p.read_text().strip()}
        if whom == "launcher":
            return [launcher]
        if whom == "rank":
            return [pids[1]]
        # a task is what the launcher started: the parent of the program, if there is one
        parents = {rank: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for rank, pid in pids.items()}
        tasks = parents if measured else pids
        return [tasks[1]] if whom == "task" else list(tasks.values())

    def both(self, space, bare_command, measured_command, send=None, action=None, possible=frozenset()):
        """Bare, measured, then as often again as wanted; the last measured run's files stay. possible: exit statuses of such an ending."""
        times = self.args.repeat if self.flavour == "mpich" else min(2, self.args.repeat)
        for turn in range(times):
            self.bare, end = self.run(space, bare_command, send)
            self.bare_statuses[self.bare.status] += 1
            self.bare_end = max(self.bare_end, end)
            self.left_by_launcher |= self.end_survivors(space)
            self.forget_results(space)
            self.measured, end = self.run(space, measured_command, send, True, action)
            self.measured_statuses[self.measured.status] += 1
            self.measured_end = max(self.measured_end, end)
            wait_for_survivors(space.root)
            if self.bare.status == 0 and self.measured.status == 0:
                break
        if not set(self.measured_statuses) <= set(self.bare_statuses) | possible:
            self.problems.append(f"exit status {self.statuses(self.measured_statuses)}, bare {self.statuses(self.bare_statuses)}, "
                                 f"possible {sorted(possible)}")

    @staticmethod
    def forget_results(space):
        for directory in [*space.root.glob("exp*"), *space.root.glob("*/exp*")]:
            for path in directory.iterdir():
                path.unlink()
            directory.rmdir()

    @staticmethod
    def end_survivors(space):
        """Whether ranks outlive their launcher (those of MPICH 4.2.1 do when one has ended in a fatal error); then they end now."""
        wait_for_survivors(space.root)
        left = bool(survivors(space.root))
        kill_descendants(space.root)
        return left

    def compare(self, space, complete, kept=True, rounds=ROUNDS):
        """complete: as meta must tell, None: there need not be a result; kept: all calls must be in it."""
        own = [line for line in self.bare.lines() if re.match(r"\[\d\] |own|plain", line)]
        for line in own:
            if self.measured.lines()[line] != self.bare.lines()[line]:
                self.problems.append(f"output differs: {line}")
        if self.measured_end > self.bare_end + BOUND_S:
            self.problems.append(f"ended {self.measured_end - self.bare_end:.1f} s later than bare")
        if self.left_by_launcher:
            self.end_survivors(space)
        wait_for_survivors(space.root)
        self.problems += [f"still running: {p}" for p in survivors(space.root)]
        self.problems += [f"left behind: {name}" for name in space.leftovers()]
        if len(self.measured.tool_lines()) > 6:
            self.problems.append(f"{len(self.measured.tool_lines())} lines of messages")
        if complete is not None:
            self.check_result(space, complete, kept, rounds)

    def check_result(self, space, complete, kept, rounds):
        try:
            result = space.show("--metric", "visits,time")
        except (RuntimeError, ValueError) as error:
            self.preserved = "nothing"
            self.problems.append(str(error))
            return
        seen = calls_seen(result)
        counts = [int(seen.get((rank, "MPI_Allreduce"), 0)) for rank in range(RANKS)]
        self.preserved = f"{', '.join(map(str, counts))} of {rounds}"
        self.ending = result["meta"].get("ending")
        if result["meta"].get("complete") is not complete:
            self.problems.append(f"meta.complete is {result['meta'].get('complete')} ({self.ending})")
        longest = max(max(values) for values in result["metrics"]["time"]["callpaths"].values())
        if longest > result["meta"]["wall_time_s"] + 1e-3:
            self.problems.append(f"a rank ran for {longest:.3f} s, the program for {result['meta']['wall_time_s']:.3f} s")
        ranks = {location["rank"] for location in result["locations"]}
        if kept and (counts != [rounds] * RANKS or ranks != set(range(RANKS))):
            self.problems.append(f"preserved only {counts} of {rounds}, ranks {sorted(ranks)}")

    def measured_or_said(self, space):
        """The tool may not be able to measure, but then says so."""
        try:
            seen = calls_seen(space.show("--metric", "visits"))
            self.preserved = ", ".join(str(int(seen.get((r, "MPI_Allreduce"), 0))) for r in range(RANKS)) + f" of {ROUNDS}"
        except (RuntimeError, ValueError):
            self.must_say()

    def must_say(self):
        self.preserved = "unmeasured, said so"
        if not self.measured.tool_lines():
            self.problems.append("not measured and no message")

    @staticmethod
    def statuses(counted):
        names = {status: "hang" if status is None else str(status) for status in counted}
        if len(counted) == 1:
            return names[next(iter(counted))]
        return ", ".join(f"{names[status]} ({times})" for status, times in counted.most_common())

    def line(self):
        verdict = "ok" if not self.problems else "; ".join(self.problems).replace("\n", " ")[:300]
        return (f"| {self.name} | {self.flavour} | {self.preserved} | {self.ending} | "
                f"{self.statuses(self.bare_statuses)} / {self.statuses(self.measured_statuses)} | "
                f"{self.bare_end:.1f} / {self.measured_end:.1f} | {verdict} |")


def put_into(document, table):
    head, mark, _ = document.read_text(encoding="utf-8").partition("<!-- table -->\n")
    if not mark:
        raise SystemExit(f"{document}: no line <!-- table -->")
    document.write_text(head + mark + "\n" + "\n".join(table) + "\n", encoding="utf-8")


def run_row(args, flavour, name, function):
    """The row, or None if the ending is not possible here."""
    row = Row(args, flavour, name)
    with Workspace(flavour, args.latecomer) as space:
        try:
            function(row, space)
        except RuntimeError as error:
            row.problems.append(str(error))
        except NotPossible as reason:
            print(f"not possible here: {name}: {reason}", file=sys.stderr)
            return None
    if row.problems and args.case:
        for kind, outcome in (("bare", row.bare), ("measured", row.measured)):
            if outcome:
                print(f"--- {kind}\n{outcome.out[-2000:]}\n--- stderr\n{outcome.err[-2000:]}")
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latecomer", type=os.path.abspath)
    parser.add_argument("--programs", type=os.path.abspath, help="directory of the test programs")
    parser.add_argument("--flavour", choices=("openmpi", "mpich"))
    parser.add_argument("--case")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--document", type=Path)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    cases = fault_cases.all_cases()
    if args.list:
        print("\n".join(cases))
        return 0
    status, table = 0, [*HEADER.split("\n")]
    print(HEADER)
    for key in [args.case] if args.case else cases:
        for flavour in [args.flavour] if args.flavour else ["openmpi", "mpich"]:
            row = run_row(args, flavour, *cases[key])
            if row is None:
                status = status or 77
                continue
            table.append(row.line())
            print(row.line(), flush=True)
            status = 1 if row.problems else status
    if args.document:
        put_into(args.document, table)
    return status


if __name__ == "__main__":
    sys.exit(main())
