"""Extra messages of the `mpi` transport, counted against docs/clocks.md: one per message, and a second one only where a send inside a blocking call
waited for a receiver whose clock was ahead. Usage: extra.py LATECOMER PROGRAM FLAVOUR (the program is tests/clocks/extra.c)."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

ROUNDS = 40
STRAY = ROUNDS // 4  # a process that is put off its core between two calls has worked, by the clock, and may come later than the other
# pattern, bytes, messages, most replies of their own, least replies that went with records, seconds that sends waited at least, half the nominal ones (None: not asked)
CASES = (("pingpong", 8, 2 * ROUNDS, STRAY, 0, None), ("pingpong", 8192, 2 * ROUNDS, STRAY, 0, None), ("pingpong", 1000000, 2 * ROUNDS, STRAY, 0, None),
         ("synchronous", 8, 2 * ROUNDS, STRAY, 0, None), ("late", 8, ROUNDS, 0, 0, None), ("late", 500000, ROUNDS, ROUNDS, 0, 1e-3 * ROUNDS),
         ("behind", 8, ROUNDS, STRAY, ROUNDS // 2, 1e-3 * ROUNDS), ("behind", 500000, ROUNDS, STRAY, ROUNDS // 2, 1e-3 * ROUNDS),
         ("exchange", 8, 2 * ROUNDS, 0, 0, None), ("exchange", 500000, 2 * ROUNDS, STRAY, ROUNDS // 2, None))


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
                      (f"waited {waited(result)}", seconds is not None and waited(result) < seconds)):
        if bad:
            found.append(f"{pattern} {size}: {what}")
    return found


def main():
    latecomer, program, flavour = sys.argv[1:]
    with launch.Workspace(flavour, os.path.abspath(latecomer)) as work:
        found = [fault for case in CASES for fault in check(work, os.path.abspath(program), case)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
