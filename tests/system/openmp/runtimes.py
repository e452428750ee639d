#!/usr/bin/env python3
"""On which OpenMP runtime programs run, and what is said about it: one line, and the program does what it does without the tool.
runtimes.py LATECOMER CC PROGRAM (PROGRAM: built for libgomp)"""
import json
import os
import subprocess
import sys
import tempfile

LATECOMER, CC, PROGRAM = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
NUMBER = [0]


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(program, *words, options=(), **variables):
    NUMBER[0] += 1
    done = subprocess.run([LATECOMER, "run", *options, "-o", f"r{NUMBER[0]}", program, *words], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, **variables), check=False)
    said = [line for line in done.stderr.splitlines() if line.startswith("latecomer: ")]
    check(done.stderr.count("\n") == len(said), done.stderr)
    show = subprocess.run([LATECOMER, "show", "--json", f"r{NUMBER[0]}"], capture_output=True, text=True, timeout=60, check=False)
    return done, said, json.loads(show.stdout) if show.returncode == 0 else None


def build(name, text, *options):
    with open(f"{name}.c", "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run([CC, "-g", "-O1", "-fopenmp", f"{name}.c", "-o", name, *options], check=True)
    return os.path.abspath(name)


def measured(result):
    return result is not None and "openmp_runtime" in result["meta"]


def test_auto():
    done, said, result = run(PROGRAM, "serial", "2")
    check(done.returncode == 0 and measured(result) and result["meta"]["threads"] == [2], f"{done} {result and result['meta']}")
    check("instead of libgomp" in said[0] and len(said) == 2, done.stderr)


def test_native():
    done, said, result = run(PROGRAM, "serial", "2", options=["--openmp=native"])
    check(done.returncode == 0 and not measured(result) and result["meta"]["threads"] == [1], f"{done}")
    check("--openmp=native" in said[0], done.stderr)
    done, said, result = run(PROGRAM, "serial", "2", LATECOMER_OPENMP="native")
    check(done.returncode == 0 and not measured(result), f"{done}")
    check(run(PROGRAM, options=["--openmp=other"])[0].returncode == 2, "usage")


def test_disabled():
    done, said, result = run(PROGRAM, "serial", "2", OMP_TOOL="disabled")
    check(done.returncode == 0 and not measured(result) and "OMP_TOOL=disabled" in said[0], f"{done}")


def test_other_tool():
    done, said, result = run(PROGRAM, "serial", "2", OMP_TOOL_LIBRARIES="/nowhere/tool.so")
    check(done.returncode == 0 and not measured(result) and any("another tool" in line for line in said), f"{done}")


def test_what_fails_there():
    """GCC's code for ordered loops with dependences crashes LLVM 14's runtime: such a program keeps libgomp."""
    program = build("doacross", """#include <stdio.h>
int main(void) { static long line[8];
#pragma omp parallel for ordered(1) num_threads(2)
  for (int i = 1; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
    line[i] = line[i - 1] + i;
#pragma omp ordered depend(source)
  }
  printf("%ld\\n", line[7]); return 4; }
""")
    done, said, result = run(program)
    check(done.returncode == 4 and done.stdout == "28\n" and not measured(result), f"{done}")
    check("doacross" in said[0] and "OpenMP is not measured" in said[0], done.stderr)


def test_children():
    """Programs that a measured one starts run on their own runtime, unmeasured."""
    program = build("parent", """#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static int x;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  x++;
  fflush(stdout); return system("echo \\"[$LD_PRELOAD][$LATECOMER_STATE]\\"") == 0 ? 0 : 1; }
""")
    done, _, result = run(program)
    check(done.returncode == 0 and done.stdout == "[][]\n" and measured(result), f"{done}")


def test_serial():
    done, said, result = run("sh", "-c", "exit 6")
    check(done.returncode == 6 and len(said) == 1 and "only its run time" in said[0], f"{done}")
    check(result["meta"]["complete"] is True and result["metrics"]["time"]["total"] > 0, f"{result}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
