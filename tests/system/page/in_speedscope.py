"""Exports in speedscope itself: in_speedscope.py LATECOMER MAKE_CUBEX GOLDEN MODULES SCRATCH. 77: npm or chromium is not here.

Of a profile with 40 ranks, of names that are hostile, of Score-P's golden profile, and of an analysis with a critical path.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import made  # noqa: E402

LATECOMER, MAKE, GOLDEN, MODULES, SCRATCH = map(os.path.abspath, sys.argv[1:6])
HOSTILE = "</script><script>alert(1)</script>\x1b[2J\t\"\\"


def result(ranks, names):
    return dict(meta=dict(program="made", ranks=ranks, wall_time_s=10.0), locations=[dict(rank=rank, thread=0) for rank in range(ranks)],
                metrics={"time": {"callpaths": {"main": [10.0] * ranks, **{f"main/{name}": [1.0 + rank % 3 for rank in range(ranks)] for name in names}}}})


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not os.path.isdir(f"{MODULES}/node_modules/speedscope") or not chromium:
        print(f"skipped: {'chromium' if os.path.isdir(MODULES + '/node_modules') else 'npm'} is not installed")
        return 77
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    os.chdir(SCRATCH)
    segments = [dict(rank=rank, thread=0, from_s=begin, to_s=end) for rank, begin, end in ((0, 0.0, 1.5), (1, 1.5, 4.0), (0, 4.0, 10.0))]
    made.make(MAKE, result(40, ["solve", "MPI_Recv"]), "many/profile.cubex")
    made.make(MAKE, result(2, [HOSTILE.replace("/", "%2F")]), "hostile/profile.cubex")
    made.make(MAKE, result(2, ["solve"]), "path/analysis.cubex", critical_path_json=json.dumps({"segments": segments}))
    files = []
    for name in ("many", "hostile", "path/analysis.cubex", f"{GOLDEN}/cubex/scorep-profile.cubex"):
        files.append(f"{SCRATCH}/{len(files)}.speedscope.json")
        subprocess.run([LATECOMER, "-q", "export", "--to", "speedscope", "-o", files[-1], name], check=True, timeout=patience(60))
    with open("plan.json", "w", encoding="utf-8") as out:
        json.dump({"modules": MODULES, "chromium": chromium, "scratch": SCRATCH, "files": files}, out)
    done = subprocess.run(["node", os.path.join(HERE, "in_speedscope.mjs"), "plan.json"], capture_output=True, text=True, timeout=patience(200), check=False)
    print(done.stdout, done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
