"""Jobs over two hosts: all ranks are one job; directories that the hosts do not share; jobs that start in the same instant.
Run by hosts.py on 2 hosts.

usage: check_jobs.py BUILD_DIR FLAVOUR PROGRAM
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import several_hosts
from several_hosts import finish, start

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

BUILD, FLAVOUR, PROGRAM = sys.argv[1:4]
LATECOMER = f"{BUILD}/bin/latecomer"


def job(ranks, directory, rounds=5, ms=5):
    return several_hosts.launcher(FLAVOUR, ranks) + [LATECOMER, "run", "-o", directory, "--", PROGRAM, str(rounds), str(ms)]


def result(directory):
    done = several_hosts.run([LATECOMER, "recover", directory])
    assert done.returncode == 0, done.stderr
    done = several_hosts.run([LATECOMER, "show", "--json", directory])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_one_job():
    process = start(job(4, "one"))
    out, err = finish(process, "one")
    assert "4 ranks, 5 rounds" in out and "not measured" not in err, (out, err)
    found = result("one")
    assert [(l["rank"], l["node"]) for l in found["locations"]] == [(0, "node1"), (1, "node2"), (2, "node1"), (3, "node2")] or \
        sorted({l["node"] for l in found["locations"]}) == several_hosts.names(), found["locations"]
    calls = found["metrics"]["visits"]["callpaths"]
    assert any(path.endswith("MPI_Allreduce") and values == [5] * 4 for path, values in calls.items()), calls


def check_two_programs():
    """`-n 1 a : -n 3 b` is one job."""
    if FLAVOUR == "openmpi" and several_hosts.openmpi_version() >= 5:
        return  # its launcher crashes at the colon, without the tool as well
    words = several_hosts.launcher(FLAVOUR, 1)
    second = [*(["-n"] if FLAVOUR == "mpich" else ["--map-by", "node", "-n"]), "3"]
    measured = [LATECOMER, "run", "-o", "two", "--", PROGRAM, "5", "5"]
    process = start(words + measured + [":"] + second + measured)
    out, err = finish(process, "two")
    assert "4 ranks, 5 rounds" in out and "not measured" not in err, (out, err)
    found = result("two")
    assert len(found["locations"]) == 4, found["locations"]
    assert any(path.endswith("MPI_Allreduce") and values == [5] * 4 for path, values in found["metrics"]["visits"]["callpaths"].items())


def check_not_shared():
    directory = f"{several_hosts.local_directory()}/mine"
    process = start(job(4, directory))
    try:
        _, err = process.communicate(timeout=patience(20))
    except subprocess.TimeoutExpired:  # in MPI_Finalize, as above
        process.kill()
        _, err = process.communicate()
    lines = [line for line in err.splitlines() if line.startswith("latecomer: not measured")]
    assert len(lines) == 1 and "only the ranks of this node (2 of 4)" in lines[0] and "tmpfs" in lines[0] and "-o" in lines[0], err
    if process.returncode == 0:
        for name in several_hosts.names():
            left = several_hosts.on(name, ["find", several_hosts.local_directory(), "-mindepth", "1"]).stdout
            assert left == "", f"left on {name}: {left}"


def check_same_instant():
    """Three jobs that want the same name: each has a directory of its own with all of its ranks."""
    words = [*mpirun(FLAVOUR, 2), LATECOMER, "run", "--", PROGRAM, "3", "1"]
    processes = [start(words) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=patience(60))
        assert process.returncode == 0 and "not measured" not in err and "holds a result already" not in err, err
    found = glob.glob("latecomer-*")
    assert len(found) == 3, found
    for directory in found:
        calls = result(directory)["metrics"]["visits"]["callpaths"]
        assert any(path.endswith("MPI_Allreduce") and values == [3, 3] for path, values in calls.items()), (directory, calls)


def check_finalize_does_not_return():
    """The result is saved while MPI_Finalize lasts, and a line says so; another when the job is then ended from outside."""
    line = "MPI_Finalize has not returned for 5 s; the result is saved in"

    def text():
        with open("linger.err", encoding="utf-8", errors="replace") as file:
            return file.read()

    with open("linger.err", "w", encoding="utf-8") as file:
        process = subprocess.Popen([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-o", "linger", "--", PROGRAM, "3", "1", "linger"],
                                   stdout=subprocess.DEVNULL, stderr=file, start_new_session=True)
    end = time.monotonic() + patience(40)
    while line not in text() and time.monotonic() < end:
        time.sleep(0.1)
    running = process.poll() is None
    process.terminate()
    process.wait(patience(30))
    err = text()
    assert running and line in err and os.path.exists("linger/profile.cubex"), err
    told = "SIGTERM: everything measured" in err
    assert told or (FLAVOUR == "openmpi" and several_hosts.openmpi_version() >= 5), err  # whose launcher does not pass on what is said then
    found = result("linger")
    assert found["meta"]["complete"] and found["meta"]["ending"] == "MPI_Finalize", found["meta"]


def check_killed_in_finalize():
    """What was saved while MPI_Finalize lasts stays whole where the parents of all ranks are killed then."""
    process = subprocess.Popen([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-o", "killed", "--", PROGRAM, "3", "1", "linger"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + patience(40)
    while not os.path.exists("killed/meta.json") and time.monotonic() < end:
        time.sleep(0.1)
    saved = os.path.exists("killed/meta.json") and process.poll() is None

    def started(words):
        """Processes of this job that were started with these words, and their parents."""
        found = {}
        for path in glob.glob("/proc/[0-9]*"):
            try:
                with open(f"{path}/cmdline", "rb") as file:
                    same = words in file.read().replace(b"\0", b" ").decode() and os.readlink(f"{path}/cwd") == os.getcwd()
                with open(f"{path}/stat", encoding="utf-8") as file:
                    found.update({int(path[6:]): int(file.read().rsplit(")", 1)[1].split()[1])} if same else {})
            except OSError:
                pass
        return found

    programs = {pid: parent for pid, parent in started(f"{PROGRAM} 3 1 linger").items() if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(PROGRAM)}
    for pid in programs.values():
        os.kill(pid, signal.SIGKILL)
    process.wait(patience(60))
    end = time.monotonic() + patience(60)
    while started("-o killed") and time.monotonic() < end:  # who watches over the job
        time.sleep(0.1)
    found = result("killed")["meta"]
    assert saved and len(programs) == 2, programs
    assert found["complete"] and found["ending"] == "MPI_Finalize", found


def check_goes_on_after_finalize():
    """The result is saved while the program goes on after MPI_Finalize; that this has not returned is not said, and where the result is, at the end."""
    process = subprocess.Popen([*mpirun(FLAVOUR, 2), LATECOMER, "run", "-o", "later", "--", PROGRAM, "3", "1", "later", os.path.abspath("end")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    end = time.monotonic() + patience(40)
    while not os.path.exists("later/meta.json") and time.monotonic() < end:
        time.sleep(0.1)
    saved = os.path.exists("later/meta.json") and process.poll() is None
    with open("end", "w", encoding="utf-8"):
        pass
    _, err = process.communicate(timeout=patience(60))
    lines = [line for line in err.splitlines() if line.startswith("latecomer: ")]
    assert saved and process.returncode == 0 and len(lines) == 1 and lines[0].startswith("latecomer: result in"), err


def main():
    with tempfile.TemporaryDirectory(prefix="lcjobs-", ignore_cleanup_errors=True) as folder:  # where a launcher was killed, ranks may still end
        os.chdir(folder)
        for check in (check_one_job, check_two_programs, check_not_shared, check_same_instant, check_finalize_does_not_return, check_killed_in_finalize,
                      check_goes_on_after_finalize):
            check()
            print(f"{check.__name__}: ok", flush=True)
        left = [name for name in os.listdir(folder) if name.startswith(".latecomer")]
        assert not left, left
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
