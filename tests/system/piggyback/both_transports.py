"""Programs full of corner cases (wildcard receives, cancelled and freed requests, Mprobe, persistent requests, threads, random programs) must give the same
answer with clocks over either transport, and their messages must find their entries: usage both_transports.py [--sanitizer LIBRARY] [--queue EVENTS] [--runs N]
[--all-matched] LATECOMER FLAVOUR DIRECTORY NAME[:ARGUMENT..].. (LIBRARY: run-time library of the sanitizer that the tool was built with, and after a colon what
is preloaded without it, too; its reports are faults;
EVENTS: as many may wait where clocks lag; N: each so often; --all-matched: no message may be left without its entry)"""
import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

MODES = {"shm": {"LATECOMER_TRANSPORT": "shm"}, "mpi": {"LATECOMER_TRANSPORT": "mpi"},
         "mixed": {"LATECOMER_TEST_NODES": "2"}}
FILL = {"MALLOC_PERTURB_": "170"}  # memory from malloc is full of 0x55: what was forgotten to be set shows


def faults(meta, what):
    piggyback = meta.get("piggyback")
    if piggyback is None:
        return [f"{what}: no counts in meta {meta}"]
    found = [f"{what}: {piggyback[name]} {name}" for name in ("absent", "lost") if piggyback[name]]
    if piggyback["mirrors"] == 0 and piggyback["collectives_skipped"]:  # what did not come in time over messages is left out
        found.append(f"{what}: {piggyback['collectives_skipped']} collectives without entry")
    if piggyback["mispaired"] > piggyback["unsure"]:  # threads and wild receives: what could not be told may be found wrong by its size
        found.append(f"{what}: {piggyback['mispaired']} mispaired, {piggyback['unsure']} unsure")
    clocks, n = meta["clock_sync"], piggyback["order_violations"]  # one clock, or two that are known within a bound
    if n and (clocks["nodes"] == 1 or clocks["largest_violation_s"] > clocks["wait_error_s"]) or (n > 0) != (clocks["largest_violation_s"] > 0):
        found.append(f"{what}: {n} messages received before they were sent: {clocks}")
    if meta["messages_matched"] > meta["messages_total"]:
        found.append(f"{what}: {meta['messages_matched']} of {meta['messages_total']} messages matched")
    return found


def sanitized(work, library):
    """Words before the tool, and the environment."""
    if not library:
        return [], {}
    common = f"log_path={work.root}/san exitcode=0"
    options = {"UCX_TLS": "sm,self", "UCX_MEM_EVENTS": "n", "UCX_HANDLE_ERRORS": "none",  # UCX does not start beside a preloaded sanitizer otherwise
               "TSAN_OPTIONS": f"{common} suppressions={Path(__file__).parent}/transports_tsan.supp", "UBSAN_OPTIONS": f"{common} print_stacktrace=1",
               "ASAN_OPTIONS": f"{common} detect_leaks=0 verify_asan_link_order=0"}
    return ["env", f"LD_PRELOAD={library}"], options


def answer(run):
    """What the program printed, without durations."""
    return {line: n for line, n in run.lines().items() if not line.startswith(("napped", "chain"))}


def check(work, command, ranks, args):
    before, options = sanitized(work, args.sanitizer)
    if args.queue:
        options["LATECOMER_TEST_BACKLOG"] = args.queue
    others = args.sanitizer.partition(":")[2]
    bare = work.run(work.launcher(ranks) + (["env", f"LD_PRELOAD={others}"] if others else []) + command)
    found = []
    modes = [mode for mode in MODES.items() if not args.queue or mode[0] != "shm"]  # where no clock lags nothing waits
    for name, env in modes * args.runs:
        directory = f"{os.path.basename(command[0])}-{name}"
        label = f"{os.path.basename(command[0])} {' '.join(command[1:])} {name}"
        launch.shutil.rmtree(work.root / directory, ignore_errors=True)  # of a run that did not end
        run = work.run(work.launcher(ranks) + before + work.tool(directory=directory) + command, env=work.environment(**env, **options, **FILL))
        found += [f"{label}: {report[:2500]}" for report in work.sanitizer_reports()[:3]]
        said = "\n".join(report.read_text(errors="replace")[-2500:] for report in work.root.glob("san.*"))
        for report in work.root.glob("san.*"):
            report.unlink()
        if run.status != bare.status or answer(run) != answer(bare):
            found.append(f"{label}: status {run.status} instead of {bare.status}\n{run.out[-600:]}{run.err[-600:]}\n{said}")
            continue
        meta = work.show(directory=directory)["meta"]
        found += faults(meta, label)
        if args.all_matched and meta.get("messages_matched") != meta.get("messages_total"):
            found.append(f"{label}: {meta.get('messages_matched')} of {meta.get('messages_total')} messages matched, not all")
        print(f"{label}: {meta.get('messages_matched')} of {meta.get('messages_total')} matched {meta.get('piggyback')}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sanitizer", default="")
    parser.add_argument("--queue", default="")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--all-matched", action="store_true")
    parser.add_argument("latecomer", type=os.path.abspath)
    parser.add_argument("flavour")
    parser.add_argument("directory", type=os.path.abspath)
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    found = []
    with launch.Workspace(args.flavour, args.latecomer) as work:
        for name in args.names:
            program, *arguments = name.split(":")
            command = [f"{args.directory}/{program}-{args.flavour}", *arguments]
            ranks = {"random": 3, "corner_cases": 2, "call_chains": 3 if args.flavour == "openmpi" else 2, "threads_queue": 3, "threads_meet": 2}.get(program, 4)
            found += check(work, command, ranks, args)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
