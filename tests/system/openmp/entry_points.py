#!/usr/bin/env python3
"""Every function that GCC's code may call of the libgomp of this machine stands in the table of entry points, as seen, or as one to leave alone: what
is missing there would run unseen. entry_points.py TABLE COMPILER (TABLE: gomp_entries.tsv, beside what makes the wrappers)"""
import os
import re
import subprocess
import sys

TABLE, COMPILER = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(TABLE)))
import gen_gomp  # noqa: E402

# Compiled code calls GOMP_*; programs call omp_*, of which those matter that wait for another thread, or let it go on.
CALLED = re.compile(r"GOMP_(?!PLUGIN_)|omp_(init|set|unset|test)_(nest_)?lock|omp_fulfill_event")


def functions(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    symbols = [line.split() for line in done.stdout.splitlines()]
    return {name.split("@")[0] for _, kind, name in symbols if kind in "TWi"}


library = os.path.realpath(subprocess.run([COMPILER, "-print-file-name=libgomp.so.1"], capture_output=True, text=True, check=True).stdout.strip())
if not os.path.isabs(library) or not os.path.exists(library):
    raise SystemExit(f"FAILED: {COMPILER} has no libgomp.so.1")
there = {name for name in functions(library) if CALLED.match(name)}
known = {entry.name for entry in gen_gomp.read(TABLE)}
if len(there) < 100:
    raise SystemExit(f"FAILED: only {len(there)} functions in {library}")
if there - known:
    raise SystemExit(f"FAILED: not in the table, but in {library}: {', '.join(sorted(there - known))}")
print(f"{len(there)} functions of {library} are in the table; {', '.join(sorted(known - there)) or 'nothing'} of the table is not there")
