"""`latecomer run` as a parent: exit status, signals, environment, descriptors, directories; dump, recover, doctor.

usage: parent_process.py BUILD_DIR STATIC_PROGRAM DUMP_PROGRAM_OPENMPI DUMP_PROGRAM_MPICH [TEST..]
"""
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

BUILD, STATIC = sys.argv[1], sys.argv[2]
SLOW = {flavour: path for flavour, path in (("openmpi", sys.argv[3]), ("mpich", sys.argv[4])) if path}  # "": not installed
LATECOMER = os.path.join(BUILD, "bin/latecomer")
PYTHON = "/usr/bin/python3"
LAUNCHER_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "SLURM_", "LATECOMER_", "HYDI_", "MPI_LOCAL")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_PREFIXES)}


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def run(args, bare=False, shell=None, env=None, **more):
    """Runs a program bare or measured, gives the finished process; stderr as lines of ours and others."""
    words = args if bare else [LATECOMER, "run", *args]
    if shell is not None:
        words = ["/bin/sh", "-c", shell, "sh", *words]
    return subprocess.run(words, env=env or ENV, capture_output=True, text=True, timeout=patience(60), **more)


def ours(done):
    return [line for line in done.stderr.splitlines() if line.startswith("latecomer: ")]


def wait_until(what, seconds=20.0):
    end = time.time() + patience(seconds)
    while time.time() < end:
        if what():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def test_exit_status():
    for code in (0, 1, 7, 255):
        check(run(["sh", "-c", f"exit {code}"]).returncode == code, f"exit {code}")
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE, signal.SIGUSR1):
        done = run(["sh", "-c", f"kill -{int(number)} $$"])
        check(done.returncode == -number, f"signal {number}: {done.returncode}")


def test_not_mpi():
    done = run(["echo", "hello"])
    check(done.stdout == "hello\n", done.stdout)
    check(len(ours(done)) == 1 and "neither MPI nor OpenMP was seen" in done.stderr, done.stderr)
    results = os.listdir(".")
    check(len(results) == 1 and sorted(os.listdir(results[0])) == ["meta.json", "profile.cubex"], f"its time: {results}")
    check(run(["-q", "true"]).stderr == "", "quiet")
    check(run(["true"], env=dict(ENV, LATECOMER_QUIET="1")).stderr == "", "quiet by environment")


def test_static():
    done = run([STATIC])
    check(done.returncode == 5 and done.stdout == "static\n", str(done))
    check(len(ours(done)) == 1 and "statically" in done.stderr, done.stderr)
    env = dict(ENV, ASAN_OPTIONS="color=never")
    done = run(["--sample=off", "--what-if=main=2", STATIC, "environment"], env=env)
    check(done.stdout == run([STATIC, "environment"], bare=True, env=env).stdout, f"environment: {done.stdout}")
    check(os.listdir(".") == [], f"left behind: {os.listdir('.')}")


def test_bad_usage():
    for words in (["run"], ["run", "--no-such", "true"], ["run", "--callpath=x", "true"], ["run", "-n", "0", "true"],
                  ["run", "--dump-every=0", "true"], ["run", "--buffer=many", "true"],
                  *(["run", f"--what-if={spec}", "true"] for spec in ("work", "=2", "work=", "work=fast", "work=-1", "mpi=0.5", "a=1,,b=2", ";".join(["a=2"] * 7))),
                  ["run", *["--what-if=a=2"] * 7, "true"], ["dump"], ["recover"]):
        done = subprocess.run([LATECOMER, *words], env=ENV, capture_output=True, text=True, timeout=patience(60))
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{words}: {done}")
    done = run(["true"], env=dict(ENV, LATECOMER_CALLPATH="x"))
    check(done.returncode == 2, "bad value in the environment")
    for program in ("./nosuch", "nosuch", "/"):
        done = run([program])
        check(done.returncode == 1 and len(ours(done)) == 1, f"{program}: {done}")
    done = subprocess.run([LATECOMER, "run", "-n", "2", "true"], env=dict(ENV, PMI_RANK="0", PMI_SIZE="1"), capture_output=True)
    check(done.returncode == 2, "-n inside a launcher")
    for words in (["dump", "."], ["recover", "."], ["dump", "/nosuch"], ["recover", "/nosuch"], ["doctor", "/nosuch"]):
        done = subprocess.run([LATECOMER, *words], env=ENV, capture_output=True, text=True, timeout=patience(60))
        check(done.returncode == 1 and len(done.stderr.splitlines()) == 1, f"{words}: {done}")


def test_unwritable():
    """No place for a result: the program runs all the same."""
    done = run(["-o", "/proc/nowhere", "sh", "-c", "echo fine; exit 4"])
    check(done.returncode == 4 and done.stdout == "fine\n" and len(ours(done)) == 1, str(done))


COUNT = """
import os, signal, sys, time
counts = {}
told = {}
def handler(number, frame):
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGWINCH, signal.SIGCONT):
    signal.signal(number, handler)
open("ready", "w").close()
while os.path.exists("ready") and not os.path.exists("stop"):  # of a test that failed the directory goes
    if counts != told:  # not in the handler, which another signal may interrupt
        told = dict(counts)
        with open("counts.new", "w") as file:
            file.write(repr(sorted((int(k), v) for k, v in told.items())))
        os.rename("counts.new", "counts")
    time.sleep(0.01)
print(sorted((int(k), v) for k, v in counts.items()))
"""


def start_counter(bare):
    for name in ("ready", "stop", "counts"):
        if os.path.exists(name):
            os.unlink(name)
    words = [PYTHON, "-c", COUNT]
    process = subprocess.Popen(words if bare else [LATECOMER, "run", *words], env=ENV, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    wait_until(lambda: os.path.exists("ready"))
    return process


def counted(number):
    """How often the counter has got a signal."""
    return dict(ast.literal_eval(open("counts", encoding="ascii").read())).get(number, 0) if os.path.exists("counts") else 0


def test_signals_arrive_once():
    """Sent to the parent alone or to the whole group (as launchers and terminals do): the program gets each once. Each is sent when the one
    before has arrived, since equal signals that are pending become one; what is passed on twice comes before the last one."""
    results = []
    for bare in (True, False):
        process = start_counter(bare)
        sent = [(number, send) for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT) for send in (os.kill, os.killpg)]
        for number, send in [*sent, (signal.SIGHUP, os.killpg), (signal.SIGWINCH, os.kill)]:
            before = counted(number)
            send(process.pid, number)
            wait_until(lambda number=number, before=before: counted(number) > before)
        open("stop", "w").close()
        results.append(process.communicate(timeout=patience(30))[0])
    check(results[0] == results[1] and "(10, 2)" in results[0], f"bare {results[0]} measured {results[1]}")


def test_stop_and_continue():
    process = start_counter(False)
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(0.2)
    open("stop", "w").close()
    time.sleep(0.2)
    check(process.poll() is None, "it went on")
    os.killpg(process.pid, signal.SIGCONT)
    process.communicate(timeout=patience(30))
    check(process.returncode == 0, str(process.returncode))


def test_killed_parent():
    """Launchers know the parent only: if it is killed for good, so is the program, and nothing stays."""
    process = start_counter(False)
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout.split()
    check(len(children) >= 1, "no children")
    process.kill()
    process.wait()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in children))


REPORT = """
import os, signal, sys
status = open("/proc/self/status").read().splitlines()
masks = [line for line in status if line.startswith(("SigBlk", "SigIgn"))]
fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
open(sys.argv[1], "w").write(repr((masks, fds[:-1], os.getpgrp() == int(sys.argv[2]) or os.getpgrp() == os.getppid(), os.environ.get("LD_PRELOAD"))))
"""


def test_environment_of_program():
    """Masks, ignored signals, descriptors: as in the bare run, also with standard descriptors closed."""
    for redirect in ("", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", "5</dev/null"):
        seen = []
        for bare in (True, False):
            shell = f"trap '' HUP; exec \"$@\" {redirect}"
            run([PYTHON, "-c", REPORT, "out", "0"], bare=bare, shell=shell)
            with open("out", encoding="utf-8") as file:
                seen.append(eval(file.read()))  # pylint: disable=eval-used
        check(seen[0][:2] == seen[1][:2], f"'{redirect}': bare {seen[0]} measured {seen[1]}")
        check(seen[1][3] is not None and seen[1][3].endswith("/liblatecomer.so"), str(seen[1]))


def test_preload_is_kept():
    done = run(["sh", "-c", "echo $LD_PRELOAD"], env=dict(ENV, LD_PRELOAD="libm.so.6"))
    check(done.stdout.strip().endswith("liblatecomer.so:libm.so.6"), done.stdout)


def test_limits():
    for limit in ("ulimit -v 400000", "ulimit -n 24", "ulimit -f 0", "ulimit -c 0"):
        done = run(["sh", "-c", "exit 3"], shell=limit + '; exec "$@"')
        check(done.returncode == 3, f"{limit}: {done}")


def test_no_leftovers():
    """No zombie, no process that stays, and standard input and output are let go when the program ends."""
    done = run(["sh", "-c", "echo x | cat"])
    check(done.stdout == "x\n", done.stdout)
    done = subprocess.run(["sh", "-c", f"yes | {LATECOMER} run -q head -1"], env=ENV, capture_output=True, text=True, timeout=patience(30))
    check(done.stdout == "y\n" and done.returncode == 0, str(done))


def demo(flavour):
    return os.path.join(BUILD, "bin/latecomer-demo-" + flavour)


def test_calls_the_launcher():
    for flavour, name in ((f, {"openmpi": "Open MPI", "mpich": "MPICH"}[f]) for f in SLOW):
        done = run(["-n", "2", "-o", "result", demo(flavour), "2"])
        check(done.returncode == 0 and "on 2 ranks" in done.stdout, str(done))
        with open("result/meta.json", encoding="utf-8") as file:
            meta = json.load(file)
        check(meta["ranks"] == 2 and meta["mpi"].startswith(name) and meta["complete"], str(meta))
        check(sorted(os.listdir("result")) == ["meta.json", "profile.cubex"], str(os.listdir("result")))
        before = os.stat("result/profile.cubex").st_mtime_ns
        done = run(["-n", "2", "-o", "result", demo(flavour), "2"])
        check("result-2" in done.stderr and os.path.exists("result-2/profile.cubex"), str(done))
        check(os.stat("result/profile.cubex").st_mtime_ns == before, "an old result was touched")
        done = run([demo(flavour), "2"])  # one process, default name
        names = [n for n in os.listdir(".") if n.startswith(f"latecomer-latecomer-demo-{flavour}-1x1-")]
        check(done.returncode == 0 and len(names) == 1, f"{done} {os.listdir('.')}")
        check(not [n for n in os.listdir(".") if n.startswith(".")], f"left behind: {os.listdir('.')}")
        for name_ in ["result", "result-2", *names]:
            shutil.rmtree(name_)


def test_messages_of_misuse():
    """The launcher behind the tool, a cleared environment, a file where the directory is to be."""
    done = run(["mpirun", "-n", "2", demo("openmpi")])
    check(done.returncode == 2 and len(ours(done)) == 1 and "is a launcher: put `latecomer run` after it" in done.stderr, str(done))
    done = run(["env", "-i", demo("openmpi"), "1"])
    check(len(ours(done)) == 1 and "env -i removes" in done.stderr, str(done))
    with open("taken", "w", encoding="ascii"):
        pass
    done = run(["-o", "taken", demo("mpich"), "1"])
    check(done.returncode == 0 and "taken is a file, not a directory" in done.stderr and os.path.exists("taken-2/profile.cubex"), str(done))
    os.unlink("taken")
    shutil.rmtree("taken-2")


def test_launcher_found():
    """A PATH with nothing but `mpirun` of the right MPI, or of the wrong one; a batch script of Slurm is not a launched process."""
    for flavour, other in (("openmpi", "mpich"), ("mpich", "openmpi")):
        os.mkdir("path")
        os.symlink(shutil.which(f"mpirun.{flavour}"), "path/mpirun")
        env = dict(ENV, PATH=os.path.abspath("path"), SLURM_JOB_ID="1", SLURM_PROCID="0", SLURM_NTASKS="4", SLURM_LOCALID="0")
        if flavour == "openmpi":  # it would ask that Slurm
            env = {k: v for k, v in env.items() if not k.startswith("SLURM_")}
            env["OMPI_MCA_plm_rsh_agent"] = "/bin/false"  # it looks for ssh, also if it needs none
        else:  # Hydra looks for its proxy beside itself
            os.symlink(shutil.which("hydra_pmi_proxy"), "path/hydra_pmi_proxy")
            env["HYDRA_RMK"], env["HYDRA_LAUNCHER"] = "user", "fork"
        done = run(["-n", "2", "--trace", "-o", "result", demo(flavour), "2"], env=env)
        check(done.returncode == 0 and "on 2 ranks" in done.stdout, str(done))
        done = subprocess.run([LATECOMER, "analyze", "-n", "2", "result"], env=env, capture_output=True, text=True, timeout=patience(60))
        check(done.returncode == 0 and "on 2 ranks" in done.stderr and os.path.exists("result/analysis.cubex"), str(done))
        shutil.rmtree("result")
        done = run(["-n", "2", demo(other), "2"], env=env)
        check(done.returncode == 1 and len(ours(done)) == 1 and "no mpirun of" in done.stderr, str(done))
        shutil.rmtree("path")


def shown(directory):
    done = subprocess.run([LATECOMER, "show", "--json", directory], env=ENV, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def descendants(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return [pid] + [d for child in out for d in descendants(int(child))]


def kill_tree(pid):
    """All at once: stopped first, so that nobody sees another one end; children first, since the kernel wakes up stopped
    groups that lose their parents."""
    everybody = descendants(pid)[::-1]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in everybody:
            try:
                os.kill(one, number)
            except ProcessLookupError:
                pass
    for one in everybody[:-1]:  # the last one is our own child, waited for elsewhere
        wait_until(lambda one=one: not os.path.exists(f"/proc/{one}/exe"))


def start_slow(flavour, *options):
    return subprocess.Popen([LATECOMER, "run", "-n", "2", *options, "-o", "result", SLOW[flavour]], env=ENV,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def test_dump_and_recover():
    for flavour in SLOW:
        process = start_slow(flavour)
        try:
            wait_until(lambda: os.path.exists("started"))
            done = subprocess.run([LATECOMER, "dump", "result"], env=ENV, capture_output=True, text=True, timeout=patience(60))
            check(done.returncode == 0, done.stderr)
            first = shown("result")
            check(first["meta"]["complete"] is False and first["meta"]["ending"] == "running", str(first["meta"]))
            check(first["metrics"]["visits"]["total"] > 0 and len(first["locations"]) == 2, "snapshot is empty")
            check(process.poll() is None, "the program did not go on")
            done = subprocess.run([LATECOMER, "recover", "result"], env=ENV, capture_output=True, text=True, timeout=patience(60))
            check(done.returncode == 1 and "still in progress" in done.stderr, str(done))
            end = time.time() + patience(20)
            second = first
            while second["metrics"]["visits"]["total"] <= first["metrics"]["visits"]["total"]:  # the program goes on, sooner or later
                check(time.time() < end, "the snapshot is old")
                subprocess.run([LATECOMER, "dump", "-q", "result"], env=ENV, check=True, timeout=patience(60))
                second = shown("result")
        finally:
            kill_tree(process.pid)  # launcher and all: nobody can save anything
            process.communicate(timeout=patience(30))
        shutil.copy("result/profile.cubex", "saved.cubex")
        os.unlink("result/profile.cubex")
        done = subprocess.run([LATECOMER, "recover", "result"], env=ENV, capture_output=True, text=True, timeout=patience(60))
        check(done.returncode == 0, done.stderr)
        again = shown("result")
        check(again["metrics"]["visits"] == second["metrics"]["visits"], "recovered something else")
        check(sorted(os.listdir("result")) == ["meta.json", "profile.cubex"], str(os.listdir("result")))
        check_unanswered_dump("the run here has ended")
        shutil.rmtree("result")
        os.unlink("started")


def check_unanswered_dump(why):
    done = subprocess.run([LATECOMER, "dump", "result"], env=ENV, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1, str(done))


def test_dump_of_no_run():
    os.mkdir("result")
    check_unanswered_dump("no run writes to this directory, and it holds no result")
    with open("result/.run.json", "w", encoding="utf-8") as file:
        file.write("{}")
    check_unanswered_dump("the run here does not answer")
    shutil.rmtree("result")


def test_dump_every():
    process = start_slow(next(iter(SLOW)), "--dump-every=0.2")
    try:
        wait_until(lambda: os.path.exists("result/profile.cubex"))
        check(shown("result")["meta"]["complete"] is False, "complete")
        first = os.stat("result/profile.cubex").st_ino
        wait_until(lambda: os.stat("result/profile.cubex").st_ino != first)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=patience(30))
    # where the launcher has killed the parents, too, the result is saved after that
    wait_until(lambda: sorted(os.listdir("result")) == ["meta.json", "profile.cubex"])
    check(shown("result")["meta"]["complete"] is False, "complete")


def test_doctor():
    done = subprocess.run([LATECOMER, "doctor", demo(next(iter(SLOW)))], env=ENV, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 0 and "libmpi" in done.stdout and "files and lines" in done.stdout, str(done))
    done = subprocess.run([LATECOMER, "doctor", STATIC], env=ENV, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 1 and "linked statically" in done.stdout, str(done))
    done = subprocess.run([LATECOMER, "doctor"], env=ENV, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 0 and done.stdout.count("measures") == len(SLOW), str(done))
    os.mkdir("path")  # a launcher under whatever name, or none
    env = dict(ENV, PATH=os.path.abspath("path"))
    done = subprocess.run([LATECOMER, "doctor"], env=env, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 1 and "none found" in done.stdout, str(done))
    os.symlink(shutil.which(f"mpirun.{next(iter(SLOW))}"), "path/mpiexec")
    done = subprocess.run([LATECOMER, "doctor"], env=env, capture_output=True, text=True, timeout=patience(60))
    check(done.returncode == 0 and done.stdout.count("path/mpiexec") == 1, str(done))
    shutil.rmtree("path")


def main():
    wanted = sys.argv[5:] or [name[5:] for name in globals() if name.startswith("test_")]
    failed = 0
    for name in wanted:
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            try:
                globals()["test_" + name]()
                print("ok", name, flush=True)
            except Exception as error:  # each test is told of, whatever went wrong
                failed += 1
                print("FAILED", name, type(error).__name__, error, flush=True)
            os.chdir(here)
    sys.exit(1 if failed else 0)


main()
