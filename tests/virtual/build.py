"""Builds the library of virtual time for one MPI: build.py MPICC openmpi|mpich DIRECTORY. The directory then holds a library with the name
of the MPI's, and a copy of the real one with another name; put first into LD_LIBRARY_PATH."""
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "src" / "format" / "mpi_functions.tsv"
SOURCES = [HERE / name for name in ("callers.c", "clock.c", "channels.c", "point_to_point.c", "requests.c", "windows.c")]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def real_library(mpicc, directory):
    """Path of the library that programs of this MPI load."""
    program = directory / "probe"
    (directory / "probe.c").write_text("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
    subprocess.run([mpicc, "-o", program, directory / "probe.c"], check=True)
    return Path(re.search(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", output("ldd", program)).group(1)).resolve()


def main():
    mpicc, flavour, directory = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    real = real_library(mpicc, directory)
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", real)).group(1)
    copy = directory / soname.replace(".so", "-true.so")
    shutil.copy(real, copy)
    subprocess.run(["patchelf", "--set-soname", copy.name, copy], check=True)
    exported = [line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", real).splitlines()]
    (directory / "exported").write_text("\n".join(exported))
    generated = directory / "rules.c"
    subprocess.run([sys.executable, HERE / "gen_rules.py", TABLE, flavour[0], directory / "exported", generated, *SOURCES], check=True)
    compiler, *words = shlex.split(output(mpicc, "-show"))
    more = []
    if flavour == "openmpi":  # by which the tool knows it; as large as that of the real library, which uses this one
        size = next(line.split()[2] for line in output("readelf", "-sW", "--dyn-syms", real).splitlines() if line.endswith(" ompi_mpi_comm_world"))
        (directory / "world.c").write_text(f"char ompi_mpi_comm_world[{size}] __attribute__((aligned(64)));\n")
        more = [directory / "world.c"]
    subprocess.run([compiler, *(w for w in words if w.startswith("-I")), "-std=gnu17", "-O2", "-g", "-fPIC", "-shared", "-Wall", "-Wextra", "-pthread",
                    f"-I{HERE}", f'-DVT_REAL_LIBRARY="{copy.name}"', "-o", directory / soname, *SOURCES, generated, *more, f"-Wl,-soname,{soname}",
                    copy, "-Wl,-rpath,$ORIGIN", "-ldl"], check=True)
    (directory / "built").touch()


main()
