#!/usr/bin/env python3
"""The programs of the golden archives, run under the tool with profile and trace of the same run.

profile_and_trace_agree.py LATECOMER GOLDEN openmpi|mpich [all|PROGRAM..]
- counts of the own trace, per MPI function and rank, are those of the Score-P trace of the same program;
- waiting measured while the program ran, in virtual time, is what the analysis of the trace finds: within 10 us for every call
  path and kind;
- waiting estimated from minima is as close to it as was published (estimate_claims.py).
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "programs"))
import launch  # noqa: E402
import estimate_claims  # noqa: E402
from patience import patience  # noqa: E402

latecomer, golden, flavour = sys.argv[1:4]
ALL = sys.argv[4:] == ["all"]
PROGRAMS = [] if ALL else sys.argv[4:] or ["late_sender", "late_sender_wait", "late_receiver_ssend", "late_receiver_isend", "wait_at_barrier",
                            "wait_at_nxn_allreduce", "late_broadcast_bcast", "early_reduce_reduce", "early_scan",
                            "wrong_order_same", "zero_byte_messages", "collectives_zero_bytes", "wait_at_nxn_allgather", "late_sender_waitany",
                            "unanalysed", "mpmd", "delay_late_sender_1", "delay_broadcast_3"]
if ALL:  # those without threads; npb_cg_s is no program of ours
    PROGRAMS = sorted(name for name in os.listdir(golden) if os.path.exists(f"{golden}/{name}/spec.json") and name != "npb_cg_s")
COUNTS = ["visits", "syncs_send", "syncs_recv", "comms_send", "comms_recv", "bytes_sent", "bytes_rcvd", "syncs_coll",
          "comms_csrc", "comms_cdst", "comms_cxch", "bytes_cout", "bytes_cin"]
WAITS = ["mpi_latesender", "mpi_latereceiver", "mpi_probe_wait", "mpi_barrier_wait", "mpi_wait_nxn", "mpi_latebroadcast", "mpi_earlyreduce",
         "mpi_earlyscan"]
MEETINGS = ["mpi_mgmt_comm_wait", "mpi_io_collective_wait", "mpi_rma_wait_at_create", "mpi_rma_wait_at_free", "mpi_rma_wait_at_fence",
            "mpi_rma_early_wait", "mpi_rma_sync_late_post"]
PAID = {"rma": [metric for metric in MEETINGS if "rma" in metric], "io": ["mpi_io_collective_wait"]}
EXACT = 1e-5  # seconds: virtual time
ALWAYS_WAIT = "late_sender", "late_sender_wait", "unanalysed", "delay_late_sender_1", "delay_late_sender_2"  # every receive waits, so the shortest one does: too small, as in 145.lGemsFDTD (4.1.1)
HANDLES = {"unanalysed": ("--trace-handles",)}  # waits in MPI_Comm_dup
KERNELS = "wavefront", "halo", "sums"  # of sometimes_late.c
CALLS_OF_START = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size")


def run(*args, **more):
    return subprocess.run(args, check=True, capture_output=True, text=True, timeout=patience(120), **more).stdout


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

    sums = defaultdict(lambda: [0.0, 0.0])
    for side, result in enumerate((profile, analysis)):
        for metric in [*WAITS, *MEETINGS]:
            for path, values in result["metrics"].get(metric, {"callpaths": {}})["callpaths"].items():
                for rank, value in enumerate(values):
                    sums[metric, tail(path), rank][side] += value
    for key, (measured, analysed) in sorted(sums.items()):
        if abs(measured - analysed) > EXACT:
            yield *key, f"measured {measured:.6f}", f"analysed {analysed:.6f}"


def compare_costs(analysis):
    """In both models all waiting has a cause that pays for it, kind by kind."""
    total = lambda metric: analysis["metrics"].get(metric, {"total": 0})["total"]
    for kind, waits in PAID.items():
        for model in ("", "_waitfirst"):
            costs, waiting = (sum(map(total, names)) for names in ((f"delay_{kind}{model}", f"delay_{kind}_longterm{model}"), waits))
            if abs(costs - waiting) > 1e-9 * waiting or not waiting > 0:
                yield kind, model, f"costs {costs}", f"waiting {waiting}"
    checks = analysis["meta"]["invariants"]
    if checks["broken"] or checks["waiting_without_cause_s"] > 1e-12:
        yield "invariants", checks


def compare_estimates(profile, analysis):
    """Every call path that the claims are about; counted in `claimed`."""
    for found in estimate_claims.compared(profile, analysis):
        claimed[found.metric] += 1
        if not found.holds():
            yield found.text(),


def both(source, ranks, tmp, *options, arguments=()):
    """Profile and analysis of one run."""
    binary = f"{tmp}/{os.path.basename(source)[:-2]}"
    result = f"{binary}{'.'.join(os.path.basename(argument) for argument in arguments)}.result"
    run(f"mpicc.{flavour}", "-g", "-O1", "-fno-inline", f"-I{golden}/src", "-o", binary, source, "-lm")
    run(*work.launcher(ranks), latecomer, "run", "--trace", *options, "-o", result, binary, *arguments, env=work.environment())
    run(latecomer, "-q", "analyze", "-n", "1", result)
    return json.loads(run(latecomer, "show", "--json", result)), json.loads(run(latecomer, "show", "--json", "--analysis", result))


def check_late_to_synchronise(tmp):
    """What synchronises without data; a trace holds it on request."""
    profile, analysis = both(f"{HERE}/late_to_synchronise.c", 4, tmp, "--trace-handles",
                             arguments=[f"{tmp}/file"])
    yield from compare_waits(profile, analysis)
    yield from compare_costs(analysis)
    for metric in MEETINGS:
        if metric not in ("mpi_rma_early_wait", "mpi_rma_sync_late_post") and not analysis["metrics"][metric]["total"] > 0.01:
            yield metric, "no waiting found", analysis["metrics"].get(metric)
    if not sum(analysis["metrics"].get(metric, {"total": 0})["total"] for metric in MEETINGS[-2:]) > 0.01:  # which of the two is MPI's choice
        yield "epochs: no waiting found",


def check_kernel(pattern, tmp):
    profile, analysis = both(f"{HERE}/sometimes_late.c", 4, tmp, arguments=[pattern])
    yield from compare_waits(profile, analysis)
    before = sum(claimed.values())
    yield from compare_estimates(profile, analysis)
    if sum(claimed.values()) == before:
        yield "no call path that a claim is about",


def check(program, tmp):
    with open(f"{golden}/{program}/expected.json") as f:
        reference = json.load(f)
    source, *arguments = reference["program"].split()
    profile, analysis = both(f"{golden}/src/{source}.c", reference["ranks"], tmp, *HANDLES.get(program, ()), arguments=arguments)
    want, have = by_function(reference["metrics"]), by_function(analysis["metrics"])
    for key in sorted(set(want) | set(have)):
        if want.get(key, 0) != have.get(key, 0):
            yield *key, f"Score-P {want.get(key, 0)}", f"own {have.get(key, 0)}"
    yield from compare_waits(profile, analysis)
    differences = list(compare_estimates(profile, analysis))
    if (program in ALWAYS_WAIT) != bool(differences):
        yield "estimates", *(differences or ["as exact as of others, though every receive waits"])
    if not any(metric in analysis["metrics"] and analysis["metrics"][metric]["total"] > 0.01 for metric in WAITS) and \
            program not in ("collectives_zero_bytes", "imbalance_balanced"):
        yield "no waiting found",


bad, claimed = 0, defaultdict(int)
with launch.Workspace(flavour, latecomer, virtual=True) as work, tempfile.TemporaryDirectory() as directory:
    for name in PROGRAMS:
        differences = list(check(name, directory))
        bad += bool(differences)
        for difference in differences[:8]:
            print(name, *difference)
    for name, found in [("late_to_synchronise", check_late_to_synchronise(directory))] + [(kernel, check_kernel(kernel, directory)) for kernel in KERNELS]:
        differences = list(found)
        bad += bool(differences)
        for difference in differences[:8]:
            print(name, *difference)
print(f"{len(PROGRAMS) + 1 + len(KERNELS)} programs, {bad} differ; estimates of " + ", ".join(f"{n} call paths ({metric})" for metric, n in sorted(claimed.items())))
if not sys.argv[4:] and set(claimed) != set(estimate_claims.CLAIMS):
    sys.exit("no call path that a claim is about")
sys.exit(bool(bad))
