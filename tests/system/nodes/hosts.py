#!/usr/bin/env python3
"""Several hosts on one machine, to try what happens only between nodes.

usage: hosts.py [-n HOSTS] [--delay MS] COMMAND [ARGUMENTS]

Runs COMMAND on node1 of HOSTS (default 2) hosts node1, node2, .. and ends as it ends. A host is a set of namespaces: network (10.99.0.N, joined
by a switch), host name, processes, IPC, mounts; with its own boot id, /dev/shm and /local (a directory that is not shared). Everything else of
the file system is shared. --delay: each packet between hosts takes MS milliseconds. All of it, every process included, is gone when COMMAND has
ended or this program dies; nothing of the machine outside changes, and several can run at the same time.
COMMAND finds in its environment: HOSTS_NAMES ("node1 node2"), HOSTS_RSH (a program that takes HOST COMMAND, as launchers call ssh),
HOSTS_FILE (Open MPI's format), HOSTS_LOCAL. Exit status 77 with a reason where the namespaces cannot be made.

Layers: this process > a parent that owns the network and all processes (`inside`) > one first process per host (`host`), which serves the requests
of rsh through a socket in the file system: the files 0, 1, 2 of the caller are handed over, the exit status comes back.
"""
import argparse
import array
import ctypes
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

NET = "10.99.0"
SELF = os.path.abspath(__file__)
MAX_REQUEST = 1 << 20
PYTHON = [sys.executable, "-S", "-E"]


def own_directories(folder):
    """Environment that keeps Open MPI's files of a job (4: orte, 5: prte) inside a host: it names them by host name and process number, which
    repeat among hosts and among several of these programs side by side, and jobs would take each other's."""
    return {"OMPI_MCA_orte_tmpdir_base": f"{folder}/local", "PRTE_MCA_prte_tmpdir_base": f"{folder}/local"}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


# The outermost process

def outside(options):
    if os.geteuid() != 0:
        skip("namespaces of several hosts need root")
    for tool, package in (("unshare", "util-linux"), ("ip", "iproute2")):
        if shutil.which(tool) is None:
            skip(f"no {tool} here: install {package}")
    unshare = ["unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    tried = subprocess.run([*unshare, "sh", "-c", "ip link add v1 type veth peer name v2 && ip link add b1 type bridge"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        skip(f"no namespaces here: {tried.stderr.strip()}")
    folder = tempfile.mkdtemp(prefix="hosts-")
    try:
        child = subprocess.Popen([*unshare, sys.executable, SELF, "--inside", folder, "-n", str(options.n), "--delay", str(options.delay),
                                  "--", *options.command])
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: child.kill())
        return ended(child.wait())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ended(status):
    return status if status >= 0 else 128 - status


# The owner of the network and of all processes

def ip(*words):
    subprocess.run(["ip", *words], check=True)


def inside(options, folder):
    names = [f"node{i}" for i in range(1, options.n + 1)]
    with open(f"{folder}/hosts", "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"{NET}.{i} {name}\n" for i, name in enumerate(names, 1)))
    with open(f"{folder}/hostfile", "w", encoding="ascii") as file:
        file.writelines(f"{name} slots=64\n" for name in names)
    with open(f"{folder}/rsh", "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nexec {" ".join(PYTHON)} {SELF} --rsh {folder} "$@"\n')
    os.chmod(f"{folder}/rsh", 0o755)
    os.mkdir(f"{folder}/local")
    for i, name in enumerate(names, 1):
        with open(f"{folder}/{name}.boot_id", "w", encoding="ascii") as file:
            file.write(f"{uuid.uuid4()}\n")
        host = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
                                 *PYTHON, SELF, "--host", folder, name, f"{NET}.{i}"], stdin=subprocess.DEVNULL)
        wait_for(lambda h=host: os.readlink(f"/proc/{h.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
        ip("link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        ip("link", "set", f"v{i}", "up")
    if options.delay > 0:
        threading.Thread(target=slow_switch, args=(len(names), options.delay / 1000), daemon=True).start()
    else:
        ip("link", "add", "switch", "type", "bridge")
        ip("link", "set", "switch", "up")
        for i in range(1, len(names) + 1):
            ip("link", "set", f"v{i}", "master", "switch")
    for name in names:
        wait_for(lambda n=name: os.path.exists(f"{folder}/{n}.socket"))
    os.environ.update(HOSTS_NAMES=" ".join(names), HOSTS_RSH=f"{folder}/rsh", HOSTS_FILE=f"{folder}/hostfile",
                      HOSTS_LOCAL=f"{folder}/local", **own_directories(folder))
    return ask(folder, "node1", {"words": options.command, "cwd": os.getcwd(), "env": dict(os.environ)})


def wait_for(what, seconds=20):
    end = time.monotonic() + patience(seconds)
    while not what():
        if time.monotonic() > end:
            raise TimeoutError("a host does not start")
        time.sleep(0.01)


def slow_switch(ports, delay_s):
    """Hands every frame to all other ports, `delay_s` later. With PACKET_VNET_HDR a frame keeps the marks of what the sender's kernel
    left to the device (checksum, segmentation), for the receiver's kernel to see. A network is not late because ranks that wait in
    loops have all the processors: this thread gets one at once, and waits to the microsecond (epoll does to the millisecond)."""
    PACKET_VNET_HDR, SOL_PACKET, ETH_P_ALL, OUTGOING = 15, 263, 3, 4
    sockets, queue = {}, deque()
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_getparam(0).sched_priority + 1))
    except PermissionError:
        pass  # slower then
    for i in range(1, ports + 1):
        port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        port.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        port.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        port.bind((f"v{i}", ETH_P_ALL))
        port.setblocking(False)
        sockets[port.fileno()] = port
    while True:
        wait = max(0.0, queue[0][0] - time.monotonic()) if queue else None
        for fd in select.select(list(sockets), [], [], wait)[0]:
            while True:
                try:
                    frame, address = sockets[fd].recvfrom(1 << 17)
                except BlockingIOError:
                    break
                if address[2] != OUTGOING:
                    queue.append((time.monotonic() + delay_s, fd, frame))
        while queue and queue[0][0] <= time.monotonic():
            _, source, frame = queue.popleft()
            for fd, port in sockets.items():
                if fd != source:
                    try:
                        port.send(frame)
                    except OSError:
                        pass  # a full queue: lost, as in a network


# The first process of a host

def host(folder, name, address):
    socket.sethostname(name)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    for words in (["mount", "-t", "sysfs", "sysfs", "/sys"],
                  ["mount", "--bind", f"{folder}/{name}.boot_id", "/proc/sys/kernel/random/boot_id"],
                  ["mount", "--bind", f"{folder}/hosts", "/etc/hosts"],
                  ["mount", "-t", "tmpfs", "-o", "size=1g", "shm", "/dev/shm"],
                  ["mount", "-t", "tmpfs", "-o", "size=500m", "local", f"{folder}/local"]):
        subprocess.run(words, check=True)
    wait_for(lambda: os.path.exists("/sys/class/net/eth0"))
    ip("link", "set", "lo", "up")
    ip("addr", "add", f"{address}/24", "dev", "eth0")
    ip("link", "set", "eth0", "up")
    wait_for(lambda: open("/sys/class/net/eth0/operstate", encoding="ascii").read() == "up\n")  # the kernel takes up to 1 s to say so
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(f"{folder}/{name}.new")
    server.listen(64)
    os.rename(f"{folder}/{name}.new", f"{folder}/{name}.socket")
    serve(server)


def serve(server):
    """One process per request; this one, the first of its process namespace, also takes in all orphans. Sleeps while nothing happens."""
    waiting = {}  # process -> connection
    ends, end_of_child = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end_of_child)
    while True:
        poll = select.poll()
        poll.register(server, select.POLLIN)
        poll.register(ends, select.POLLIN)
        for connection in waiting.values():
            poll.register(connection, 0)  # only its end
        ready = {fd for fd, _ in poll.poll()}
        if server.fileno() in ready:
            connection, _ = server.accept()
            pid = os.fork()
            if pid == 0:
                become(connection)
            waiting[pid] = connection
        if ends in ready:
            os.read(ends, 4096)
            reap(waiting)
        for pid, connection in list(waiting.items()):
            if connection.fileno() in ready:  # who asked is gone
                hang_up(pid)
                waiting.pop(pid).close()


def reap(waiting):
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid in waiting:
                answer(waiting.pop(pid), os.waitstatus_to_exitcode(status))
    except ChildProcessError:
        pass


def answer(connection, status):
    try:
        connection.sendall(struct.pack("i", status))
    except OSError:
        pass
    connection.close()


def hang_up(pid):
    try:
        os.killpg(pid, signal.SIGHUP)
    except ProcessLookupError:
        pass


def become(connection):
    """In a new process: turns into what is asked for."""
    connection.setblocking(True)
    fds = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_LEN(3 * fds.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
    length = struct.unpack("q", data)[0]
    text = b""
    while len(text) < length:
        text += connection.recv(length - len(text))
    request = eval(text.decode("utf-8", "surrogateescape"))  # repr of our own dict
    os.setsid()
    for i, fd in enumerate(fds):
        os.dup2(fd, i, inheritable=True)
    os.closerange(3, 256)
    try:
        os.chdir(request["cwd"])
        os.execvpe(request["words"][0], request["words"], request["env"])
    except OSError as error:
        print(f"hosts: {request['words'][0]}: {error}", file=sys.stderr)
    os._exit(127)


# Asking a host

def ask(folder, name, request):
    text = repr(request).encode("utf-8", "surrogateescape")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(f"{folder}/{name}.socket")
        connection.sendmsg([struct.pack("q", len(text))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
        connection.sendall(text)
        reply = b""
        while len(reply) < 4:
            more = connection.recv(4 - len(reply))
            if not more:
                return 255
            reply += more
    return ended(struct.unpack("i", reply)[0])


def rsh(folder, words):
    """As ssh: options are ignored, the command is a line for the shell, the environment is that of a login."""
    while words and words[0].startswith("-"):
        words = words[1:]
    env = {"HOME": "/", "USER": "root", "SHELL": "/bin/sh", "PATH": os.environ.get("PATH", "/usr/bin:/bin"), **own_directories(folder)}
    return ask(folder, words[0], {"words": ["/bin/bash", "-c", " ".join(words[1:])], "cwd": "/", "env": env})


def main():
    if sys.argv[1:2] == ["--rsh"]:
        return rsh(sys.argv[2], sys.argv[3:])
    if sys.argv[1:2] == ["--host"]:
        return host(*sys.argv[2:5])
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.command = options.command[options.command[:1] == ["--"]:]
    if not options.command:
        parser.error("no command given")
    return inside(options, options.inside) if options.inside else outside(options)


if __name__ == "__main__":
    sys.exit(main())
