#!/usr/bin/env python3
"""Size and speed of large pages: 4,096 ranks x 2,000 call paths x 60 metrics without a zero, and the timeline of a trace of 512 locations.

    page_budgets.py BUILD MODULES [--work DIR]

MODULES: where npm put playwright-core (the test page.modules does: BUILD/tests/system/page/modules). Figures: processor time to write the page, size,
seconds until the page can be used, milliseconds of the median frame while scrolling the tree and zooming the timeline.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("modules")
    parser.add_argument("--work")
    options = parser.parse_args()
    if not os.path.isdir(options.modules):
        print(f"no {options.modules}: ctest -R page.modules makes it")
        return 77
    build = os.path.abspath(options.build)
    work = os.path.abspath(options.work or os.path.join(build, "bench-page"))
    os.makedirs(work, exist_ok=True)
    large, trace = os.path.join(work, "large.cubex"), os.path.join(work, "trace-512")
    if not os.path.exists(large):
        subprocess.run([f"{build}/bin/make_large", f"{large}.part", "4096", "2000", "60"], check=True)
        os.rename(f"{large}.part", large)
    if not os.path.isdir(trace):
        subprocess.run([f"{build}/bin/make_trace", "-r", "512", "-e", "2e6", "-i", "6", f"{trace}.part"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([f"{build}/bin/latecomer", "-q", "analyze", "-n", "1", f"{trace}.part"], check=True)
        os.rename(f"{trace}.part", trace)
    pages = []
    for operand in (large, trace):
        pages.append(f"{operand}.html")
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([f"{build}/bin/latecomer", "-q", "report", "-o", pages[-1], operand], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{os.path.basename(operand)}: written in {time.monotonic() - begin:.1f} s, {cpu_s:.1f} s of processor time, {after.ru_maxrss / 1024:.0f} MiB")
        figure(f"{'profile' if operand is large else 'trace'}.written", cpu_s, "s")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("chromium is not installed")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.mjs")
    done = subprocess.run(["node", script, os.path.abspath(options.modules), chromium, *pages], check=True, capture_output=True, text=True)
    print(done.stdout, end="")
    for name, line in zip(("profile", "trace"), done.stdout.splitlines()):
        r = json.loads(line)
        figure(f"{name}.size", r["bytes"] / 1e6, "MB")
        figure(f"{name}.usable", r["interactive_ms"] / 1e3, "s")
        for what in ("tree", "timeline"):
            if what in r:
                figure(f"{name}.{what}", r[what]["median_ms"], "ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
