#!/usr/bin/env python3
"""The table of docs/root-causes.md: totals over the golden traces of single-threaded programs, here and by Scalasca.

against_scalasca.py LATECOMER GOLDEN

Delay costs: short-term plus long-term. Critical path and indicators with the classical bounds (--mpi-only), which are Scalasca's. Where the
totals differ by more than 1 %, the traces that make the difference (here, Scalasca) are named; the reasons stand in the document.
"""
import json
import os
import subprocess
import sys
import tempfile

LATECOMER, GOLDEN = sys.argv[1:3]
WAITS = ["mpi_latesender", "delay_latesender", "mpi_latereceiver", "delay_latereceiver", "mpi_barrier_wait", "delay_barrier", "mpi_wait_nxn",
         "delay_n2n", "mpi_latebroadcast", "delay_12n", "delay_n21", "delay_scan", "delay_mgmt", "delay_finalize"]
PATH = ["critical_path", "critical_path_activities", "non_critical_path_activities", "critical_imbalance_impact", "inter_partition_imbalance"]


def totals(trace, out, *options):
    subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", *options, "-o", out, trace], check=True)
    shown = subprocess.run([LATECOMER, "show", "--json", out], check=True, capture_output=True, text=True).stdout
    return json.loads(shown)["metrics"]


def value(metrics, name):
    return sum(metrics[m]["total"] for m in (name, name + "_longterm") if m in metrics)


def main():
    here, there = {m: {} for m in WAITS + PATH}, {m: {} for m in WAITS + PATH}
    traces = sorted(t for t in os.listdir(GOLDEN) if os.path.exists(f"{GOLDEN}/{t}/spec.json"))
    with tempfile.TemporaryDirectory() as tmp:
        for trace in traces:
            with open(f"{GOLDEN}/{trace}/expected.json") as file:
                reference = json.load(file)["metrics"]
            for names, options in ((WAITS, ()), (PATH, ("--mpi-only",))):
                metrics = totals(f"{GOLDEN}/{trace}", f"{tmp}/a.cubex", *options)
                for name in names:
                    here[name][trace], there[name][trace] = value(metrics, name), value(reference, name)
    print(f"{len(traces)} traces\n| metric | here | Scalasca | difference | traces above 1 % (here, Scalasca) |\n|---|---|---|---|---|")
    for name in WAITS + PATH:
        a, b = sum(here[name].values()), sum(there[name].values())
        difference = (a - b) / max(a, b, 1e-12)
        causes = sorted(traces, key=lambda t: -abs(here[name][t] - there[name][t])) if abs(difference) > 0.01 else []
        causes = [f"`{t}` ({here[name][t]:.4f}, {there[name][t]:.4f})" for t in causes
                  if abs(here[name][t] - there[name][t]) > 0.05 * abs(a - b)][:4]
        print(f"| `{name}` | {a:.4f} | {b:.4f} | {100 * difference:+.1f} % | {', '.join(causes)} |")


main()
