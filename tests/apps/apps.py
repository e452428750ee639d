"""Real applications under the tool: the same results, a valid profile with call paths, and what it costs.

apps.py LATECOMER NAME [--runs N]   NAME: one of inputs.APPS. Exit 77: the program is not installed.
Bare and measured runs take turns; with --runs the smallest of each are compared: wall time of the launcher, start and end of the tool included.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import inputs


class Wrong(Exception):
    """A check failed."""


def launch(command, where):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    line = ["mpirun.openmpi", *root, "--oversubscribe", "-n", "2", *command]
    begin = time.monotonic()
    done = subprocess.run(line, cwd=where, text=True, capture_output=True, timeout=600, check=False)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise Wrong(f"{' '.join(line)}: exit {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout, seconds


def results(output, pattern, file, where):
    """What the program found: lines of its output, or of a file that it wrote."""
    if file is not None:
        with open(os.path.join(where, file), encoding="utf-8", errors="replace") as text:
            output = text.read()
        os.remove(os.path.join(where, file))
    found = re.findall(pattern, output)
    if not found:
        raise Wrong(f"no result like {pattern} in the output:\n{output[-2000:]}")
    return found


def check_profile(latecomer, out):
    shown = subprocess.run([latecomer, "show", "--json", out], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise Wrong(f"show: {shown.stderr}")
    result = json.loads(shown.stdout)
    coverage, paths, pop = result["meta"]["coverage"], result["meta"]["callpath"], result["pop"]
    if coverage["calls"] == 0 or coverage["calls_lost"] != 0:
        raise Wrong(f"calls: {coverage}")
    if paths["mode"] != "unwind" or paths["uncacheable"] * 10 > coverage["calls"]:
        raise Wrong(f"call paths: {paths}")
    if pop["not_attributed"] > 0.02:
        raise Wrong(f"{100 * pop['not_attributed']:.1f} % of the critical path has no call path")
    times = result["metrics"]["time"]["callpaths"]
    # the interpreter's main ends in a jump to Py_BytesMain, which takes its frame
    if not any(path.startswith(("main/", "Py_BytesMain/")) for path in times):
        raise Wrong("no call path begins with main")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("latecomer")
    parser.add_argument("name", choices=sorted(inputs.APPS))
    parser.add_argument("--runs", type=int, default=1)
    args = parser.parse_args()
    make, package, pattern, file = inputs.APPS[args.name]
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    if installed.returncode != 0 or not installed.stdout:
        print(f"skipped: package {package} is not installed")
        sys.exit(77)
    latecomer = os.path.abspath(args.latecomer)
    bare, measured = [], []
    with tempfile.TemporaryDirectory() as scratch:
        try:
            command = make(scratch)
            for _ in range(args.runs):
                output, seconds = launch(command, scratch)
                wanted = results(output, pattern, file, scratch)
                bare.append(seconds)
                out = os.path.join(scratch, "result")
                shutil.rmtree(out, ignore_errors=True)
                output, seconds = launch([latecomer, "run", "-q", "-o", out, "--", *command], scratch)
                found = results(output, pattern, file, scratch)
                measured.append(seconds)
                if found != wanted:
                    raise Wrong(f"results differ: {wanted[-3:]} bare, {found[-3:]} measured")
            result = check_profile(latecomer, out)
        except Wrong as wrong:
            sys.exit(f"wrong: {wrong}")
    paths, overhead = result["meta"]["callpath"], result["meta"]["overhead"]
    print(f"{args.name} {installed.stdout}: {len(wanted)} results equal; bare {min(bare):.3f} s, measured {min(measured):.3f} s: "
          f"{min(measured) / min(bare):.2f}; {result['meta']['coverage']['calls']} calls, {paths['unwinds']} unwound, "
          f"{paths['by_libunwind']} by libunwind, {paths['recycled']} recycled, own work {overhead['total_s']:.3f} s")


main()
