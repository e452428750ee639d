"""What hosts.py promises: hosts of their own, a way between them, nothing left. Run by it on 3 hosts.

usage: check_hosts.py
"""
import os
import socket
import sys

import several_hosts


def identity(host):
    probe = ("import os, socket; print(socket.gethostname(), open('/proc/sys/kernel/random/boot_id').read().strip(), "
             "os.readlink('/proc/self/ns/pid'), sorted(os.listdir('/sys/class/net')))")
    done = several_hosts.on(host, ["/usr/bin/python3", "-c", probe])
    assert done.returncode == 0, done.stderr
    return done.stdout.split(maxsplit=3)


def main():
    names = several_hosts.names()
    assert names == ["node1", "node2", "node3"] and socket.gethostname() == "node1", names
    found = [identity(name) for name in names]
    assert [f[0] for f in found] == names and len({f[1] for f in found}) == 3 and len({f[2] for f in found}) == 3, found
    assert all("eth0" in f[3] and "v1" not in f[3] for f in found), found
    here = os.path.join(several_hosts.local_directory(), "here")
    with open(here, "w", encoding="ascii"):
        pass
    assert several_hosts.on("node2", ["test", "-e", here]).returncode == 1, "a local directory is shared"
    assert several_hosts.on("node3", ["sh", "-c", "exit 7"]).returncode == 7
    listener = socket.create_server(("", 5000))
    done = several_hosts.on("node2", ["/usr/bin/python3", "-c", "import socket; socket.create_connection(('node1', 5000), 10).sendall(b'hello')"])
    assert done.returncode == 0 and listener.accept()[0].recv(10) == b"hello", done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
