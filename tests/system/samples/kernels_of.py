#!/usr/bin/env python3
"""Kernels without MPI calls in programs of other kinds get their names and the time that they took, as the program measured it itself.

usage: kernels_of.py LATECOMER DIR numpy|team|hpcc [PROGRAM]

numpy: mpi4py with kernels of numpy (Open MPI, 2 ranks): a product of matrices in BLAS, a sort in numpy itself. team: PROGRAM has kernels in an
OpenMP team, which is sampled also where that is not asked for. Figure: the share that is farthest off, as a part of 4 standard errors and 3 % of all. hpcc: HPCC of Debian,
stripped, whose matrix products are in BLAS: they are named with their callers (some 200 samples, of which four on one call path are enough).
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, DIR, KIND = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"numpy": [*mpirun("openmpi", 2), LATECOMER, "run", "-q", "-o", DIR, "--", "/usr/bin/python3",
                      os.path.join(HERE, "numpy_kernels.py")],
            "hpcc": [*mpirun("openmpi", 2), LATECOMER, "run", "-q", "-o", DIR, "--", "hpcc"],
            "team": [LATECOMER, "run", "-q", "-o", DIR, "--", *sys.argv[4:5]]}
KERNELS = {"numpy": ["gemm", "_multiarray_umath"], "team": ["light", "heavy"]}


def run(sample):
    """The result, and the seconds of each kernel by the program's own account."""
    shutil.rmtree(DIR, ignore_errors=True)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"}
    environment.pop("LATECOMER_SAMPLE", None)
    if sample:
        environment["LATECOMER_SAMPLE"] = sample
    done = subprocess.run(PROGRAMS[KIND], cwd=os.path.dirname(DIR), env=environment, text=True, capture_output=True, timeout=patience(200), check=False)
    assert done.returncode == 0, done.stderr
    spent = [0.0, 0.0]
    for line in done.stdout.splitlines() if KIND != "hpcc" else []:
        spent = [a + float(b) for a, b in zip(spent, line.split())]
    shown = subprocess.run([LATECOMER, "show", "--json", DIR], text=True, capture_output=True, check=True)
    return json.loads(shown.stdout), spent


def of_kernel(sampled, name):
    """Seconds and standard error of the outermost call paths that end in the kernel."""
    found = {path for path in sampled if name in path.rsplit("/", 1)[-1]}
    outer = [sampled[path] for path in found if not any(path.startswith(other + "/") for other in found)]
    return sum(entry["seconds"] for entry in outer), sum(entry["error_s"] ** 2 for entry in outer) ** 0.5


def hpcc_input():
    """The input of tests/system/real for a larger matrix, on 1 x 2 processes."""
    with open(os.path.join(HERE, "../real/hpccinf.txt"), encoding="ascii") as file:
        text = file.read()
    for pattern, line in ((r".* Ns$", "4000 Ns"), (r".* Ps$", "1 Ps"), (r".* Qs$", "2 Qs")):
        text, changed = re.subn(pattern, line, text, count=1, flags=re.M)
        assert changed == 1, pattern
    with open(os.path.join(os.path.dirname(DIR), "hpccinf.txt"), "w", encoding="ascii") as file:
        file.write(text)


os.makedirs(os.path.dirname(DIR), exist_ok=True)
if KIND == "numpy" and subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
    print("left out: there is no numpy")
    sys.exit(0)
if KIND == "hpcc":
    hpcc_input()
result, spent = run("2000" if KIND == "hpcc" else "500")
if result["meta"]["sampling"]["rate"] == 0:
    print("left out: the kernel allows no samples:", result["meta"]["sampling"]["why"])
    sys.exit(0)
if KIND == "hpcc":
    products = {path: entry for path, entry in result["sampled"].items() if re.search(r"^main/hpcc\+0x.*gemm", path)}
    print({path: entry["samples"] for path, entry in products.items()})
    assert sum(entry["samples"] for entry in products.values()) > 0, list(result["sampled"])
    sys.exit(0)
farthest = 0.0
for name, seconds in zip(KERNELS[KIND], spent):
    found, error = of_kernel(result["sampled"], name)
    print(f"{name:20} spent {seconds:.3f} s, sampled {found:.3f} s +- {error:.3f}")
    assert error > 0, (name, seconds, found, list(result["sampled"]))
    farthest = max(farthest, abs(found - seconds) / (4 * error + 0.03 * sum(spent)))
figure("farthest", farthest, "limits")
if KIND == "team":
    assert all("!$omp parallel" in path for path in result["sampled"] if "heavy" in path), list(result["sampled"])
    unasked, _ = run(None)
    inside = [path for path in unasked.get("sampled", {}) if "!$omp parallel" in path and "heavy" in path]
    assert inside, list(unasked.get("sampled", {}))
