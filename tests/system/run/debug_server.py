"""Debug information from a server (DEBUGINFOD_URLS): debug_server.py LATECOMER FLAVOUR PROGRAM

The server is a directory of build ids in this process. A stripped program gets names, files and lines from it; each build is asked for once, nobody is
asked where the program crashed, and a server that says nothing, or is not there, is given up; the time that this takes is told."""
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import wait_for_result  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM = sys.argv[1:4]
KILLED = '"$@" & while [ ! -e started ]; do sleep 0.05; done; kill -9 $!; wait $!'
FUNCTION = "main/smooth/MPI_Barrier"
asked = []  # build ids


class Server(http.server.BaseHTTPRequestHandler):
    """What debuginfod answers: /buildid/ID/debuginfo."""

    def do_GET(self):  # noqa: N802
        _, _, build_id, kind = self.path.split("/")
        asked.append(build_id)
        file = os.path.join(self.server.root, build_id)
        if kind != "debuginfo" or not os.path.exists(file):
            self.send_error(404)
            return
        with open(file, "rb") as opened:
            content = opened.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def strip(root):
    """The program without symbols, and what the server has; the build id."""
    stripped, notes = os.path.join(root, "late"), subprocess.run(["readelf", "-n", PROGRAM], text=True, capture_output=True, check=True).stdout
    build_id = notes.split("Build ID:")[1].split()[0]
    subprocess.run(["objcopy", "--only-keep-debug", PROGRAM, os.path.join(root, build_id)], check=True)
    subprocess.run(["objcopy", "--strip-all", PROGRAM, stripped], check=True)
    return stripped, build_id


class Case:
    def __init__(self, root, name, urls, command, ends_well=True, **more):
        """ends_well: else the exit status is the launcher's matter (tests/system/faults/launcher_statuses.py)."""
        cache, out = os.path.join(root, name + "-cache"), os.path.join(root, name)
        asked.clear()
        env = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD")}
        env.update({"DEBUGINFOD_URLS": urls} if urls else {}, DEBUGINFOD_CACHE_PATH=cache, no_proxy="*", **more)
        begin = time.monotonic()
        done = subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "-q", "run", "--sample=off", "-o", out, *command], env=env, text=True,
                              capture_output=True, timeout=patience(100), check=False, cwd=root, stdin=subprocess.DEVNULL)
        self.seconds = time.monotonic() - begin
        self.asked, self.name = list(asked), name
        self.check("status", done.returncode == 0 or not ends_well, done)
        wait_for_result(out)
        show = [LATECOMER, "show", out]
        self.result = json.loads(subprocess.run([*show, "--json"], text=True, capture_output=True, timeout=patience(60), check=True).stdout)
        self.text = " ".join(subprocess.run([*show, "--full"], text=True, capture_output=True, timeout=patience(60), check=True).stdout.split())
        self.named = FUNCTION in self.result["metrics"]["visits"]["callpaths"]

    def check(self, what, right, *more):
        if not right:
            sys.exit(f"{self.name}: {what}: {' '.join(map(str, more))} asked: {self.asked}")


def main():
    with tempfile.TemporaryDirectory(prefix="lcdebug-") as root:
        program, build_id = strip(root)
        run = [program, "1", "3"]
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.root, server.daemon_threads = root, True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"

        bare = Case(root, "nobody", None, run)
        bare.check("names without symbols", not bare.named, bare.result["metrics"]["visits"]["callpaths"])

        asks = Case(root, "server", url, run)
        asks.check("no names", asks.named, asks.result["metrics"]["visits"]["callpaths"])
        asks.check("lines", "late_rank.c:" in asks.text, asks.text)
        asks.check("builds asked for", build_id in asks.asked and len(asks.asked) == len(set(asks.asked)))
        asks.check("gave up", "debuginfod_gave_up" not in asks.result["meta"])

        crash = Case(root, "crash", url, ["sh", "-c", KILLED, "sh", program, "1", "1000"], ends_well=False)
        crash.check("ending", crash.result["meta"]["complete"] is False, crash.result["meta"])
        crash.check("asked after a crash", crash.asked == [])
        crash.check("there is no end to tell", list(crash.result["meta"]["start_and_end"].items())[1:] == [("finish_s", 0)], crash.result["meta"])

        silent = socket.create_server(("127.0.0.1", 0), backlog=64)  # accepts, and says nothing
        waits = Case(root, "silent", f"http://127.0.0.1:{silent.getsockname()[1]}/", run, DEBUGINFOD_TIMEOUT="1")
        waits.check("names", not waits.named)
        apart = waits.result["meta"]["start_and_end"]
        waits.check("a second of waiting for the server is not told", apart["result_s"] > 1 and "for the result, after the program" in waits.text, apart)
        waits.check("more is told than it took", min(apart.values()) > 0 and sum(apart.values()) < waits.seconds, apart, waits.seconds)
        waits.check("does not say that nobody answered", waits.result["meta"].get("debuginfod_gave_up") is True and "did not answer" in waits.text, waits.text)
        silent.setblocking(False)
        tries = 0
        try:
            while True:
                silent.accept()
                tries += 1
        except BlockingIOError:
            pass
        waits.check("asked again after silence", tries == 1, tries)

        silent.close()
        with socket.socket() as deaf:  # keeps its port from others, and does not listen
            deaf.bind(("127.0.0.1", 0))
            gone = Case(root, "gone", f"http://127.0.0.1:{deaf.getsockname()[1]}/", run)
        gone.check("does not give up", gone.result["meta"].get("debuginfod_gave_up") is True)
        server.shutdown()
    print("all as it should be")


main()
