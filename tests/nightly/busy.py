#!/usr/bin/python3
"""Work beside a command: processes that compute, write to disk and touch memory, and where it is possible a share of the processors for the command.

busy.py -- COMMAND ..     runs the command beside it; its exit status

As a context manager: `with Busy(directory) as busy`, and `preexec_fn=busy.enter` for processes that are to have the share. All of it ends with
the process that made it, however that ends."""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

CORES = os.cpu_count() or 1
SHARE = 0.6                        # of all cores, in periods of 100 ms
MEMORY_PART, MEMORY_MOST = 16, 1 << 30  # one of so many parts of the machine's memory
FILE_BYTES = 64 << 20
GROUPS = Path("/sys/fs/cgroup")


def compute(still):
    x = 1
    while still():
        for _ in range(200_000):
            x = (x * 1103515245 + 12345) & 0x7FFFFFFF


def write(still, directory):
    piece = os.urandom(1 << 20)
    with tempfile.TemporaryFile(dir=directory) as file:
        while still():
            file.seek(0)
            for _ in range(FILE_BYTES >> 20):
                file.write(piece)
            os.fsync(file.fileno())


def touch(still):
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = bytearray(min(total // MEMORY_PART, MEMORY_MOST))
    while still():
        for at in range(0, len(memory), 4096):
            memory[at] = (memory[at] + 1) & 255


class Busy:
    def __init__(self, directory="."):
        self.directory, self.pids, self.group = directory, [], None

    def start(self, work, *args):
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
                signal.signal(name, signal.SIG_DFL)
            try:
                work(lambda: os.getppid() == parent, *args)
            finally:
                os._exit(0)
        self.pids.append(pid)

    def make_group(self):
        """A control group (version 1 or 2) with a share of the processors; none where it cannot be made."""
        period = 100_000
        quota = int(SHARE * CORES * period)
        for root, file, text in ((GROUPS / "cpu", "cpu.cfs_quota_us", f"{quota}"), (GROUPS, "cpu.max", f"{quota} {period}")):
            group = root / f"latecomer-busy-{os.getpid()}"
            try:
                group.mkdir()
                (group / file).write_text(text, encoding="ascii")
                self.group = group
                return
            except OSError:
                if group.is_dir():
                    group.rmdir()

    def __enter__(self):
        for _ in range(max(1, CORES // 2)):
            self.start(compute)
        self.start(write, self.directory)
        self.start(touch)
        self.make_group()
        return self

    def enter(self):
        """Of a new process: takes it into the group."""
        if self.group is not None:
            (self.group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def told(self):
        share = f", {SHARE:.0%} of {CORES} cores for the command" if self.group is not None else ", no control group"
        return f"beside {len(self.pids)} busy processes (processor, disk, memory){share}"

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if self.group is not None:
            try:
                for pid in (self.group / "cgroup.procs").read_text(encoding="ascii").split():  # what the command left running
                    (self.group.parent / "cgroup.procs").write_text(pid, encoding="ascii")
                self.group.rmdir()
            except OSError as error:
                print(f"busy.py: {self.group}: {error}", file=sys.stderr)


def main():
    if len(sys.argv) < 3 or sys.argv[1] != "--":
        sys.exit(__doc__)
    with Busy() as busy:
        print(f"busy.py: {busy.told()}", flush=True)
        with subprocess.Popen(sys.argv[2:], preexec_fn=busy.enter) as command:
            for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(name, lambda number, _: command.send_signal(number))
            status = command.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
