#!/usr/bin/env python3
"""What an analysis costs on 8 and 16 ranks: memory, by count of the bytes that are allocated, and time.

    many_ranks.py BUILD [--work DIR] [--events N]

The archive has 64 locations with N events each (1e5), and is kept in DIR. Figures (tests/figure.py), of each number of ranks: bytes per event, all
ranks together; how much more the rank with the most has than all on the mean, for root causes (delay costs, chains, critical path); seconds, gains
apart, whose replays are one rank's; and of one rank what root causes take per wait state, and the memory forecast for them against what they take.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

LOCATIONS, RANKS = 64, (8, 16)


def archive(build, work, events):
    directory = os.path.join(work, f"{events}-each")
    if not os.path.isdir(directory):
        subprocess.run([f"{build}/bin/make_trace", "-r", str(LOCATIONS), "-e", str(int(float(events) * LOCATIONS)), directory + ".part"], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(directory + ".part", directory)
    return directory


def run(build, directory, ranks):
    command = [f"{build}/bin/bytes_per_rank", directory]
    if ranks > 1:
        command = mpirun("openmpi", ranks, "--bind-to", "none") + command
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def needed(result):
    """Bytes of all ranks at one time at most, gains apart."""
    return sum(max(events, held + causes) for events, held, causes in zip(result["events_bytes"], result["held_bytes"], result["root_causes_bytes"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--work")
    parser.add_argument("--events", default="1e5")
    options = parser.parse_args()
    work = options.work or os.path.join(options.build, "bench-analyze")
    os.makedirs(work, exist_ok=True)
    directory = archive(options.build, work, options.events)
    one = run(options.build, directory, 1)
    figure("wait_state", one["root_causes_bytes"][0] / one["wait_states"], "bytes")
    figure("forecast", one["forecast_bytes"][0] / max(one["root_causes_bytes"][0], one["gains_bytes"][0]), "times")
    for ranks in RANKS:
        result = run(options.build, directory, ranks)
        print(json.dumps(result))
        causes = result["root_causes_bytes"]
        figure(f"{ranks}.bytes_per_event", needed(result) / result["events"], "bytes")
        figure(f"{ranks}.largest", max(causes) * ranks / sum(causes), "times")
        figure(f"{ranks}.seconds", result["events_seconds"] + result["root_causes_seconds"], "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
