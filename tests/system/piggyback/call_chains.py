"""Random programs that know their critical path, since messages carry it (call_chains.c): it must be that of the tool, over either transport, and on two
believed nodes. Usage: call_chains.py LATECOMER PROGRAM FLAVOUR RANKS SEED.. (a seed may be
FIRST-LAST; RANKS with t behind it: two threads each; with n: nonblocking collectives only, none of
whose edges may come late; with s: measurement is switched on and off)"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

MODES = {"shm": {"LATECOMER_TRANSPORT": "shm"}, "mpi": {"LATECOMER_TRANSPORT": "mpi"}, "mixed": {"LATECOMER_TEST_NODES": "2"}}
FILL = {"MALLOC_PERTURB_": "170"}  # memory from malloc is full of 0x55: what was forgotten to be set shows
EXACT = 1e-5  # seconds: virtual time


def check(work, program, ranks, seed, mode):
    label = f"seed {seed}, {ranks} ranks, {work.flavour} {mode}"
    words = [program, str(seed)] + {"t": ["threads"], "n": ["nonblocking"], "s": ["switch"]}.get(ranks[-1], [])
    run = work.run(work.launcher(int(ranks.rstrip("tns"))) + work.tool(directory="exp") + words, env=work.environment(**MODES[mode], **FILL))
    if run.status != 0:
        return [f"{label}: status {run.status}\n{run.out[-300:]}{run.err[-900:]}"]
    result = work.show(directory="exp")
    launch.shutil.rmtree(work.root / "exp")
    chains = [float(word) for line in run.out.splitlines() if line.startswith("chain") for word in line.split()[1:]]
    pop, meta, counts, found = result["pop"], result["meta"], result["meta"]["piggyback"], []
    paths = [one["critical_path_s"] for one in pop.get("intervals", [pop])]
    if len(paths) != len(chains):
        found.append(f"{label}: {len(paths)} intervals instead of {len(chains)}")
    for i, (path, chain) in enumerate(zip(paths, chains)):
        if abs(path - chain) > EXACT:
            found.append(f"{label}: critical path {path:.6f} s instead of {chain:.6f} s (interval {i + 1}), {counts}")
    if meta["messages_matched"] != meta["messages_total"] or any(counts[name] for name in ("absent", "lost", "mispaired", "order_violations")):
        found.append(f"{label}: {meta['messages_matched']} of {meta['messages_total']} matched, {counts}")
    if ranks.endswith("n") and (counts["edges_late"] or counts["collectives_skipped"]):
        found.append(f"{label}: edges came late, {counts}")
    return found


def main():
    latecomer, program, flavour, ranks, *seeds = sys.argv[1:]
    found, runs = [], 0
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=True) as work:
        for first, _, last in (words.partition("-") for words in seeds):
            for seed in range(int(first), int(last or first) + 1):
                for mode in MODES:
                    runs += 1
                    found += check(work, os.path.abspath(program), ranks, seed, mode)
    print(f"{runs} runs")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
