#!/usr/bin/env python3
"""The programs of the golden archives, run under the tool with profile and trace of the same run.

own_traces.py LATECOMER GOLDEN openmpi|mpich [PROGRAM..]
- counts of the own trace, per MPI function and rank, are those of the Score-P trace of the same program;
- waiting measured while the program ran is what the analysis of the trace finds: within 0.1 % of the run time for every call
  path and kind.
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

latecomer, golden, flavour = sys.argv[1:4]
PROGRAMS = sys.argv[4:] or ["late_sender", "late_sender_wait", "late_receiver_ssend", "late_receiver_isend", "wait_at_barrier",
                            "wait_at_nxn_allreduce", "late_broadcast_bcast", "early_reduce_reduce", "early_scan",
                            "wrong_order_same", "zero_byte_messages", "collectives_zero_bytes"]
COUNTS = ["visits", "syncs_send", "syncs_recv", "comms_send", "comms_recv", "bytes_sent", "bytes_rcvd", "syncs_coll",
          "comms_csrc", "comms_cdst", "comms_cxch", "bytes_cout", "bytes_cin"]
WAITS = ["mpi_latesender", "mpi_latereceiver", "mpi_barrier_wait", "mpi_wait_nxn", "mpi_latebroadcast", "mpi_earlyreduce",
         "mpi_earlyscan"]
CALLS_OF_START = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size")


def launcher(ranks):
    if flavour == "mpich":
        return ["mpirun.mpich", "-n", str(ranks)]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun.openmpi", "-q", "--oversubscribe", *root, "-n", str(ranks)]


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True, timeout=120).stdout


def by_function(metrics):
    out = defaultdict(float)
    for metric in COUNTS:
        for path, values in metrics.get(metric, {"callpaths": {}})["callpaths"].items():
            name = path.rsplit("/", 1)[-1]
            for rank, value in enumerate(values):
                if name.startswith("MPI_") and name not in CALLS_OF_START:
                    out[metric, name, rank] += value
    return {key: value for key, value in out.items() if value}


def compare_waits(profile, analysis):
    """Call paths are equal from main on; above are the frames of the C library or the program."""
    def tail(path):
        names = path.split("/")
        return "/".join(names[names.index("main"):] if "main" in names else names)

    allowed, sums = 1e-3 * profile["meta"]["wall_time_s"], defaultdict(lambda: [0.0, 0.0])
    for side, result in enumerate((profile, analysis)):
        for metric in WAITS:
            for path, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
                for rank, value in enumerate(values):
                    sums[metric, tail(path), rank][side] += value
    for key, (measured, analysed) in sorted(sums.items()):
        if abs(measured - analysed) > allowed:
            yield *key, f"measured {measured:.6f}", f"analysed {analysed:.6f}"


def check(program, tmp):
    with open(f"{golden}/{program}/expected.json") as f:
        reference = json.load(f)
    binary, result = f"{tmp}/{program}", f"{tmp}/{program}.result"
    run(f"mpicc.{flavour}", "-g", "-O1", "-fno-inline", f"-I{golden}/src", "-o", binary, f"{golden}/src/{program}.c", "-lm")
    run(*launcher(reference["ranks"]), latecomer, "run", "--trace", "-o", result, binary)
    run(latecomer, "-q", "analyze", "-n", "1", result)
    profile = json.loads(run(latecomer, "show", "--json", result))
    analysis = json.loads(run(latecomer, "show", "--json", "--analysis", result))
    want, have = by_function(reference["metrics"]), by_function(analysis["metrics"])
    for key in sorted(set(want) | set(have)):
        if want.get(key, 0) != have.get(key, 0):
            yield *key, f"Score-P {want.get(key, 0)}", f"own {have.get(key, 0)}"
    yield from compare_waits(profile, analysis)
    if not any(metric in analysis["metrics"] and analysis["metrics"][metric]["total"] > 0.01 for metric in WAITS) and \
            program not in ("collectives_zero_bytes",):
        yield "no waiting found",


bad = 0
with tempfile.TemporaryDirectory() as directory:
    for name in PROGRAMS:
        differences = list(check(name, directory))
        bad += bool(differences)
        for difference in differences[:8]:
            print(name, *difference)
print(f"{len(PROGRAMS)} programs, {bad} differ")
sys.exit(bool(bad))
