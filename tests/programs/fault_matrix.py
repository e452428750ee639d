#!/usr/bin/python3
"""The fault matrix: how programs end, bare and under the tool, and what the tool preserves.

fault_matrix.py --latecomer BIN --programs DIR [--flavour F] [--case NAME] [--list]
One line of a Markdown table per case and flavour; exit status 1 if the tool changed the program's exit status or output, lost calls
that it must preserve, left something behind, or took longer than the bare run by more than the bound. 77: not possible here."""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from launch import Workspace, calls_seen, survivors

ROUNDS, RANKS = 40, 3
BOUND_S = 5.0  # more time to end than bare: what the parents may need on a busy machine

# fate: argument of faults; send: (signal, to whom) once all ranks are ready; kept: what must be preserved (see Row.check);
# complete: meta.complete; races: exit statuses that the launcher of a flavour gives in bare runs, by which rank's end it sees first
Case = namedtuple("Case", "name fate send kept complete races", defaults=(None, "all", False, {}))

CASES = [
    Case("MPI_Finalize", "finalize", None, "all", True),
    Case("exit() without MPI_Finalize", "exit"),
    Case("return from main without MPI_Finalize", "return", races={"mpich": {0, 9, 15}}),
    Case("_exit() without MPI_Finalize", "_exit"),
    Case("exit() on one rank", "exit_one"),
    Case("abort() on one rank", "abort"),
    Case("MPI_Abort on one rank", "mpi_abort"),
    Case("SIGSEGV on one rank", "segv"),
    Case("SIGSEGV, own handler", "segv_handler"),
    Case("SIGFPE on one rank", "fpe"),
    Case("SIGFPE, own handler", "fpe_handler"),
    Case("SIGKILL of one rank", "kill"),
    Case("SIGTERM to the launcher", "wait", (signal.SIGTERM, "launcher"), races={"mpich": {0, 9, 15}}),
    Case("SIGINT to the launcher", "wait", (signal.SIGINT, "launcher"), races={"mpich": {0, 2, 9, 15}}),
    # MPICH's launcher dies of it at once, and its proxy then kills all processes, the parents included, with SIGKILL.
    Case("SIGHUP to the launcher", "wait", (signal.SIGHUP, "launcher"), "all but MPICH's"),
    Case("SIGTERM to a rank", "wait", (signal.SIGTERM, "rank")),
    Case("SIGINT to a rank", "wait", (signal.SIGINT, "rank")),
    Case("SIGHUP to a rank", "wait", (signal.SIGHUP, "rank")),
    Case("SIGTERM to a task", "wait", (signal.SIGTERM, "task")),
    Case("SIGTERM to all tasks, program finishes", "finish_on_term", (signal.SIGTERM, "tasks"), "all", True),
]


def slug(text):
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("_exit", "underscore exit")).strip("_")


class Row:
    """One case with one flavour: both runs and the verdict."""

    def __init__(self, args, flavour, name):
        self.args, self.flavour, self.name = args, flavour, name
        self.problems, self.preserved, self.ending = [], "-", "-"
        self.bare = self.measured = None
        self.bare_end = self.measured_end = 0.0
        self.again = None  # repeats the bare run
        self.statuses = set()  # exit statuses of bare runs

    def program(self, name="faults"):
        return f"{self.args.programs}/{name}-{self.flavour}"

    def pids(self, space):
        return {int(p.name[4:]): int(p.read_text()) for p in (space.root / "tally").glob("pid.*") if p.read_text().strip()}

    def run(self, space, command, case, measured):
        """Starts, waits until all ranks are ready, sends the signal; returns the outcome and the seconds from ready to end."""
        for path in (space.root / "tally").iterdir():
            path.unlink()
        begin = time.monotonic()
        with open(space.root / "out", "w+", encoding="utf-8") as out, open(space.root / "err", "w+", encoding="utf-8") as err:
            process = space.start(command, stdout=out, stderr=err)
            text = space.root / "out"
            while time.monotonic() - begin < 60 and process.poll() is None:
                if text.read_text(errors="replace").count("ready") >= RANKS:
                    break
                time.sleep(0.02)
            ready = time.monotonic()
            if case.send and process.poll() is None:
                time.sleep(0.2)
                number, whom = case.send
                for pid in self.targets(space, whom, process.pid, measured):
                    os.kill(pid, number)
                ready = time.monotonic()
            outcome = space.finish(process, begin, 45)
            end = time.monotonic() - ready
            out.seek(0)
            err.seek(0)
            outcome.out, outcome.err = out.read(), err.read()
        return outcome, end

    def targets(self, space, whom, launcher, measured):
        pids = self.pids(space)
        parent = {rank: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for rank, pid in pids.items()}
        if whom == "launcher":
            return [launcher]
        if whom == "rank":
            return [pids[1]]
        tasks = parent if measured else pids  # what the launcher started: the parent of the program, if there is one
        return [tasks[1]] if whom == "task" else list(tasks.values())

    def compare(self, space, complete, kept, directory="exp"):
        for _ in range(4): # what the launcher makes of several dying ranks is a race in the bare run too
            if self.measured.status not in self.statuses and self.again:
                self.statuses.add(self.again().status)
        if self.flavour == "mpich" and self.bare.status: # its launcher joins the statuses of ranks that it had to kill (9) by bitwise or,
            self.statuses |= {9} | {status | 9 for status in self.statuses if status and status > 0} # or tells one: a race
        if self.measured.status not in self.statuses:
            self.problems.append(f"exit status {self.measured.status}, bare {sorted(map(str, self.statuses))}")
        own = [line for line in self.bare.lines() if re.match(r"\[\d\] |own|plain", line)]
        for line in own:
            if self.measured.lines()[line] != self.bare.lines()[line]:
                self.problems.append(f"output differs: {line}")
        if self.measured_end > self.bare_end + BOUND_S:
            self.problems.append(f"ended {self.measured_end - self.bare_end:.1f} s later than bare")
        deadline = time.monotonic() + 5
        while survivors(space.root) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.problems += [f"still running: {p}" for p in survivors(space.root)]
        self.problems += [f"left behind: {name}" for name in space.leftovers()]
        if len(self.measured.tool_lines()) > 6:
            self.problems.append(f"{len(self.measured.tool_lines())} lines of messages")
        if kept is not None:
            self.check_result(space, complete, kept, directory)

    def check_result(self, space, complete, kept, directory):
        try:
            result = space.show("--metric", "visits", directory=directory)
        except (RuntimeError, ValueError) as error:
            self.preserved = "nothing"
            if kept != "all but MPICH's" or self.flavour != "mpich":
                self.problems.append(str(error))
            return
        seen = calls_seen(result)
        counts = [int(seen.get((rank, "MPI_Allreduce"), 0)) for rank in range(RANKS)]
        self.preserved = f"{', '.join(map(str, counts))} of {ROUNDS} calls"
        self.ending = result["meta"].get("ending")
        if result["meta"].get("complete") is not complete:
            self.problems.append(f"meta.complete is {result['meta'].get('complete')} ({self.ending})")
        ranks = {location["rank"] for location in result["locations"]}
        if kept and (counts != [ROUNDS] * RANKS or ranks != set(range(RANKS))):
            self.problems.append(f"preserved only {counts} of {ROUNDS}, ranks {sorted(ranks)}")

    def line(self):
        def status(outcome):
            return "-" if outcome is None else "hang" if outcome.status is None else str(outcome.status)
        verdict = "ok" if not self.problems else "; ".join(self.problems).replace("\n", " ")[:300]
        return (f"| {self.name} | {self.flavour} | {self.preserved} | {self.ending} | {status(self.bare)} / {status(self.measured)} | "
                f"{self.bare_end:.1f} / {self.measured_end:.1f} | {verdict} |")


HEADER = ("| ending | MPI | preserved (rank 0, 1, 2) | `meta.ending` | exit status bare / measured | s to end bare / measured | verdict |\n"
          "|---|---|---|---|---|---|---|")


def plain_case(case):
    def run(row, space):
        command = [row.program(), case.fate]
        both_runs(row, space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command, case)
        if row.bare.out.count("ready") < RANKS:
            row.problems.append(f"the bare run did not get ready: {row.bare.err[-500:]}")
        row.compare(space, case.complete or "nothing happened" in row.bare.out, case.kept)
    return run


def both_runs(row, space, bare_command, measured_command, case=Case("", "")):
    row.bare, row.bare_end = row.run(space, bare_command, case, False)
    row.statuses = {row.bare.status} | case.races.get(row.flavour, set())
    row.measured, row.measured_end = row.run(space, measured_command, case, True)
    row.again = lambda: row.run(space, bare_command, case, False)[0]


def full_disk(row, space):
    """The experiment directory lies on a file system of 64 KiB that is full."""
    disk = space.root / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=False, capture_output=True).returncode != 0:
        raise NotPossible("mount needs root")
    try:
        with open(disk / "filler", "wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                pass
        command = [row.program(), "finalize"]
        both_runs(row, space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool(directory="disk/exp") + command)
        row.compare(space, None, None)
        partial = [p.name for p in disk.rglob("*") if p.name in ("profile.cubex", "meta.json")]
        if partial:
            row.problems.append(f"partial files under final names: {partial}")
        if not row.measured.tool_lines():
            row.problems.append("no message")
        row.preserved, row.ending = "nothing, said so", "-"
    finally:
        subprocess.run(["umount", disk], check=False)


def read_only(row, space):
    """The experiment directory cannot be made."""
    command = [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + command, space.launcher(RANKS) + [row.args.latecomer, "run", "-o", "/proc/none/exp", "--"] + command)
    row.compare(space, None, None)
    if not row.measured.tool_lines():
        row.problems.append("no message")
    row.preserved = "nothing, said so"


def no_shm(row, space):
    """No POSIX shared memory: /dev/shm is read-only and of size 0, in a mount namespace."""
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro,size=4k tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], check=False, capture_output=True).returncode != 0:
        raise NotPossible("unshare -m needs root")
    command = [row.program(), "finalize"]
    both_runs(row, space, hide + space.launcher(RANKS) + command, hide + space.launcher(RANKS) + space.tool() + command)
    if row.bare.status == 0:
        row.compare(space, True, "all")
    else: # MPICH's transport needs it: then only the ending is compared
        row.bare.out = ""
        row.compare(space, None, None)
        row.preserved = "this MPI does not start"


def tiny_memory(row, space):
    """ulimit -v: the bare program's peak and 24 MiB; the tool may then not measure, but must not disturb."""
    probe = space.run(space.launcher(RANKS) + [row.program("peak")])
    peaks = [int(x) for x in re.findall(r"peak (\d+)", probe.out)]
    if not peaks:
        row.problems.append(f"no peak known: {probe.err[-300:]}")
        return
    limit = ["sh", "-c", f'ulimit -v {max(peaks) + 24 * 1024}; exec "$@"', "sh"]
    command = [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + limit + command, space.launcher(RANKS) + space.tool() + limit + command)
    row.compare(space, None, None)
    try:
        seen = calls_seen(space.show("--metric", "visits"))
        row.preserved = ", ".join(str(int(seen.get((r, "MPI_Allreduce"), 0))) for r in range(RANKS)) + f" of {ROUNDS} calls"
    except (RuntimeError, ValueError):
        row.preserved = "nothing"
        if not row.measured.tool_lines():
            row.problems.append("not measured and no message")


def closed_stderr(row, space):
    close = ["sh", "-c", 'exec "$@" 2>&-', "sh"]
    command = [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + close + command, space.launcher(RANKS) + close + space.tool() + command)
    row.compare(space, True, "all")


def many_helpers(row, space):
    command = [row.program("helpers"), "1000"]
    both_runs(row, space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command)
    row.bare_end, row.measured_end = row.bare.seconds, row.measured.seconds
    row.compare(space, None, None)
    seen = calls_seen(space.show("--metric", "visits"))
    row.preserved = f"{int(seen.get((0, 'MPI_Barrier'), 0))} of 10 calls"
    if any(seen.get((rank, "MPI_Barrier")) != 10 for rank in range(RANKS)):
        row.problems.append(row.preserved)


def some_ranks(row, space):
    """Rank 0 runs under the tool, the others do not."""
    start, command = space.launcher(None), [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + command, start + ["-n", "1", *space.tool(), *command, ":", "-n", "2", *command])
    row.compare(space, None, None)
    if not row.measured.tool_lines():
        row.problems.append("no message")
    row.preserved = "unmeasured, said so"


def other_ranks(row, space):
    """Rank 0 is not measured, the others are."""
    start, command = space.launcher(None), [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + command, start + ["-n", "1", *command, ":", "-n", "2", *space.tool(), *command])
    row.compare(space, None, None)
    if not row.measured.tool_lines():
        row.problems.append("no message")
    row.preserved = "unmeasured, said so"


def other_options(row, space):
    start, command = space.launcher(None), [row.program(), "finalize"]
    both_runs(row, space, space.launcher(RANKS) + command,
           start + ["-n", "1", *space.tool("--callpath=none"), *command, ":", "-n", "2", *space.tool("--trace"), *command])
    row.compare(space, None, None)
    if not row.measured.tool_lines():
        row.problems.append("no message")
    row.preserved = "unmeasured, said so"


def static_program(row, space):
    command = [f"{row.args.programs}/plain-static"]
    both_runs(row, space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command)
    row.compare(space, None, None)
    if not row.measured.tool_lines():
        row.problems.append("no message")
    row.preserved = "unmeasured, said so"


def dump(row, space):
    """A snapshot of a running program, on request; the program is then ended from outside."""
    take_snapshot(row, space, [], lambda: subprocess.run([row.args.latecomer, "dump", str(space.root / "exp")], check=False, timeout=30,
                                                         capture_output=True, text=True))


def dump_every(row, space):
    take_snapshot(row, space, ["--dump-every=1"], lambda: time.sleep(2.5))


def take_snapshot(row, space, options, action):
    case = Case("", "finish_on_term", (signal.SIGTERM, "tasks"))
    command = [row.program(), "finish_on_term"]
    row.bare, row.bare_end = row.run(space, space.launcher(RANKS) + command, case, False)
    row.statuses = {row.bare.status}
    for path in (space.root / "tally").iterdir():
        path.unlink()
    begin = time.monotonic()
    with open(space.root / "out", "w", encoding="utf-8") as out, open(space.root / "err", "w", encoding="utf-8") as err:
        process = space.start(space.launcher(RANKS) + space.tool(*options) + command, stdout=out, stderr=err)
    while (space.root / "out").read_text().count("ready") < RANKS and time.monotonic() < begin + 60:
        time.sleep(0.05)
    time.sleep(0.3)
    done = action()
    if done is not None and done.returncode != 0:
        row.problems.append(f"dump: exit status {done.returncode}: {done.stderr.strip()}")
    try:
        result = space.show("--metric", "visits")
        counts = [int(calls_seen(result).get((rank, "MPI_Allreduce"), 0)) for rank in range(RANKS)]
        row.preserved = f"snapshot: {', '.join(map(str, counts))} of {ROUNDS} calls"
        row.ending = result["meta"].get("ending")
        if counts != [ROUNDS] * RANKS or result["meta"].get("complete") is not False:
            row.problems.append(f"snapshot: {counts}, complete {result['meta'].get('complete')}")
    except (RuntimeError, ValueError) as error:
        row.problems.append(f"snapshot: {error}")
    ready = time.monotonic()
    for pid in row.targets(space, "tasks", process.pid, True):
        os.kill(pid, signal.SIGTERM)
    row.measured = space.finish(process, begin, 45)
    row.measured_end = time.monotonic() - ready
    row.measured.out, row.measured.err = (space.root / "out").read_text(), (space.root / "err").read_text()
    preserved, ending = row.preserved, row.ending
    row.compare(space, True, "all")
    row.preserved, row.ending = f"{preserved}; then {row.preserved}", f"{ending}; then {row.ending}"


class NotPossible(Exception):
    pass


SPECIAL = {
    "full disk": full_disk, "read-only directory": read_only, "no POSIX shared memory": no_shm, "tiny memory limit (ulimit -v)": tiny_memory,
    "closed standard error": closed_stderr, "1,000 short-lived helpers": many_helpers, "only rank 0 under the tool": some_ranks,
    "all but rank 0 under the tool": other_ranks, "different options on the ranks": other_options, "statically linked program": static_program,
    "latecomer dump": dump, "--dump-every": dump_every,
}


def all_cases():
    cases = {slug(case.name): (case.name, plain_case(case)) for case in CASES}
    cases.update({slug(name): (name, function) for name, function in SPECIAL.items()})
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latecomer")
    parser.add_argument("--programs", help="directory of the test programs")
    parser.add_argument("--flavour", choices=("openmpi", "mpich"))
    parser.add_argument("--case")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    args.programs = args.programs and os.path.abspath(args.programs)
    args.latecomer = args.latecomer and os.path.abspath(args.latecomer)
    cases = all_cases()
    if args.list:
        print("\n".join(cases))
        return 0
    status = 0
    print(HEADER)
    for key in [args.case] if args.case else cases:
        name, function = cases[key]
        for flavour in [args.flavour] if args.flavour else ["openmpi", "mpich"]:
            row = Row(args, flavour, name)
            with Workspace(flavour, args.latecomer) as space:
                try:
                    function(row, space)
                except RuntimeError as error:
                    row.problems.append(str(error))
                except NotPossible as reason:
                    print(f"not possible here: {name}: {reason}", file=sys.stderr)
                    status = status or 77
                    continue
            print(row.line(), flush=True)
            if row.problems:
                status = 1
                if args.case:
                    for kind, outcome in (("bare", row.bare), ("measured", row.measured)):
                        if outcome:
                            print(f"--- {kind}\n{outcome.out[-2000:]}\n--- stderr\n{outcome.err[-2000:]}")
    return status


if __name__ == "__main__":
    sys.exit(main())
