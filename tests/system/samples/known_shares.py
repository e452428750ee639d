#!/usr/bin/env python3
"""Functions without MPI calls get the time that they took, as the program measured it itself.

usage: known_shares.py LATECOMER FLAVOUR PROGRAM DIR [exact|coverage] [timer]

exact: only what does not depend on measured time. Else figures: the share that is farthest off, as a part of 4 standard errors and 2 %; how much of the
waiting for the late rank has the name of a kernel; and, of the program in C, time asleep, which is told apart below its function. coverage: of 100 runs
how many shares are within 1 and 3 standard errors (68 and 99.7 % if these are exact). timer: --sample=timer, which needs nothing of the kernel and does not see time asleep.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, DIR = sys.argv[1:5]
EXACT, COVERAGE, TIMER = (word in sys.argv[5:] for word in ("exact", "coverage", "timer"))
C = os.path.basename(PROGRAM).startswith(("samples-fp", "samples-nofp"))
KERNELS = ["assemble", "precondition", "solve", "straggle"]


def run(name, *arguments, sample="timer" if TIMER else "500"):
    out = f"{DIR}/{name}"
    shutil.rmtree(out, ignore_errors=True)
    environment = {**os.environ, "LATECOMER_SAMPLE": sample}
    done = subprocess.run([LATECOMER, "run", "-n", "2", "--launcher", f"mpirun.{FLAVOUR}", "-o", out, PROGRAM, *arguments],
                          env=environment, text=True, capture_output=True, timeout=patience(200), check=False)
    assert done.returncode == 0, done.stderr
    shown = subprocess.run([LATECOMER, "show", "--json", out], text=True, capture_output=True, check=True)
    spent = [0.0] * 4
    for line in done.stdout.splitlines():
        spent = [a + float(b) for a, b in zip(spent, line.split()[1:])]
    with tarfile.open(f"{out}/profile.cubex") as archive:
        members = archive.getnames()
    return json.loads(shown.stdout), spent, members


def is_kernel(word, name):
    """solve, mesh::Multigrid::solve(long), __kernels_MOD_solve"""
    return re.search(rf"(^|[:_]){name}(\(.*\))?$", word) is not None


def of_kernel(result, name):
    """What samples found of a kernel, with what it calls: seconds, standard error."""
    found = [e for path, e in result["sampled"].items() if is_kernel(path.rsplit("/", 1)[-1], name)]
    return sum(e["seconds"] for e in found), sum(e["error_s"] ** 2 for e in found) ** 0.5


def in_kernel(path, name):
    return any(is_kernel(word, name) for word in path.split("/"))


def check_coverage(runs=100):
    """The standard errors stated are those of the differences."""
    within, cases = [0, 0], 0
    for _ in range(runs):
        result, spent, _ = run("coverage", "20", "10")
        for name, seconds in zip(KERNELS, spent):
            found, error = of_kernel(result, name)
            within = [w + (abs(found - seconds) <= k * error) for w, k in zip(within, (1, 3))]
            cases += 1
    figure("within_one", 100 * within[0] / cases, "%")
    figure("within_three", 100 * within[1] / cases, "%")


def check_sums(result):
    """Exact times stay exact: a sampled call path and its siblings never have more than their parent."""
    times = {path: sum(row) for path, row in result["metrics"]["time"]["callpaths"].items()}
    for path, seconds in times.items():
        inside = [s for p, s in times.items() if p.startswith(path + "/") and "/" not in p[len(path) + 1:]]
        assert sum(inside) <= seconds + 1e-9, (path, seconds, inside)
    total = result["metrics"]["time"]["total"]
    assert abs(times["main"] - total) < 1e-6 * total, (times["main"], total)


os.makedirs(DIR, exist_ok=True)
if COVERAGE:
    check_coverage()
    sys.exit(0)
off, _, members = run("off", "5", "2", sample="off")
assert "sampled" not in off and "samples.tsv" not in members, "sampled though off"
assert off["meta"]["sampling"] == {"rate": 0.0, "why": "--sample=off"}, off["meta"]["sampling"]
check_sums(off)
# exact: `solve` runs for 18 ms of processor time at a time, which every 2 ms of it are sampled
result, spent, members = run("on", *(("10", "30") if EXACT else ("200", "10")))
if result["meta"]["sampling"]["rate"] == 0:
    print("left out: the kernel allows no samples:", result["meta"]["sampling"]["why"])
    sys.exit(0)
assert result["meta"]["sampling"]["rate"] == 500
check_sums(result)
sampled = result["sampled"]
assert all(entry["sampled"] is True and entry["samples"] >= 0 and entry["error_s"] >= 0 for entry in sampled.values()), sampled
assert any(in_kernel(path, "solve") for path in sampled), list(sampled)
source = {entry.get("source") for path, entry in sampled.items() if is_kernel(path.rsplit("/", 1)[-1], "solve")}
if os.path.basename(PROGRAM).startswith("samples-fp"):
    text = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_shares.c"), encoding="utf-8").read().splitlines()
    assert source == {f"known_shares.c:{text.index('KERNEL(solve)') + 1}"}, source
else:
    assert source == {None}, source
inside = [path for path in sampled if any(name.startswith(("w_", "lc_", "PMPI_")) for name in path.split("/"))]
assert not inside, inside  # what MPI and the tool call is no code of the program
if EXACT:
    sys.exit(0)

farthest = 0.0
for name, seconds in zip(KERNELS, spent):
    found, error = of_kernel(result, name)
    print(f"{name:13} spent {seconds:.3f} s, sampled {found:.3f} s +- {error:.3f}")
    farthest = max(farthest, abs(found - seconds) / (4 * error + 0.02 * sum(spent)))
figure("farthest", farthest, "limits")
solve = [path for path in sampled if is_kernel(path.rsplit("/", 1)[-1], "solve")]
assert len(solve) == 1 and "/timed/" in solve[0] if C else len(solve) == 1, solve # its callers are known without frame pointers, too
late = [entry for entry in result["late"] if entry["rank"] == 1]
by_kernel = {name: sum(e["seconds"] for e in late if in_kernel(e["callpath"], name)) for name in KERNELS}
lost = sum(e["seconds"] for e in late if e["callpath"].endswith(("/(preempted)", "/(off CPU)")))
print(f"waiting for rank 1 by its kernels: {by_kernel}, without its core {lost:.3f} s of {sum(e['seconds'] for e in late):.3f} s")
known = sum(by_kernel.values()) + lost
figure("named", 100 * known / sum(e["seconds"] for e in late), "%") # the rest: calibration, and intervals without a sample
for finding in result["findings"]:
    print("finding:", finding["kind"], finding["callpath"], finding["ranks"])
assert any(e.get("sampled") is True for e in late), late
if not C or TIMER:
    sys.exit(0)
asleep, _, _ = run("asleep", "20", "10", "300000")
away = [(p, e["seconds"]) for p, e in asleep["sampled"].items() if p.endswith("/(off CPU)")]
print(f"asleep 0.3 s, off CPU {away}")
figure("asleep", sum(s for _, s in away), "s")
if os.geteuid() == 0 or int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read()) < 2:
    assert sum(s for p, s in away if "main/doze/usleep/" in p) > 0, away
