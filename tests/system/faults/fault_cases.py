"""The endings of the fault matrix: a table of those that need only an argument of the program `faults` and perhaps a signal, and a
function for each that needs more. A function makes both runs of a row (fault_matrix.Row) and compares them."""
import os
import re
import signal
import subprocess
import sys
import time
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
from launch import calls_seen  # noqa: E402
from patience import patience  # noqa: E402
from launcher_statuses import aborts_with, dies_of, ends_with, finishes, launcher_dies_of, launcher_gets  # noqa: E402

ROUNDS, RANKS = 40, 3

# fate: argument of faults; statuses: what launchers can make of it; send: (signal, to whom) once all ranks are ready; complete: meta.complete
Case = namedtuple("Case", "name fate statuses send complete", defaults=(None, False))
TERM, INT, HUP, KILL = signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL
# MPICH's launcher dies of SIGHUP; its ranks ignore it
HUP_TO_LAUNCHER = {"openmpi": {1}, "mpich": {-HUP}}
HUP_TO_RANK = {"openmpi": {128 + HUP}, "mpich": {0}}

CASES = [
    Case("MPI_Finalize", "finalize", finishes(), None, True),
    Case("exit() without MPI_Finalize", "exit", ends_with(3)),
    Case("return from main without MPI_Finalize", "return", ends_with(0)),
    Case("_exit() without MPI_Finalize", "_exit", ends_with(4)),
    Case("exit() on one rank", "exit_one", ends_with(3)),
    Case("abort() on one rank", "abort", dies_of(signal.SIGABRT)),
    Case("MPI_Abort on one rank", "mpi_abort", aborts_with(5)),
    Case("MPI error that is fatal", "fatal_error", aborts_with(6)),  # MPI_ERR_RANK
    Case("MPI_Abort in an error handler", "abort_in_error_handler", aborts_with(7)),
    Case("MPI_Abort in a signal handler", "abort_in_signal_handler", aborts_with(8)),
    Case("SIGSEGV on one rank", "segv", dies_of(signal.SIGSEGV)),
    Case("SIGSEGV, own handler", "segv_handler", ends_with(9)),
    Case("SIGFPE on one rank", "fpe", dies_of(signal.SIGFPE)),
    Case("SIGFPE, own handler", "fpe_handler", ends_with(9)),
    Case("SIGKILL of one rank", "kill", dies_of(KILL)),
    Case("SIGTERM to the launcher", "wait", launcher_gets(TERM), (TERM, "launcher")),
    Case("SIGINT to the launcher", "wait", launcher_gets(INT), (INT, "launcher")),
    Case("SIGHUP to the launcher", "wait", HUP_TO_LAUNCHER, (HUP, "launcher")),
    Case("SIGKILL of the launcher", "wait", launcher_dies_of(KILL), (KILL, "launcher")),
    Case("SIGTERM to a rank", "wait", dies_of(TERM), (TERM, "rank")),
    Case("SIGINT to a rank", "wait", dies_of(INT), (INT, "rank")),
    Case("SIGHUP to a rank", "wait", HUP_TO_RANK, (HUP, "rank")),
    Case("SIGTERM to a task", "wait", dies_of(TERM), (TERM, "task")),
    Case("SIGKILL of a task", "wait", dies_of(KILL), (KILL, "task")),
    Case("SIGTERM to all tasks, program finishes", "finish_on_term", finishes(), (TERM, "tasks"), True),
]


class NotPossible(Exception):
    pass


def plain_case(case):
    def run(row, space):
        command = [row.program(), case.fate]
        row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command, case.send,
                 possible=frozenset(case.statuses[row.flavour]))
        if row.bare.out.count("ready") < RANKS:
            row.problems.append(f"the bare run did not get ready: {row.bare.err[-500:]}")
        row.compare(space, case.complete or "nothing happened" in row.bare.out)
    return run


def one_task_is_slow(row, space):
    """SIGINT to the launcher, while one rank's parent does not get a core: it is stopped for a while. The others must not end before
    the signal has come to that rank, too; else MPICH's launcher kills it, and ends with another status (11, 2 or 9)."""
    command, interrupt, continued = [row.program(), "wait"], (INT, "launcher"), []

    def stop_one():
        pid = int((space.root / "tally/pid.1").read_text())
        task = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
        os.kill(int(task), signal.SIGSTOP)
        continued.append(subprocess.Popen(["sh", "-c", f"sleep 1.5; kill -CONT {task}"], stderr=subprocess.DEVNULL))

    row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command, interrupt, stop_one,
             frozenset(launcher_gets(INT)[row.flavour]))
    waited_for = row.flavour == "mpich"  # Open MPI's launcher sends SIGKILL to a task that does not end in a second
    if waited_for and any(kill.wait() != 0 for kill in continued):
        row.problems.append("the launcher killed the task that was slow")
    row.compare(space, False, kept=waited_for)


def slow_signals(row, space):
    """SIGINT to the launcher, and the parent that ends first loses its core between the signals to the others. They must die of these, and not
    be killed since the first of them is gone (status 11 of MPICH's launcher)."""
    command, interrupt = [row.program(), "wait"], (INT, "launcher")
    slow = ["env", f"LD_PRELOAD={row.args.programs}/libslow_signals.so"]
    row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + slow + space.tool() + command, interrupt,
             possible=frozenset(launcher_gets(INT)[row.flavour]))
    sent = len(list((space.root / "tally").glob("sent.*")))
    if row.flavour == "mpich" and sent != RANKS - 1:
        row.problems.append(f"sent {sent} of {RANKS - 1} signals before it was killed")
    row.compare(space, False)


def both_finalize(row, space, directory="exp", options=(), before=(), between=(), launch_before=()):
    """Both runs of the program that ends well, with words before the launcher, before the tool, between it and the program."""
    command = [*between, row.program(), "finalize"]
    start = [*launch_before, *space.launcher(RANKS), *before]
    row.both(space, start + command, start + space.tool(*options, directory=directory) + command)


@contextmanager
def file_system(space, options, free=None):
    """A small file system under space.root/disk; free: all but so many bytes are taken."""
    disk = space.root / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=False, capture_output=True).returncode != 0:
        raise NotPossible("mount needs root")
    try:
        if free is not None:
            fill(disk / "filler", free)
        yield disk
    finally:
        subprocess.run(["umount", disk], check=False)


def fill(path, free):
    size = 0
    with open(path, "wb", buffering=0) as file:
        try:
            while size < 1 << 24:
                size += file.write(b"\0" * 4096)
        except OSError:
            pass
        file.truncate(size - free)


def full_disk(free):
    """The experiment directory lies on a file system of 64 KiB that has so many bytes left."""
    def run(row, space):
        with file_system(space, "size=64k", free) as disk:
            both_finalize(row, space, directory="disk/exp")
            row.compare(space, None)
            partial = [p.name for p in disk.rglob("*") if p.name in ("profile.cubex", "meta.json")]
            if partial:
                row.problems.append(f"partial files under final names: {partial}")
            row.must_say()
    return run


def read_only(row, space):
    with file_system(space, "ro,size=64k"):
        both_finalize(row, space, directory="disk/exp")
        row.compare(space, None)
        row.must_say()


def no_shm(row, space):
    """No POSIX shared memory: /dev/shm is read-only and of size 0, in a mount namespace."""
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro,size=4k tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], check=False, capture_output=True).returncode != 0:
        raise NotPossible("unshare -m needs root")
    both_finalize(row, space, launch_before=hide)
    if row.bare.status == 0:
        row.compare(space, True)
    else: # MPICH's transport needs it: then only the ending is compared
        row.bare.out = ""
        row.compare(space, None)
        row.preserved = "this MPI does not start"


def limited(limit):
    """A shell that sets a limit and becomes the words after it."""
    return ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]


def tiny_memory(room_kib):
    """ulimit -v for the program: the bare program's peak and some room; the tool may then not measure, but must not disturb."""
    def run(row, space):
        probe = space.run(space.launcher(RANKS) + [row.program("peak")])
        peaks = [int(x) for x in re.findall(r"peak (\d+)", probe.out)]
        if not peaks:
            row.problems.append(f"no peak known: {probe.err[-300:]}")
            return
        both_finalize(row, space, between=limited(f"-v {max(peaks) + room_kib}"))
        row.compare(space, True)
    return run


def file_size(kib, all_of_it):
    """ulimit -f (in units of 512 bytes here): for the whole job, the tool included, or for the program alone."""
    def run(row, space):
        words = limited(f"-f {kib * 2}")
        both_finalize(row, space, before=words if all_of_it else [], between=[] if all_of_it else words)
        if row.bare.status != 0:
            row.bare.out = ""
        row.compare(space, None)
        row.measured_or_said(space)
    return run


def closed_stderr(row, space):
    both_finalize(row, space, before=["sh", "-c", 'exec "$@" 2>&-', "sh"])
    row.compare(space, True)


def many_helpers(row, space):
    command = [row.program("../programs/helpers"), "1000"]
    row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command)
    row.compare(space, None)
    seen = calls_seen(space.show("--metric", "visits"))
    row.preserved = ", ".join(str(int(seen.get((rank, "MPI_Barrier"), 0))) for rank in range(RANKS)) + " of 10"
    if any(seen.get((rank, "MPI_Barrier")) != 10 for rank in range(RANKS)):
        row.problems.append(row.preserved)


def unlike_ranks(first, others):
    """Rank 0 and the others are started with different words (functions of the workspace)."""
    def run(row, space):
        command = [row.program(), "finalize"]
        row.both(space, space.launcher(RANKS) + command,
                 space.launcher_of_two([*first(space), *command], RANKS, [*others(space), *command]))
        row.compare(space, None)
        row.must_say()
    return run


def static_program(row, space):
    command = [f"{row.args.programs}/plain-static"]
    row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool() + command)
    row.compare(space, None)
    row.must_say()


def snapshot(options, request):
    """A snapshot of a running program, which replaces the profile; the program then ends well."""
    def run(row, space):
        command, found = [row.program(), "finish_on_term"], []

        def look():
            request(row, space)
            try:
                result = space.show("--metric", "visits")
            except (RuntimeError, ValueError) as error:
                row.problems.append(f"snapshot: {error}")
                return
            counts = [int(calls_seen(result).get((rank, "MPI_Allreduce"), 0)) for rank in range(RANKS)]
            found.extend([", ".join(map(str, counts)), result["meta"].get("ending")])
            if counts != [ROUNDS] * RANKS or result["meta"].get("complete") is not False:
                row.problems.append(f"snapshot: {counts}, complete {result['meta'].get('complete')}")

        row.both(space, space.launcher(RANKS) + command, space.launcher(RANKS) + space.tool(*options) + command,
                 (signal.SIGTERM, "tasks"), look)
        row.compare(space, True)
        if found:
            row.preserved, row.ending = f"snapshot: {found[0]}; then {row.preserved}", f"{found[1]}; then {row.ending}"
    return run


def ask_for_dump(row, space):
    done = subprocess.run([row.args.latecomer, "dump", str(space.root / "exp")], check=False, timeout=patience(30), capture_output=True, text=True)
    if done.returncode != 0:
        row.problems.append(f"dump: exit status {done.returncode}: {done.stderr.strip()}")


def wait_for_dump(_, space):
    """Until there is one of what all ranks have done, who are ready: the next one may have begun before they were, the one after it has not."""
    files = [space.root / "exp" / name for name in ("profile.cubex", "meta.json")]
    for _ in range(2):
        for path in files:
            path.unlink(missing_ok=True)
        end = time.monotonic() + patience(10)
        while not all(path.exists() for path in files) and time.monotonic() < end:
            time.sleep(0.1)


SPECIAL = {
    "SIGINT to the launcher, one task is slow": one_task_is_slow,
    "SIGINT to the launcher, signals are slow": slow_signals,
    "full disk": full_disk(0),
    "disk that fills up": full_disk(12 * 1024),
    "read-only directory": read_only,
    "no POSIX shared memory": no_shm,
    "tiny memory limit (ulimit -v)": tiny_memory(24 * 1024),
    "tinier memory limit (ulimit -v)": tiny_memory(12 * 1024),
    "tiniest memory limit (ulimit -v)": tiny_memory(6 * 1024),
    "file size limit (ulimit -f), all": file_size(8 * 1024, True),
    "file size limit (ulimit -f), program": file_size(8 * 1024, False),
    "closed standard error": closed_stderr,
    "1,000 short-lived helpers": many_helpers,
    "only rank 0 under the tool": unlike_ranks(lambda space: space.tool(), lambda space: []),
    "all but rank 0 under the tool": unlike_ranks(lambda space: [], lambda space: space.tool()),
    "different options on the ranks": unlike_ranks(lambda space: space.tool("--callpath=none"), lambda space: space.tool("--trace")),
    "statically linked program": static_program,
    "latecomer dump": snapshot([], ask_for_dump),
    "--dump-every": snapshot(["--dump-every=1"], wait_for_dump),
}


def slug(text):
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("_exit", "underscore exit")).strip("_")


def all_cases():
    cases = {slug(case.name): (case.name, plain_case(case)) for case in CASES}
    cases.update({slug(name): (name, function) for name, function in SPECIAL.items()})
    return cases
