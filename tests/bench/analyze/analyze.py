#!/usr/bin/env python3
"""Speed and memory of the trace analysis, beside plain reading of the same archives with libotf2.

    analyze.py BUILD [--work DIR] [--runs N] [--large EVENTS | --up-to EVENTS] [--make]

Archives come from make_trace (kept in DIR; --make: only make them, so that the measurement can be done when the machine is idle), figures from
bench_rootcause: runs with different numbers of ranks alternate, and of the runs of one kind each phase counts with its shortest wall time. Speeds are
per rank, wall time of the slowest; "x 1 rank": how much faster than one rank; memory is the sum over ranks.
--large adds an archive of so many events (3e7 where the disk has no room); --up-to leaves larger ones out. Figures (tests/figure.py): the most memory per event up to the wait states and in all (MPI's own memory
is in it, so small traces on several ranks are not), the processor time per event of the largest archive against that of 1e6 events; of one rank and 64 locations at most the least speed, and the
most time against plain reading.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

CASES = [  # events, locations, short functions per iteration, ranks
    ("1e5", 8, 6, (1, 2)), ("1e6", 8, 6, (1, 2)), ("1e7", 8, 6, (1, 2, 4)),
    ("5e6", 8, 1, (1, 2)),
    ("2e6", 64, 6, (1, 2)), ("2e6", 512, 6, (1, 2)), ("2e6", 4096, 6, (1, 2)),
]
PHASES = ("plain_s", "reading_s", "waits_s", "root_causes_s")
OWN_PHASES = ("reading_cpu_s", "waits_cpu_s", "root_causes_cpu_s")


def archive(build, work, events, locations, inner):
    directory = os.path.join(work, f"{events}-{locations}-{inner}")
    if not os.path.isdir(directory):
        subprocess.run([f"{build}/bin/make_trace", "-r", str(locations), "-e", events, "-i", str(inner), directory + ".part"], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(directory + ".part", directory)
    return directory


def run_once(build, directory, ranks):
    command = [f"{build}/bin/bench_rootcause", "-j", directory]
    if ranks > 1:
        command = mpirun("openmpi", ranks, "--bind-to", "none") + command
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(build, directory, ranks, runs):
    """Per number of ranks the figures of bench_rootcause, with sums over its phases and the gain over one rank."""
    results = {}
    for _ in range(runs):
        for n in ranks:
            r = run_once(build, directory, n)
            best = results.setdefault(n, r)
            best.update({phase: min(best[phase], r[phase]) for phase in PHASES})
    for r in results.values():
        r["waits_all_s"] = r["reading_s"] + r["waits_s"]
        r["all_s"] = r["waits_all_s"] + r["root_causes_s"]
    one = results[1]
    for r in results.values():
        r["waits_gain"], r["all_gain"] = one["waits_all_s"] / r["waits_all_s"], one["all_s"] / r["all_s"]
    return results


def processor_time(build, directory):
    """Seconds per event, everything, on one rank."""
    r = run_once(build, directory, 1)
    return sum(r[phase] for phase in OWN_PHASES) / r["events"]


def growth(build, small, large):
    """Of the processor time per event. What else the machine does slows both alike: the small archive before and after the large one."""
    times = [processor_time(build, small) for _ in range(5)]
    last = processor_time(build, large)
    times += [processor_time(build, small) for _ in range(5)]
    return last / (sum(times) / len(times))


def row(r, inner):
    speed = r["events"] / r["ranks"] / 1e6
    gains = [f"{r['waits_gain']:.2f}", f"{r['all_gain']:.2f}"] if r["ranks"] > 1 else ["", ""]
    return [f"{r['events']:.3g}".replace("e+0", "e"), r["locations"], inner, r["ranks"], f"{speed / r['plain_s']:.1f}",
            f"{speed / r['waits_all_s']:.1f}", f"{r['waits_all_s'] / r['plain_s']:.2f}", f"{speed / r['all_s']:.1f}",
            f"{r['all_s']:.3g}", *gains, f"{r['waits_peak_bytes'] / r['events']:.1f}", f"{r['root_causes_peak_bytes'] / r['events']:.1f}",
            f"{r['largest_peak_bytes'] / 2**20:.0f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--work")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large")
    parser.add_argument("--up-to")
    parser.add_argument("--make", action="store_true")
    options = parser.parse_args()
    work = options.work or os.path.join(options.build, "bench-analyze")
    os.makedirs(work, exist_ok=True)
    if options.large and shutil.disk_usage(work).free < 24 * float(options.large):
        print(f"{work}: no room for {options.large} events: 3e7 instead")
        options.large = "3e7"
    cases = [case for case in CASES if float(case[0]) <= float(options.up_to or "inf")] + ([(options.large, 8, 6, (1,))] if options.large else [])
    header = ["events", "locations", "functions", "ranks", "plain libotf2 M/s", "wait states M/s", "x plain", "everything M/s", "s",
              "wait states, x 1 rank", "everything, x 1 rank", "bytes/event, wait states", "bytes/event", "MiB, largest rank"]
    results = {}
    if not options.make:
        print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for events, locations, inner, ranks in cases:
        directory = archive(options.build, work, events, locations, inner)
        if options.make:
            continue
        for n, r in measure(options.build, directory, ranks, 1 if float(events) > 2e7 else options.runs).items():
            results[events, locations, inner, n] = r
            print("| " + " | ".join(str(x) for x in row(r, inner)) + " |", flush=True)
    if not options.make:
        figures(results)
        figure("growth", growth(options.build, *(archive(options.build, work, events, 8, 6) for events in ("1e6", options.large or "1e7"))), "times")
    return 0


def figures(results):
    large = [r for key, r in results.items() if float(key[0]) > 5e5 and (key[3] == 1 or key[3] == 2 and float(key[0]) > 1.5e6)]
    one = [r for key, r in results.items() if float(key[0]) > 5e5 and key[1] <= 64 and key[3] == 1]
    for name, peak, seconds in (("waits", "waits_peak_bytes", "waits_all_s"), ("all", "root_causes_peak_bytes", "all_s")):
        figure(f"{name}.bytes_per_event", max(r[peak] / r["events"] for r in large), "bytes")
        figure(f"{name}.speed", min(r["events"] / r[seconds] for r in one) / 1e6, "M/s")
    figure("waits.times_plain", max(r["waits_all_s"] / r["plain_s"] for r in one), "times")


if __name__ == "__main__":
    sys.exit(main())
