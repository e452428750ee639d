"""The page in a browser: makes results of every kind, a page of each, and lets browser.mjs click through them.
Usage: page_browser.py BUILD_DIR MAKE_CUBEX GOLDEN_DIR MODULES_DIR SCRATCH_DIR [PICTURES_DIR]. 77: npm or chromium is not here."""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from made import check, enter, make, output  # noqa: E402

BUILD, MAKE, GOLDEN, MODULES, SCRATCH = map(os.path.abspath, sys.argv[1:6])
PICTURES = os.path.abspath(sys.argv[6]) if len(sys.argv) > 6 else ""
LATECOMER = f"{BUILD}/bin/latecomer"
MELT = os.path.join(HERE, "..", "real", "melt.in")
NAMES = ["<img src=x onerror=document.title='taken'>", "</script><script>document.title='taken'</script>", "--><b>bold", "\x1b[31mred", "tab\there", "<!--", "line\nbreak", "\u202eturned"]


def launch(flavour, ranks):
    if flavour == "mpich":
        return ["mpirun.mpich", "-n", str(ranks)]
    return ["mpirun.openmpi", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", str(ranks)]


def measure(flavour, ranks, directory, *program, options=()):
    done = subprocess.run([*launch(flavour, ranks), LATECOMER, "-q", "run", *options, "-o", directory, "--", *program], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)
    check(done.returncode == 0, f"{program}: {done.returncode}: {done.stderr}")


def killed(flavour, directory):
    """A run in which a rank dies: an incomplete result. Its program is Python where that talks to the MPI, else the demo under a limit of processor time."""
    program = ["/usr/bin/python3", "-c", "import os\nfrom mpi4py import MPI\nfor i in range(20):\n    MPI.COMM_WORLD.barrier()\nif MPI.COMM_WORLD.rank == 1:\n    os.kill(os.getpid(), 9)\nMPI.COMM_WORLD.barrier()\n"]
    if flavour != "openmpi":
        program = ["sh", "-c", f"ulimit -t 1; exec {BUILD}/bin/latecomer-demo-{flavour}"]
    subprocess.run([*launch(flavour, 2), LATECOMER, "-q", "run", "-o", directory, "--", *program], capture_output=True, timeout=100, stdin=subprocess.DEVNULL, check=False)
    check(os.path.exists(f"{directory}/profile.cubex"), "the result of a killed run was saved")


def hostile():
    waits = {f"main/{name.replace('/', '%2F')}": [0.5, 0.0] for name in NAMES}
    times = {"main": [10.0, 10.0], **{path: [1.0, 1.0] for path in waits}}
    return {"meta": {"program": NAMES[0], "command": NAMES, "ranks": 2, "wall_time_s": 10.0, "mpi": NAMES[1]},
            "locations": [{"rank": 0, "thread": 0, "node": NAMES[0]}, {"rank": 1, "thread": 0, "node": NAMES[1]}],
            "metrics": {"time": {"callpaths": times}, "mpi_barrier_wait": {"callpaths": waits}}}


def results():
    """(name, operands, what browser.mjs expects)"""
    flavour = "openmpi" if os.path.exists(f"{BUILD}/bin/latecomer-demo-openmpi") else "mpich"
    lammps = shutil.which("lmp") and flavour == "openmpi"
    program = [shutil.which("lmp"), "-in", MELT, "-log", "none", "-screen", "none"] if lammps else [f"{BUILD}/bin/latecomer-demo-{flavour}"]
    check(lammps or not shutil.which("lmp"), "LAMMPS of Debian runs on Open MPI: build for it")
    for ranks in (1, 2, 4):
        measure(flavour, ranks, f"lammps-{ranks}", *program)
    measure(flavour, 4, "lammps-trace", *program, options=["--trace"])
    measure(flavour, 4, "demo", f"{BUILD}/bin/latecomer-demo-{flavour}", options=["--trace"])
    for directory in ("lammps-trace", "demo"):
        output([LATECOMER, "-q", "analyze", "-n", "1", directory])
    for name in ("hybrid_late_sender", "omp_barriers"):
        shutil.copytree(f"{GOLDEN}/{name}", name)
        output([LATECOMER, "-q", "analyze", "-n", "1", name])
    killed(flavour, "killed")
    shutil.copytree("lammps-trace", "damaged")
    for name in os.listdir("damaged/traces"):
        if name.endswith(".evt"):
            path = f"damaged/traces/{name}"
            data = open(path, "rb").read()
            open(path, "wb").write(data[:len(data) // 2])
    make(MAKE, hostile(), "hostile.cubex")
    make(MAKE, {"meta": {"program": "empty", "ranks": 1}, "locations": [{"rank": 0, "thread": 0}], "metrics": {}}, "empty.cubex")
    many = 300
    make(MAKE, {"meta": {"program": "many", "ranks": many, "wall_time_s": 1.0}, "locations": [{"rank": r, "thread": 0} for r in range(many)],
                "metrics": {"time": {"callpaths": {"main": [1.0 + r / many for r in range(many)]}}, "visits": {"callpaths": {"main": [1.0] * many}}}}, "many.cubex")
    return [
        ("lammps", ["lammps-4"], {"title": os.path.basename(program[0]), "findings": True}),
        ("lammps-trace", ["lammps-trace"], {"timeline": True, "causes": True, "findings": True}),
        ("demo", ["demo"], {"timeline": True, "causes": True, "findings": True, "cause": "solve", "one_click": True}),
        ("hybrid", ["hybrid_late_sender"], {"timeline": True, "causes": True}),
        ("openmp", ["omp_barriers"], {"timeline": True, "causes": True}),
        ("scaling", ["lammps-1", "lammps-2", "lammps-4"], {"views": ["scaling", "compare"]}),
        ("compare", ["lammps-4", "lammps-trace"], {"views": ["scaling", "compare"]}),
        ("killed", ["killed"], {"text": "not measured to its end"}),
        ("damaged", ["damaged"], {}),
        ("empty", ["empty.cubex"], {}),
        ("many", ["many.cubex"], {}),
        ("hostile", ["hostile.cubex"], {"hostile": [n for n in NAMES if n.startswith(("<", "-"))]}),
    ]


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not os.path.isdir(f"{MODULES}/node_modules") or not chromium:
        print(f"skipped: {'chromium' if os.path.isdir(MODULES + '/node_modules') else 'npm'} is not installed")
        sys.exit(77)
    enter(SCRATCH)
    pages = []
    for name, operands, expected in results():
        output([LATECOMER, "-q", "report", "-o", f"{name}.html", *operands])
        pages.append({"name": name, "file": os.path.abspath(f"{name}.html"), **expected})
    with open("pages.json", "w", encoding="utf-8") as out:
        json.dump({"modules": MODULES, "chromium": chromium, "pictures": PICTURES, "design": os.path.join(HERE, "..", "..", "..", "web", "design.html"), "pages": pages}, out)
    done = subprocess.run(["node", os.path.join(HERE, "browser.mjs"), "pages.json"], capture_output=True, text=True, timeout=220, check=False)
    print(done.stdout, done.stderr)
    sys.exit(done.returncode)


main()
