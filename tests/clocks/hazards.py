"""Programs full of hazards (wild receives, cancelled and freed requests, Mprobe, persistent requests, threads, random programs) must give the same
answer with clocks over either transport, and their messages must find their entries: usage hazards.py LATECOMER FLAVOUR DIRECTORY NAME.."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

MODES = {"shm": {"LATECOMER_TRANSPORT": "shm"}, "mpi": {"LATECOMER_TRANSPORT": "mpi"},
         "mixed": {"LATECOMER_TEST_NODES": "2"}}


def faults(meta, what):
    piggyback = meta.get("piggyback")
    if piggyback is None:
        return [f"{what}: no counts in meta {meta}"]
    found = [f"{what}: {piggyback[name]} {name}" for name in ("absent", "lost") if piggyback[name]]
    if piggyback["mispaired"] > piggyback["unsure"]:  # threads and wild receives: what could not be told may be found wrong by its size
        found.append(f"{what}: {piggyback['mispaired']} mispaired, {piggyback['unsure']} unsure")
    if meta["messages_matched"] > meta["messages_total"]:
        found.append(f"{what}: {meta['messages_matched']} of {meta['messages_total']} messages matched")
    return found


def check(work, flavour, command, ranks, strict):
    bare = work.run(work.launcher(ranks) + command)
    found = []
    for name, env in MODES.items():
        directory = f"{os.path.basename(command[0])}-{name}"
        label = f"{os.path.basename(command[0])} {' '.join(command[1:])} {name}"
        run = work.run(work.launcher(ranks) + work.tool(directory=directory) + command, env=work.environment(**env))
        if run.status != bare.status or run.lines() != bare.lines():
            found.append(f"{label}: status {run.status} instead of {bare.status}\n{run.out[-600:]}{run.err[-600:]}")
            continue
        meta = work.show(directory=directory)["meta"]
        wrong = faults(meta, label)
        print(f"{label}: {meta.get('messages_matched')} of {meta.get('messages_total')} matched {meta.get('piggyback')}")
        if strict:
            found += wrong
        launch.shutil.rmtree(work.root / directory)
    return found


def main():
    latecomer, flavour, directory, *names = sys.argv[1:]
    latecomer = os.path.abspath(latecomer)
    found = []
    with launch.Workspace(flavour, latecomer) as work:
        for name in names:
            program, *arguments = name.split(":")
            command = [f"{directory}/{program}-{flavour}", *arguments]
            found += check(work, flavour, command, {"random": 3, "hazard": 2}.get(program, 4), True)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
