"""Whether what the tool costs is what it says, and is not booked as the program's time (figures): known_work.c, which compares within one run.
Medians of blocks that are shorter than the time that other programs get at a stretch, and of several runs: other work on the machine strikes
few blocks, and those of all kinds alike.

check_cost.py LATECOMER FLAVOUR PROGRAM
"""
import os
import sys
import tempfile
from statistics import median

from check_call_paths import exclusive_times, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402

# What MPI itself loses because the tool uses caches and branch predictors, too, lies between no stamps of the tool: on one processor nothing,
# on another 13 to 23 of 95 ns with Open MPI and 2 to 5 of 97 with MPICH. Samples, which have their own account, are off.
UNSEEN_NS = 30


def measured(latecomer, flavour, command):
    with tempfile.TemporaryDirectory() as scratch:
        output, result = run(latecomer, flavour, command, {"LATECOMER_MAX_OVERHEAD": "off", "LATECOMER_SAMPLE": "off"}, scratch)
    return [[float(word) for word in line.split()] for line in output.splitlines()], result


def useful_error(*program):
    """How much the useful time differs from the time of the work alone."""
    calls = 250
    blocks, result = measured(*program[:2], [program[2], "100", str(calls), "2000", "regions"])
    useful = exclusive_times(result)
    # the first of each block's pieces of work lies before the block's first call, and belongs to the region
    error = median(useful[f"main/block{i}/loop"] / (alone * (calls - 1) / calls) - 1 for i, (*_, alone) in enumerate(blocks))
    print(f"useful time against the work alone, {len(blocks)} blocks: {error:+.2%}")
    return error


def overhead_error(*program):
    """How much the overhead that the tool tells differs from what its wrappers add: as a part, in ns."""
    calls = 1000
    blocks, result = measured(*program[:2], [program[2], "300", str(calls), "50"])
    added = median(wrapped - past for wrapped, past, _ in blocks) / calls * 1e9
    told = result["meta"]["overhead"]["call_ns"]
    print(f"a call takes {added:.1f} ns longer, {told:.1f} ns by the tool's account: {told / added - 1:+.2%}")
    return told / added - 1, told - added


def main():
    program = sys.argv[1:]
    useful = median(useful_error(*program) for _ in range(3))
    overhead, ns = median(overhead_error(*program) for _ in range(5))
    print(f"medians: useful time {useful:+.2%}, overhead {overhead:+.2%}, {ns:+.1f} ns")
    figure("useful", 100 * useful, "%")
    figure("told", 0 if -UNSEEN_NS <= ns <= 0 else 100 * overhead, "%")


main()
