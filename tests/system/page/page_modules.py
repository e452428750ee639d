"""Installs what the page is built and tested with, by the lock file: page_modules.py WEB_DIR TARGET_DIR. 77: npm is not here."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

WEB, TARGET = sys.argv[1:3]
if not shutil.which("npm"):
    print("skipped: npm is not installed")
    sys.exit(77)
os.makedirs(TARGET, exist_ok=True)
stamp = os.path.join(TARGET, "node_modules", ".package-lock.json")
lock = os.path.join(TARGET, "package-lock.json")
same = os.path.exists(stamp) and os.path.exists(lock) and open(lock).read() == open(f"{WEB}/package-lock.json").read()
if not same:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(WEB, name), TARGET)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], cwd=TARGET, capture_output=True, text=True,
                          timeout=patience(360), check=False)
    if done.returncode != 0:
        os.path.exists(lock) and os.unlink(lock)
        sys.exit(f"npm ci: {done.stderr[-2000:]}")
