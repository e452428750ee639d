"""latecomer bench with several launches: a sweep over variants whose order is known, one that cannot start, an interruption, mistakes;
guidelines: mock-ups do what their collectives do, a collective that wastes time is found;
the operations of a program beside the same alone.

launches.py LATECOMER FLAVOUR SCRATCH_DIR PROBED_LIBRARY MOCK_UPS LATE PLAIN_LOOP IDLE"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, SCRATCH, PROBED, MOCK_UPS, LATE, PLAIN_LOOP, IDLE = sys.argv[1:9]
FAILED = []
os.environ["LD_PRELOAD"] = IDLE  # ranks that wait sleep
SLOW = dict(os.environ, LD_PRELOAD=f"{PROBED}:{IDLE}", PROBED_ASLEEP="1")


def check(condition, what):
    if not condition:
        FAILED.append(what)


def bench(*args, **kwargs):
    return subprocess.run([LATECOMER, "bench", *args], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(150), check=False, **kwargs)


def sweep(*args, **kwargs):
    return bench("sweep", *args, "-n", "2", "--mpi", FLAVOUR, "--reps", "50", "--time", "3", **kwargs)


def ranked():
    """Every call wastes 0, 2 or 20 ms: that is the order. A barrier synchronises: no repetition is done again."""
    done = sweep("MPI_Allreduce", "--vary", "PROBED_SLOW_US=20000,0,2000", "--vary", "bytes=8", "--rounds", "3", "--sync", "barrier", "-o", "ranked", "--json", env=SLOW)
    check(done.returncode == 0, f"sweep: exit {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return
    result = json.loads(done.stdout)
    with open(f"{SCRATCH}/ranked/sweep.json", encoding="utf-8") as file:
        check(json.load(file) == result, "sweep.json is not what was printed")
    again = bench("show", "ranked", "--json")
    check(again.returncode == 0 and json.loads(again.stdout) == result and "PROBED_SLOW_US=20000" in bench("show", "ranked").stdout, f"show: {again.stderr}")
    with open(f"{SCRATCH}/ranked/report.html", encoding="utf-8") as file:
        check("sweep/0.json" in file.read(), "the page holds no sweep")
    check(result["format"] == "latecomer-sweep" and result["complete"] and result["rounds"] == 3, f"sweep: {result}")
    variants = result["jobs"][0]["variants"]
    check([v["ratio"] for v in variants] == sorted(v["ratio"] for v in variants) and variants[0]["ratio"] == 1, f"order: {variants}")
    by = {v["settings"]["PROBED_SLOW_US"]: v for v in variants}  # on a busy machine they may not be told apart, but never the wrong way round
    check(set(by) == {"0", "2000", "20000"}, f"variants: {variants}")
    check(by["20000"]["median_ns"] >= 2e7 and by["2000"]["median_ns"] >= 2e6, f"times: {variants}")
    for variant in variants:
        check(len(variant["launch_medians_ns"]) == 3 and variant["places"][0] <= variant["places"][1], f"{variant}")
    sides = [[f"ranked/round-{r}-variant-{v}" for r in (1, 2, 3)] for v in (2, 1)]  # 0 and 20 ms
    pair = json.loads(bench("compare", "--json", *sides[0], "--", *sides[1]).stdout)["pairs"][0]
    few = "fewer than 30 repetitions"  # of a busy machine: the rest is warm-up
    apart = any(q["low"] > 0 or q["high"] < 0 for q in pair["quantiles"])  # whether launches that differ with the load tell it is their matter
    check((pair["verdict"] == "same") != apart or pair["why"] == few, f"compared: {pair}")
    check(pair["launches"] == [3, 3] and not pair["launches_guessed"], f"compared: {pair}")
    pair = json.loads(bench("compare", "--json", sides[0][0], sides[0][1]).stdout)["pairs"][0]
    check(pair["launches"] == [1, 1] and (pair["launches_guessed"] or pair["why"].startswith((few, "ranks had to share their cores"))), f"one each: {pair}")
    for q in pair["quantiles"]:
        check((1 + q["high"]) / (1 + q["shift"]) > 3.99 if q["high"] is not None else q["low"] is None, f"one each, {q}")
    check(bench("compare", "--", sides[0][0]).returncode == 2, "an empty side")
    launches = [name for name in os.listdir(f"{SCRATCH}/ranked") if os.path.exists(f"{SCRATCH}/ranked/{name}/MPI_Allreduce-8.fingerprint.json")]
    check(len(launches) == 9, f"{len(launches)} launches")


def left_out():
    """An MPI that does not start is left out by name."""
    name = {"openmpi": "pml=nonsense,ob1", "mpich": "MPIR_CVAR_CH4_OFI_CAPABILITY_SETS_DEBUG=0,1"}[FLAVOUR]
    done = sweep("MPI_Bcast,MPI_Barrier", "--vary", name, "--rounds", "1", "-o", "left")
    rows = [line.split()[-1] for line in done.stdout.split("\n") if line.startswith("  1")]
    if FLAVOUR == "openmpi":
        check(done.returncode == 1 and done.stderr.count("left out") == 1 and rows == ["pml=ob1", "pml=ob1"], f"{done.returncode} {done.stdout} {done.stderr}")
    else:
        check(done.returncode == 0 and len(rows) == 4, f"{done.returncode} {done.stdout} {done.stderr}")


def interrupted():
    words = [LATECOMER, "bench", "sweep", "MPI_Bcast", "-n", "2", "--mpi", FLAVOUR, "--reps", "30", "--vary", "SOME_VARIABLE=1,2", "--rounds", "500", "-o", "cut"]
    with subprocess.Popen(words, cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        deadline = time.time() + patience(60)
        while time.time() < deadline and not os.path.exists(f"{SCRATCH}/cut/round-2-variant-1"):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # whatever a launcher does at that moment, once is enough
        try:
            _, errors = process.communicate(timeout=patience(60))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
    check(process.returncode == 1 and "stopped early: " in errors, f"interrupted: exit {process.returncode}: {errors}")
    with open(f"{SCRATCH}/cut/sweep.json", encoding="utf-8") as file:
        result = json.load(file)
    check(not result["complete"] and result["rounds"] >= 1 and len(result["jobs"][0]["variants"]) == 2, f"interrupted: {result}")


def interrupted_alone():
    """The launcher does not hear of it, as when ^C meets it while it starts its ranks: it is told."""
    words = [LATECOMER, "bench", "MPI_Bcast", "-n", "2", "--mpi", FLAVOUR, "--reps", "100000000", "--time", "1000", "-o", "alone-cut"]
    with subprocess.Popen(words, cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        parts, deadline = f"{SCRATCH}/alone-cut/parts/rank-1", time.time() + patience(60)
        while time.time() < deadline and (not os.path.exists(parts) or os.path.getsize(parts) < 20000):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=patience(60))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
    check(process.returncode == 1 and "what was measured is in alone-cut" in errors, f"interrupted alone: exit {process.returncode}: {errors}")


def processes_of(directory):
    """Those with the directory in their words: the command, launchers, ranks."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if name.isdigit() and int(name) != os.getpid() and directory.encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass  # it has ended, or is no process
    return found


def orphans():
    """The command and its launchers are killed: ranks end by themselves."""
    cut = f"{SCRATCH}/orphans"
    words = [LATECOMER, "bench", "MPI_Bcast", "-n", "2", "--mpi", FLAVOUR, "--reps", "100000000", "--time", "1000", "-o", cut]
    with subprocess.Popen(words, cwd=SCRATCH, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        deadline = time.time() + patience(60)
        while time.time() < deadline and (not os.path.exists(f"{cut}/parts/rank-1") or os.path.getsize(f"{cut}/parts/rank-1") < 20000):
            time.sleep(0.05)
        ranks = []
        for pid in processes_of(cut):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                if "latecomer-bench" in file.read():
                    ranks.append(pid)
        parents = set()
        for pid in ranks:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parents.add(int(file.read().rsplit(")", 1)[1].split()[1]))
        check(len(ranks) == 2, f"orphans: {ranks}")
        for pid in {process.pid, *parents, *processes_of(cut)} - set(ranks):
            os.kill(pid, signal.SIGKILL)
    deadline = time.time() + patience(60)
    while processes_of(cut) and time.time() < deadline:
        time.sleep(0.1)
    left = processes_of(cut)
    check(not left, f"orphans: {left} live on")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    done = bench("show", "orphans")
    check(done.returncode == 0, f"orphans: what was measured is lost: {done.stderr}")


def job_file():
    """A line says more than the command line; mistakes in any line are found before the first job."""
    with open(f"{SCRATCH}/two.jobs", "w", encoding="utf-8") as file:
        file.write("# two jobs\n\nMPI_Bcast,MPI_Barrier --bytes 16\n  MPI_Scan --reps 20 --sync barrier # and no more\n")
    done = bench("jobs", "two.jobs", "-n", "2", "--mpi", FLAVOUR, "--reps", "40", "--time", "300", "-o", "jobs")
    check(done.returncode == 0 and done.stdout.count("\n") == 3 and sorted(os.listdir(f"{SCRATCH}/jobs")) == ["bench.json", "line-3", "line-4"],
          f"jobs: {done.returncode} {done.stdout} {done.stderr}")
    check(bench("show", "jobs").stdout == done.stdout, "jobs: the directory shown")
    for name, reps, sync in (("line-3/MPI_Bcast-16", 40, "roundtime"), ("line-4/MPI_Scan-8", 20, "barrier")):
        with open(f"{SCRATCH}/jobs/{name}.fingerprint.json", encoding="utf-8") as file:
            result = json.load(file)
        check(len(result["runs_ns"]) == reps and result["benchmark"]["sync_wanted"] == sync, f"{name}: {result['benchmark']}")
    for text, words in (("MPI_Bcast\nMPI_Scan --reps x\n", "--reps x"), ("MPI_Bcast\nMPI_Scan more\n", "line 2: give one OP"), ("# none\n", "holds no job"),
                        ("MPI_Brcast\n", "did you mean MPI_Bcast?")):
        with open(f"{SCRATCH}/wrong.jobs", "w", encoding="utf-8") as file:
            file.write(text)
        done = bench("jobs", "wrong.jobs", "-o", "wrong-jobs")
        check(done.returncode == 2 and words in done.stderr and not os.path.exists(f"{SCRATCH}/wrong-jobs"), f"{text}: {done.returncode} {done.stderr}")
    check(bench("jobs", "no.jobs").returncode == 1, "no such file")


def plain_loop():
    """The loop that the benchmark is compared with runs every operation that it knows."""
    done = subprocess.run([*mpirun(FLAVOUR, 2), PLAIN_LOOP, "8", "2"], capture_output=True, text=True, timeout=patience(100), check=False)
    check(done.returncode == 0, f"the plain loop ends: {done.stderr}")
    looped = {line.split()[0] for line in done.stdout.splitlines()}
    check({"MPI_Allreduce", "MPI_Put"} <= looped, f"with operations of all kinds: {looped}")


def mock_ups():
    for ranks in (1, 2, 3) if FLAVOUR == "openmpi" else (1, 2):  # more of MPICH than cores take long
        done = subprocess.run([*mpirun(FLAVOUR, ranks), MOCK_UPS], capture_output=True, text=True, timeout=patience(100), check=False)
        check(done.returncode == 0 and " 0 wrong" in done.stdout, f"{ranks} ranks: exit {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}")


def guidelines():
    """MPI_Allreduce wastes 20 ms: slower than MPI_Reduce and MPI_Bcast, and than its nonblocking twin. A ping-pong has no mock-up."""
    done = bench("guidelines", "MPI_Allreduce,pingpong", "-n", "2", "--mpi", FLAVOUR, "--reps", "10", "--sync", "barrier", "--bytes", "16", "--rounds", "2", "-o",
                 "guidelines", "--json", "--audit", env=dict(SLOW, PROBED_SLOW_US="20000"))
    check(done.returncode == 0 and "pingpong: has no mock-up" in done.stderr, f"guidelines: exit {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return
    result = json.loads(done.stdout)
    check(result["without_mock_up"] == ["pingpong"] and result["left_out"] == [] and result["complete"], f"guidelines: {result}")
    found = {c["mock_up"]: c for c in result["comparisons"]}
    check(set(found) == {"MPI_Allreduce~Reduce_Bcast", "MPI_Allreduce~Reduce_scatter_block_Allgather", "MPI_Allreduce~Reduce_scatter_Allgatherv",
                         "MPI_Allreduce~larger", "MPI_Allreduce~parts", "MPI_Iallreduce"}, f"mock-ups: {set(found)}")
    audit = result["audit"]  # two launches with one size: empty, and seven others beside it
    check(audit["empty_ns"]["n"] == 2 and audit["empty_share"]["n"] == audit["start_skew_ns"]["n"] == 14 and 0 < audit["empty_ns"]["median"] <= audit["empty_ns"]["largest"],
          f"audit: {audit}")
    check(all(c["excess_ns"] == c["median_ns"] - c["mock_up_median_ns"] for c in found.values()), f"excess: {found}")
    for name in ("MPI_Allreduce~Reduce_Bcast", "MPI_Iallreduce"):
        check(found[name]["median_ns"] >= 2e7, f"not found: {found[name]}")
    done = bench("guidelines", "MPI_Allreduze")
    check(done.returncode == 2 and "no such operation" in done.stderr, f"mistake: {done.returncode} {done.stderr}")


def beside():
    """A rank is 50 ms late to MPI_Allreduce: that is arrival. Sizes of all collectives are those of the program: 64 bytes."""
    done = subprocess.run([*mpirun(FLAVOUR, 2), LATECOMER, "-q", "run", "--max-overhead=off", "-o", "late", LATE], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(100),
                          check=False)
    check(done.returncode == 0, f"program: {done.stderr}")
    done = bench("--of", "late", "--reps", "10", "--sync", "barrier", "--json")
    check(done.returncode == 0, f"--of: {done.stderr}")
    paths = {p["operation"]: p for p in json.loads(done.stdout)["callpaths"]}
    check(len(paths) == 20 and all(p["alone_ranks"] == p["members"] == 2 and p["alone_bytes"] in (p["bytes"], 64) for p in paths.values()), f"--of: {paths}")
    check({p["operation"]: p["with"] for p in paths.values() if p["with"]} == {"MPI_Iallreduce": "MPI_Wait", "MPI_Put": "MPI_Win_flush"}, f"--of: {paths}")
    check(all(p["comm"] == "0-1" and (p["arrival_ns"] is None) == (p["with"] is not None) for p in paths.values()), f"--of: {paths}")
    check([name for name, p in paths.items() if not p["comm_known"]] and all(p["comm_known"] != (name in ("MPI_Send", "MPI_Recv", "MPI_Put")) for name, p in paths.items()),
          f"--of: who is in which communicator: {paths}")
    check(sorted(os.listdir(f"{SCRATCH}/late/bench")) == ["1", "bench.json"], "--of: all of one size in one launch")
    listed = bench("show", "late/bench")
    check(listed.returncode == 0 and len(listed.stdout.splitlines()) == 20, f"--of: its directory shown: {listed.stdout} {listed.stderr}")
    with open(f"{SCRATCH}/late/bench/1/MPI_Scan-64.fingerprint.json", encoding="utf-8") as file:
        check(json.load(file)["mpi"]["name"] == {"openmpi": "Open MPI", "mpich": "MPICH"}[FLAVOUR], "--of: the MPI of the program")
    shown = subprocess.run([LATECOMER, "show", "--json", "late"], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(100), check=False)
    check(json.loads(shown.stdout)["beside"] == json.loads(done.stdout), "--of: show has the same")
    done = bench("MPI_Allreduce,MPI_Scan", "--bytes", "64", "--reps", "100", "-n", "2", "--mpi", FLAVOUR, "-o", "alone")
    check(done.returncode == 0, f"alone: {done.stderr}")
    done = bench("beside", "late", "alone", "--json")
    check(done.returncode == 0, f"beside: {done.stderr}")
    paths = {p["operation"]: p for p in json.loads(done.stdout)["callpaths"]}
    check(len(paths) == 20, f"beside: {sorted(paths)}")
    for name, path in paths.items():
        check(path["bytes"] == (0 if name == "MPI_Barrier" else 64) and path["calls"] == (20 if name in ("MPI_Send", "MPI_Recv") else 40), f"{name}: {path}")
        check((path["alone_median_ns"] is not None) == (name in ("MPI_Allreduce", "MPI_Scan")), f"{name}: {path}")
    late = paths["MPI_Allreduce"]
    check(late["program_ns"] > 0 and late["arrival_ns"] == max(late["program_ns"] - late["alone_median_ns"], 0), f"late: {late}")
    done = bench("beside", "late", "alone")
    check("MPI_Allreduce of 64 bytes takes" in done.stdout and "when all ranks arrive together" in done.stdout, f"beside: {done.stdout}")
    check(bench("beside").returncode == 2 and bench("beside", "alone").returncode == 1, "beside nothing")


def mistakes():
    for args, words in ((["MPI_Bcast"], "give --vary"), (["MPI_Bcast", "--vary", "n=1"], "one variant"), (["MPI_Bcast", "--vary", "mpi"], "NAME=VALUE"),
                        (["MPI_Bcast", "--vary", "mpi=x,openmpi"], "unknown value"), (["MPI_Bcast", "--vary", "comm=world,,node"], "is empty"), (["MPI_Bcast", "--vary", "map=core,everywhere"], "unknown value"),
                        (["MPI_Bcast", "--vary", "bytes=8,8k"], "one variant"), (["MPI_Bcast", "--vary", "comm=world,0/0"], "unknown value"),
                        (["MPI_Brcast", "--vary", "n=1,2"], "did you mean MPI_Bcast?"), ([], "give one OP")):
        done = bench("sweep", *args, "-o", "mistake")
        check(done.returncode == 2 and words in done.stderr and done.stderr.count("latecomer: ") == 1, f"{args}: exit {done.returncode}: {done.stderr!r}")
    check(not os.path.exists(f"{SCRATCH}/mistake"), "mistakes leave a directory")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    for part in (ranked, left_out, interrupted, interrupted_alone, orphans, job_file, plain_loop, mock_ups, guidelines, beside, mistakes):
        begin = time.time()
        part()
        print(f"{part.__name__}: {time.time() - begin:.1f} s")
    if FAILED:
        sys.exit("\n".join(FAILED))


if __name__ == "__main__":
    main()
