#!/usr/bin/env python3
"""Trace analysis against the golden archives.

check_golden.py LATECOMER GOLDEN exact        every archive with exact results (spec.json, synthetic), one rank
check_golden.py LATECOMER GOLDEN ranks FLAVOUR  the same result to the last bit on 1, 2, 3, 8 ranks
check_golden.py LATECOMER GOLDEN times        the time tree, from the time of each call path
check_golden.py LATECOMER GOLDEN reference    counts exact, OpenMP totals and delay costs within 1 %, against the reference analyser
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, GOLDEN = sys.argv[1:3]


def run(args, **kwargs):
    result = subprocess.run(args, capture_output=True, text=True, timeout=patience(300), **kwargs)
    if result.returncode != 0:
        sys.exit(f"{' '.join(args)}: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def result_of(out):
    return json.loads(run([LATECOMER, "show", "--json", out]))


def analyse(trace, out, *options, launcher=()):
    run([*launcher, LATECOMER, "-q", "analyze", *options, "-o", out, os.path.join(GOLDEN, trace)])
    return result_of(out)


def is_cost(name):
    """Sums of fractions; everything else is exact."""
    return name.startswith(("delay_", "critical", "non_critical", "intra_", "inter_", "mpi_wait_direct",
                            "mpi_wait_indirect", "mpi_wait_propagating", "mpi_wait_terminal"))


def differences(reference, metrics, got, n, costs_tolerance):
    for name, expected in reference.items():
        if name not in metrics:
            yield name, "missing"
            continue
        have = got[name]["callpaths"]
        for path in sorted(set(expected["callpaths"]) | set(have)):
            a = expected["callpaths"].get(path, [0] * n)
            b = have.get(path, [0] * n)
            tolerance = costs_tolerance if is_cost(name) else 0
            for i, (x, y) in enumerate(zip(a, b)):
                if abs(x - y) > 1e-9 + tolerance * abs(x):
                    yield name, path, i, x, y


# Sums of the metric tree and their children; of root causes once for each model.
SUMS = {"delay_latesender_aggregate": ["delay_latesender", "delay_latesender_longterm"],
        "delay_p2p": ["delay_latesender_aggregate", "delay_latereceiver_aggregate"],
        "delay_mpi": ["delay_p2p", "delay_collective"],
        "waitstates_direct_vs_indirect": ["mpi_wait_direct", "mpi_wait_indirect"],
        "waitstates_propagating_vs_terminal": ["mpi_wait_propagating", "mpi_wait_terminal"]}
IMPACTS = {"performance_impact": ["performance_impact_criticalpath", "non_critical_path_activities"],
           "performance_impact_criticalpath": ["critical_path_activities", "critical_imbalance_impact"]}
LEAVES = {"delay": "delay_", "mpi_wait_direct": "mpi_wait_direct_", "mpi_wait_indirect": "mpi_wait_indirect_",
          "mpi_wait_propagating": "mpi_wait_propagating_", "mpi_wait_terminal": "mpi_wait_terminal_"}


def added_up(metrics, names):
    """{(call path, location): value} of metrics together."""
    cells = {}
    for name in names:
        for path, row in metrics[name]["callpaths"].items():
            for i, value in enumerate(row):
                cells[path, i] = cells.get((path, i), 0) + value
    return cells


def parents_there():
    """Of the metrics of Scalasca's trace analysis that are below `time`: all that contain them, the nearest first."""
    above = {}
    with tarfile.open(f"{GOLDEN}/cubex/scalasca-trace.cubex") as cube:
        tree = ElementTree.fromstring(cube.extractfile("anchor.xml").read()).find("metrics")
    ranks = [(metric, []) for metric in tree.findall("metric")]
    while ranks:
        metric, before = ranks.pop()
        name = metric.findtext("uniq_name")
        above[name] = before
        ranks += [(child, [name, *before]) for child in metric.findall("metric")]
    return {name: before for name, before in above.items() if "time" in before}


THERE = parents_there()
# Not analysed there, or of threads, which this trace has not.
WAITS_MORE = {"mpi_neighbor_wait": "mpi_collective", "mpi_mgmt_comm_wait": "mpi_mgmt_comm", "mpi_io_collective_wait": "mpi_io_collective",
              "omp_ebarrier_wait": "omp_ebarrier", "omp_ibarrier_wait": "omp_ibarrier", "omp_taskwait_wait": "omp_taskwait",
              "omp_lock_contention_critical": "omp_critical", "omp_lock_contention_api": "omp_lock_api"}


def time_faults(metrics):
    """Waiting is below the time of the calls that wait, as in Scalasca, which contains it for each call path and location."""
    waits = {}
    for name in metrics:
        if name in THERE and name not in ("time", "execution") or name in WAITS_MORE:
            near = [up for up in THERE.get(name, []) if up in metrics] or [WAITS_MORE.get(name)]
            if name in ("mpi_init_exit", "mpi_mgmt_comm", "mpi_mgmt_win", "mpi_mgmt_file"):
                near = ["mpi"]  # there is no mpi_management here
            if metrics[name]["parent"] != near[0]:
                yield f"{name} is below {metrics[name]['parent']}, not {near[0]}"
            waits.setdefault(metrics[name]["parent"], []).append(name)
    if len(waits) < 6:
        yield f"waiting is only below {sorted(waits)}"
    for parent, names in waits.items():
        whole, parts = added_up(metrics, [parent]) if parent in metrics else {}, added_up(metrics, names)
        if any(part > whole.get(cell, 0) + 1e-9 for cell, part in parts.items()) or any(value < -1e-9 for value in whole.values()):
            yield f"{parent} does not contain {names}"


def tree_faults(metrics):
    """Parents hold what their children hold together, and all costs are below one root."""
    yield from time_faults(metrics)
    parents = {metric["parent"] for metric in metrics.values()}
    sums = dict(IMPACTS)
    for model in "", "_waitfirst":
        sums.update({parent + model: [child + model for child in children] for parent, children in SUMS.items()})
    for parent, children in sums.items():
        for child in children:
            if metrics[child]["parent"] != parent:
                yield f"{child} is below {metrics[child]['parent']}, not {parent}"
        whole, parts = added_up(metrics, [parent]), added_up(metrics, children)
        if any(abs(whole.get(cell, 0) - parts.get(cell, 0)) > 1e-9 for cell in {**whole, **parts}):
            yield f"{parent} is not the sum of {children}"
    for root, prefix in LEAVES.items():
        for model in "", "_waitfirst":
            names = [name for name in metrics if name.startswith(prefix) and name.endswith("_waitfirst") == bool(model) and name not in parents]
            whole, parts = added_up(metrics, [root + model]), added_up(metrics, names)
            if len(names) < 9 or any(abs(whole.get(cell, 0) - parts.get(cell, 0)) > 1e-9 for cell in {**whole, **parts}):
                yield f"{root}{model} is not the sum of {names}"


def check_exact(tmp):
    traces = [("synthetic/" + t, "expected.json", 1e-9) for t in sorted(os.listdir(GOLDEN + "/synthetic"))
              if os.path.isdir(f"{GOLDEN}/synthetic/{t}")]
    traces += [(t, "spec.json", 1e-6) for t in sorted(os.listdir(GOLDEN)) if os.path.exists(f"{GOLDEN}/{t}/spec.json")]
    bad = 0
    for trace, file, tolerance in traces:
        with open(f"{GOLDEN}/{trace}/{file}") as f:
            reference = json.load(f)
        n = len(reference["locations"])
        got = analyse(trace, f"{tmp}/a.cubex", "-n", "1")["metrics"]
        found = list(differences(reference["metrics"], got, got, n, tolerance))
        found += [(fault,) for fault in tree_faults(got)]
        if "mpi_only" in reference:
            got = analyse(trace, f"{tmp}/b.cubex", "-n", "1", "--mpi-only")["metrics"]
            found += list(differences(reference["mpi_only"], got, got, n, tolerance))
        for difference in found[:5]:
            print(trace, *difference)
        bad += bool(found)
    print(f"{len(traces)} archives, {bad} differ")
    return bad == 0 and len(traces) > 60


def check_ranks(tmp, flavour):
    """Own start on Open MPI or MPICH: under the launcher, with what it gives."""
    traces = ["npb_cg_s", "hybrid_late_sender", "mpmd", "synthetic/sub_communicators", "synthetic/nonblocking_collectives",
              "synthetic/early_scan"]
    if flavour == "mpich":  # spins: slow with more ranks than cores
        traces = traces[:3]
    bad = 0
    for trace in traces:
        one = analyse(trace, f"{tmp}/1.cubex", "-n", "1")
        for n in ((2, 3, 8) if flavour == "openmpi" else (2, 3)) if trace == traces[0] else (3,):
            many = analyse(trace, f"{tmp}/n.cubex", launcher=mpirun(flavour, n, "--bind-to", "none"))
            for key in ("metrics", "locations"):
                if json.dumps(one[key]) != json.dumps(many[key]):
                    print(trace, n, "ranks:", key, "differ")
                    bad += 1
            for member in ("wait_statistics.json", "timeline.json", "phases.json", "root_causes.json", "critical_path.json"):
                a, b = (run(["tar", "-xOf", f"{tmp}/{x}.cubex", member]) for x in "1n")
                if a.rstrip() != b.rstrip():
                    print(trace, n, "ranks:", member, "differs")
                    bad += 1
    return bad == 0


COUNTS = ["visits", "syncs_send", "syncs_recv", "comms_send", "comms_recv", "bytes_sent", "bytes_rcvd", "syncs_coll",
          "comms_csrc", "comms_cdst", "comms_cxch", "bytes_cout", "bytes_cin"]
OMP = ["omp_management", "omp_fork", "omp_ebarrier_wait", "omp_ibarrier_wait", "omp_lock_contention_critical",
       "omp_lock_contention_api", "pthread_lock_contention_mutex_lock"]
# Short-term and long-term together. Not idle threads: there the reference charges all that the master does alone, start-up included.
COSTS = ["latesender", "latereceiver", "barrier", "n2n", "12n", "ompbarrier"]
# Costs and the waiting that they pay for, both from here.
PAID = {"ompbarrier": ["omp_ebarrier_wait", "omp_ibarrier_wait"], "ompidle": ["omp_idle_threads"],
        "lock": ["omp_lock_contention_critical", "omp_lock_contention_api", "pthread_lock_contention_mutex_lock"],
        "latesender": ["mpi_latesender"], "barrier": ["mpi_barrier_wait"]}


def costs(metrics, kind, model=""):
    return sum(metrics[f"delay_{kind}{term}{model}"]["total"] for term in ("", "_longterm") if f"delay_{kind}{term}{model}" in metrics)


def compare_threads(reference, got):
    """(what, there, here) of the totals of a trace with threads."""
    for m in OMP:
        if m in reference:
            yield m, reference[m]["total"], got[m]["total"]
    for kind in COSTS:
        yield f"costs of {kind}", costs(reference, kind), costs(got, kind)
    for kind, waits in PAID.items():
        waiting = sum(got[m]["total"] for m in waits if m in got)
        for model in ("", "_waitfirst"):
            yield f"costs of {kind}{model} = waiting", waiting, costs(got, kind, model)


def check_reference(tmp):
    bad = checked = 0
    for trace in sorted(os.listdir(GOLDEN)):
        file = f"{GOLDEN}/{trace}/expected.json"
        if not os.path.exists(file):
            continue
        with open(file) as f:
            reference = json.load(f)
        n = len(reference["locations"])
        got = analyse(trace, f"{tmp}/a.cubex", "-n", "1")["metrics"]
        counts = {m: reference["metrics"][m] for m in COUNTS if m in reference["metrics"]}
        found = list(differences(counts, got, got, n, 0))
        checked += len(counts)
        if reference["threads"] > 1:
            for what, there, here in compare_threads(reference["metrics"], got):
                checked += 1
                if abs(there - here) > 0.01 * abs(there):
                    found.append((what, there, here))
        for difference in found[:8]:
            print(trace, *difference)
        bad += bool(found)
    print(f"{checked} metrics checked, {bad} archives differ")
    return bad == 0 and checked > 300


CALLS = {"mpi_init_exit": "Init Init_thread Finalize",
         "mpi_sync_collective": "Barrier Ibarrier",
         "mpi_point2point": "Send Ssend Recv Isend Issend Irecv Wait Waitall Waitany Waitsome Test Sendrecv Probe",
         "mpi_collective": "Bcast Reduce Allreduce Allgather Scan Alltoallv Iallreduce Exscan Gather",
         "mpi_mgmt_comm": "Comm_rank Comm_size Comm_split Comm_dup Comm_free"}
KIND_OF = {"MPI_" + call: kind for kind, calls in CALLS.items() for call in calls.split()}


def check_times(tmp):
    bad = 0
    for trace in ("late_sender_waitany", "early_scan", "unanalysed", "mpmd", "hybrid_late_sender", "omp_barriers"):
        got = analyse(trace, f"{tmp}/a.cubex", "-n", "1")["metrics"]
        total = lambda name: got[name]["total"] if name in got else 0.0
        own = {"mpi": 0.0, **{kind: 0.0 for kind in KIND_OF.values()}}
        for path, values in got["time"]["callpaths"].items():
            name = path.rsplit("/", 1)[-1]  # MPI calls call nothing: inclusive is exclusive
            if name.startswith("MPI_"):
                own["mpi"] += sum(values)
                own[KIND_OF[name]] += sum(values)
        for wait, kind in ("mpi_barrier_wait", "mpi_sync_collective"), ("mpi_wait_nxn", "mpi_collective"):  # MPI_Wait for these
            for path, values in got[wait]["callpaths"].items():
                if KIND_OF[path.rsplit("/", 1)[-1]] == "mpi_point2point":
                    own["mpi_point2point"] -= sum(values)
                    own[kind] += sum(values)
        own["execution"] = total("time")
        own["mpi_communication"] = own["mpi_point2point"] + own["mpi_collective"]
        own["mpi_synchronization"] = own["mpi_sync_collective"]
        for name in ("omp_ebarrier", "omp_ibarrier"):  # what is waited for is a part of the barriers
            if not total(name) >= total(name + "_wait") or (trace == "omp_barriers" and not total(name)):
                own[name] = float("nan")
        own["omp_synchronization"] = sum(total("omp_" + n) for n in ("ebarrier", "ibarrier", "critical", "lock_api", "taskwait"))
        for name, value in own.items():
            if not abs(total(name) - value) < 1e-9:
                print(trace, name, total(name), value)
                bad += 1
    return bad == 0


with tempfile.TemporaryDirectory() as directory:
    mode = sys.argv[3]
    ok = {"exact": lambda: check_exact(directory), "reference": lambda: check_reference(directory),
          "times": lambda: check_times(directory),
          "ranks": lambda: check_ranks(directory, sys.argv[4])}[mode]()
sys.exit(0 if ok else 1)
