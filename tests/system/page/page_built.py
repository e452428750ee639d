"""The page in web/dist is what its sources give: types check, the tests of the modules without a document pass, a fresh build is the
same byte by byte, and small enough.
Usage: page_built.py WEB_DIR MODULES_DIR. 77: npm is not here."""
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

WEB, MODULES = map(os.path.abspath, sys.argv[1:3])
MOST_BYTES = 300 * 1024  # code and styles, compressed
if not os.path.isdir(f"{MODULES}/node_modules"):
    print("skipped: npm is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory(dir=MODULES) as scratch:
    # The sources and, where they look for them, the definitions that the page shows and the metrics that must be among these.
    for name in ("web/src", "web/tests", *(f"web/{file.name}" for file in os.scandir(WEB) if file.is_file() and file.name != "design.html"), "docs/definitions", "src/model/metrics.c"):
        source, target = f"{WEB}/../{name}", f"{scratch}/{name}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
    for command in (["node", f"{MODULES}/node_modules/typescript/bin/tsc", "--noEmit"], ["node", f"{MODULES}/node_modules/vitest/vitest.mjs", "run"], ["node", "build.mjs"]):
        done = subprocess.run(command, cwd=f"{scratch}/web", capture_output=True, text=True, timeout=patience(200), check=False)
        if done.returncode != 0:
            sys.exit(f"{command}: {done.stdout}{done.stderr}")
    for name in ("dist/page.html", "design.html"):
        fresh = open(f"{scratch}/web/{name}", "rb").read()
        if fresh != open(f"{WEB}/{name}", "rb").read():
            sys.exit(f"web/{name} is not what web/ and docs/definitions give: run `npm ci && npm run build` in web/")
    size = len(gzip.compress(open(f"{WEB}/dist/page.html", "rb").read()))
    if size > MOST_BYTES:
        sys.exit(f"the page without data has {size} bytes compressed, more than {MOST_BYTES}")
    print(f"{size} bytes compressed")
