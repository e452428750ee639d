"""Extra messages of the `mpi` transport, counted against docs/clocks.md: one per message, and a second one only where a send surely ends
after its receive was posted and nothing else goes back at that time; of collectives, at most one per operation and rank. Clocks keep up with long rows
of messages in turn. Usage: own_messages.py LATECOMER PROGRAM FLAVOUR [packets] (the program is count_messages.c). packets: only the figures, how many
packets there are per message or operation: how many of these share one depends on when they come."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402
from figure import figure  # noqa: E402

ROUNDS = 40
# pattern, bytes, messages, most replies of their own, least replies that went with records, seconds that sends waited (None: not asked); with `behind`,
# the first receiver is not late
CASES = (("pingpong", 8, 2 * ROUNDS, 0, 0, None), ("pingpong", 8192, 2 * ROUNDS, 0, 0, None), ("pingpong", 1000000, 2 * ROUNDS, 1, 0, None),
         ("synchronous", 8, 2 * ROUNDS, 1, 0, None), ("late", 8, ROUNDS, 0, 0, None), ("late", 500000, ROUNDS, ROUNDS, 0, 2e-3 * ROUNDS),
         ("behind", 8, ROUNDS, ROUNDS, 0, 2e-3 * (ROUNDS - 1)), ("behind", 500000, ROUNDS, ROUNDS, 0, 2e-3 * (ROUNDS - 1)),
         ("exchange", 8, 2 * ROUNDS, 0, 0, None), ("exchange", 500000, 2 * ROUNDS, 2 * ROUNDS, 0, None))  # which replies find a record to go with is chance
EXACT = 1.1e-6 * ROUNDS  # seconds, in virtual time: messages take 1 us


# pattern, collectives of all ranks
COLLECTIVES = (("allreduce", 2000), ("mixed", 6 * ROUNDS))

# Messages in turn for long, with a queue of 1,024 events: full after some 200 rounds if clocks fall behind by one message in each.
RALLIES, RALLY = ("rally", "swaps"), 10000


def waited(result):
    return sum(result["metrics"].get("mpi_latereceiver", {"callpaths": {}})["callpaths"].get(path, [0])[0]
               for path in ("main/late/MPI_Send", "main/behind/MPI_Ssend"))


def check(work, program, case):
    pattern, size, messages, most, packed, seconds = case
    run = work.run(work.launcher(2) + work.tool(directory="exp") + [program, pattern, str(size)], env=work.environment(LATECOMER_TRANSPORT="mpi"))
    if run.status != 0:
        return [f"{pattern} {size}: status {run.status}\n{run.err[-600:]}"]
    result = work.show(directory="exp")
    launch.shutil.rmtree(work.root / "exp")
    meta, counts, found = result["meta"], result["meta"]["piggyback"], []
    print(f"{pattern} {size}: {meta['messages_total']} messages, {counts['records']} records, {counts['replies']} of them replies, "
          f"{counts['replies_packed']} replies inside records; waited {waited(result):.4f} s")
    for what, bad in ((f"{meta['messages_total']} messages", meta["messages_total"] != messages), (f"{counts['replies']} replies", counts["replies"] > most),
                      (f"{counts['records']} records", counts["records"] - counts["replies"] != messages),
                      (f"{counts['replies_packed']} replies packed", counts["replies_packed"] < packed),
                      (f"{meta['messages_matched']} matched", meta["messages_matched"] != messages),
                      (f"waited {waited(result)}", seconds is not None and abs(waited(result) - seconds) > EXACT)):
        if bad:
            found.append(f"{pattern} {size}: {what}")
    return found


def check_collectives(work, program, pattern, operations):
    run = work.run(work.launcher(2) + work.tool(directory="exp") + [program, pattern], env=work.environment(LATECOMER_TRANSPORT="mpi"))
    if run.status != 0:
        return [f"{pattern}: status {run.status}\n{run.err[-600:]}"]
    counts = work.show(directory="exp")["meta"]["piggyback"]
    launch.shutil.rmtree(work.root / "exp")
    figure(pattern, counts["packets"] / operations, "packets")
    return [f"{pattern}: {name} {counts[name]}, not {wanted}"
            for name, wanted in (("collectives", operations), ("collectives_skipped", 0), ("edges_late", 0), ("events_forced", 0))
            if counts[name] != wanted] + ([f"{pattern}: {counts['packets']} packets"] if not 0 < counts["packets"] <= operations else [])


def check_rally(work, program, pattern):
    run = work.run(work.launcher(2) + work.tool(directory="exp") + [program, pattern, "8"],
                   env=work.environment(LATECOMER_TRANSPORT="mpi", LATECOMER_TEST_BACKLOG="1024"))
    if run.status != 0:
        return [f"{pattern}: status {run.status}\n{run.err[-600:]}"]
    meta = work.show(directory="exp")["meta"]
    launch.shutil.rmtree(work.root / "exp")
    counts = {"matched": meta["messages_matched"], **{name: meta["piggyback"][name] for name in ("records", "packets", "edges_late", "events_forced")}}
    print(f"{pattern}: {counts}")
    figure(pattern, counts["packets"] / (2 * RALLY), "packets")
    return [f"{pattern}: {name} {counts[name]}, not {wanted}"
            for name, wanted in (("matched", 2 * RALLY), ("edges_late", 0), ("events_forced", 0)) if counts[name] != wanted] + (
                [f"{pattern}: {counts['packets']} packets"] if not 0 < counts["packets"] <= counts["records"] else [])


def main():
    latecomer, program, flavour = sys.argv[1:4]
    with launch.Workspace(flavour, os.path.abspath(latecomer), virtual=True) as work:
        cases = () if "packets" in sys.argv[4:] else CASES
        found = [fault for case in cases for fault in check(work, os.path.abspath(program), case)]
        found += [fault for pattern in RALLIES for fault in check_rally(work, os.path.abspath(program), pattern)]
        found += [fault for case in COLLECTIVES for fault in check_collectives(work, os.path.abspath(program), *case)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
