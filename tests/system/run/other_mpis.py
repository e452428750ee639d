"""MPI libraries under other names and in other places: copies of the installed ones under a prefix of their own, with RUNPATH.

usage: other_mpis.py BUILD_DIR PROGRAM_OPENMPI PROGRAM_MPICH ODD_PROGRAM [TEST..]
A program that is "" was not built: its tests are left out, which is said, and is the exit code if nothing else is left (77)."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

BUILD = sys.argv[1]
PROGRAMS = {"openmpi": sys.argv[2], "mpich": sys.argv[3]}
ODD = sys.argv[4]
LATECOMER = os.path.join(BUILD, "bin/latecomer")
SONAME = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
LAUNCHER_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "SLURM_", "LATECOMER_", "HYDI_", "MPI_LOCAL")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_PREFIXES)}


class LeftOut(Exception):
    pass


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def run(*words, env=None):
    return subprocess.run(words, env=env or ENV, capture_output=True, text=True, timeout=patience(120))


def program_of(flavour):
    if not PROGRAMS[flavour]:
        raise LeftOut(f"built without {flavour}")
    if shutil.which("patchelf") is None:
        raise LeftOut("patchelf is not installed")
    return PROGRAMS[flavour]


def library_of(program, soname):
    out = run("ldd", program).stdout
    return re.search(re.escape(soname) + r" => (\S+)", out).group(1)


def make_prefix(flavour, soname, runpath=True):
    """prefix/bin/app needs prefix/lib/SONAME, a copy of the MPI that it was built with."""
    program = program_of(flavour)
    os.makedirs("prefix/bin")
    os.makedirs("prefix/lib")
    library, app = f"prefix/lib/{soname}", "prefix/bin/app"
    shutil.copy(os.path.realpath(library_of(program, SONAME[flavour])), library)
    shutil.copy(program, app)
    subprocess.run(["patchelf", "--set-soname", soname, library], check=True)
    if soname != SONAME[flavour]:
        subprocess.run(["patchelf", "--replace-needed", SONAME[flavour], soname, app], check=True)
    subprocess.run(["patchelf", *(["--set-rpath", "$ORIGIN/../lib"] if runpath else ["--remove-rpath"]), app], check=True)
    app = os.path.abspath(app)
    return app, os.path.dirname(app) + "/../lib/" + soname if runpath else os.path.abspath(library)


def check_measured(flavour, app, library, product, env=None):
    done = run(*mpirun(flavour, 2), LATECOMER, "run", "-o", "result", app, "2", env=env)
    check(done.returncode == 0 and "/result: see it" in done.stderr, str(done))
    with open("result/meta.json", encoding="utf-8") as file:
        meta = json.load(file)
    check(meta["complete"] and meta["ranks"] == 2 and re.fullmatch(product, meta["mpi"]), str(meta))
    shown = json.loads(run(LATECOMER, "show", "--json", "result").stdout)
    check(shown["metrics"]["visits"]["total"] > 10 and len(shown["locations"]) == 2, "nothing was counted")
    done = run(LATECOMER, "doctor", app, env=env)
    check(done.returncode == 0 and library in done.stdout, done.stdout)


def names_of_mpich(soname):
    app, library = make_prefix("mpich", soname)
    check_measured("mpich", app, library, r"MPICH \d+\.\d+(\.\d+)?")


def test_libmpi_so_12():
    names_of_mpich("libmpi.so.12")


def test_cray():
    names_of_mpich("libmpi_gnu_123.so.12")


def test_openmpi_in_a_prefix():
    app, library = make_prefix("openmpi", "libmpi.so.40")
    check_measured("openmpi", app, library, r"Open MPI \d+\.\d+\.\d+")


def test_ld_library_path():
    """As modules do it."""
    app, library = make_prefix("mpich", "libmpi.so.12", runpath=False)
    check_measured("mpich", app, library, r"MPICH .*", dict(ENV, LD_LIBRARY_PATH=os.path.dirname(library)))


def test_name_that_nobody_knows():
    """Asked when it runs; doctor cannot know."""
    app, library = make_prefix("mpich", "libmpi_site.so.7")
    check_measured("mpich", app, library, r"MPICH .*")
    check("is not a known name" in run(LATECOMER, "doctor", app).stdout, "doctor")


def test_name_of_another_mpi():
    """Open MPI 1.10 was called libmpi.so.12 as well: what the library says is worth more than the name. This one cannot be
    measured, since it is not what the core is bound to: the program runs as without the tool."""
    app, library = make_prefix("openmpi", "libmpi.so.12")
    bare = run(*mpirun("openmpi", 2), app, "2")
    done = run(*mpirun("openmpi", 2), LATECOMER, "run", "-o", "result", app, "2")
    check(bare.returncode == 0 and done.returncode == 0, f"{bare} {done}")
    check(f"{library}: an Open MPI that does not call itself libmpi.so.40" in done.stderr, done.stderr)
    check(done.stderr.count("latecomer:") == 1 and not os.path.exists("result"), done.stderr)


def test_mpi_that_nobody_knows():
    """Runs unmeasured, and says so."""
    done = run(LATECOMER, "run", "-o", "result", ODD)
    check(done.returncode == 0 and done.stdout.split()[0] == "3", str(done))
    check("no MPI that can be measured (Odd MPI 1.0)" in done.stderr and done.stderr.count("latecomer:") == 1, done.stderr)
    check("no MPI call" not in done.stderr and not os.path.exists("result"), done.stderr)


def test_launcher_beside_the_library():
    app, _ = make_prefix("mpich", "libmpi.so.12")
    with open("prefix/bin/mpirun", "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\ntouch {os.getcwd()}/started\nexec mpirun.mpich "$@"\n')
    os.chmod("prefix/bin/mpirun", 0o755)
    done = run(LATECOMER, "run", "-n", "2", "-o", "result", app, "2")
    check(done.returncode == 0 and os.path.exists("started") and os.path.exists("result/profile.cubex"), str(done))


def test_core_left_out():
    """Built for one MPI, used with the other."""
    for flavour, other in (("openmpi", "mpich"), ("mpich", "openmpi")):
        if not PROGRAMS[other]:
            raise LeftOut(f"built without {other}")
        os.makedirs(f"{flavour}/bin")
        os.makedirs(f"{flavour}/lib")
        shutil.copy(LATECOMER, f"{flavour}/bin")
        shutil.copy(f"{BUILD}/lib/liblatecomer.so", f"{flavour}/lib")
        shutil.copy(f"{BUILD}/lib/liblatecomer-core-{flavour}.so", f"{flavour}/lib")
        latecomer, name = f"{flavour}/bin/latecomer", {"openmpi": "Open MPI", "mpich": "MPICH"}[other]
        done = run(*mpirun(other, 2), latecomer, "run", "-o", "result", PROGRAMS[other], "2")
        check(done.returncode == 0 and f"Latecomer was built without {name}" in done.stderr, str(done))
        check(done.stderr.count("latecomer:") == 1 and not os.path.exists("result"), done.stderr)
        done = run(latecomer, "doctor", PROGRAMS[other])
        check(done.returncode == 1 and "built without that kind of MPI" in done.stdout, done.stdout)
        check(f"built without {name}" in done.stdout, done.stdout)


def test_no_cache():
    """doctor finds what the dynamic linker finds, with an empty /etc/ld.so.cache."""
    if os.geteuid() != 0:
        raise LeftOut("needs root: hides the cache of the dynamic linker")
    program = next(p for p in PROGRAMS.values() if p)
    script = f"mount --bind /dev/null /etc/ld.so.cache && exec {LATECOMER} doctor {program}"
    done = run("unshare", "-m", "sh", "-c", script)
    check(done.returncode == 0 and "libmpi" in done.stdout and "needs no MPI" not in done.stdout, str(done))


def main():
    wanted = sys.argv[5:] or [name[5:] for name in globals() if name.startswith("test_")]
    failed, done = 0, 0
    for name in wanted:
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            try:
                globals()["test_" + name]()
                done += 1
            except LeftOut as why:
                print(f"{name}: left out: {why}")
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError, AttributeError) as error:
                print(f"{name}: {error}")
                failed += 1
            os.chdir(here)
    print(f"{done} of {len(wanted)} passed, {failed} failed")
    sys.exit(1 if failed else 0 if done else 77)


main()
