#!/usr/bin/env python3
"""--time-correct on random traces in which one clock is wrong: no violation is left, all invariants hold, `off` does not change
anything, and a second correction has nothing to do.

check_time_correct.py LATECOMER RANDOM_TRACE FIRST-LAST[,FIRST-LAST ..]
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

latecomer, random_trace, seeds = sys.argv[1:4]
bad = with_violations = 0
with tempfile.TemporaryDirectory() as tmp:
    for some in seeds.split(","):
        subprocess.run([sys.executable, random_trace, "--skew", some, tmp], check=True)
    for seed in sorted(os.listdir(tmp)):
        results = {}
        for mode in ("off", "on", "auto"):
            out = f"{tmp}/{seed}/{mode}.cubex"
            subprocess.run([latecomer, "-q", "analyze", "-n", "1", f"--time-correct={mode}", "-o", out, f"{tmp}/{seed}"],
                           check=True, timeout=patience(120))
            shown = subprocess.run([latecomer, "show", "--json", out], check=True, capture_output=True, text=True)
            results[mode] = json.loads(shown.stdout)
        before, after = (results[m]["meta"]["violations"] for m in ("off", "on"))
        with_violations += bool(before["messages"] + before["collectives"])
        left = after["messages"] + after["collectives"]
        failed = results["on"]["meta"]["invariants"]["broken"]
        same = json.dumps(results["on"]["metrics"]) == json.dumps(results["auto"]["metrics"])
        if left or failed or not same:
            bad += 1
            print(f"seed {seed}: {left} violations left, {failed}, auto like on: {same}")
print(f"{with_violations} traces with violations, {bad} not corrected")
sys.exit(bad != 0 or with_violations == 0)
