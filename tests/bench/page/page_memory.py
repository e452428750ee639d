#!/usr/bin/env python3
"""Time and memory of `latecomer report` on a large trace.

    page_memory.py BUILD [--events 1e8] [--ranks 8] [--work DIR] [--launched N]

The archive comes from make_trace (kept in DIR). Memory is the largest resident set of the process that reads it; what lies in the file beside the
page counts while it is mapped. --launched: also under `mpirun -n N`, whose page must be the same.
"""
import argparse
import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402


def report(build, directory, page, launcher):
    begin = time.monotonic()
    subprocess.run([*launcher, f"{build}/bin/latecomer", "-q", "report", "-o", page, directory], check=True)
    return time.monotonic() - begin, open(page, "rb").read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--events", default="1e8")
    parser.add_argument("--ranks", default="8")
    parser.add_argument("--work")
    parser.add_argument("--launched", type=int, default=0)
    options = parser.parse_args()
    work = options.work or os.path.join(options.build, "bench-page")
    directory = os.path.join(work, f"{options.events}-{options.ranks}")
    os.makedirs(work, exist_ok=True)
    if not os.path.isdir(directory):
        subprocess.run([f"{options.build}/bin/make_trace", "-r", options.ranks, "-e", options.events, "-i", "6", f"{directory}.part"], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(f"{directory}.part", directory)
    # A page needs a result beside the trace: that of a small one will do.
    if not os.path.exists(f"{directory}/profile.cubex"):
        small = os.path.join(work, f"small-{options.ranks}")
        subprocess.run([f"{options.build}/bin/make_trace", "-r", options.ranks, "-e", "1e4", "-i", "6", small], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([f"{options.build}/bin/latecomer", "-q", "analyze", "-n", "1", "-o", f"{directory}/profile.cubex", small], check=True)
    seconds, page = report(options.build, directory, os.path.join(work, "page.html"), [])
    mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{options.events} events, {options.ranks} ranks: {seconds:.1f} s, {mib:.0f} MiB, page of {len(page) / 1e6:.2f} MB")
    figure("time", seconds, "s")
    figure("memory", mib, "MiB")
    if options.launched:
        launched, same = report(options.build, directory, os.path.join(work, "page.html"), mpirun("openmpi", options.launched))
        print(f"mpirun -n {options.launched}: {launched:.1f} s, {'the same page' if same == page else 'ANOTHER PAGE'}")
        if same != page:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
