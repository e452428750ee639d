"""latecomer bench: every operation on two ranks, the JSON's keys, the long table against the fingerprint, oversubscribed ranks, a launcher
around it, interruption, mistakes, comparison.

measured.py LATECOMER FLAVOUR SCRATCH_DIR PROBED_LIBRARY SHARED_RING VARIABLES PAPI_DIR ORDER PROBE_LAYER IDLE"""
import csv
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH, PROBED, RING, VARIABLES, PAPI, ORDER, LAYER, IDLE = sys.argv[1:11]
os.environ["LD_PRELOAD"] = IDLE  # ranks that wait sleep: those of MPICH take all cores of a small machine from what they wait for
FAILED = []
KEYS = {"format", "version", "operation", "bytes", "ranks", "nodes", "machine", "mpi", "benchmark", "clock", "min_ns", "max_ns", "mean_ns",
        "median_ns", "median_ci_ns", "quantiles_ns", "warmup", "categories", "modes", "change_points", "box", "ecdf", "histogram", "per_rank",
        "counters", "warnings", "runs_ns", "category"}


def check(condition, what):
    if not condition:
        FAILED.append(what)


def bench(*args, **kwargs):
    return subprocess.run([LATECOMER, "bench", *args], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(150), check=False, **kwargs)


def fingerprint(directory, name):
    with open(f"{SCRATCH}/{directory}/{name}.fingerprint.json", encoding="utf-8") as file:
        return json.load(file)


def table(directory):
    text = subprocess.run(["zstd", "-dc", f"{SCRATCH}/{directory}/runs.csv.zst"], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def all_operations():
    names = [line for line in bench("list").stdout.split("\n") if line.startswith("MPI_") or line in ("empty", "pingpong", "pingpong_nonblocking")]
    check(len(names) == 61, f"{len(names)} operations in the list")
    names.append("MPI_Ibcast+overlap")
    done = bench(",".join(names), "--bytes", "64", "--reps", "60", "--time", "300", "-n", "2", "--mpi", FLAVOUR, "-o", "all")
    check(done.returncode == 0, f"all operations: exit {done.returncode}: {done.stderr}")
    with open(f"{SCRATCH}/all/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    check(listed["complete"] and len(listed["jobs"]) == len(names), f"{len(listed['jobs'])} jobs of {len(names)}, complete: {listed['complete']}")
    shown = json.loads(bench("show", "all", "--json").stdout)["fingerprints"]
    check([one["operation"] for one in shown] == [job["operation"] for job in listed["jobs"]], f"all operations: {len(shown)} shown")
    for job in listed["jobs"]:
        one = fingerprint("all", job["file"].removesuffix(".fingerprint.json"))
        check(KEYS <= one.keys(), f"{job['operation']}: no {KEYS - one.keys()}")
        check(len(one["runs_ns"]) == 60 and 1 <= one["min_ns"] <= one["median_ns"] <= one["max_ns"],
              f"{job['operation']}: {len(one['runs_ns'])} runs, {one['min_ns']} ns at least, ranks {one['per_rank']}")
        for sheet in (".svg", ".details.svg", ".phases.svg"):  # well-formed
            xml.etree.ElementTree.parse(f"{SCRATCH}/all/" + job["file"].replace(".fingerprint.json", sheet))
        check(one["mpi"]["name"] == {"openmpi": "Open MPI", "mpich": "MPICH"}[FLAVOUR], f"{job['operation']}: {one['mpi']['name']}")


def table_agrees():
    """Run times of the fingerprint from the starts and own times of the ranks: by one clock, or, where ranks could not start together, the longest one."""
    rows = [row for row in table("all") if row["operation"] == "MPI_Allreduce"]
    one = fingerprint("all", "MPI_Allreduce-64")
    runs, together = one["runs_ns"], one["benchmark"]["run_time"] == "global"
    counting = sorted({int(row["iteration"]) for row in rows if row["metric"] == "runtime_ns"})
    check(len(counting) == len(runs), f"{len(runs)} runs in the fingerprint, {len(counting)} in the table")
    for i, run in zip(counting, runs):
        own = {(int(row["rank"]), row["metric"]): int(row["value"]) for row in rows if int(row["iteration"]) == i}
        ends = [own[r, "start_ns"] + own[r, "runtime_ns"] for r in range(2)]
        wanted = max(ends) - min(own[r, "start_ns"] for r in range(2)) if together else max(own[r, "runtime_ns"] for r in range(2))
        check(run == wanted, f"repetition {i}: {run} in the fingerprint, {own} in the table")
    done = bench("import", f"{SCRATCH}/all/none.csv")
    check(done.returncode == 1 and "No such file" in done.stderr, done.stderr)


def synchronisations():
    for sync in ("window", "barrier", "none"):
        comm = {"none": "0/1"}.get(sync, "world")  # lists of ranks: each by itself, at the same time
        done = bench("MPI_Bcast", "--reps", "100", "--time", "3", "-n", "2", "--mpi", FLAVOUR, "--sync", sync, "--comm", comm, "--json", "-o", sync)
        check(done.returncode == 0, f"{sync}: {done.stderr}")
        if done.returncode != 0:
            continue
        one = json.loads(done.stdout)
        check(one["benchmark"]["comm"] == comm and one["ranks"] == 2, f"{sync}: {one['benchmark']}")
        check(one["benchmark"]["sync"] in (sync, "barrier"), f"{sync}: {one['benchmark']['sync']}")
        check(one["benchmark"]["run_time"] == ("global" if one["benchmark"]["sync"] == "window" else "local"), f"{sync}: {one['benchmark']}")


def oversubscribed():
    done = bench("MPI_Alltoall", "--reps", "64", "--time", "5", "-n", "8", "--mpi", FLAVOUR, "--json", "-o", "eight")
    check(done.returncode == 0, f"8 ranks: {done.stderr}")
    if done.returncode == 0:
        one = json.loads(done.stdout)
        check(one["ranks"] == 8 and len(one["per_rank"]) == 8, "8 ranks")
        check(("oversubscribed" in one["warnings"]) == (len(os.sched_getaffinity(0)) < 8), f"8 ranks: {one['warnings']}")


def launched():
    done = subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "bench", "scan", "--reps", "40", "--time", "300", "-o", "launched"], capture_output=True,
                          text=True, cwd=SCRATCH, timeout=patience(100), check=False)
    check(done.returncode == 0 and "MPI_Scan" in done.stdout, f"launched: exit {done.returncode}: {done.stderr}")
    one = fingerprint("launched", "MPI_Scan-8")
    about = one["benchmark"]
    check(len(one["runs_ns"]) == 40, "launched: run times")
    check(about["command"] == ["latecomer", "bench", "scan", "--reps", "40", "--time", "300", "-o", "launched"], f"launched: {about['command']}")
    check(about["launched_by"] and about["operator"] == "MPI_BOR" and about["root"] == 0 and about["duration_s"] > about["job_s"] > 0, f"launched: {about}")
    check(about["begun"].endswith("Z") and all(node["machine"] and any("libmpi" in name for name in node["libraries"]) for node in one["nodes"]),
          f"launched: {one['nodes']}")


def all_of(master):
    """What comes from a terminal until nobody has it open any more."""
    text = b""
    while True:
        try:
            text += os.read(master, 65536)
        except OSError:  # so it tells the end
            return text


def live():
    """On a terminal, a line for each job; at its end it stays. All that is said while it runs is read: a terminal holds no more than some of it."""
    master, terminal = os.openpty()
    with subprocess.Popen([LATECOMER, "bench", "MPI_Barrier", "--reps", "200", "--time", "600", "--sync", "barrier", "-n", "2", "--mpi", FLAVOUR, "-o", "live"], cwd=SCRATCH,
                          stdout=subprocess.DEVNULL, stderr=terminal) as process:
        os.close(terminal)
        line = all_of(master).decode(errors="replace").replace("\r", "\n")
        process.wait(timeout=patience(100))
    os.close(master)
    check("MPI_Barrier 0 bytes: 200 repetitions, median" in line or "MPI_Barrier 8 bytes: 200 repetitions, median" in line, f"live: {line!r}")
    check("no warm-up seen" in line or "warm since repetition" in line, f"live: {line!r}")


def interrupted():
    with subprocess.Popen([LATECOMER, "bench", "MPI_Bcast", "--reps", "100000000", "--time", "60", "-n", "2", "--mpi", FLAVOUR, "-o", "cut"],
                          cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.time() + patience(30)
        while time.time() < deadline and (not os.path.exists(f"{SCRATCH}/cut/parts/rank-1") or os.path.getsize(f"{SCRATCH}/cut/parts/rank-1") < 20000):
            time.sleep(0.05)
        shown = bench("show", "cut")
        check(shown.returncode == 1 and "is being measured" in shown.stderr, f"shown while it runs: {shown.returncode} {shown.stderr}")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=patience(60))
    check(process.returncode == 1 and "what was measured is in cut" in errors, f"interrupted: exit {process.returncode}: {errors}")
    with open(f"{SCRATCH}/cut/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    check(not listed["complete"] and len(fingerprint("cut", "MPI_Bcast-8")["runs_ns"]) > 30, "interrupted: nothing kept")


def unwritable():
    """A table that cannot be written, as on a full disk, costs no repetition: the result is made when it can."""
    with subprocess.Popen([LATECOMER, "bench", "MPI_Exscan", "--reps", "70", "--time", "100", "--sync", "barrier", "--counters", "none", "-n", "2", "--mpi", FLAVOUR, "-o", "full"],
                          cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_ASLEEP="1", PROBED_SCAN_US="10000")) as process:
        deadline = time.time() + patience(30)
        while time.time() < deadline and not os.path.exists(f"{SCRATCH}/full/parts/rank-1"):
            time.sleep(0.01)
        os.mkdir(f"{SCRATCH}/full/runs.csv.zst")
        _, errors = process.communicate(timeout=patience(100))
    check(process.returncode == 1 and "`latecomer bench show full` makes the result" in errors and "runs.csv.zst" in errors, f"unwritable: exit {process.returncode}: {errors}")
    os.rmdir(f"{SCRATCH}/full/runs.csv.zst")
    done = bench("show", "full")
    check(done.returncode == 0 and len(fingerprint("full", "MPI_Exscan-8")["runs_ns"]) == 70 and len(table("full")) > 140, f"unwritable: shown: {done.returncode} {done.stderr}")


def compared():
    """Imported times, so that the load of the machine has no say in how many are good."""
    with open(f"{SCRATCH}/times.csv", "w", encoding="utf-8") as file:
        file.write("".join(f"{5000 + 37 * i % 101}\n" for i in range(200)))
    for name, operation in (("a", "MPI_Bcast"), ("b", "MPI_Scan"), ("e", "empty")):
        done = bench("import", "times.csv", "--operation", operation, "--bytes", "64", "-o", name)
        check(done.returncode == 0, f"import: {done.stderr}")
    done = bench("compare", "a/MPI_Bcast-64.fingerprint.json", "a/MPI_Bcast-64.fingerprint.json", "--json", "--gate")
    check(done.returncode == 0 and json.loads(done.stdout)["verdict"] == "same", f"A and A: {done.stdout} {done.stderr}")
    done = bench("compare", "--json", "--gate", "a", "b", "--", "a")  # an operation that has got lost is no success
    result = json.loads(done.stdout)
    check(done.returncode == 3 and (result["verdict"], result["only_in_a"], result["only_in_b"], [pair["verdict"] for pair in result["pairs"]])
          == ("not comparable", [{"operation": "MPI_Scan", "bytes": 64}], [], ["same"]), f"B lacks one: {done.returncode} {done.stdout}")
    done = bench("compare", "--json", "--gate", "a", "--", "a", "e")  # measured for the sake of others
    check(done.returncode == 0 and json.loads(done.stdout)["only_in_b"] == [], f"A lacks empty: {done.returncode} {done.stdout}")
    done = bench("compare", "a", "--", "a", "b")
    check("MPI_Bcast  64 B: same" in done.stdout and "MPI_Scan  64 B: not comparable (only in B)" in done.stdout, f"A lacks one: {done.stdout}")
    done = bench("compare", "a/MPI_Bcast-64.fingerprint.json", "b/MPI_Scan-64.fingerprint.json", "--json", "--gate")
    check(done.returncode == 3 and json.loads(done.stdout)["verdict"] == "not comparable", f"A and another: {done.returncode} {done.stdout}")


def ranks_of(values):
    """Equal ones share the mean of their places."""
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def coefficient(x, y):
    if len(x) < 3 or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return statistics.correlation(x, y)


def coefficients(name, one):
    """Of each counter by category, computed again: over all repetitions it misleads."""
    for counter, about in one["counters"].items():
        counted = about["series"] == "counted"
        runs, kinds = (one["counted"]["runs_ns"], one["counted"]["category"]) if counted else (one["runs_ns"], one["category"])
        warm = [run for run, kind in zip(runs, kinds) if kind == "warmup"]
        slow = 2 * statistics.median(warm) if warm else 0  # what would be an outlier later
        groups = {"all": lambda kind, run: True, "warmup_good": lambda kind, run: kind == "good" or kind == "warmup" and run < slow,
                  **{wanted: lambda kind, run, wanted=wanted: kind == wanted for wanted in ("first", "warmup", "outlier", "good")}}
        for group, belongs in groups.items():
            points = [(value, run) for value, run, kind in zip(about["values"], runs, kinds) if belongs(kind, run)]
            x, y = ([float(point[i]) for point in points] for i in range(2))
            for what, expected in (("pearson", coefficient(x, y)), ("spearman", coefficient(ranks_of(x), ranks_of(y)) if len(x) > 2 else None)):
                found = about[what][group]
                check(found is None if expected is None else found is not None and abs(found - expected) < 1e-6, f"{name}: {counter}: {what} of {group}: {found}, {expected} expected")


def correlated():
    for directory, name in (("all", "MPI_Allreduce-64"), ("all", "MPI_Alltoall-64"), ("eight", "MPI_Alltoall-8"), ("ring", "MPI_Bcast-65536")):
        coefficients(f"{directory}/{name}", fingerprint(directory, name))


def probed():
    """A library with probes, preloaded: every third repetition wastes 20 ms in one of them, more than a scheduler takes away. Another one, which it opens in the first
    repetition, is named as not measured."""
    done = bench("MPI_Allreduce", "--reps", "90", "--time", "60", "--sync", "barrier", "--counters", "probes", "-n", "2", "--mpi", FLAVOUR, "--json", "-o", "probed",
                 env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_ASLEEP="1", PROBED_GROW_US="20000", PROBED_LAYER=LAYER, PROBED_LATE="1"))
    check(done.returncode == 0, f"probed: {done.stderr}")
    if done.returncode != 0:
        return
    one = json.loads(done.stdout)
    check(any(line.startswith("probes of 1 library not measured") for line in one["warnings"]) and "probe_third_work" not in one["counters"], f"probed: {one['warnings']}")
    grow, runs = one["counters"]["probe_grow_ns"], one["runs_ns"]
    check(one["counters"]["probe_calls"]["values"] == [2] * 90 and one["counters"]["probe_calls"]["series"] == "runs", f"probed: {one['counters']['probe_calls']['values']} calls")
    for i, (value, run) in enumerate(zip(grow["values"], runs)):
        check((value >= 2 * 19.9e6 and run >= 19.9e6) if i % 3 == 0 else value == 0, f"probed: repetition {i}: {value} ns in grow, run time {run} ns")
    expected = statistics.correlation(ranks_of(grow["values"]), ranks_of(runs))
    check(abs(grow["spearman"]["all"] - expected) < 1e-9, f"probed: {grow['spearman']}, {expected} expected")


def samples():
    """Each call wastes 20 ms in the preloaded library: all samples are in its MPI_Allreduce, which the benchmark calls."""
    done = bench("MPI_Allreduce", "--reps", "24", "--time", "60", "--sync", "barrier", "--counters", "none", "--samples", "--counters-every", "2", "-n", "2",
                 "--mpi", FLAVOUR, "-o", "samples", "--json", env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_SLOW_US="20000"))
    check(done.returncode == 0, f"samples: {done.stderr}")
    if done.returncode != 0:
        return
    one = json.loads(done.stdout)
    found, first = one["samples"], one["samples"]["callpaths"][0]
    check((first["function"], first["depth"]) == ("MPI_Allreduce", 0) and first["file"].startswith("libbench-probed") and first["share"] > 0.9, f"samples: {first}")
    check(found["n"] > 0 and found["repetitions"] == len(one["counted"]["runs_ns"]) > 0, f"samples: {found['n']} of {found['repetitions']}")
    totals = {}
    for path in found["callpaths"]:  # what a function calls takes no longer than it
        totals[path["depth"]] = path["share"]
        check(path["depth"] == 0 or path["share"] <= totals[path["depth"] - 1] + 1e-9, f"samples: {path}")
    check(abs(sum(f["self_share"] for f in found["functions"]) - 1) < 0.2, f"samples: {found['functions']}")
    check("Where the operation spends its time" in bench("show", "samples").stdout, "samples: not shown")


def layers():
    """Three libraries with probes: two are preloaded, the third is opened by the first and seen by no other. The first stops a timer that does not run, in each call of two
    batches of 32 on two ranks."""
    done = bench("MPI_Allreduce", "--reps", "40", "--time", "300", "--sync", "barrier", "--counters", "probes", "-n", "2", "--mpi", FLAVOUR, "--json", "-o", "layers",
                 env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{RING}:{IDLE}", PROBED_LAYER=LAYER, PROBED_UNBALANCED="1"))
    check(done.returncode == 0, f"layers: {done.stderr}")
    if done.returncode == 0:
        warnings = json.loads(done.stdout)["warnings"]
        check(any(line.startswith("probes: 128 starts or stops") for line in warnings), f"layers: {warnings}")
        found = {name: c["total"] for name, c in json.loads(done.stdout)["counters"].items() if not name.endswith("_ns")}
        check(found == {"probe_calls": 80, "probe_in_place": 0, "probe_eager": 0, "probe_buffers": 0, "probe_third_idle": 0, "probe_third_rest": 0, "probe_third_work": 240},
              f"layers: {found}")


def shared_ring():
    """The example of the documentation: its pool grows in the first 48 repetitions with large messages, and never with small ones."""
    done = bench("MPI_Bcast", "--bytes", "64,64k", "--reps", "100", "--time", "300", "--sync", "barrier", "--counters", "probes", "-n", "2", "--mpi", FLAVOUR, "-o", "ring",
                 env=dict(os.environ, LD_PRELOAD=f"{RING}:{IDLE}"))
    check(done.returncode == 0, f"ring: {done.stderr}")
    small, large = (fingerprint("ring", f"MPI_Bcast-{n}")["counters"] for n in (64, 65536))
    check(small["probe_eager"]["total"] == 100 and small["probe_buffers"]["total"] == 0, f"ring: {small['probe_eager']['total']} small messages")
    check(large["probe_eager"]["total"] == 0 and large["probe_buffers"]["values"] == [1] * 48 + [0] * 52, f"ring: {large['probe_buffers']['values']}")
    grown = large["probe_grow_pool_ns"]["values"]
    check(min(grown[:48]) > 0 and max(grown[48:]) == 0, f"ring: {grown}")


def counted():
    """Counters are read around every third call, and around no other: two batches of 32 until 40 count."""
    done = bench("MPI_Scan", "--reps", "40", "--time", "300", "--sync", "barrier", "--counters", "rusage", "--counters-every", "3", "-n", "2", "--mpi", FLAVOUR, "--json",
                 "-o", "counted", env=dict(os.environ, LD_PRELOAD=f"{ORDER}:{IDLE}", ORDER_FILE=f"{SCRATCH}/order"))
    check(done.returncode == 0, f"counted: {done.stderr}")
    if done.returncode != 0:
        return
    for rank in range(2):
        with open(f"{SCRATCH}/order.{rank}", encoding="utf-8") as file:
            order = file.read()
        check(order == "".join("RSR" if i % 3 == 2 else "S" for i in range(64)), f"counted: rank {rank}: {order}")
    one = json.loads(done.stdout)
    series = one["counted"]
    check(series["every"] == 3 and series["at"] == [2 * (i + 1) for i in range(len(series["at"]))], f"counted: {series['at']}")
    check(len(one["runs_ns"]) == 40 and len(series["runs_ns"]) == len(series["category"]) == len(one["counters"]["minor_faults"]["values"]) == 19,
          f"counted: {len(one['runs_ns'])} runs, {len(series['runs_ns'])} with counters")
    windows = one["interference"]["windows"]  # a reading before the first, after each of two batches, and at the end
    check(windows["at"] == [0, 22, 40] and len(windows["run_delay_ns"]) == 3, f"counted: {windows}")
    windows = one["interference"]["cpu_windows"]  # the last reading comes whenever the job ends
    check(windows["at"][0] == 0 and len(windows["at"]) == len(windows["steal_share"]) == len(windows["other_share"]), f"counted: {windows}")
    check(all(share is None or 0 <= share <= 1 for name in ("steal_share", "other_share") for share in windows[name]), f"counted: {windows}")
    check({int(row["iteration"]) for row in table("counted") if row["metric"] == "minor_faults"} == set(range(2, 59, 3)), "counted: table")


def mpi_variables():
    """Performance variables by their classes (variables.c), one that rank 1 cannot read, one by name; all control variables."""
    args = ("MPI_Bcast", "--reps", "64", "--sync", "barrier", "-n", "2", "--mpi", FLAVOUR, "--json")
    done = bench(*args, "--counters", "spc", "-o", "variables", env=dict(os.environ, LD_PRELOAD=f"{VARIABLES}:{IDLE}"))
    check(done.returncode == 0, f"variables: {done.stderr}")
    if done.returncode != 0:
        return
    one = json.loads(done.stdout)
    found = {name.removeprefix("runtime_spc_"): c for name, c in one["counters"].items()}
    first = int(found["level"]["values"][0]) if "level" in found else 0
    calls = [first + 5 * i for i in range(len(one["counted"]["runs_ns"]))]  # every fifth call is one with counters; those before the first repetition count, too
    size = ("growth", "sum", [2] * len(calls)) if FLAVOUR == "openmpi" else ("level", "largest", calls)  # Open MPI's own are all of this class
    expected = {"grows": ("growth", "sum", [2] * len(calls)), "level": ("level", "largest", calls), "mark": ("high watermark", "largest", [1] * len(calls)),
                "share_ppm": ("level", "largest", [250000] * len(calls)), "state": ("state", "largest", [n % 2 for n in calls]), "size": size,
                "time_ns": ("growth", "sum", [4000] * len(calls))}
    check(calls and {name: (c["kind"], c["over_ranks"], c["values"]) for name, c in found.items()} == expected, f"variables: {found}")
    check(any("belong to objects" in line and line.startswith("1 ") for line in one["benchmark"]["missing"]), f"variables: {one['benchmark']['missing']}")
    if FLAVOUR == "openmpi":
        check(any("mpi_spc_attach" in line for line in one["warnings"]) and one["mpi"]["parameters"].get("OMPI_MCA_mpi_spc_attach") == "all",
              f"variables: {one['warnings']}")
    done = bench(*args, "--counters", "mpi", "--mpi-variables", "LEVEL,share", "-o", "some-variables", env=dict(os.environ, LD_PRELOAD=f"{VARIABLES}:{IDLE}"))
    check(done.returncode == 0 and set(json.loads(done.stdout)["counters"]) == {"runtime_spc_level", "runtime_spc_share_ppm"}, f"some variables: {done.stdout[:99]}")
    done = bench(*args, "--counters", "spc", "-o", "own-counters")  # the MPI as it is
    check(done.returncode == 0, f"own counters: {done.stderr}")
    one = json.loads(done.stdout) if done.returncode == 0 else {"counters": {}, "mpi": {}, "benchmark": {}, "warnings": []}
    counts = any(c["kind"] == "growth" and c["total"] > 0 for c in one["counters"].values())
    missing = one["benchmark"].get("missing", [])
    check(counts or any("MPI_T" in line for line in missing), f"own counters: {one['counters']}, {missing}")
    check(FLAVOUR != "openmpi" or counts or any("--enable-spc" in line for line in missing), f"own counters: {missing}")
    others = one["mpi"].get("other_parameters", {})
    check(len(others) > 50 and not set(others) & set(one["mpi"]["parameters"]), f"control variables: {len(others)}")
    again = fingerprint("some-variables", "MPI_Bcast-8")["mpi"]  # another launch: they are settings, and no outcomes
    check(again["other_parameters"] == {k: v for k, v in others.items() if "spc" not in k} | {k: v for k, v in again["other_parameters"].items() if "spc" in k},
          f"control variables: {[k for k in others if others[k] != again['other_parameters'].get(k)]}")


def lacking():
    """An operation that the MPI does not have is left out by name, once; those before and behind it are measured, once where they have no size or are named twice.
    Between two ranks nothing is measured where each is alone."""
    done = bench("mpi_scan,EXSC,barrier,bcast,MPI_Scan", "--bytes", "8,16,8", "--reps", "40", "--sync", "barrier", "-n", "2", "--mpi", FLAVOUR, "-o", "lacking",
                 env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_LACKS="1"))
    with open(f"{SCRATCH}/lacking/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    check([job["operation"] for job in listed["jobs"]] == ["MPI_Scan", "MPI_Scan", "MPI_Barrier", "MPI_Bcast", "MPI_Bcast"] and listed["complete"] and done.returncode == 0,
          f"lacking: {listed}")
    check(done.stderr.count("MPI_Exscan: left out: this MPI does not have it") == 1, f"lacking: {done.stderr}")
    done = bench("pingpong", "--comm", "0/1", "-n", "2", "--mpi", FLAVOUR, "-o", "alone")
    check(done.returncode == 1 and done.stderr.splitlines() == ["latecomer: bench: pingpong: left out: it takes two ranks", "latecomer: bench: no repetition was measured"]
          and not os.path.exists(f"{SCRATCH}/alone"), f"alone: exit {done.returncode}: {done.stderr}")


def failing():
    """The 71st call fails, or rank 1 dies in it: two batches of 32 that lasted longer than what is not yet written are kept."""
    for how, words, said in (("PROBED_FAILS", "what was measured so far is kept", 2), ("PROBED_DIES", "stopped early: signal 9 (Killed) ended a rank", 1)):
        done = bench("MPI_Exscan", "--reps", "500", "--time", "100", "--sync", "barrier", "--counters", "none", "-n", "2", "--mpi", FLAVOUR, "-o", how,
                     env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_ASLEEP="1", PROBED_SCAN_US="10000", **{how: "1"}))
        check(done.stdout.startswith("MPI_Exscan"), f"{how}: {done.stdout[:500]}")  # the launcher's words are not there
        lines = done.stderr.splitlines()
        check(done.returncode == 1 and words in done.stderr, f"{how}: exit {done.returncode}: {done.stderr}")
        check(len(lines) == said and all(line.startswith("latecomer: bench: ") for line in lines), f"{how}: what happened, and where the result is: {lines}")
        one = fingerprint(how, "MPI_Exscan-8")
        check(len(one["runs_ns"]) == 64 and any("the job died" in line for line in one["warnings"]), f"{how}: {len(one['runs_ns'])} {one['warnings']}")


def papi():
    """With a libpapi.so of known events: two that count, one that nobody has, one that only rank 0 has. Then whatever is installed here."""
    args = ("MPI_Bcast", "--reps", "40", "--sync", "barrier", "--counters", "none", "-n", "2", "--mpi", FLAVOUR, "--json", "-o", "papi", "--papi")
    done = bench(*args, "COUNTED,REFUSED,ODD,OTHER", env=dict(os.environ, LD_LIBRARY_PATH=f"{PAPI}:{os.environ.get('LD_LIBRARY_PATH', '')}"))
    check(done.returncode == 0, f"papi: {done.stderr}")
    if done.returncode == 0:
        one = json.loads(done.stdout)
        found = {name: set(c["values"]) for name, c in one["counters"].items()}
        check(found == {"COUNTED": {14}, "OTHER": {2000}}, f"papi: {found}")  # sum of both ranks
        missing = sorted(one["benchmark"]["missing"])
        check(missing == ["no event ODD of PAPI: another rank lacks it", "no event REFUSED of PAPI: Event does not exist"], f"papi: {missing}")
    done = bench(*args, "perf::CONTEXT-SWITCHES")
    one = json.loads(done.stdout) if done.returncode == 0 else {"counters": {}, "benchmark": {"missing": {}}}
    check(len(one["counters"]) + len(one["benchmark"]["missing"]) == 1, f"papi here: {done.stderr} {one['counters']} {one['benchmark']['missing']}")


def precise():
    """Intervals narrower than the value itself: that is so long before 2,000 repetitions of 20 ms and a scheduler's delay."""
    done = bench("MPI_Allreduce", "--precision", "1", "--reps", "2000", "--time", "300", "--sync", "barrier", "--counters", "none", "-n", "2", "--mpi", FLAVOUR, "--json",
                 "-o", "precise", env=dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_ASLEEP="1", PROBED_SLOW_US="20000"))
    check(done.returncode == 0, f"precise: {done.stderr}")
    if done.returncode == 0:
        one = json.loads(done.stdout)
        about = one["benchmark"]
        check((about["stopped"], about["precision"]) == ("precision", 1) and 50 <= len(one["runs_ns"]) < 2000, f"precise: {len(one['runs_ns'])} {about['stopped']}")
        check(one["median_ci_ns"][1] - one["median_ci_ns"][0] <= one["median_ns"], f"precise: {one['median_ci_ns']}")


def some_ranks():
    """Two of three ranks measure, not the first; hardware counters are there, or a line says why not."""
    done = bench("MPI_Bcast", "--ranks", "1-2", "--root", "1", "--counters", "rusage,hardware", "--reps", "40", "--time", "300", "--sync", "barrier", "-n", "3", "--mpi", FLAVOUR,
                 "-o", "some")
    check(done.returncode == 0, f"some ranks: {done.stderr}")
    if done.returncode != 0:
        return
    one = fingerprint("some", "MPI_Bcast-8")
    check(one["ranks"] == 2 and one["benchmark"]["ranks_wanted"] == "1-2" and len(one["runs_ns"]) == 40, f"some ranks: {one['ranks']} {one['benchmark']}")
    missing = "hardware events of the kernel on all ranks" in " ".join(one["benchmark"]["missing"])
    check(missing != ("instructions" in one["counters"] or "cycles" in one["counters"]), f"hardware: {one['benchmark']['missing']}, {list(one['counters'])}")
    check(not missing or "left out: no hardware events" in done.stdout, f"hardware: {done.stdout[-500:]}")
    with open(f"{SCRATCH}/some/report.html", encoding="utf-8") as file:
        check("fingerprint/0.json" in file.read(), "the page holds no fingerprint")


def mistakes():
    for args, code, words in ((["MPI_Brcast"], 2, "did you mean MPI_Bcast?"), (["alreduce"], 2, "did you mean MPI_Allreduce?"), (["MPI_Gath"], 2, "which one: MPI_Gather, MPI_Gatherv?"),
                              (["mpi_bcast+overlap"], 2, "+overlap may stand behind a nonblocking one"), ([], 2, "nothing to do"),
                              (["MPI_Bcast", "--bytes", "8x"], 2, "not a message size"), (["MPI_Bcast", "--sync", "x"], 2, "unknown"),
                              (["MPI_Bcast", "--counters", "mpi,perv"], 2, "--counters perv: no such source of counters: did you mean perf?"),
                              (["MPI_Bcast", "--counters", "cycles"], 2, "see `latecomer help bench`"), (["MPI_Bcast", "--root", "7", "-n", "2"], 2, "there are 2 ranks"), (["MPI_Bcast", "--ranks", "0,2"], 2, "give some of 0 to 1"),
                              (["MPI_Bcast", "--comm", "0-1", "-n", "3"], 2, "give lists of all 3 ranks"), (["MPI_Bcast", "--comm", "0-1/1"], 2, "give lists of all 2 ranks"),
                              (["MPI_Bcast", "--comm", "0/1", "--root", "1"], 2, "a communicator of --comm has 1"), (["--of", "x", "MPI_Bcast"], 2, "leave others out"),
                              (["MPI_Bcast", "--vary", "mpi=openmpi,mpich"], 2, "--vary: only for sweep"), (["compare", "a", "b", "--rounds", "3"], 2, "--rounds: only for sweep,guidelines"),
                              (["show", "a", "--gate"], 2, "--gate: only for compare"), (["MPI_Bcast", "--reps", "2.5"], 2, "--reps 2.5: give a whole number"),
                              (["MPI_Bcast", "-n", "0"], 2, "-n 0: give a number from 1 to 1000000"),
                              (["MPI_Bcast", "--ranks", "1-", "-n", "2"], 2, "give some of"), (["show", "/nowhere"], 1, "No such file"),
                              (["MPI_Bcast", "--bytes", "3G", "-n", "2", "--mpi", FLAVOUR, "-o", "large"], 2, "too much for 2 ranks")):
        done = bench(*args)
        check(done.returncode == code and words in done.stderr and done.stderr.count("latecomer: ") == 1,
              f"{args}: exit {done.returncode}: {done.stderr!r}")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    for part in (all_operations, table_agrees, synchronisations, oversubscribed, launched, live, interrupted, unwritable, compared, probed, samples, layers, shared_ring, correlated, counted, mpi_variables, lacking, failing, papi, precise, some_ranks, mistakes):
        begin = time.time()
        part()
        print(f"{part.__name__}: {time.time() - begin:.1f} s")
    if FAILED:
        sys.exit("\n".join(FAILED))
    print(f"bench: median of MPI_Bcast {statistics.median(fingerprint('all', 'MPI_Bcast-64')['runs_ns'])} ns")


if __name__ == "__main__":
    main()
