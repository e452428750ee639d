#!/usr/bin/python3
"""Help, versions, mistakes: exit codes and one-line errors. Usage: commands.py LATECOMER GOLDEN_DIR SCRATCH_DIR"""
import os
import shutil
import subprocess
import sys
import time

LATECOMER, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:4])
FAILED = []


def run(*args, cwd=None):
    return subprocess.run([LATECOMER, *args], capture_output=True, text=True, cwd=cwd)


def expect(args, code, out=None, err=None, cwd=None, lines=1):
    done = run(*args, cwd=cwd)
    problems = []
    if done.returncode != code:
        problems.append(f"exit {done.returncode}, not {code}")
    if out is not None and out not in done.stdout:
        problems.append(f"no '{out}' in standard output")
    if err is not None and err not in done.stderr:
        problems.append(f"no '{err}' in standard error: {done.stderr!r}")
    if code != 0 and (done.stderr.count("\n") != lines or not done.stderr.startswith("latecomer: ")):
        problems.append(f"not one line of error: {done.stderr!r}")
    if problems:
        FAILED.append(f"latecomer {' '.join(args)}: " + "; ".join(problems))
    return done


expect(["--version"], 0, "latecomer 1.")
expect(["help"], 0, "show")
expect(["--help"], 0, "Commands:")
expect(["-h"], 0, "Commands:")
expect(["help", "show"], 0, "--metric")
expect(["show", "-h"], 0, "--metric")
expect(["show", "--help"], 0, "--metric")
expect([], 2, err="no command")
expect(["shwo"], 2, err="did you mean `latecomer show`")
expect(["help", "shwo"], 2, err="did you mean `latecomer show`")
expect(["frobnicate"], 2, err="see `latecomer help`")
expect(["--vresion"], 2, err="did you mean --version")
expect(["show", "--jsn"], 2, err="did you mean --json")
expect(["show", "-Z"], 2, err="unknown option -Z")
expect(["show", "--metric"], 2, err="needs an argument")
expect(["show", "--by", "rank"], 2, err="callpath, location or both")
expect(["show", "a", "b"], 2, err="more than one operand")
expect(["analyze", "-n", "2", "/nowhere", "b"], 2, err="more than one operand")
for program in (["mpirun", "-n", "2", "./app"], ["/usr/bin/env"], ["--", "/usr/bin/env", "3"]):
    expect(["analyze", *program], 2, err="is a program, no trace: measure it first: mpirun -n 4 latecomer run --trace")
expect(["show", "/nowhere"], 1, err="/nowhere: No such file")
expect(["-q", "show", "/nowhere"], 1, err="/nowhere")
expect(["show", GOLDEN], 1, err="holds no result")

bound = subprocess.run([LATECOMER, "--version"], capture_output=True, text=True, env=dict(os.environ, LD_BIND_NOW="1", LD_DEBUG="bindings")).stderr
if not any("gethostid" in line and "open-trace-format" in line and f" to {LATECOMER} " in line for line in bound.splitlines()):
    FAILED.append("libotf2 calls libc's gethostid, which may ask name servers")

shutil.rmtree(SCRATCH, ignore_errors=True)
os.makedirs(f"{SCRATCH}/empty")
expect(["show"], 1, err="no experiment directory here", cwd=f"{SCRATCH}/empty")
for name in ("older", "newer"):
    os.makedirs(f"{SCRATCH}/{name}")
    shutil.copyfile(f"{GOLDEN}/cubex/scorep-profile.cubex", f"{SCRATCH}/{name}/profile.cubex")
shutil.copyfile(f"{GOLDEN}/cubex/scalasca-scout.cubex", f"{SCRATCH}/older/analysis.cubex")
past = time.time() - 1000
os.utime(f"{SCRATCH}/older/profile.cubex", (past, past))
expect(["show"], 0, "then `latecomer analyze` finds them", cwd=SCRATCH)
os.makedirs(f"{SCRATCH}/newer/traces")
with open(f"{SCRATCH}/newer/traces/r0.t0.raw", "wb"):
    pass
expect(["show", "newer"], 0, "`latecomer recover newer`, then `latecomer analyze newer`", cwd=SCRATCH)
expect(["analyze", "newer"], 1, err="finish it with `latecomer recover newer`", cwd=SCRATCH)
expect(["show", "older"], 0, "`latecomer show older/analysis.cubex` shows it", cwd=SCRATCH)
expect(["show", "--only=causes", "older", "--analysis"], 0, "Root causes", cwd=SCRATCH)
expect(["show", "--analysis", "older"], 0, "`latecomer show older/profile.cubex` shows it", cwd=SCRATCH)
expect(["show", "--metric", "tiem", "newer"], 2, err="did you mean time", cwd=SCRATCH)
with open(f"{SCRATCH}/newer/profile.cubex", "r+b") as damaged:
    damaged.truncate(70000)
expect(["show", "newer"], 1, err="ends", cwd=SCRATCH)
with open("/dev/full", "w") as full:
    code = subprocess.run([LATECOMER, "show", "--json", f"{SCRATCH}/older"], stdout=full,
                          stderr=subprocess.PIPE, text=True)
    if code.returncode != 1 or "cannot be written" not in code.stderr:
        FAILED.append(f"full disk: exit {code.returncode}, {code.stderr!r}")

if FAILED:
    sys.exit("\n".join(FAILED))
print("commands: all as expected")
