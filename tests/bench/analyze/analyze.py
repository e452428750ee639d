#!/usr/bin/env python3
"""Speed and memory of the trace analysis, beside plain reading of the same archives with libotf2.

    analyze.py BUILD [--work DIR] [--runs N] [--large EVENTS] [--make] [--check]

Archives come from make_trace (kept in DIR; --make: only make them, so that the measurement can be done when the machine is idle), figures from
bench_rootcause: of the runs the one with the shortest wall time. Speeds are per rank, wall time of the slowest; memory is the sum over ranks.
--large adds an archive of so many events (3e7 where the disk has no room). --check: exit 1 if memory is above the limits (40 bytes per event up to the wait states, 64 in all) or
the time per event of the largest archive is more than 1.5 times that of 1e6 events.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

CASES = [  # events, locations, short functions per iteration, ranks
    ("1e5", 8, 6, (1,)), ("1e6", 8, 6, (1,)), ("1e7", 8, 6, (1, 2, 4)),
    ("5e6", 8, 1, (1, 2)),
    ("2e6", 64, 6, (1,)), ("2e6", 512, 6, (1,)), ("2e6", 4096, 6, (1, 2)),
]
MPIRUN = ["mpirun.openmpi", "-q", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def archive(build, work, events, locations, inner):
    directory = os.path.join(work, f"{events}-{locations}-{inner}")
    if not os.path.isdir(directory):
        subprocess.run([f"{build}/bin/make_trace", "-r", str(locations), "-e", events, "-i", str(inner), directory + ".part"], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(directory + ".part", directory)
    return directory


def measure(build, directory, ranks, runs):
    command = [f"{build}/bin/bench_rootcause", "-j", directory]
    if ranks > 1:
        command = [*MPIRUN, "-n", str(ranks), *command]
    results = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(runs)]
    for r in results:
        r["waits_all_s"] = r["reading_s"] + r["waits_s"]
        r["all_s"] = r["waits_all_s"] + r["root_causes_s"]
    return min(results, key=lambda r: r["all_s"])


def row(r, inner):
    speed = r["events"] / r["ranks"] / 1e6
    return [f"{r['events']:.3g}".replace("e+0", "e"), r["locations"], inner, r["ranks"], f"{speed / r['plain_s']:.1f}",
            f"{speed / r['waits_all_s']:.1f}", f"{r['waits_all_s'] / r['plain_s']:.2f}", f"{speed / r['all_s']:.1f}",
            f"{r['all_s']:.2f}", f"{r['waits_peak_bytes'] / r['events']:.1f}", f"{r['root_causes_peak_bytes'] / r['events']:.1f}",
            f"{r['largest_peak_bytes'] / 2**20:.0f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--work")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    work = options.work or os.path.join(options.build, "bench-analyze")
    os.makedirs(work, exist_ok=True)
    if options.large and shutil.disk_usage(work).free < 24 * float(options.large):
        print(f"{work}: no room for {options.large} events: 3e7 instead")
        options.large = "3e7"
    cases = CASES + ([(options.large, 8, 6, (1,))] if options.large else [])
    header = ["events", "locations", "functions", "ranks", "plain libotf2 M/s", "wait states M/s", "x plain", "everything M/s", "s",
              "bytes/event, wait states", "bytes/event", "MiB, largest rank"]
    results = {}
    if not options.make:
        print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for events, locations, inner, ranks in cases:
        directory = archive(options.build, work, events, locations, inner)
        for n in ranks if not options.make else ():
            r = measure(options.build, directory, n, 1 if float(events) > 2e7 else options.runs)
            results[events, locations, inner, n] = r
            print("| " + " | ".join(str(x) for x in row(r, inner)) + " |", flush=True)
    if not options.check or options.make:
        return 0
    bad = [key for key, r in results.items() if key[3] == 1 and float(key[0]) > 5e5 and
           (r["waits_peak_bytes"] > 40 * r["events"] or r["root_causes_peak_bytes"] > 64 * r["events"])]
    small, largest = results["1e6", 8, 6, 1], results[cases[-1][0], 8, 6, 1] if options.large else results["1e7", 8, 6, 1]
    growth = largest["all_s"] / largest["events"] / (small["all_s"] / small["events"])
    print(f"time per event, largest archive against 1e6 events: {growth:.2f}; memory above the limits: {bad or 'nowhere'}")
    return 1 if bad or growth > 1.5 else 0


if __name__ == "__main__":
    sys.exit(main())
