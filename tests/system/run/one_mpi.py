"""Configures and builds where pkg-config finds one MPI only, runs the unit tests of that build and measures with it; a program of the other
MPI runs unmeasured, and one line says why. Without any MPI CMake stops and names the packages.

usage: one_mpi.py CMAKE SOURCE_DIR FLAVOUR|none WORK_DIR BIN_DIR   BIN_DIR: programs of both MPIs"""
import glob
import os
import shutil
import subprocess
import sys

CMAKE, SOURCE, FLAVOUR, WORK, BIN = sys.argv[1:6]
sys.path.insert(0, f"{SOURCE}/tests")
from mpirun import mpirun  # noqa: E402

FILES = {"openmpi": ("ompi*.pc", "orte.pc"), "mpich": ("mpich*.pc",)}


def hide_others():
    """A folder of pkg-config's files without those of the MPIs that are not FLAVOUR."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(f"{WORK}/pkgconfig")
    folders = subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"], capture_output=True, text=True, check=True).stdout.strip().split(":")
    hidden = {path for flavour, names in FILES.items() if flavour != FLAVOUR for folder in folders for name in names for path in glob.glob(f"{folder}/{name}")}
    for folder in folders:
        for path in glob.glob(f"{folder}/*.pc"):
            target = f"{WORK}/pkgconfig/{os.path.basename(path)}"
            if path not in hidden and not os.path.lexists(target):
                os.symlink(path, target)
    return {**os.environ, "PKG_CONFIG_LIBDIR": f"{WORK}/pkgconfig", "PKG_CONFIG_PATH": ""}


def run(words, env, wanted=0, seconds=1500):
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    text = done.stdout + done.stderr
    if (done.returncode == 0) != (wanted == 0):
        sys.exit(f"{words}: {done.returncode}\n{text[-6000:]}")
    return text


def measure(env):
    """Of this build: a program of its MPI is measured, one of the other runs as it is."""
    latecomer = f"{WORK}/build/bin/latecomer"
    os.chdir(WORK)
    run([*mpirun(FLAVOUR, 2), latecomer, "run", "-o", "measured", f"{BIN}/latecomer-demo-{FLAVOUR}", "2"], env)
    text = run([latecomer, "show", "measured"], env)
    if "Efficiency" not in text:
        sys.exit(f"show: {text}")
    other = "mpich" if FLAVOUR == "openmpi" else "openmpi"
    program = f"{BIN}/latecomer-demo-{other}"
    if os.path.exists(program):
        text = run([*mpirun(other, 2), latecomer, "run", "-o", "other", program, "2"], env)
        if "built without" not in text or os.path.exists("other/profile.cubex"):
            sys.exit(f"a program of the other MPI: {text}")


def main():
    env = hide_others()
    configure = [CMAKE, "-S", SOURCE, "-B", f"{WORK}/build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"]
    text = run(configure, env, wanted=1 if FLAVOUR == "none" else 0)
    if FLAVOUR == "none":
        if not all(name in text for name in ("no MPI found", "libopenmpi-dev", "libmpich-dev")):
            sys.exit(f"CMake does not say what is missing: {text}")
        return
    if f"Built for {FLAVOUR}" not in text or text.count("Built for") != 1:
        sys.exit(f"not for {FLAVOUR} alone: {text}")
    run([CMAKE, "--build", f"{WORK}/build", "-j2"], env)
    text = run([os.path.join(os.path.dirname(CMAKE), "ctest"), "--test-dir", f"{WORK}/build", "-R", r"^(unit|left_out)\.", "-j2", "--output-on-failure"], env)
    if "left_out" not in text:
        sys.exit(f"nothing says what was left out: {text[-3000:]}")
    measure(env)
    shutil.rmtree(WORK)


main()
