"""Clocks of nodes: in how many synchronisations the stated error holds, on an idle machine and a loaded one (a figure). The hosts of hosts.py share the
clock of one machine, so that the true offsets are known: 0, or what LATECOMER_TEST_CLOCK adds (offset in ns, drift in ppm). Run by hosts.py.

usage: check_clock_bound.py BUILD_DIR FLAVOUR PROGRAM SYNCHRONISATIONS
"""
import json
import os
import subprocess
import sys
import tempfile

import several_hosts

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import count  # noqa: E402

LATECOMER = f"{os.path.abspath(sys.argv[1])}/bin/latecomer"
FLAVOUR, PROGRAM, WANTED = sys.argv[2], sys.argv[3], int(sys.argv[4])
OFFSETS_NS = [0, -7_000_000_000, 1_234_567, 90_000_000]  # of the hosts' clocks, one after another
BUSY = 4  # processes that do nothing but compute, where the machine is to be loaded
DRIFT_PPM = 5000  # 1.5 ms in the 0.3 s that the program runs at least


def run(directory, ranks, loaded, rounds=3, drift_ppm=0):
    """What the result says of the clocks, and the line of `show`. drift_ppm: of the second host's clock."""
    names = several_hosts.names()
    clocks = [f"{ns},{drift_ppm if i == 1 else 0},0" for i, ns in enumerate(OFFSETS_NS)]
    words = "; ".join(f'[ "$(hostname)" = {name} ] && export LATECOMER_TEST_CLOCK={clock}' for name, clock in zip(names, clocks))
    words = several_hosts.launcher(FLAVOUR, ranks) + ["sh", "-c", f'{words}; exec "$@"', "sh", LATECOMER, "run", "-o", directory, "--", PROGRAM, str(rounds), "10"]
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BUSY if loaded else 0)]
    try:
        done = several_hosts.run(words)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert done.returncode == 0, done.stderr
    with open(f"{directory}/meta.json", encoding="utf-8") as file:
        sync = json.load(file)["clock_sync"]
    assert sync["nodes"] == len(names), sync
    shown = several_hosts.run([LATECOMER, "show", "--only", "all", directory]).stdout
    line = next((line for line in shown.splitlines() if "clocks of the nodes agree" in line), "")
    assert "a single wait between nodes is accurate to" in line, shown
    return sync


def offsets(sync):
    """(offset stated, true one, error stated), in s, for each host but the first, at the begin and at the end."""
    assert sync["per_node"][0]["offset_begin_s"] == sync["per_node"][0]["offset_end_s"] == 0, sync
    true = [(ns - OFFSETS_NS[0]) * 1e-9 for ns in OFFSETS_NS]
    return [(node[key], offset, sync["error_s"]) for node, offset in list(zip(sync["per_node"], true))[1:] for key in ("offset_begin_s", "offset_end_s")]


def check_drift(folder):
    """A clock that drifts: waits are right to what it went off until the end, and not to the error of the synchronisation alone. Where
    that error is as large as the drift (a busy machine), nothing is to be seen: another run."""
    for number in range(6):
        sync = run(f"{folder}/drift-{number}", len(several_hosts.names()), False, rounds=30, drift_ppm=DRIFT_PPM)
        off = abs(sync["per_node"][1]["offset_end_s"] - sync["per_node"][1]["offset_begin_s"])
        if sync["error_s"] < 0.5 * off:
            break
    assert off > 0.3e-6 * DRIFT_PPM, sync  # in 0.3 s and more
    # the stated error is that of two clocks, and of each what it seems to go off between two synchronisations, either of them wrong by its error
    assert 0.9 * off <= sync["wait_error_s"] <= off + 4 * sync["error_s"] + 20e-6 + 0.2 * off, sync
    print(f"a clock that drifts by {DRIFT_PPM} ppm: {off * 1e6:.0f} us in the run, waits right to {sync['wait_error_s'] * 1e6:.0f} us")


def main():
    found = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="lcbound-") as folder:
        check_drift(folder)
        while sum(map(len, found.values())) < WANTED:
            number = sum(map(len, found.values()))
            loaded = len(found[True]) < len(found[False])
            ranks = len(several_hosts.names()) * (2 if number % 3 == 0 else 1)
            found[loaded] += offsets(run(f"{folder}/{number}", ranks, loaded))
    wrong = 0
    for loaded, all_of in found.items():
        outside = [f for f in all_of if abs(f[0] - f[1]) > f[2]]
        wrong += len(outside)
        worst = max(abs(f[0] - f[1]) for f in all_of)
        print(f"{FLAVOUR}, {len(several_hosts.names())} hosts, {'loaded' if loaded else 'idle'}: {len(all_of) - len(outside)} of {len(all_of)} within the "
              f"stated error; farthest off {worst * 1e6:.1f} us, stated {min(f[2] for f in all_of) * 1e6:.1f} to {max(f[2] for f in all_of) * 1e6:.1f} us")
        for offset, true, error in outside:
            print(f"WRONG: {offset:.9f} s for {true:.9f} s, stated error {error:.9f} s")
    cases = sum(map(len, found.values()))
    count("within", cases - wrong, cases, "offsets")


if __name__ == "__main__":
    main()
