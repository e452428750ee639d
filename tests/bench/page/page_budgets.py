#!/usr/bin/env python3
"""Size and speed of large pages: 4,096 ranks x 2,000 call paths x 60 metrics without a zero, and the timeline of a trace of 512 locations.

    page_budgets.py BUILD MODULES [--work DIR] [--check]

MODULES: where npm put playwright-core (the test page.modules does: BUILD/tests/system/page/modules). --check: exit 1 beyond the budgets: 25 MB, 3 s until the
page can be used, 60 frames a second as the median while scrolling and zooming.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("modules")
    parser.add_argument("--work")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
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
        begin = time.monotonic()
        subprocess.run([f"{build}/bin/latecomer", "-q", "report", "-o", pages[-1], operand], check=True)
        print(f"{os.path.basename(operand)}: written in {time.monotonic() - begin:.1f} s, {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or sys.exit("chromium is not installed")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "budgets.mjs")
    done = subprocess.run(["node", script, os.path.abspath(options.modules), chromium, *pages], check=True, capture_output=True, text=True)
    print(done.stdout, end="")
    bad = []
    for line in done.stdout.splitlines():
        r = json.loads(line)
        name = os.path.basename(r["file"])
        bad += [f"{name}: {r['bytes']} bytes"] if r["bytes"] > 25e6 else []
        bad += [f"{name}: {r['interactive_ms']} ms"] if r["interactive_ms"] > 3000 else []
        bad += [f"{name}: {what} {r[what]}" for what in ("tree", "timeline") if what in r and r[what]["median_ms"] > 17.5]
    print("beyond the budgets:", "; ".join(bad) or "nothing")
    return 1 if options.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
