"""latecomer bench: every operation on two ranks, the JSON's keys, the long table against the fingerprint, oversubscribed ranks, a launcher
around it, interruption, mistakes, comparison.

measured.py LATECOMER FLAVOUR MPIEXEC SCRATCH_DIR PROBED_LIBRARY"""
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

LATECOMER, FLAVOUR, MPIEXEC, SCRATCH, PROBED = sys.argv[1:6]
FAILED = []
KEYS = {"format", "version", "operation", "bytes", "ranks", "nodes", "machine", "mpi", "benchmark", "clock", "min_ns", "max_ns", "mean_ns",
        "median_ns", "median_ci_ns", "quantiles_ns", "warmup", "categories", "modes", "change_points", "box", "ecdf", "histogram", "per_rank",
        "counters", "warnings", "runs_ns", "category"}


def check(condition, what):
    if not condition:
        FAILED.append(what)


def bench(*args, **kwargs):
    return subprocess.run([LATECOMER, "bench", *args], capture_output=True, text=True, cwd=SCRATCH, timeout=150, check=False, **kwargs)


def fingerprint(directory, name):
    with open(f"{SCRATCH}/{directory}/{name}.fingerprint.json", encoding="utf-8") as file:
        return json.load(file)


def table(directory):
    text = subprocess.run(["zstd", "-dc", f"{SCRATCH}/{directory}/runs.csv.zst"], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def all_operations():
    names = [line for line in bench("list").stdout.split("\n") if line.startswith("MPI_") or line in ("empty", "pingpong", "pingpong_nonblocking")]
    check(len(names) == 47, f"{len(names)} operations in the list")
    names.append("MPI_Ibcast+overlap")
    done = bench(",".join(names), "--bytes", "64", "--reps", "60", "--time", "20", "-n", "2", "--mpi", FLAVOUR, "-o", "all")
    check(done.returncode == 0, f"all operations: exit {done.returncode}: {done.stderr}")
    with open(f"{SCRATCH}/all/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    check(listed["complete"] and len(listed["jobs"]) == len(names), f"{len(listed['jobs'])} jobs of {len(names)}, complete: {listed['complete']}")
    for job in listed["jobs"]:
        one = fingerprint("all", job["file"].removesuffix(".fingerprint.json"))
        check(KEYS <= one.keys(), f"{job['operation']}: no {KEYS - one.keys()}")
        check(len(one["runs_ns"]) == 60 and 1 <= one["median_ns"] < 5e7, f"{job['operation']}: {len(one['runs_ns'])} runs, median {one['median_ns']} ns")
        check(one["mpi"]["name"] == {"openmpi": "Open MPI", "mpich": "MPICH"}[FLAVOUR], f"{job['operation']}: {one['mpi']['name']}")
    empty, allreduce = fingerprint("all", "empty-64"), fingerprint("all", "MPI_Allreduce-64")
    check(empty["min_ns"] < allreduce["min_ns"], f"empty takes {empty['min_ns']} ns, MPI_Allreduce {allreduce['min_ns']}")


def table_agrees():
    """Run times of the fingerprint from the starts and own times of the ranks."""
    rows = [row for row in table("all") if row["operation"] == "MPI_Allreduce"]
    runs = fingerprint("all", "MPI_Allreduce-64")["runs_ns"]
    for i, run in enumerate(runs):
        own = {(int(row["rank"]), row["metric"]): int(row["value"]) for row in rows if int(row["iteration"]) == i}
        ends = [own[r, "start_ns"] + own[r, "runtime_ns"] for r in range(2)]
        check(run == max(ends) - min(own[r, "start_ns"] for r in range(2)), f"repetition {i}: {run} in the fingerprint, {own} in the table")
    done = bench("import", f"{SCRATCH}/all/none.csv")
    check(done.returncode == 1 and "No such file" in done.stderr, done.stderr)


def synchronisations():
    for sync in ("window", "barrier", "none"):
        done = bench("MPI_Bcast", "--reps", "100", "--time", "3", "-n", "2", "--mpi", FLAVOUR, "--sync", sync, "--json", "-o", sync)
        check(done.returncode == 0, f"{sync}: {done.stderr}")
        if done.returncode != 0:
            continue
        one = json.loads(done.stdout)
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
    more = ["--oversubscribe", "--allow-run-as-root"] if FLAVOUR == "openmpi" else []
    done = subprocess.run([MPIEXEC, *more, "-n", "2", LATECOMER, "bench", "MPI_Scan", "--reps", "40", "-o", "launched"], capture_output=True,
                          text=True, cwd=SCRATCH, timeout=100, check=False)
    check(done.returncode == 0 and "MPI_Scan" in done.stdout, f"launched: exit {done.returncode}: {done.stderr}")
    check(len(fingerprint("launched", "MPI_Scan-8")["runs_ns"]) == 40, "launched: run times")


def interrupted():
    with subprocess.Popen([LATECOMER, "bench", "MPI_Bcast", "--reps", "100000000", "--time", "60", "-n", "2", "--mpi", FLAVOUR, "-o", "cut"],
                          cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.time() + 30
        while time.time() < deadline and (not os.path.exists(f"{SCRATCH}/cut/parts/rank-1") or os.path.getsize(f"{SCRATCH}/cut/parts/rank-1") < 20000):
            time.sleep(0.05)
        shown = bench("show", "cut")
        check(shown.returncode == 1 and "is being measured" in shown.stderr, f"shown while it runs: {shown.returncode} {shown.stderr}")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    check(process.returncode == 1 and "what was measured is in cut" in errors, f"interrupted: exit {process.returncode}: {errors}")
    with open(f"{SCRATCH}/cut/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    check(not listed["complete"] and len(fingerprint("cut", "MPI_Bcast-8")["runs_ns"]) > 30, "interrupted: nothing kept")


def compared():
    done = bench("compare", "all/MPI_Bcast-64.fingerprint.json", "all/MPI_Bcast-64.fingerprint.json", "--json", "--gate")
    check(done.returncode == 0 and json.loads(done.stdout)["verdict"] == "same", f"A and A: {done.stdout} {done.stderr}")
    done = bench("compare", "all/MPI_Bcast-64.fingerprint.json", "all/MPI_Scan-64.fingerprint.json", "--json", "--gate")
    check(done.returncode == 3 and json.loads(done.stdout)["verdict"] == "not comparable", f"A and another: {done.returncode} {done.stdout}")


def probed():
    """A library with probes, preloaded: the one that wastes time is the one that goes with the run time."""
    done = bench("MPI_Allreduce", "--reps", "200", "--time", "30", "--sync", "barrier", "-n", "2", "--mpi", FLAVOUR, "--json", "-o", "probed",
                 env=dict(os.environ, LD_PRELOAD=PROBED))
    check(done.returncode == 0, f"probed: {done.stderr}")
    if done.returncode == 0:
        counters = json.loads(done.stdout)["counters"]
        check(counters["probe_calls"]["total"] == 400, f"probed: {counters['probe_calls']['total']} calls")
        check(counters["probe_grow_ns"]["total"] > 200 / 7 * 50e3, f"probed: {counters['probe_grow_ns']['total']} ns in grow")
        check((counters["probe_grow_ns"]["spearman"]["all"] or 0) > 0.4, f"probed: {counters['probe_grow_ns']['spearman']}")


def mistakes():
    for args, code, words in ((["MPI_Brcast"], 2, "did you mean MPI_Bcast?"), ([], 2, "nothing to do"),
                              (["MPI_Bcast", "--bytes", "8x"], 2, "not a message size"), (["MPI_Bcast", "--sync", "x"], 2, "unknown"),
                              (["MPI_Bcast", "--root", "7", "-n", "2"], 2, "there are 2 ranks"), (["show", "/nowhere"], 1, "No such file"),
                              (["MPI_Bcast", "--bytes", "3G", "-n", "2", "--mpi", FLAVOUR, "-o", "large"], 2, "too much for 2 ranks")):
        done = bench(*args)
        check(done.returncode == code and words in done.stderr and done.stderr.count("latecomer: ") == 1,
              f"{args}: exit {done.returncode}: {done.stderr!r}")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    for part in (all_operations, table_agrees, synchronisations, oversubscribed, launched, interrupted, compared, probed, mistakes):
        begin = time.time()
        part()
        print(f"{part.__name__}: {time.time() - begin:.1f} s")
    if FAILED:
        sys.exit("\n".join(FAILED))
    print(f"bench: median of MPI_Bcast {statistics.median(fingerprint('all', 'MPI_Bcast-64')['runs_ns'])} ns")


if __name__ == "__main__":
    main()
