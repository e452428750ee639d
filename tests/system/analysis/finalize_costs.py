#!/usr/bin/python3
"""A rank that is late before MPI_Finalize is a cause like one before a barrier: scripted traces whose costs are worked out by hand.

finalize_costs.py LATECOMER WRITE_TRACE
"""
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, WRITE_TRACE = sys.argv[1:3]
REGIONS = ["main", "MPI_Init", "MPI_Finalize", "work", "MPI_Send", "MPI_Recv", "origin"]
SEND, RECV = "send", "recv"


def script(*ranks):
    """Per rank (region, from, to[, record, partner]) inside of main, in ms; a send is at the begin of its call, a receipt at the end."""
    lines = ["process 1"] * len(ranks)
    lines += [f"region {4 if name.startswith('MPI') else 2} 1 {name}" for name in REGIONS]
    lines.append("comm " + " ".join(map(str, range(len(ranks)))))
    for rank, calls in enumerate(ranks):
        lines.append(f"{rank} 0 enter 0")
        for name, begin, end, *record in calls:
            region = REGIONS.index(name)
            lines.append(f"{rank} {begin} enter {region}")
            if record:
                lines.append(f"{rank} {begin if record[0] == SEND else end} {record[0]} {record[1]} 0 0 8")
            lines.append(f"{rank} {end} leave {region}")
        lines.append(f"{rank} 105 leave 0")
    return "\n".join(lines) + "\n"


def rows(n, *places):
    """(call path, rank, ms)"""
    table = {}
    for path, rank, ms in places:
        table.setdefault("main/" + path, [0.0] * n)[rank] = ms / 1000
    return table


# Rank 1 works until 100, rank 2 until 60, rank 0 until 20: they wait 80 and 40 ms for rank 1, which works 80 and 40 ms longer.
LATE = script([("MPI_Init", 0, 10), ("work", 10, 20), ("MPI_Finalize", 20, 105)],
              [("MPI_Init", 0, 10), ("work", 10, 100), ("MPI_Finalize", 100, 105)],
              [("MPI_Init", 0, 10), ("work", 10, 60), ("MPI_Finalize", 60, 105)])
WAITS = [("MPI_Finalize", 0, 80), ("MPI_Finalize", 2, 40)]
LATE_EXPECTED = dict(mpi_finalize_wait=WAITS, delay_finalize=[("work", 1, 120)], delay_finalize_longterm=[],
                     mpi_wait_direct_finalize=WAITS, mpi_wait_indirect_finalize=[], mpi_wait_propagating_finalize=[],
                     mpi_wait_terminal_finalize=WAITS)

# Rank 1 waits 60 ms in a receive for the `origin` of rank 2, then works 28 ms. Rank 0 waits 90 ms for it in MPI_Finalize: 60 of these
# are due to rank 2, 2 to the rest of the receive. Rank 2, which met rank 1 in that message (until 71), waits 29 ms.
CHAIN = script([("MPI_Init", 0, 10), ("MPI_Finalize", 10, 105)],
               [("MPI_Init", 0, 10), ("MPI_Recv", 10, 72, RECV, 2), ("work", 72, 100), ("MPI_Finalize", 100, 105)],
               [("MPI_Init", 0, 10), ("origin", 10, 70), ("MPI_Send", 70, 71, SEND, 1), ("MPI_Finalize", 71, 105)])
CHAIN_EXPECTED = dict(mpi_finalize_wait=[("MPI_Finalize", 0, 90), ("MPI_Finalize", 2, 29)],
                      delay_finalize=[("MPI_Recv", 1, 3), ("work", 1, 56)], delay_finalize_longterm=[("origin", 2, 60)],
                      mpi_wait_direct_finalize=[("MPI_Finalize", 0, 30), ("MPI_Finalize", 2, 29)],
                      mpi_wait_indirect_finalize=[("MPI_Finalize", 0, 60)], mpi_wait_propagating_finalize=[],
                      mpi_wait_terminal_finalize=[("MPI_Finalize", 0, 90), ("MPI_Finalize", 2, 29)],
                      # what the other kinds have is what they have without it
                      mpi_latesender=[("MPI_Recv", 1, 60)], delay_latesender=[("origin", 2, 60)], delay_latesender_longterm=[],
                      mpi_wait_propagating_ls=[], mpi_wait_terminal_ls=[("MPI_Recv", 1, 60)])


def faults(name, text, expected, tmp):
    archive = f"{tmp}/{name}"
    subprocess.run([WRITE_TRACE, archive], input=text, text=True, check=True, timeout=patience(60))
    run = lambda *args: subprocess.run([LATECOMER, *args], check=True, capture_output=True, text=True, timeout=patience(60)).stdout
    run("-q", "analyze", "-n", "1", "-o", f"{archive}.cubex", archive)
    result = json.loads(run("show", "--json", f"{archive}.cubex"))
    for metric, places in expected.items():
        for model in ("", "_waitfirst") if metric.startswith(("delay_", "mpi_wait_")) else ("",):
            got, wanted = result["metrics"].get(metric + model, {}).get("callpaths"), rows(3, *places)
            if got is None or set(got) != set(wanted) or any(not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
                                                            for path in wanted for a, b in zip(got[path], wanted[path])):
                yield f"{name}: {metric + model}: {got}, not {wanted}"
    for what in result["meta"].get("health", []):
        yield f"{name}: health: {what}"
    late = [f for f in result["findings"] if f["kind"] == "late_rank"]
    path, rank, severity, gain = {"late": ("main/work", 1, 0.120, 0.040), "chain": ("main/origin", 2, 0.120, 0.060)}[name]
    if not late or (late[0]["callpath"], late[0]["ranks"]) != (path, [rank]):
        yield f"{name}: {late}, not rank {rank} in {path}"
    elif not (math.isclose(late[0]["severity_s"], severity, rel_tol=1e-9) and math.isclose(late[0]["gain_s"], gain, rel_tol=1e-9)):
        yield f"{name}: severity {late[0]['severity_s']}, gain {late[0]['gain_s']}, not {severity} and {gain}"
    screen = run("show", f"{archive}.cubex")
    if f"rank {rank} is late" not in screen:
        yield f"{name}: not on the first screen:\n{screen}"


with tempfile.TemporaryDirectory() as directory:
    found = [*faults("late", LATE, LATE_EXPECTED, directory), *faults("chain", CHAIN, CHAIN_EXPECTED, directory)]
for line in found:
    print(line)
print(f"{len(found)} faults")
sys.exit(1 if found else 0)
