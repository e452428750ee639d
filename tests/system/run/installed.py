"""`cmake --install` to any prefix, which is then moved: measures, analyses, and gives its header to programs. With --deb the same of what
cpack's .deb holds, unpacked to a prefix without root.

usage: installed.py [--deb] CMAKE BUILD_DIR SOURCE_DIR FLAVOUR..   77: what makes a .deb is not installed"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

DEB = sys.argv[1] == "--deb"
CMAKE, BUILD, SOURCE, *FLAVOURS = sys.argv[1 + DEB:]
LAUNCHER_PREFIXES = ("OMPI_", "PMI_", "PMIX_", "SLURM_", "LATECOMER_", "HYDI_", "MPI_LOCAL")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_PREFIXES) and k != "DESTDIR"}


def run(*words, **more):
    done = subprocess.run(words, env=ENV, capture_output=True, text=True, timeout=patience(100), **more)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def all_files(top):
    return [os.path.join(where, name) for where, _, names in os.walk(top) for name in names]


def check_libraries(prefix):
    """Nothing is looked for in the build tree."""
    for path in all_files(prefix):
        with open(path, "rb") as file:
            if file.read(4) == b"\177ELF" and BUILD in run("readelf", "-d", path):
                sys.exit(f"{path} has a path of the build tree")


def check_header(prefix):
    with open("program.c", "w", encoding="ascii") as file:
        file.write('#include <latecomer.h>\nint main(void) { latecomer_begin("x"); latecomer_end("x"); return 0; }\n')
    pc = [path for path in all_files(prefix) if path.endswith("latecomer.pc")]
    flags = run("pkg-config", "--cflags", pc[0]).split()
    run("cc", *flags, "-o", "program", "program.c")
    run("./program")


def check_measures(prefix, flavour):
    latecomer, demo = f"{prefix}/bin/latecomer", f"{prefix}/bin/latecomer-demo-{flavour}"
    run(latecomer, "run", "--trace", "-n", "2", "-o", flavour, "--", demo, "3")
    text = run(latecomer, "show", flavour)
    if "MPI_" not in text:
        sys.exit(f"show: {text}")
    run(latecomer, "analyze", flavour)
    if not os.path.exists(f"{flavour}/analysis.cubex"):
        sys.exit("analyze made nothing")
    text = run(latecomer, "doctor", demo)
    if "built without" in text and len(FLAVOURS) == 2:
        sys.exit(f"doctor: {text}")


def unpack_package(scratch):
    """The prefix of the package's files; what it says of itself is checked."""
    run(os.path.join(os.path.dirname(CMAKE), "cpack"), "-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", f"{scratch}/made")
    packages = glob.glob(f"{scratch}/made/*.deb")
    if len(packages) != 1:
        sys.exit(f"packages: {packages}")
    depends = run("dpkg-deb", "-f", packages[0], "Depends", "Recommends")
    wanted = ["libopen-trace-format2", "libunwind", "openmpi-bin" if FLAVOURS[0] == "openmpi" else "mpich"]
    if any(name not in depends for name in wanted):
        sys.exit(f"the package needs {depends}, not all of {wanted}")
    run("dpkg-deb", "-x", packages[0], "second")
    return f"{scratch}/second/usr"


def main():
    if DEB and not all(shutil.which(tool) for tool in ("dpkg-deb", "dpkg-shlibdeps")):
        print("skipped: dpkg-dev is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        if DEB:
            prefix = unpack_package(scratch)
        else:
            run(CMAKE, "--install", BUILD, "--prefix", f"{scratch}/first")
            os.rename("first", "second")
            prefix = f"{scratch}/second"
        check_libraries(prefix)
        check_header(prefix)
        for flavour in FLAVOURS:
            check_measures(prefix, flavour)
        for name in ("packaging/spack/package.py",):
            with open(f"{SOURCE}/{name}", encoding="utf-8") as file:
                compile(file.read(), name, "exec")


main()
