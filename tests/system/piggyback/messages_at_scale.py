"""What the clocks send, counted against the model of docs/clocks.md, and their results, with up to 64 ranks (far more than cores; they nap).
Usage: messages_at_scale.py LATECOMER CONSTRUCTED_WAITS FLAVOUR RANKS.."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import constructed_waits as constructed  # noqa: E402
import launch  # noqa: E402

ROUNDS, NEIGHBOURS = 5, 2  # of constructed_waits.c, pattern `ring`: a message to the right and one to the left in each round, and two collectives
HEAD, ITEM, MOST_ITEMS, WHAT_IF, MOST_LATELY = 64, 16, 20, 6, 520  # bytes; the last: what the sender did lately


def check(work, program, ranks, transport, nodes):
    env = {"LATECOMER_TRANSPORT": transport, **({"LATECOMER_TEST_NODES": nodes} if nodes > 1 else {})}
    log, done, result = constructed.run(work, program, ranks, ["ring"], **env)
    label, meta, found = f"{ranks} ranks {transport} {nodes} nodes", result["meta"], []
    counts = meta["piggyback"]
    messages = ranks * NEIGHBOURS * ROUNDS
    node = [r * nodes // ranks for r in range(ranks)]
    across = sum(transport == "mpi" or node[r] != node[(r + d) % ranks] for r in range(ranks) for d in (1, -1)) * ROUNDS
    constructed.near(found, f"{label} messages", meta["messages_total"], messages, 0)
    constructed.near(found, f"{label} messages matched", meta["messages_matched"], messages, 0)
    constructed.near(found, f"{label} records", counts["records"], across, 0)
    constructed.near(found, f"{label} replies", counts["replies"], 0, 0)
    least = HEAD + 8 * (2 + WHAT_IF)
    if not across * least <= counts["record_bytes"] <= across * (least + ITEM * MOST_ITEMS + MOST_LATELY):
        found.append(f"{label}: {counts['record_bytes']} bytes in {across} records")
    mirrored = ranks * (2 * ROUNDS + 2) if transport == "mpi" or nodes > 1 else 0  # and the barrier and gather around the rounds
    constructed.near(found, f"{label} mirrored collectives", counts["mirrors"], mirrored, 0)
    combined = ranks * (ROUNDS + 1) if mirrored == 0 and ranks > 8 else 0  # allreduces, and the barrier
    constructed.near(found, f"{label} collectives read from one line", counts["combined"], combined, 0)
    for name in ("absent", "lost", "mispaired", "collectives_skipped"):
        constructed.near(found, f"{label} {name}", counts[name], 0, 0)
    error = meta["clock_sync"]["error_s"] if nodes > 1 else 0  # milliseconds where many that spin share few cores
    for at in meta["clock_sync"]["per_node"]:  # it is one clock
        constructed.near(found, f"{label} offset within its bound", max(abs(at["offset_begin_s"]), abs(at["offset_end_s"])), 0, error + 1e-9)
    constructed.check_judged(found, label, log, ranks, program, result, max(1e-4, error) if nodes > 1 else 0)
    print(f"{label}: {messages} messages, {counts['records']} records of {counts['record_bytes'] / max(1, counts['records']):.0f} bytes, "
          f"{counts['collectives']} collectives, {counts['mirrors']} mirrored; load balance {result['pop']['load_balance']:.4f}")
    return found


def main():
    latecomer, program, flavour, *ranks = sys.argv[1:]
    found = []
    with launch.Workspace(flavour, os.path.abspath(latecomer)) as work:
        for n in map(int, ranks):
            for transport, nodes in (("auto", 1), ("mpi", 1), ("auto", 4)):
                found += check(work, os.path.abspath(program), n, transport, nodes)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
