"""Starting MPI programs of either flavour, bare or under the tool, in a directory of their own; reading results with `show --json`."""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402


@dataclass
class Outcome:
    status: int  # exit status of the launcher; negative: it died of this signal; None: it had to be killed
    out: str
    err: str
    seconds: float

    def lines(self):
        """Standard output as a multiset of lines (ranks interleave), without the counts of calls."""
        return Counter(line for line in self.out.splitlines() if " calls MPI_" not in line)

    def tool_lines(self):
        return [line for line in self.err.splitlines() if line.startswith("latecomer: ")]


def program_arguments():
    """Of a test of one program: --latecomer BIN --flavour openmpi|mpich PROGRAM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latecomer", required=True)
    parser.add_argument("--flavour", required=True)
    parser.add_argument("program")
    return parser.parse_args()


def simulated():
    """The words of sim-mpirun, where programs in virtual time are to run on the simulated MPI."""
    return shlex.split(os.environ.get("LC_SIMULATED", ""))


def virtual_time():
    """What programs that run in virtual time (tests/virtual/virtual.h), also under the tool, have in their environment; the test must have
    LC_VIRTUAL_TIME."""
    return {"LD_LIBRARY_PATH": os.environ["LC_VIRTUAL_TIME"], "LATECOMER_CLOCK": "monotonic", "LATECOMER_SAMPLE": "off"}


class Workspace:
    """A temporary directory for one test: TMPDIR of the program, counts of calls, experiment directories; removed at the end."""

    def __init__(self, flavour, latecomer, virtual=False):
        """virtual: programs run in virtual time, on the simulated MPI (tests/sim) where LC_SIMULATED is set."""
        self.flavour = flavour
        self.latecomer = latecomer
        self.simulated = simulated() if virtual else []
        self.virtual = {"LATECOMER_CLOCK": "monotonic"} if self.simulated else virtual_time() if virtual else {}
        self.root = Path(tempfile.mkdtemp(prefix="lcprog-"))
        for name in ("tmp", "tally"):
            (self.root / name).mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("LATECOMER_", "OMPI_", "PMI_", "PMIX_"))}
        env.update(LATECOMER_MAX_OVERHEAD="off",  # what is measured in which detail is not to depend on the machine's load
                   TMPDIR=str(self.root / "tmp"), TALLY_DIR=str(self.root / "tally"), HWLOC_COMPONENTS="-gl,-opencl",
                   OMPI_MCA_rmaps_base_oversubscribe="1", PMIX_MCA_gds="hash",
                   OMPI_MCA_pml="ob1",  # what it chooses on one host anyway, without asking all others for their networks: a third of its start
                   OMPI_MCA_btl_tcp_if_include="lo")  # Open MPI 5 does not find the way to spawned processes on hosts without IPv6 otherwise
        env.update({k: str(v) for k, v in {**self.virtual, **more}.items()})
        return env

    def launcher(self, ranks):
        """The words that start `ranks` processes, up to the program; ranks=None: none (the caller adds its own)."""
        return [*self.simulated, "-n", str(ranks)] if self.simulated else mpirun(self.flavour, ranks)

    def starts_several_programs(self):
        """Whether this launcher can: that of Open MPI 5.0.7 in Debian 13 crashes at `:` (github.com/open-mpi/ompi, issue 13303)."""
        words = [*self.launcher(None), "-n", "1", "true", ":", "-n", "1", "true"]
        return subprocess.run(words, env=self.environment(), capture_output=True, timeout=patience(60), check=False).returncode == 0

    def launcher_of_two(self, first, ranks, others):
        """The whole command that runs `first` as rank 0 and `others` as the other ones of `ranks`; by a shell where the launcher cannot."""
        if self.starts_several_programs():
            return [*self.launcher(None), "-n", "1", *first, ":", "-n", str(ranks - 1), *others]
        script = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 0 ] && exec {shlex.join(map(str, first))}; exec {shlex.join(map(str, others))}'
        return [*self.launcher(ranks), "sh", "-c", script]

    def tool(self, *options, directory="exp"):
        return [self.latecomer, "run", "-o", str(self.root / directory), *options, "--"]

    def start(self, command, env=None, **popen):
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(command, env=env or self.environment(), cwd=self.root, start_new_session=True, text=True,
                                errors="replace", **popen)

    def finish(self, process, begin, timeout):
        """`timeout`: seconds on this machine, as patience() gives them."""
        try:
            out, err = process.communicate(timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            kill_descendants(self.root)
            out, err = process.communicate()
            status = None
        return Outcome(status, out or "", err or "", time.monotonic() - begin)

    def run(self, command, timeout=patience(120), env=None, **popen):
        begin = time.monotonic()
        return self.finish(self.start(command, env, **popen), begin, timeout)

    def calls_made(self):
        """(rank, function) -> number, as the program counted them; empties the directory."""
        made = {}
        for path in sorted((self.root / "tally").iterdir()):
            for line in path.read_text().splitlines():
                rank, _, name, number = line.split()
                made[int(rank.strip("[]")), name] = int(number)
            path.unlink()
        return made

    def show(self, *options, directory="exp"):
        """The JSON object of `latecomer show --json`."""
        done = subprocess.run([self.latecomer, "show", "--json", *options, str(self.root / directory)], capture_output=True, text=True,
                              check=False, timeout=patience(60))
        if done.returncode != 0:
            raise RuntimeError(f"show: exit status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def sanitizer_reports(self):
        return sanitizer_reports(self.root)

    def leftovers(self):
        """What the tool must not leave behind: anything in this test's temporary directory or in shared memory with its name."""
        found = [str(p) for p in (self.root / "tmp").rglob("*") if "latecomer" in p.name]
        found += [f"/dev/shm/{n}" for n in os.listdir("/dev/shm") if "latecomer" in n] if os.path.isdir("/dev/shm") else []
        return found


def sanitizer_reports(root):
    """Reports of a sanitizer (log_path=.../san) about the tool's code: all accesses' innermost frames are ours, or any finding of
    UBSan. Races and lock orders inside the MPI libraries, and between them and a stack that we used before, are theirs."""
    found = []
    for path in sorted(root.glob("san.*")):
        for report in path.read_text(errors="replace").split("=================="):
            accesses = [part for part in report.split("\n\n") if re.search(r" of size \d|acquired here|runtime error|ERROR: Addr", part)]
            innermost = [next((line for line in part.splitlines() if re.match(r" *#\d", line) and "libsanitizer" not in line), "")
                         for part in accesses]
            ours = [bool(re.search(r"liblatecomer|/src/(measure|base|model|trace)/", frame)) for frame in innermost]
            died = re.search(r"ERROR: ThreadSanitizer: |Sanitizer: CHECK failed|FATAL: ThreadSanitizer", report)  # with exitcode=0 only the launcher tells
            if (ours and all(ours)) or "runtime error" in report or died:
                found.append(report.strip())
    return found


def kill_descendants(root):
    """Ends the processes whose working directory or TMPDIR is this test's (ranks that left their process group)."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"TMPDIR={root}/tmp\0".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def survivors(root):
    """Processes of this test that still live."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if f"TMPDIR={root}/tmp\0".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state not in "ZX":
                    found.append((int(pid), Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:80]))
        except OSError:
            pass
    return found


def wait_for_survivors(root):
    """Until none is left, for a while. After a job that was killed a process may still work on its result: that of the parents which a launcher has killed
    before they had saved it, as Open MPI's does after a second."""
    deadline = time.monotonic() + patience(5)
    while survivors(root) and time.monotonic() < deadline:
        time.sleep(0.05)


def wait_for_result(directory):
    """As wait_for_survivors, for the result of a job without a trace whose processes are not known."""
    end = time.monotonic() + patience(20)
    while os.path.exists(f"{directory}/.run.json") and time.monotonic() < end:
        time.sleep(0.02)


def calls_seen(result):
    """(rank, function) -> visits, from a result that holds the metric `visits`."""
    ranks = [location["rank"] for location in result["locations"]]
    seen = defaultdict(float)
    for path, values in result.get("metrics", {}).get("visits", {}).get("callpaths", {}).items():
        name = path.rsplit("/", 1)[-1]
        if name.startswith(("MPI_", "MPIX_")):
            for rank, value in zip(ranks, values):
                if value:
                    seen[rank, name] += value
    return dict(seen)


def compare_calls(made, seen, partial=False):
    """Lines that tell how the counts differ; partial: functions that the program did not count are not looked at."""
    names = set(made) | (set() if partial else set(seen))
    return [f"rank {rank} {name}: {made.get((rank, name), 0)} made, {seen.get((rank, name), 0):g} measured"
            for rank, name in sorted(names) if made.get((rank, name), 0) != seen.get((rank, name), 0)]
