#!/usr/bin/python3
"""Where `-o` leads: links are followed, devices, FIFOs and descriptors written to, and never replaced; folders that are missing.
Devices and FIFOs are the test's own: those of /dev are not at stake. Usage: written_through.py LATECOMER MAKE_CUBEX GOLDEN_DIR SCRATCH_DIR"""
import glob
import os
import socket
import stat
import subprocess
import sys
import threading

import made
from made import check, enter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
LEFT_OUT = []
enter(SCRATCH)
os.makedirs("tmp")
FOLDER = os.getcwd()
TRACE = os.path.join(GOLDEN, "late_sender", "traces.otf2")
made.make(MAKE, dict(meta=dict(program="made", ranks=2, wall_time_s=10.0), locations=[dict(rank=r, thread=0) for r in range(2)],
                     metrics={"time": {"callpaths": {"main": [10.0, 10.0], "main/MPI_Recv": [4.0, 2.0]}}}), "r/profile.cubex")
# Commands that write a file, and how it begins; the option is the last word.
WRITERS = {"report": (["report", "r", "-o"], b"<!doctype html>"), "csv": (["export", "--to=csv", "r", "-o"], b"callpath"),
           "perfetto": (["export", "--to=perfetto", TRACE, "-o"], b"\n"),
           "analyze": (["analyze", "-n", "1", TRACE, "-o"], b"1.data\0")}


def run(name, file, code=0, **more):
    done = subprocess.run([LATECOMER, *WRITERS[name][0], file], stdin=subprocess.DEVNULL, timeout=patience(60), check=False,
                          env=dict(os.environ, TMPDIR=f"{FOLDER}/tmp"), **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
    check(done.returncode == code, f"{name} -o {file}: exit {done.returncode}: {done.stderr}")
    if code != 0:
        check(done.stderr.count(b"\n") == 1 and done.stderr.startswith(b"latecomer: "), f"{name} -o {file}: not one line of error: {done.stderr}")
    left = glob.glob("**/*.partial*", recursive=True) + os.listdir("tmp")
    check(not left, f"{name} -o {file} leaves {left}")
    return done


def kind(file):
    return stat.S_IFMT(os.lstat(file).st_mode)


def content(file):
    with open(file, "rb") as opened:
        return opened.read()


def is_result(name, data):
    return data.lower().startswith(WRITERS[name][1].lower()) and len(data) > 100


def check_file(name):
    """A new one has the mode of the umask, one that is there keeps its own."""
    before = os.umask(0o027)
    run(name, "file")
    check(is_result(name, content("file")) and os.stat("file").st_mode & 0o777 == 0o640, f"{name}: a new file: {os.stat('file')}, {content('file')[:20]}")
    os.chmod("file", 0o604)
    run(name, "file")
    os.umask(before)
    check(os.stat("file").st_mode & 0o777 == 0o604, f"{name}: mode {oct(os.stat('file').st_mode)}")
    whole = content("file")
    os.remove("file")
    return whole


def check_links(name):
    with open("target", "w", encoding="ascii") as old:
        old.write("old")
    os.symlink("target", "link")
    os.symlink("created", "dangling")
    for link, target in (("link", "target"), ("dangling", "created")):
        run(name, link)
        check(kind(link) == stat.S_IFLNK and kind(target) == stat.S_IFREG and is_result(name, content(target)), f"{name}: through {link}: {os.lstat(link)}")
        os.remove(link)
        os.remove(target)


def through_fifo(name, code):
    os.mkfifo("fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append(content("fifo")), daemon=True)
    reader.start()
    run(name, "fifo", code)
    is_fifo = kind("fifo") == stat.S_IFIFO
    if not is_fifo:
        sys.exit(f"FAILED: {name}: the FIFO is replaced")
    reader.join(20)
    os.remove("fifo")
    check(len(got) == 1, f"{name}: the reader of the FIFO waits")
    return got[0]


def check_devices(name):
    """ENOSPC is one line and exit status 1."""
    try:
        os.mknod("full", stat.S_IFCHR | 0o666, os.makedev(1, 7))
        os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with open("null", "wb"):
            pass
    except PermissionError:
        LEFT_OUT.append("devices: only root may make them")
    else:
        said = run(name, "full", 1).stderr
        check(b"full: cannot be written: No space left" in said, f"{name}: full: {said}")
        run(name, "null")
        check(kind("full") == stat.S_IFCHR and kind("null") == stat.S_IFCHR, f"{name}: a device is replaced")
    for file in ("full", "null"):
        if os.path.lexists(file):
            os.remove(file)


def check_standard_output(name, whole):
    """A pipe, a file to which is appended, a socket, by a link of the test's own: nothing is lost, the link stays."""
    os.symlink("/proc/self/fd/1", "stdout")
    check(len(run(name, "stdout").stdout) == len(whole), f"{name}: a pipe")
    with open("log", "ab") as log:
        log.write(b"before\n")
        log.flush()
        run(name, "stdout", stdout=log)
    check(content("log")[:7] == b"before\n" and len(content("log")) == 7 + len(whole), f"{name}: what was in the file is lost")
    ours, its = socket.socketpair()
    got = []
    reader = threading.Thread(target=lambda: got.extend(iter(lambda: ours.recv(65536), b"")), daemon=True)
    reader.start()
    run(name, "stdout", stdout=its)
    its.close()
    reader.join(20)
    check(sum(map(len, got)) == len(whole), f"{name}: a socket")
    check(kind("stdout") == stat.S_IFLNK, f"{name}: the link to standard output is replaced")
    os.remove("stdout")
    os.remove("log")


def check_refusals(name):
    said = run(name, "nodir/file", 1).stderr
    check(b"nodir/file: cannot be written: No such file or directory" in said, f"{name}: {said}")
    check(b"Is a directory" in run(name, "r", 1).stderr, f"{name}: a directory")
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind("socket")
        run(name, "socket", 1)
        check(kind("socket") == stat.S_IFSOCK, f"{name}: a socket is replaced")
        os.remove("socket")


def check_failed_export():
    """Whoever reads gets nothing of it, and an end."""
    WRITERS["too large"] = (["export", "--to=csv", "--max-size=20", "r", "-o"], b"")
    check(through_fifo("too large", 1) == b"", "part of an export came through")


def check_folders():
    """Those of `run` and `bench` are made."""
    os.symlink("new/linked", "link")
    for folder in ("new/sub/dir", "new/again/", "link", "link/inside"):
        done = subprocess.run([LATECOMER, "run", "-o", folder, "true"], capture_output=True, timeout=patience(60), check=False)
        check(done.returncode == 0 and os.path.exists(f"{folder}/profile.cubex"), f"run -o {folder}: {done}")
    with open("runs.txt", "w", encoding="ascii") as runs:
        runs.writelines(f"{1000 + i % 7}\n" for i in range(100))
    done = subprocess.run([LATECOMER, "bench", "import", "runs.txt", "--operation", "X", "--bytes", "8", "-o", "far/off/bench"], capture_output=True, timeout=patience(60),
                          check=False)
    check(done.returncode == 0 and os.path.exists("far/off/bench/bench.json"), f"bench -o: {done}")
    done = subprocess.run([LATECOMER, "run", "-o", "r/profile.cubex/x", "true"], capture_output=True, timeout=patience(60), check=False)
    check(done.returncode == 0 and done.stderr.count(b"\n") == 1 and b"running unmeasured" in done.stderr, f"run -o below a file: {done}")


for writer in WRITERS if os.path.exists(TRACE) else ("report", "csv"):
    result = check_file(writer)
    check_links(writer)
    arrived = through_fifo(writer, 0)
    check(is_result(writer, arrived) and len(arrived) == len(result), f"{writer}: {len(arrived)} bytes came through the FIFO, not {len(result)}")
    check_devices(writer)
    check_standard_output(writer, result)
    check_refusals(writer)
    print(writer, "as expected")
check_failed_export()
check_folders()
check(stat.S_ISCHR(os.stat("/dev/full").st_mode) and stat.S_ISCHR(os.stat("/dev/null").st_mode), "a device of the system is replaced")
if LEFT_OUT:
    print("left out:", ", ".join(sorted(set(LEFT_OUT))))
    sys.exit(77)
