"""Functions of Python programs in call paths: every stack that the program saw at a call of MPI is a call path of the result, with as
many calls, and no other is; a loop has as many iterations as it ran, also where one line calls MPI several times; a late rank is found in its method, between
its lines, in virtual time with its waits and gain to 10 us.

check_python.py LATECOMER FLAVOUR mpi4py|LIBRARY"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

EXACT = 1e-5  # seconds
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
PROGRAM = pathlib.Path(__file__).with_name("python_stacks.py")
FUNCTION = re.compile(r"\.py:[^/]*$")


def launch(flavour, ranks, words, **env):
    done = subprocess.run([*mpirun(flavour, ranks, "--mca", "mpi_yield_when_idle", "1"), *words], capture_output=True, text=True, encoding="utf-8", timeout=patience(120), check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env})
    assert done.returncode == 0, done
    return done.stdout


def measured(latecomer, flavour, ranks, words, out, *options, **env):
    printed = launch(flavour, ranks, [latecomer, "run", *options, "-o", out, "--", *words], **env)
    shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, encoding="utf-8", check=True)
    return printed, json.loads(shown.stdout)


def functions_of(path):
    return "/".join(name for name in path.split("/") if FUNCTION.search(name) or name.endswith(".py:<module>"))


def paths_of(result):
    counts = {}
    for path, visits in result["metrics"]["visits"]["callpaths"].items():
        if path.endswith("/MPI_Barrier"):
            key = functions_of(path)
            counts[key] = counts.get(key, 0) + sum(visits)
    return counts


def check_stacks(latecomer, flavour, words, scratch):
    bare = launch(flavour, 1, words)
    printed, result = measured(latecomer, flavour, 1, words, f"{scratch}/stacks", LATECOMER_CHECK_PATHS="1")
    assert printed == bare
    wanted = {}
    for line in printed.splitlines():
        count, path = line.split(" ", 1)
        wanted[path] = wanted.get(path, 0) + int(count)
    if words[-1] != "mpi4py":  # one more function, that of the program's own binding
        line = next(i for i, text in enumerate(PROGRAM.read_text(encoding="utf-8").splitlines(), 1) if "def barrier" in text)
        wanted = {f"{path}/python_stacks.py:Ctypes.barrier:{line}": count for path, count in wanted.items()}
    found = paths_of(result)
    assert len(wanted) > 15 and found == wanted, {"missing": {p: n for p, n in wanted.items() if found.get(p) != n},
                                                  "found": {p: n for p, n in found.items() if wanted.get(p) != n}}
    own = [path for path in result["metrics"]["visits"]["callpaths"] if "_PyEval_EvalFrameDefault" in path]
    assert not own, own
    paths = result["meta"]["callpath"]
    assert paths["wrong"] == 0 and paths["checked"] > 40, paths
    print(f"{len(found)} call paths of Python functions, {sum(found.values())} calls")


def check_loop(latecomer, flavour, words, scratch):
    _, result = measured(latecomer, flavour, 2, [*words, "line"], f"{scratch}/line")
    loop, = result["pop"]["iterations"]
    print(f"{loop['count']} iterations")
    assert 18 <= loop["count"] <= 20 and "python_stacks.py:in_one_line:" in loop["callpath"].rsplit("/", 1)[-1], loop


def check_late(latecomer, flavour, words, scratch):
    """20 naps of 20 ms in rank 1, of 1 ms in rank 0."""
    library = os.path.join(os.environ["LC_VIRTUAL_TIME"], LIBRARIES[flavour])  # there from the start: clocks of what Python opens later are nobody's
    preloaded = ["/bin/sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"', library]
    _, result = measured(latecomer, flavour, 2, [*preloaded, *words, "late"], f"{scratch}/late", "--what-if", "Late.work=0", **virtual_time())
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    begin = next(i for i, text in enumerate(lines, 1) if "def work" in text)
    late = result["late"][0]
    assert late["rank"] == 1 and f"python_stacks.py:Late.work:{begin}" in late["callpath"], late
    scenario, = result["pop"]["what_if"]
    gain = result["pop"]["critical_path_s"] - scenario["critical_path_s"]
    print(f"waits {late['seconds']:.6f} s, gain {gain:.6f} s")
    assert abs(late["seconds"] - 20 * 0.019) < EXACT and abs(gain - 20 * 0.02) < EXACT, (late, scenario, result["pop"])
    # what samples find in a method stands below it: "(off CPU)", time.sleep
    lines = [f["between"] for f in result["findings"] if f"python_stacks.py:Late.work:{begin}" in f["callpath"] and "between" in f]
    assert [f"python_stacks.py:{begin + 1}", f"python_stacks.py:{begin + 3}"] in lines, result["findings"]


def main():
    latecomer, flavour, how = sys.argv[1:]
    words = [sys.executable, str(PROGRAM), how]
    with tempfile.TemporaryDirectory() as scratch:
        check_stacks(latecomer, flavour, words, scratch)
        check_loop(latecomer, flavour, words, scratch)
        if "LC_VIRTUAL_TIME" in os.environ:
            check_late(latecomer, flavour, words, scratch)


if __name__ == "__main__":
    main()
