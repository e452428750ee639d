#!/usr/bin/env python3
"""--partition, --what-if and slack, with exact answers.

check_options.py LATECOMER GOLDEN
"""
import json
import os
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import CollectiveOp, GroupFlag, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, GOLDEN = sys.argv[1:3]
NONE = 0xFFFFFFFF

# Two programs of two ranks: `mesh` of ocean 4 s on both, `particles` of air 8 s on rank 2, `chemistry` of air 6 s on rank 3, then a barrier of
# all. Communicators {0, 2} and {1, 3}. Rank 2 is the path: ranks 0, 1, 3 wait 4, 4, 2 s and never visit `particles`.
PROGRAMS = ["ocean", "ocean", "air", "air"]
WORK = [("mesh", 4), ("mesh", 4), ("particles", 8), ("chemistry", 6)]
COMMS = [[0, 2], [1, 3]]
S = 1000  # ticks per second
DEMANGLED, MANGLED = {"particles": "air::Cloud::particles(int)"}, {"particles": "_ZN3air5Cloud9particlesEi"}


def write(directory, in_barrier=0, roots=PROGRAMS, executables=None):
    """in_barrier: seconds that the barrier takes behind its last member's coming. executables: as our own archives name them."""
    with otf2.writer.open(directory, timer_resolution=S) as archive:
        defs = archive.definitions
        node = defs.system_tree_node("node0", class_name="node", parent=defs.system_tree_node("m", class_name="machine"))
        locations = []
        for i in range(len(WORK)):
            group = defs.location_group(f"MPI Rank {i}", system_tree_parent=node, location_group_type=LocationGroupType.PROCESS)
            if executables and executables[i]:
                defs.location_group_property(group, "Executable", value=executables[i])
            locations.append(defs.location("Master thread", group=group, type=LocationType.CPU_THREAD))
        defs.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        comms = []
        for members in [range(len(WORK)), *COMMS]:
            group = defs.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, group_flags=GroupFlag.NONE,
                               members=[locations[m] for m in members])
            comms.append(defs.comm("", group=group))

        def region(name, role=RegionRole.FUNCTION, paradigm=Paradigm.COMPILER):
            return defs.region(DEMANGLED.get(name, name), canonical_name=MANGLED.get(name, name), region_role=role, paradigm=paradigm,
                               source_file="")
        regions = {name: region(name) for name in {*roots, *(name for name, _ in WORK)}}
        barrier = region("MPI_Barrier", RegionRole.BARRIER, Paradigm.MPI)
        for i, (work, seconds) in enumerate(WORK):
            writer = archive.event_writer_from_location(locations[i])
            writer.enter(0, regions[roots[i]])
            writer.enter(0, regions[work])
            writer.leave(seconds * S, regions[work])
            writer.enter(seconds * S, barrier)
            writer.mpi_collective_begin(seconds * S)
            writer.mpi_collective_end((8 + in_barrier) * S, CollectiveOp.BARRIER, comms[0], NONE, 0, 0)
            writer.leave((8 + in_barrier) * S, barrier)
            writer.leave((8 + in_barrier) * S, regions[roots[i]])


# (option, intra-, inter-partition imbalance)
PARTITIONS = [(None, 0, 10), ("executable", 2, 8), ("communicator", 4, 6), ("0-1/2-3", 2, 8), ("0-3", 10, 0), ("2/0,1,3", 0, 10),
              ("1,2/0,3", 4, 6)]
# The same with `main` at the root of all call paths, as in our own archives: which executable each process runs, what `show` says of it, and
# the inter-partition imbalance with --partition=executable.
EXECUTABLES = [(PROGRAMS, (["ocean", "air"], [0, 0, 1, 1]), 8), (["air", "ocean", "air", "ocean"], (["air", "ocean"], [0, 1, 0, 1]), 6),
               (["ocean", "ocean", "air", None], (["ocean", "air"], [0, 0, 1, None]), 10), (["one"] * 4, (None, None), 0), (None, (None, None), 0)]
# archive, SPEC, seconds saved (negative: longer)
WHAT_IFS = [
    ("mpmd_partitions", "particles=0.5", 4),             # the path moves to mesh of ranks 0 and 1
    ("mpmd_partitions", "particles=0.75", 2),
    ("mpmd_partitions", "particles=0", 4),
    ("mpmd_partitions", "mesh=0.5", 0),
    ("mpmd_partitions", "mesh=3", -4),
    ("mpmd_partitions", "mesh=0.5,particles=0.5", 4),
    ("mpmd_partitions", "main=0.5,particles=0.5", 6),    # both count, in any order
    ("mpmd_partitions", "particles=0.5,main=0.5", 6),
    ("imbalance_static", "work=0.5", 1.25),
    ("imbalance_dynamic", "work=0.5", 1.25),
    ("imbalance_mixed", "work=2", -2.5),
    ("thesis_table_3_3", "f=0", 2),                      # along both messages
    ("thesis_table_3_3", "g=0", 3),                      # C does not wait any more: its own call path counts
    ("chain_through_collectives", "f=0", 4),             # message, barrier, broadcast; f of ranks 1 to 3 goes, too
]
# On the trace above with 3 s in the barrier: SPEC as `latecomer run` has it, seconds saved.
OWN_WHAT_IFS = [("air::Cloud::particles=0.5", 2), ("Cloud::particles=0.75", 2), ("particles=0.5", 2), ("air::Cloud::particles(int)=0.5", 2), ("mpi=0", 3),
                ("mpi=0,particles=0.5", 5), ("mpi=0,mesh=2", 3), ("chemistry=2", -4)]
# archive, {call path: (on the path, slack)}
SLACKS = [("mpmd_partitions", {"main/particles": (8, 2), "main/MPI_Init": (1, 1)})]  # rank 3 comes 2 s before rank 2


def analyse(trace, out, *options):
    done = subprocess.run([LATECOMER, "-q", "analyze", "-n", "1", *options, "-o", out, trace], capture_output=True, text=True, timeout=patience(60))
    return done.returncode, done.stderr


def member(out, name):
    return json.loads(subprocess.run(["tar", "-xOf", out, name], check=True, capture_output=True, text=True).stdout)


def totals(out):
    shown = subprocess.run([LATECOMER, "show", "--json", out], check=True, capture_output=True, text=True).stdout
    return {name: metric["total"] for name, metric in json.loads(shown)["metrics"].items()}


def main():
    bad = n = 0

    def check(what, got, expected):
        nonlocal bad, n
        n += 1
        if any(abs(a - b) > 1e-9 for a, b in zip(got, expected, strict=True)):
            print(f"{what}: {got} instead of {expected}")
            bad += 1
    with tempfile.TemporaryDirectory() as tmp:
        trace, out = f"{tmp}/t", f"{tmp}/a.cubex"
        write(trace)
        for option, intra, inter in PARTITIONS:
            code, err = analyse(trace, out, *([f"--partition={option}"] if option else []))
            m = totals(out)
            check(f"--partition={option} {err}", (code, m["intra_partition_imbalance"], m["inter_partition_imbalance"],
                                                  m["critical_imbalance_impact"]), (0, intra, inter, 10))
        for i, (executables, told, inter) in enumerate(EXECUTABLES):
            write(f"{tmp}/mains{i}", roots=["main"] * 4, executables=executables)
            code, err = analyse(f"{tmp}/mains{i}", out)  # programs that the archive names are the partitions; else who never visits a call path
            check(f"executables {executables} {err}", (code, totals(out)["inter_partition_imbalance"]), (0, inter if told[0] else 10))
            code, err = analyse(f"{tmp}/mains{i}", out, "--partition=executable")
            m = totals(out)
            check(f"executables {executables} {err}", (code, m["inter_partition_imbalance"], m["critical_imbalance_impact"]), (0, inter, 10))
            shown = json.loads(subprocess.run([LATECOMER, "show", "--json", out], check=True, capture_output=True, text=True).stdout)
            got = shown["meta"].get("programs"), shown["meta"].get("program_of_rank")
            check(f"programs {got}", (got == told,), (True,))
            roots = {path.split("/")[0] for path in shown["metrics"]["time"]["callpaths"]}
            expected = {*told[0], *(["main"] if None in told[1] else [])} if told[0] else {"main"}
            check(f"roots {roots}", (roots == expected,), (True,))
            text = subprocess.run([LATECOMER, "show", out], check=True, capture_output=True, text=True).stdout
            for k, name in enumerate(told[0] or []):
                ranks = [r for r, p in enumerate(told[1]) if p == k]
                check(f"ranks of {name} in text", (f"  {name}: rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}\n" in text,), (True,))
        for text in ("0-1/x", "3-1", "nothing", "what-if", "x=", "solve", "mpi=0.5", "mesh=0.5;particles=0.5", "oud::particles=0.5"):
            option = f"--partition={text}" if "=" not in text and text not in ("what-if", "solve") else f"--what-if={text}"
            code, err = analyse(trace, out, option)
            check(f"{option}: usage ({err.strip()})", (code, err.count("\n")), (2, 1))
        os.rename(f"{trace}/traces.otf2", f"{trace}/run.otf2")  # the only archive of a directory, whatever its name
        os.rename(f"{trace}/traces.def", f"{trace}/run.def")
        os.rename(f"{trace}/traces", f"{trace}/run")
        code, err = analyse(trace, out)
        check(f"another name {err}", (code,), (0,))
        for name in "ocean", "ocean model":  # the root call path; what the run said
            shown = subprocess.run([LATECOMER, "show", "--json", out], check=True, capture_output=True, text=True).stdout
            check(f"program {name}", (json.loads(shown)["meta"]["program"] == name,), (True,))
            with open(f"{trace}/meta.json", "w", encoding="utf-8") as f:
                json.dump({"program": "ocean model"}, f)
            analyse(trace, out)
        with open(f"{trace}/second.otf2", "w", encoding="utf-8"):
            pass
        code, err = analyse(trace, out)
        check(f"two archives ({err.strip()})", (code, err.count("\n")), (1, 1))
        write(f"{tmp}/own", 3)
        for spec, saved in OWN_WHAT_IFS:
            code, err = analyse(f"{tmp}/own", out, "--what-if", spec)
            guess = member(out, "critical_path.json")["what_if"] if code == 0 else dict(now_s=0, then_s=0)
            check(f"--what-if {spec} {err}", (code, guess["now_s"] - guess["then_s"]), (0, saved))
        for name, spec, saved in WHAT_IFS:
            code, err = analyse(os.path.join(GOLDEN, "synthetic", name), out, "--what-if", spec)
            guess = member(out, "critical_path.json")["what_if"]
            check(f"{name} --what-if {spec} {err}", (code, guess["now_s"] - guess["then_s"]), (0, saved))
        for name, paths in SLACKS:
            analyse(os.path.join(GOLDEN, "synthetic", name), out)
            found = {p["callpath"]: (p["on_path_s"], p["slack_s"]) for p in member(out, "critical_path.json")["callpaths"]}
            for path, expected in paths.items():
                check(f"{name} slack of {path}", found[path], expected)
    print(f"{n} checks, {bad} not as expected")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
