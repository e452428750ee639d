"""`latecomer top`: a late rank is named while the program runs, in JSON, as text and on a terminal; nothing is asked of a run that is over.

usage: live_view.py BUILD_DIR PROGRAM_OPENMPI PROGRAM_MPICH   ("": not installed)
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import wait_for_result  # noqa: E402

LATECOMER = os.path.join(sys.argv[1], "bin/latecomer")
PROGRAMS = {flavour: path for flavour, path in zip(("openmpi", "mpich"), sys.argv[2:4]) if path}
LATE = 1


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def start(flavour, *enough):
    """enough: a file; when it is made, the program ends."""
    for path in ("result", "started", *enough):
        shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.path.exists(path) and os.unlink(path)
    process = subprocess.Popen([LATECOMER, "run", "-q", "-n", "2", "-o", "result", PROGRAMS[flavour], str(LATE), "100000", *enough],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.time() + patience(30)
    while not os.path.exists("started"):
        check(time.time() < end, "the program did not start")
        time.sleep(0.02)
    return process


def top(*words):
    return subprocess.run([LATECOMER, "top", *words], capture_output=True, text=True, timeout=patience(60), stdin=subprocess.DEVNULL)


def test_json():
    done = top("--once", "--json", "result")
    check(done.returncode == 0, done.stderr)
    seen = json.loads(done.stdout)
    run, interval = seen["run"], seen["interval"]
    check([rank["rank"] for rank in run["ranks"]] == [0, 1] and seen["unknown_threads"] == 0, done.stdout)
    check(0 < interval["elapsed_s"] < run["elapsed_s"], done.stdout)
    for part in (run, interval):
        time_s, mpi_s = (sum(rank[key] for rank in part["ranks"]) for key in ("time_s", "mpi_s"))
        check(abs(part["efficiency"] - (1 - mpi_s / time_s)) < 1e-6, done.stdout)
        check(all(rank["time_s"] >= rank["mpi_s"] >= 0 and rank["waiting_s"] >= 0 for rank in part["ranks"]), done.stdout)
    check(all(rank["mpi_s"] >= rank["waiting_s"] for rank in interval["ranks"]), done.stdout)
    check(run["late"] == [], done.stdout)
    # Each rank is late by what the other one has waited, from a tenth of the interval on; on a busy machine both may be.
    waited, found = {rank: interval["ranks"][1 - rank]["waiting_s"] for rank in (0, 1)}, {late["rank"]: late for late in interval["late"]}
    check([late["seconds"] for late in interval["late"]] == sorted((late["seconds"] for late in interval["late"]), reverse=True), done.stdout)
    for rank, seconds in waited.items():
        check(rank in found or seconds < 0.11 * interval["elapsed_s"], done.stdout)
        check(rank not in found or (0.9 * seconds - 0.1 < found[rank]["seconds"] < 1.1 * seconds + 0.1 and found[rank]["by"] == "waiting"), done.stdout)
    check(all(late["callpath"].startswith("main") and "MPI_" not in late["callpath"] for late in interval["late"]), done.stdout)


def test_text():
    done = top("--once")  # the newest run here
    check(done.returncode == 0 and done.stdout.startswith("result\n2 ranks, "), str(done))
    check(re.search(r"rank [01]: others waited .* for it, most of that while it was in main", done.stdout), done.stdout)


def test_terminal():
    """The screen is drawn anew each second, until q."""
    screen, terminal = pty.openpty()
    process = subprocess.Popen([LATECOMER, "top", "result"], stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True)
    text, end = b"", time.time() + patience(40)
    while text.count(b"\033[H\033[J") < 2:
        check(time.time() < end and process.poll() is None, str(text))
        if select.select([screen], [], [], 0.1)[0]:
            text += os.read(screen, 65536)
    os.write(screen, b"q")
    check(process.wait(timeout=patience(30)) == 0, "q does not end it")
    os.close(screen)
    os.close(terminal)


def test_end(flavour):
    """It ends with the run, and says so."""
    process = start(flavour, "enough")
    with subprocess.Popen([LATECOMER, "top", "result"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as watching:
        first = watching.stdout.readline()  # it watches
        with open("enough", "w", encoding="ascii"):
            pass
        _, errors = watching.communicate(timeout=patience(60))
    check(process.wait(timeout=patience(60)) == 0, f"the program: {process.returncode}")
    check(first == "result\n" and watching.returncode == 0, f"{first!r}, {watching.returncode}: {errors}")
    check("the run has ended: see it with `latecomer show result`" in errors, errors)
    done = top("--once", "result")
    check(done.returncode == 1 and "the run here has ended" in done.stderr, str(done))
    done = top("--once")
    check(done.returncode == 1 and "no measurement is running here" in done.stderr, str(done))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for flavour in PROGRAMS:
            process = start(flavour)
            try:
                test_json()
                test_text()
                test_terminal()
                check(process.poll() is None, "the program did not go on")
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=patience(30))
                wait_for_result("result")
            test_end(flavour)
            print(f"{flavour}: as expected")
        done = top("nosuch")
        check(done.returncode == 1 and done.stderr.count("\n") == 1, str(done))
        check(top("a", "b").returncode == 2, "two operands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
