"""The page in a browser: makes results of every kind, a page of each, and lets browser.mjs click through them.
Usage: page_browser.py BUILD_DIR MAKE_CUBEX MAKE_TRACE GOLDEN_DIR MODULES_DIR SCRATCH_DIR [PICTURES_DIR]. 77: npm or chromium is not here.
With PICTURES_DIR (docs/images): only the demo, and pictures of its views."""
import json
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "programs")]
from launch import virtual_time, wait_for_result  # noqa: E402
from made import check, enter, make, output  # noqa: E402
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

BUILD, MAKE, MAKE_TRACE, GOLDEN, MODULES, SCRATCH = map(os.path.abspath, sys.argv[1:7])
PICTURES = os.path.abspath(sys.argv[7]) if len(sys.argv) > 7 else ""
# In true time the severest finding of the demo may be that other processes had the cores.
DEMO_TIME = virtual_time() if "LC_VIRTUAL_TIME" in os.environ and not PICTURES else {}
LATECOMER = f"{BUILD}/bin/latecomer"
MELT = os.path.join(HERE, "..", "real", "melt.in")
NAMES = ["<img src=x onerror=document.title='taken'>", "</script><script>document.title='taken'</script>", "--><b>bold", "\x1b[31mred", "tab\there", "<!--", "line\nbreak", "\u202eturned"]


def measure(flavour, ranks, directory, *program, options=(), environment=None):
    done = subprocess.run([*mpirun(flavour, ranks), LATECOMER, "-q", "run", *options, "-o", directory, "--", *program], capture_output=True, text=True, timeout=patience(120),
                          stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}, check=False)
    check(done.returncode == 0, f"{program}: {done.returncode}: {done.stderr}")


def killed(flavour, directory):
    """A run in which a rank dies: an incomplete result. Its program is Python where that talks to the MPI, else the demo under a limit of processor time."""
    program = ["/usr/bin/python3", "-c", "import os\nfrom mpi4py import MPI\nfor i in range(20):\n    MPI.COMM_WORLD.barrier()\nif MPI.COMM_WORLD.rank == 1:\n    os.kill(os.getpid(), 9)\nMPI.COMM_WORLD.barrier()\n"]
    if flavour != "openmpi":
        program = ["sh", "-c", f"ulimit -t 1; exec {BUILD}/bin/latecomer-demo-{flavour}"]
    subprocess.run([*mpirun(flavour, 2), LATECOMER, "-q", "run", "-o", directory, "--", *program], capture_output=True, timeout=patience(100), stdin=subprocess.DEVNULL, check=False)
    wait_for_result(directory)
    check(os.path.exists(f"{directory}/profile.cubex"), "the result of a killed run was saved")


def check_recorded(directory):
    """What a profile has without a trace: pairs of ranks whose sums are the metrics', iterations of every rank."""
    shown = json.loads(output([LATECOMER, "show", "--json", directory]))
    with tarfile.open(f"{directory}/profile.cubex") as cubex:
        pairs = json.load(cubex.extractfile("pairs.json"))
    metrics, left = shown["metrics"], pairs["left_out"]
    waits = sum(m["total"] for name, m in metrics.items() if m["total"] and (f"{name}_estimated" in metrics or name == "mpi_finalize_wait"))
    check(left["pairs"] == 0 and abs(sum(p[2] for p in pairs["rows"]) - waits) <= 0.02 * waits + 1e-6, f"waiting by pairs {pairs}, {waits} in all")
    check(sum(p[4] for p in pairs["rows"]) == metrics["bytes_sent"]["total"], f"bytes by pairs, {metrics['bytes_sent']['total']} in all")
    loop = shown["pop"]["iterations"][0]
    by_rank, n = loop["by_rank"], loop["ranks"]
    check(by_rank["ranks"] == 1 and len(by_rank["elapsed_s"]) == len(by_rank["waiting_s"]) == n, f"iterations of {n} ranks: {by_rank}")
    check(all(0 <= w <= 1.5 * t + 1e-3 for e, x in zip(by_rank["elapsed_s"], by_rank["waiting_s"]) for t, w in zip(e, x)), f"waiting within iterations: {by_rank}")
    slowest = [max(e[b] for e in by_rank["elapsed_s"]) for b in range(len(by_rank["elapsed_s"][0]))]
    check(by_rank["block"] > 1 or all(abs(a - b) <= 1e-5 * b for a, b in zip(slowest, loop["each"]["elapsed_s"])), f"slowest of each iteration: {slowest}, {loop['each']}")


GRID = """
import time
from mpi4py import MPI
grid = MPI.COMM_WORLD.Create_cart([2, 2], periods=[True, False], reorder=False)
mine, theirs = bytearray(64), bytearray(64)
for i in range(20):
    if grid.rank == 3:
        time.sleep(0.005)
    for d in range(2):
        source, target = grid.Shift(d, 1)
        grid.Sendrecv(mine, dest=target, recvbuf=theirs, source=source)
    grid.Barrier()
"""


def check_grid():
    """The grid of a program is in the result, and neighbours are whom it sends to."""
    measure("openmpi", 4, "grid", "/usr/bin/python3", "-c", GRID)
    shown = json.loads(output([LATECOMER, "show", "--json", "grid"]))
    check(shown["meta"]["topologies"] == [{"dims": [2, 2], "periodic": [1, 0], "members": [0, 1, 2, 3]}], f"grid {shown['meta'].get('topologies')}")
    with tarfile.open("grid/profile.cubex") as cubex:
        sent = {(a, b): (messages, size) for a, b, _, messages, size in json.load(cubex.extractfile("pairs.json"))["rows"] if messages}
    check(sent == {pair: (20, 1280) for pair in ((0, 2), (2, 0), (1, 3), (3, 1), (0, 1), (2, 3))}, f"messages along the grid: {sent}")


def fingerprint():
    """Run times with a warm-up, an outlier and two modes, as `latecomer bench import` takes them; with a counter and samples of every fifth repetition.
    Beside them the same, 20 % longer. What the pages have to say of both."""
    times = [9000 if i == 40 else 3000 - 50 * i if i < 20 else 1000 + 13 * (i % 9) + 400 * (i % 4 == 0) for i in range(400)]
    for name, factor in (("imported", 1), ("imported-longer", 1.2)):
        with open("times.csv", "w", encoding="utf-8") as out:
            out.write("".join(f"{factor * time:g}\n" for time in times))
        output([LATECOMER, "bench", "import", "times.csv", "--operation", "MPI_Bcast", "--bytes", "8", "-o", name])
    name = "imported/MPI_Bcast-8.fingerprint.json"
    with open(name, encoding="utf-8") as file:
        one = json.load(file)
    values = [20 if i < 3 else i % 4 for i in range(100)]
    one["counters"] = {"misses": {"series": "counted", "total": sum(values), "values": values, "pearson": {"all": 0.5, "warmup_good": 0.875},
                                  "spearman": {"good": 0.25}, "levels": {"warmup": 20, "good": 1.5}}}
    one["counted"] = {"every": 5, "at": [4 * (i + 1) for i in range(100)], "runs_ns": [2000] * 100, "category": ["good"] * 100, "perturbation": 0.125,
                      "ci": [0.0625, 0.25]}
    one["per_rank"] = [{"median_ns": 1100 + r, "min_ns": 1000, "q95_ns": 1500, "max_ns": 9000, "last_share": 0.5} for r in range(2)]
    one["samples"] = {"n": 30, "lost": 0, "repetitions": 100, "functions": [], "callpaths": [
        {"function": "MPI_Bcast", "file": "libmpi.so", "share": 1, "self_share": 0.25, "error": 0, "of_category": {"good": 1}, "depth": 0},
        {"function": "<img>progress", "file": "libmpi.so", "share": 0.75, "self_share": 0.75, "error": 0.0625, "of_category": {"good": 0.75}, "depth": 1}]}
    with open(name, "w", encoding="utf-8") as file:
        json.dump(one, file)
    output([LATECOMER, "bench", "import", "times.csv", "--operation", "MPI_Scan", "--bytes", "64", "-o", "another"])
    shutil.copy("another/MPI_Scan-64.fingerprint.json", "imported-longer")
    with open("another/bench.json", encoding="utf-8") as file:
        another = json.load(file)["jobs"]
    with open("imported-longer/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    listed["jobs"] += another
    with open("imported-longer/bench.json", "w", encoding="utf-8") as file:
        json.dump(listed, file)
    compared = json.loads(output([LATECOMER, "bench", "compare", "--json", "imported", "imported-longer"]))["pairs"][0]
    check(one["warmup"]["end"] and one["patterns"]["period"] and compared["verdict"] == "shifted", f"{one['warmup']} {one['patterns']} {compared['verdict']}")
    said = [f"The warm-up ends at repetition {one['warmup']['end']} ", f"every {one['patterns']['period']} repetitions", f"{one['modes'][0]['dwell']['longest']}"]
    return {"fingerprints": True, "said": said, "bars": {c: sum(n > 0 for n in one["histogram"]["all"]["categories"][c]) for c in ("warmup", "good", "outlier")}}, \
        {"compared": [compared["verdict"], *(f"{q['percent']:g} %" for q in compared["quantiles"])], "both": ["not comparable", "MPI_Scan", "only in B", "shifted"]}


SWEEP = {"format": "latecomer-sweep", "version": 1, "rounds": 3, "rounds_wanted": 3, "seed": 1, "complete": False, "failed": [{"variant": "pml=<b>bold</b>", "why": "it ended early"}],
         "jobs": [{"operation": "MPI_Bcast", "bytes": 8, "variants": [
             {"name": "mpi=openmpi", "settings": {"mpi": "openmpi"}, "places": [1, 1], "median_ns": 1000, "ratio": 1, "ratio_ci": [1, 1], "launch_medians_ns": [990, 1000, 1010]},
             {"name": "mpi=mpich", "settings": {"mpi": "mpich"}, "places": [2, 3], "median_ns": 1500, "ratio": 1.5, "ratio_ci": [1.25, 1.75], "launch_medians_ns": [1400, 1500, 1600]},
             {"name": "<img src=x>", "places": [2, 3], "median_ns": 90000, "ratio": 90, "ratio_ci": [1.25, 500], "launch_medians_ns": [1, 90000, "x"]}, 7, {"name": 8}]}, 9, {"operation": None, "variants": "x"}],
         "audit": {"empty_ns": {"median": 12, "largest": 15, "n": 9}, "empty_share": None, "perturbation": {"median": 0.125, "largest": 0.5, "n": 9}}}
GUIDELINES = {"format": "latecomer-guidelines", "version": 1, "rounds": 10, "rounds_wanted": 10, "complete": True, "left_out": [], "without_mock_up": [], "comparisons": [
    {"operation": "MPI_Allreduce", "mock_up": "MPI_Allreduce~Reduce_Bcast", "bytes": 8, "median_ns": 900, "mock_up_median_ns": 1800, "excess_ns": -900, "ratio": 0.5,
     "ratio_ci": [0.4, 0.625], "violated": False, "holds": True},
    {"operation": "MPI_Allreduce", "mock_up": "MPI_Allreduce~parts", "bytes": 8192, "median_ns": 12000, "mock_up_median_ns": 6000, "excess_ns": 6000, "ratio": 2.0,
     "ratio_ci": [1.5, 2.5], "violated": True, "holds": False},
    {"operation": "MPI_Scan", "mock_up": "MPI_Iscan", "bytes": 8, "ratio": 1.0, "ratio_ci": [None, None], "violated": False, "holds": False}, 7]}
BESIDE = {"format": "latecomer-beside", "version": 1, "ranks": 4, "callpaths": [
    {"callpath": "main/solve/MPI_Allreduce", "operation": "MPI_Allreduce", "bytes": 8, "members": 4, "calls": 400, "program_ns": 14000, "waiting_ns": 10200, "alone_ranks": 4,
     "alone_median_ns": 3100, "arrival_ns": 10900}, {"callpath": "main/MPI_Bcast", "operation": "MPI_Bcast"},
    {"callpath": "main/MPI_Bcast", "operation": "MPI_Bcast", "bytes": 7, "members": 4, "calls": 30, "program_ns": 9000, "waiting_ns": 2000, "comm": "0-3",
     "alone_bytes": 8, "alone_median_ns": 1000, "arrival_ns": 8000}, 7]}


def launches():
    for directory, name, content in (("sweep", "sweep.json", SWEEP), ("guidelines", "guidelines.json", GUIDELINES), ("lammps-4", "beside.json", BESIDE)):
        os.makedirs(directory, exist_ok=True)
        with open(f"{directory}/{name}", "w", encoding="utf-8") as file:
            json.dump(content, file)


def hostile():
    waits = {f"main/{name.replace('/', '%2F')}": [0.5, 0.0] for name in NAMES}
    times = {"main": [10.0, 10.0], **{path: [1.0, 1.0] for path in waits}}
    return {"meta": {"program": NAMES[0], "command": NAMES, "ranks": 2, "wall_time_s": 10.0, "mpi": NAMES[1]},
            "locations": [{"rank": 0, "thread": 0, "node": NAMES[0]}, {"rank": 1, "thread": 0, "node": NAMES[1]}],
            "metrics": {"time": {"callpaths": times}, "mpi_barrier_wait": {"callpaths": waits}}}


def demo(flavour):
    """The bundled demo with its analysis; what browser.mjs expects of its page."""
    measure(flavour, 4, "demo", f"{BUILD}/bin/latecomer-demo-{flavour}", options=["--trace"], environment=DEMO_TIME)
    output([LATECOMER, "-q", "analyze", "-n", "1", "demo"])
    first = json.loads(output([LATECOMER, "show", "--json", "demo"]))["findings"][0]
    path = (first["because"] or {}).get("callpath") or first["callpath"]
    function = [part for part in path.split("/") if not part.startswith("(")][-1]
    check(path.startswith("main/solve/") or not DEMO_TIME, f"the first finding is about the planted causes: {path}")
    return "demo", ["demo"], {"timeline": True, "causes": True, "findings": True, "cause": function, "one_click": bool(DEMO_TIME)}


def results():
    """(name, operands, what browser.mjs expects)"""
    flavour = "openmpi" if os.path.exists(f"{BUILD}/bin/latecomer-demo-openmpi") else "mpich"
    if PICTURES:
        return [demo(flavour)]
    lammps = shutil.which("lmp") and flavour == "openmpi"
    program = [shutil.which("lmp"), "-in", MELT, "-log", "none", "-screen", "none"] if lammps else [f"{BUILD}/bin/latecomer-demo-{flavour}"]
    check(lammps or not shutil.which("lmp"), "LAMMPS of Debian runs on Open MPI: build for it")
    for ranks in (1, 2, 4):
        measure(flavour, ranks, f"lammps-{ranks}", *program)
    measure(flavour, 4, "lammps-trace", *program, options=["--trace"])
    output([LATECOMER, "-q", "analyze", "-n", "1", "lammps-trace"])
    expected_of_demo = demo(flavour)
    for name in ("hybrid_late_sender", "omp_barriers"):
        shutil.copytree(f"{GOLDEN}/{name}", name)
        output([LATECOMER, "-q", "analyze", "-n", "1", name])
    output([MAKE_TRACE, "-r", "600", "-e", "6e4", "-i", "2", "groups"])
    output([LATECOMER, "-q", "analyze", "-n", "1", "groups"])
    check_recorded("demo")
    grid = flavour == "openmpi" and subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0
    if grid:
        check_grid()
    sheet, compared = fingerprint()
    launches()
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
    return ([("grid", ["grid"], {"grid": True})] if grid else []) + [
        ("lammps", ["lammps-4"], {"title": os.path.basename(program[0]), "findings": True, "by_rank": True, "says": {"overview": ["MPI beside the same operations alone", "solve / MPI_Allreduce 8 4 400 14.0 µs 3.10 µs 10.9 µs 10.2 µs"]}}),
        ("lammps-trace", ["lammps-trace"], {"timeline": True, "causes": True, "findings": True}),
        expected_of_demo,
        ("hybrid", ["hybrid_late_sender"], {"timeline": True, "causes": True}),
        ("openmp", ["omp_barriers"], {"timeline": True, "causes": True}),
        ("groups", ["groups"], {"timeline": True, "groups": True}),
        ("scaling", ["lammps-1", "lammps-2", "lammps-4"], {"views": ["scaling", "compare"]}),
        ("compare", ["lammps-4", "lammps-trace"], {"views": ["scaling", "compare"]}),
        ("fingerprint", ["imported"], {**sheet, "title": "MPI_Bcast"}),
        ("fingerprints", ["imported", "imported-longer"], {**sheet, **compared, "title": "3 fingerprints"}),
        ("launches", ["sweep", "guidelines/guidelines.json"], {"only": ["sweep", "guidelines"], "title": "Variants", "says": {
            "sweep": ["2–3 mpi=mpich 1.50 µs +50.0 % (+25.0 % to +75.0 %)", "90 times (1.25 to 500)", "pml=<b>bold</b>: it ended early", "reading counters, of repetitions that do not count 12.5 % 50.0 % 9"],
            "guidelines": ["1 of 3 guidelines violated", "violated MPI_Allreduce 8 192 itself in two halves 12.0 µs 6.00 µs 6.00 µs +100.0 % (+50.0 % to +150.0 %)", "holds MPI_Allreduce 8 Reduce and Bcast"]}}),
        ("all kinds", ["lammps-4", "imported", "sweep"], {"views": ["fingerprint", "sweep"], "says": {"fingerprint": ["In the program", "main / MPI_Bcast 7 30 9.00 µs 8.00 µs 2.00 µs"]}}),
        ("killed", ["killed"], {"text": "not measured to its end"}),
        ("damaged", ["damaged"], {}),
        ("empty", ["empty.cubex"], {}),
        ("many", ["many.cubex"], {}),
        ("hostile", ["hostile.cubex"], {"hostile": [n for n in NAMES if n.startswith(("<", "-"))]}),
    ]


def as_json(name, **commands):
    """Files of what the commands say of the results that a page is made of."""
    files = {}
    for what, command in commands.items():
        files[what] = os.path.abspath(f"{name}.{what}.json")
        with open(files[what], "w", encoding="utf-8") as out:
            out.write(output([LATECOMER, *command]))
    return files


def main():
    # Without windows of its own the browser takes two thirds of the processor time.
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
    if not os.path.isdir(f"{MODULES}/node_modules") or not chromium:
        print(f"skipped: {'chromium' if os.path.isdir(MODULES + '/node_modules') else 'npm'} is not installed")
        sys.exit(77)
    enter(SCRATCH)
    pages = []
    for name, operands, expected in results():
        output([LATECOMER, "-q", "report", "-o", f"{name}.html", *operands])
        said = {}
        if name in ("demo", "lammps", "openmp") and not PICTURES:
            said = {"json": as_json(name, show=["show", "--json", *operands])}
        if name == "scaling":
            said = {"json": as_json(name, scaling=["scaling", "--json", *operands], compare=["compare", "--json", operands[0], operands[-1]])}
        pages.append({"name": name, "file": os.path.abspath(f"{name}.html"), **said, **expected})
    with open("pages.json", "w", encoding="utf-8") as out:
        json.dump({"modules": MODULES, "chromium": chromium, "pictures": PICTURES, "design": os.path.join(HERE, "..", "..", "..", "web", "design.html"), "pages": pages}, out)
    done = subprocess.run(["node", os.path.join(HERE, "browser.mjs"), "pages.json"], capture_output=True, text=True, timeout=patience(360), check=False)
    print(done.stdout, done.stderr)
    sys.exit(done.returncode)


main()
