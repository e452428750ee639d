"""Runs of several programs (MPMD): which rank ran which, and call paths of equal names of different programs stay apart. several_programs.py LATECOMER FLAVOUR

`mesh` is rank 0, `particles` are ranks 1 and 2; the same source, so that all call paths have the same names. Then copies of one file in two folders:
one program. What the profile and the analysis of the trace say is compared with what the programs print. In virtual time where that can be had."""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR = sys.argv[1:3]
RANKS = 3
WORK_MS = {"mesh": 300, "particles": 60, "app": 1}
SOURCE = Path(__file__).with_suffix(".c")
CALLS = {"MPI_Sendrecv": 3, "MPI_Barrier": 1, "MPI_Init": 1, "MPI_Finalize": 1}
failures = []


def check(what, good):
    if not good:
        failures.append(what)
        print(f"not as expected: {what}")


def show(*words):
    return subprocess.run([LATECOMER, "show", *map(str, words)], check=True, capture_output=True, text=True, timeout=patience(60)).stdout


def visits(result):
    """{(root, function of MPI, rank): visits}"""
    found = {}
    for path, values in result["metrics"]["visits"]["callpaths"].items():
        names = path.split("/")
        for location, value in zip(result["locations"], values, strict=True):
            if names[-1] in CALLS and value:
                key = names[0], names[-1], location["rank"]
                found[key] = found.get(key, 0) + value
    return found


def run(first, others):
    with launch.Workspace(FLAVOUR, LATECOMER, virtual="LC_VIRTUAL_TIME" in os.environ) as ws:
        binaries = []
        for program in (first, others):
            binary = ws.root / program
            binary.parent.mkdir(exist_ok=True)
            words = [f'-DNAME="{binary.name}"', f"-DWORK_MS={WORK_MS[binary.name]}"]
            subprocess.run([f"mpicc.{FLAVOUR}", "-g", "-O1", "-fno-optimize-sibling-calls", *words, "-o", str(binary), str(SOURCE)], check=True)
            binaries.append(binary)
        if binaries[0].name == binaries[1].name:
            shutil.copy(binaries[0], binaries[1])
        tool = ws.tool("--trace")
        command = ws.launcher_of_two([*tool, str(binaries[0])], RANKS, [*tool, str(binaries[1])])
        outcome = ws.finish(ws.start(command, ws.environment()), time.monotonic(), patience(120))
        check(f"status {outcome.status}: {outcome.err[-1000:]}", outcome.status == 0)
        ran = dict(line.split()[1::2] for line in outcome.out.splitlines() if line.startswith("rank "))
        exp = ws.root / "exp"
        subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", "--partition=executable", str(exp)], check=True, timeout=patience(120))
        return ran, {kind: (json.loads(show("--json", exp / f"{kind}.cubex")), show(exp / f"{kind}.cubex")) for kind in ("profile", "analysis")}


def main():
    ran, results = run("bin/mesh", "bin/particles")
    check(f"programs said {ran}", ran == {"0": "mesh", "1": "particles", "2": "particles"})
    for kind, (result, text) in results.items():
        meta = result["meta"]
        check(f"{kind}: programs {meta.get('programs')}", meta.get("programs") == ["mesh", "particles"])
        check(f"{kind}: of ranks {meta.get('program_of_rank')}", meta.get("program_of_rank") == [0, 1, 1])
        expected = {(ran[str(r)], call, r): n for r in range(RANKS) for call, n in CALLS.items()}
        got = visits(result)
        check(f"{kind}: calls {got}", got == expected)
        roots = {path.split("/")[0] for path in result["metrics"]["time"]["callpaths"]}
        check(f"{kind}: roots {roots}", roots == {"mesh", "particles"})
        check(f"{kind}: below the programs", {path.split("/")[1] for path in result["metrics"]["time"]["callpaths"] if "/" in path} == {"main"})
        check(f"{kind}: text {text[:400]}", "  mesh: rank 0\n" in text and "  particles: ranks 1, 2\n" in text)
        # mesh works five times as long as the others, who wait for it; it is one rank that nobody shares its work with
        limits = [f["kind"] for f in result["findings"] if f["ranks"] == [0] and f["kind"] in ("late_rank", "imbalance", "partition_limits", "master_limits")]
        check(f"{kind}: findings {result['findings']}", limits == ["master_limits"])
        check(f"{kind}: the finding in text", "rank 0 alone works in mesh, and the others wait" in " ".join(text.split()))
    profile, analysis = results["profile"][0], results["analysis"][0]
    paths = [{p for p in r["metrics"]["visits"]["callpaths"] if p.split("/")[-1] in CALLS} for r in (profile, analysis)]
    check(f"same call paths in both: {paths[0] ^ paths[1]}", paths[0] == paths[1])
    ran, results = run("here/app", "there/app")
    check(f"copies said {ran}", set(ran.values()) == {"app"})
    for kind, (result, _) in results.items():
        check(f"copies, {kind}: one program", "programs" not in result["meta"])
        check(f"copies, {kind}: roots", {path.split("/")[0] for path in result["metrics"]["time"]["callpaths"]} == {"main"})
        check(f"copies, {kind}: calls", visits(result) == {("main", call, r): n for r in range(RANKS) for call, n in CALLS.items()})
    print(f"{len(failures)} not as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
