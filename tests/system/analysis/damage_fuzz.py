#!/usr/bin/env python3
"""Random damage of the files of small archives: `analyze` must end with a result or one clear line, never by a signal or a
hang, and leave no partial file.

damage_fuzz.py LATECOMER GOLDEN COUNT [SEED]
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

latecomer, golden, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
TRACES = ["unanalysed", "late_sender_waitany", "hybrid_late_sender", "synthetic/requests", "synthetic/sub_communicators"]


def damage(path):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    kind = rng.randrange(5)
    if kind == 0:
        data = data[:rng.randrange(len(data) + 1)]
    elif kind == 1:
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 2:
        at = rng.randrange(len(data))
        data[at:at + rng.randrange(1, 200)] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))
    elif kind == 3:
        at = rng.randrange(len(data))
        data[at:at + 8] = b"\xff" * 8
    else:
        at = rng.randrange(len(data))
        del data[at:at + rng.randrange(1, 50)]
    with open(path, "wb") as f:
        f.write(data)


bad = 0
with tempfile.TemporaryDirectory() as tmp:
    for number in range(count):
        trace = f"{tmp}/t"
        shutil.rmtree(trace, ignore_errors=True)
        shutil.copytree(f"{golden}/{rng.choice(TRACES)}", trace)
        for _, __, names in os.walk(trace):
            pass
        files = [os.path.join(d, n) for d, _, names in os.walk(trace) for n in sorted(names)
                 if n.endswith((".otf2", ".def", ".evt")) and os.path.getsize(os.path.join(d, n))]
        for file in files:
            os.chmod(os.path.dirname(file), 0o755)
            os.chmod(file, 0o644)
        for file in rng.sample(files, rng.choice([1, 1, 2])):
            damage(file)
        out = f"{tmp}/out.cubex"
        if os.path.exists(out):
            os.unlink(out)
        try:
            result = subprocess.run([latecomer, "analyze", "-n", "1", "-o", out, trace], capture_output=True, text=True,
                                    timeout=patience(60), errors="replace")
            code = result.returncode
            lines = [l for l in result.stderr.splitlines() if l]
            wrong = code not in (0, 1) or (code == 0) != os.path.exists(out) or not lines or \
                any(not l.startswith("latecomer: ") for l in lines) or (code == 1 and len(lines) != 1)
        except subprocess.TimeoutExpired:
            wrong, code, lines = True, "timeout", []
        left = [n for n in os.listdir(tmp) if n not in ("t", "out.cubex")]
        if wrong or left:
            bad += 1
            print(f"damage {number}: exit {code}, {len(lines)} lines, left {left}: {lines[-3:]}")
            if os.environ.get("KEEP"):
                shutil.copytree(trace, f"{os.environ['KEEP']}/{number}", dirs_exist_ok=True)
print(f"{count} damaged archives, {bad} handled badly")
sys.exit(bad != 0)
