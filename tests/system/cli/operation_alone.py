#!/usr/bin/python3
"""Operations of a made result beside fingerprints of imported run times: sizes, communicators and what of a call is arrival, worked out by
hand; `bench beside` tells the same as `show` and its JSON; sweeps and guidelines shown again; damage; mistakes.
Usage: operation_alone.py LATECOMER MAKE_CUBEX SCRATCH_DIR"""
import json
import os
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, SCRATCH = map(os.path.abspath, sys.argv[1:4])
enter(SCRATCH)
HEAD = "callpath\tlocation\tclass\tcount\tsum_s\tmin_s\tmax_s\tbytes\tmembers\tgroup\n"
RANKS = 4


def latecomer(*args, code=0):
    return output([LATECOMER, *args], code)


def rows(path, size_class, members, calls, us, sent_and_received, group=0):
    """A row for each rank of which bytes are given: calls of `us` each; group: what all ranks, or each of them, call the communicator."""
    return "".join(f"{path}\t{rank}\t{size_class[rank] if isinstance(size_class, list) else size_class}\t{calls}\t{calls * us * 1e-6:.9f}\t0\t0\t{calls * moved}\t{members}\t{group[rank] if isinstance(group, list) else group}\n"
                   for rank, moved in sent_and_received.items())


CLASSES = HEAD + "".join((
    rows("main/a/MPI_Allreduce", 4, 4, 100, 14.0, dict.fromkeys(range(4), 2 * 4 * 8)),
    rows("main/a/MPI_Allreduce", 13, 4, 2, 50.0, dict.fromkeys(range(4), 2 * 4 * 4096)),
    rows("main/b/MPI_Allreduce", 4, 4, 10, 20.0, dict.fromkeys(range(4), 2 * 3 * 8)),  # in place: 3 partners, and 6 bytes are not in the class
    rows("main/c/MPI_Bcast", 7, 2, 10, 10.0, {0: 3 * 100, 1: 100, 2: 3 * 100, 3: 100}),  # two communicators of 2
    rows("main/d/MPI_Reduce", 5, 3, 7, 9.0, {0: 4 * 16, 1: 16, 3: 16}),  # one of 3 ranks
    rows("main/e/MPI_Gatherv", [6, 4, 4, 4], 4, 5, 8.0, {0: 5 * 10, 1: 10, 2: 10, 3: 10}),  # the root has another class
    rows("main/f/MPI_Iallreduce", 4, 2, 10, 3.0, dict.fromkeys(range(4), 2 * 2 * 8), [1, 2, 1, 1]),  # 0,2 and 1,3: not of ranks that follow each other
    rows("main/f/MPI_Iallreduce", 4, 2, 10, 2.0, dict.fromkeys(range(4), 2 * 2 * 8), [2, 1, 2, 2]),  # 0,1 and 2,3, which share ranks with those above
    rows("main/g/MPI_Isend", 8, 0, 5, 1.0, {1: 200, 2: 200}),
    rows("main/g/MPI_Recv", 8, 0, 5, 6.0, {3: 200}),
    rows("main/g/MPI_Wait", 0, 0, 5, 60.0, {3: 0}),  # completes no receive: no size is known
    rows("main/g/MPI_Sendrecv", 8, 0, 5, 4.0, dict.fromkeys(range(4), 2 * 200)),
    rows("main/h/MPI_Put", 5, 0, 5, 1.5, {0: 16, 2: 16}),
    rows("main/h/MPI_Win_fence", 0, 0, 5, 2.5, dict.fromkeys(range(4), 0)),
    "main/MPI_Probe\t0\t4\t10\t1.0\t0\t0\t80\t0\t0\n",  # cannot be measured; then hostile ones
    "main/a/MPI_Allreduce\t99\t4\t1\t1\t0\t0\t8\t4\nmain/a/MPI_Allreduce\t0\t4000\t1\t1\t0\t0\t8\t4\nmain/a/MPI_Allreduce\t0\t4\t1\t1\t0\t0\t8\t-3\n\t\t\nmain/a\n"))
PATHS = {"main/a/MPI_Allreduce": 1500e-6, "main/b/MPI_Allreduce": 200e-6, "main/c/MPI_Bcast": 100e-6, "main/d/MPI_Reduce": 63e-6, "main/e/MPI_Gatherv": 40e-6}
program = dict(meta=dict(program="app", command=["./app"], ranks=RANKS, threads=[1] * RANKS, wall_time_s=1.0, mpi="Open MPI 4.1.4", complete=True),
               locations=[dict(rank=r, thread=0) for r in range(RANKS)],
               metrics={"time": {"callpaths": {"main": [1.0] * RANKS, **{path: [s] * RANKS for path, s in PATHS.items()}}},
                        "visits": {"callpaths": {path: [10] * RANKS for path in PATHS}},
                        "mpi_wait_nxn": {"callpaths": {"main/a/MPI_Allreduce": [1200e-6] * RANKS}},
                        "mpi_latebroadcast": {"callpaths": {"main/c/MPI_Bcast": [4e-6] * RANKS}}})
program["meta"]["communicators"] = [{"ranks": "0-3", "numbers": 1}, {"ranks": "0,2", "numbers": 1}, {"ranks": "1,3", "numbers": [2, 1]}, {"ranks": "0-1", "numbers": [2, 1]},
                                    {"ranks": "2-3", "numbers": 2}, {"ranks": "2-9", "numbers": 1}, {"ranks": "1,1,1,1,1", "numbers": 1}, {"ranks": 7}, 3]
PAIRS = {"rows": [[0, 1, 1.0, 90, 1000], [3, 1, 0.5, 40, 8000], [3, 0, 0.5, 4, 80], [3, 77, 0.5, 999, 80], [2, "x"], 5]}
made.make(MAKE, program, "program/profile.cubex", size_classes_tsv=CLASSES, pairs_json=json.dumps(PAIRS))


def fingerprint(name, operation, size, ranks, us):
    with open("times.csv", "w", encoding="utf-8") as file:
        file.write("iteration,rank,metric,value\n" + "".join(f"{i},{r},runtime_ns,{int(1000 * us)}\n" for i in range(50) for r in range(ranks)))
    latecomer("bench", "import", "times.csv", "--operation", operation, "--bytes", str(size), "-o", name)


fingerprint("small", "MPI_Allreduce", 8, 4, 3.1)
fingerprint("large", "MPI_Allreduce", 4096, 2, 49.0)  # of fewer ranks: better than none
fingerprint("four", "MPI_Bcast", 100, 4, 7.0)
fingerprint("two", "MPI_Bcast", 96, 2, 2.0)  # about the size, and as many ranks: this one
fingerprint("nonblocking", "MPI_Iallreduce", 8, 2, 5.0)
fingerprint("message", "MPI_Recv", 200, 2, 1.5)
fingerprint("fence", "MPI_Win_fence", 8, 4, 1.0)  # has no size
RESULTS = ["small", "large", "four", "two", "nonblocking", "message", "fence"]
check("beside" not in json.loads(latecomer("show", "--json", "program")), "nothing was measured yet")

got = json.loads(latecomer("bench", "beside", "program", *RESULTS, "--json"))
new = [p for p in got["callpaths"] if p["callpath"][5] in "fgh"]
found = {(p["callpath"], p["bytes"]): p for p in got["callpaths"] if p not in new}
wanted = {("main/f/MPI_Iallreduce", 8, "0,2/1,3", 40, "MPI_Wait"), ("main/f/MPI_Iallreduce", 8, "0-1/2-3", 40, "MPI_Wait"), ("main/g/MPI_Isend", 200, "0-1", 10, "MPI_Wait"),
          ("main/g/MPI_Recv", 200, "1,3", 5, None), ("main/g/MPI_Sendrecv", 200, "0-3", 20, None), ("main/h/MPI_Put", 16, "0-1", 10, "MPI_Win_flush"),
          ("main/h/MPI_Win_fence", 0, "0-3", 20, None)}
check({(p["callpath"], p["bytes"], p["comm"], p["calls"], p["with"]) for p in new} == wanted, f"messages and communicators: {new}")
check({p["callpath"]: p["arrival_ns"] for p in new} == {"main/f/MPI_Iallreduce": None, "main/g/MPI_Isend": None, "main/g/MPI_Recv": 4500, "main/g/MPI_Sendrecv": None,
                                                         "main/h/MPI_Put": None, "main/h/MPI_Win_fence": 1500}, f"arrival of calls that are all of the operation: {new}")
wanted = {("main/a/MPI_Allreduce", 8): (4, "0-3", 1, 400), ("main/a/MPI_Allreduce", 4096): (4, "0-3", 1, 8), ("main/b/MPI_Allreduce", 8): (4, "0-3", 1, 40),
          ("main/c/MPI_Bcast", 100): (2, "0-3", 2, 40), ("main/d/MPI_Reduce", 16): (3, "0-1,3", 1, 21), ("main/e/MPI_Gatherv", 10): (4, "0-3", 1, 20)}
check({k: (p["members"], p["ranks"], p["communicators"], p["calls"]) for k, p in found.items()} == wanted, f"uses: {found}")
check([p["callpath"] for p in got["callpaths"] if p["in_place"]] == ["main/b/MPI_Allreduce"], f"in place: {got}")
check(got["ranks"] == 4 and got["left_out"] == 0 and [p["seconds"] for p in got["callpaths"]] == sorted((p["seconds"] for p in got["callpaths"]), reverse=True),
      f"order: {got}")


def close(value, expected):
    return value is not None and abs(value - expected) < 1e-6 * abs(expected)


small, large, bcast = (found[k] for k in (("main/a/MPI_Allreduce", 8), ("main/a/MPI_Allreduce", 4096), ("main/c/MPI_Bcast", 100)))
check(close(small["program_ns"], 14000) and small["alone_median_ns"] == 3100 and close(small["arrival_ns"], 10900) and small["alone_ranks"] == 4, f"{small}")
check(close(small["waiting_ns"], 14000 * 0.8), f"waiting of the call path, in proportion to the time of its sizes: {small}")
check(large["alone_ranks"] == 2 and close(large["arrival_ns"], 1000), f"{large}")
check(bcast["alone_bytes"] == 96 and bcast["alone_ranks"] == 2 and close(bcast["waiting_ns"], 400), f"{bcast}")
check(found["main/d/MPI_Reduce", 16]["alone_median_ns"] is None, "MPI_Reduce was not measured")

SENTENCES = ("MPI_Allreduce of 8 bytes takes 14 us in the program, 3.1 us when all ranks arrive together: the rest is arrival.",
             "main/a/MPI_Allreduce, 400 calls, of which 11.2 us each are measured waiting",
             "MPI_Allreduce of 4096 bytes takes 50 us in the program, 49 us when all ranks arrive together (2 ranks, not 4).",
             "MPI_Bcast of 100 bytes on 2 ranks takes 10 us in the program, 2 us when all ranks arrive together: of the rest 0.4 us are waiting for late ranks, more is "
             "the machine (shared cores, cold caches).",
             "MPI_Reduce of 16 bytes on 3 ranks takes 9 us in the program, and was not measured alone.",
             "MPI_Iallreduce of 8 bytes on 2 ranks takes 3 us in the program, 5 us together with MPI_Wait when all ranks arrive together.",
             "MPI_Recv of 200 bytes takes 6 us in the program, 1.5 us when both ranks are ready: the rest is the machine",
             "MPI_Win_fence takes 2.5 us in the program, 1 us when all ranks arrive together:")
for words in (latecomer("bench", "beside", "program", *RESULTS), latecomer("show", "--only", "beside", "program")):
    for sentence in SENTENCES:
        check(sentence in " ".join(words.split()), f"no '{sentence}' in\n{words}")
check(SENTENCES[0] in " ".join(latecomer("show", "program").split()), "the first screen has the heaviest one")
check(json.loads(latecomer("show", "--json", "program"))["beside"] == got, "JSON of show")
for width in ("60", "160"):
    lines = output([LATECOMER, "show", "--only", "beside", "program"], COLUMNS=width).split("\n")
    check(max(map(len, lines)) <= int(width), f"lines of {width}: {max(lines, key=len)}")

# Another tool's file has no size classes: means over all calls on all ranks.
made.make(MAKE, dict(program, metrics=dict(program["metrics"], bytes_cin={"callpaths": {"main/c/MPI_Bcast": [1000.0] * 4}},
                                           bytes_cout={"callpaths": {"main/c/MPI_Bcast": [4000.0, 0, 0, 0]}})), "plain/profile.cubex")
plain = {p["callpath"]: p for p in json.loads(latecomer("bench", "beside", "plain", *RESULTS, "--json"))["callpaths"]}
check((plain["main/c/MPI_Bcast"]["bytes"], plain["main/c/MPI_Bcast"]["members"]) == (100, 4), f"without classes: {plain['main/c/MPI_Bcast']}")

for damage in ("", "[1, 2]", '{"format": "latecomer-beside"}', '{"format": "latecomer-beside", "callpaths": [1, {"callpath": 3, "operation": null, "bytes": "x"}]}'):
    with open("program/beside.json", "w", encoding="utf-8") as file:
        file.write(damage)
    latecomer("show", "program")
    latecomer("show", "--json", "program")
latecomer("bench", "--of", "program", "MPI_Bcast", code=2)
latecomer("bench", "--of", "program", "--bytes", "8", code=2)
latecomer("bench", "--of", "nowhere", code=1)

# Tables of launches, as files: shown again; what is in them may be anything.
ODD = {"operation": "a\x1b[31mb", "bytes": "x", "variants": [7, {"name": None, "places": 3, "ratio": "x"}], "mock_up": None, "violated": True, "ratio": 2.0, "ratio_ci": 5}
TABLES = {"sweep": {"format": "latecomer-sweep", "rounds": 3, "jobs": [{"operation": "MPI_Bcast", "bytes": 8, "variants": [
              {"name": "n=2", "places": [1, 1], "median_ns": 1000, "ratio": 1, "ratio_ci": [1, 1]},
              {"name": "n=4", "places": [2, 3], "median_ns": 1500, "ratio": 1.5, "ratio_ci": [1.25, 1.75]},
              {"name": "n=8", "places": [2, 3], "median_ns": 90000, "ratio": 90, "ratio_ci": [1.25, 500]},
              {"name": "n=16", "places": [2, 4], "median_ns": 99000, "ratio": 99, "ratio_ci": [1e-5, 3e5]}]}, 7, ODD]},
          "guidelines": {"format": "latecomer-guidelines", "rounds": 3, "comparisons": [7, ODD, {
              "operation": "MPI_Barrier", "mock_up": "MPI_Ibarrier", "bytes": 8, "median_ns": 3000, "mock_up_median_ns": 2000, "ratio": 1.5, "ratio_ci": [1.25, 1.75],
              "violated": True}, {
              "operation": "MPI_Bcast", "mock_up": "MPI_Bcast~parts", "bytes": 8, "median_ns": 2000, "mock_up_median_ns": 1000, "ratio": 2, "ratio_ci": [1.5, 2.5], "violated": True}]}}
WORDS = {"sweep": ("2-3 1.5 us +50.0 % (+25.0 to +75.0) n=4", "2-3 90 us 90 times (1.25 to 500) n=8", "2-4 99 us unknown: launches differ n=16"),
         "guidelines": ("MPI_Bcast of 8 B takes 2.00 times as long as itself in two halves (1.50 to 2.50): 2 us, not 1 us", "MPI_Barrier takes 1.50 times as long as MPI_Ibarrier (1.25 to 1.75): 3 us, not 2 us", "3 of 4 guidelines violated")}
for name, content in TABLES.items():
    os.makedirs(name)
    with open(f"{name}/{name}.json", "w", encoding="utf-8") as file:
        json.dump(content, file)
    words = latecomer("bench", "show", name)
    check(all(sentence in " ".join(words.split()) for sentence in WORDS[name]) and "\x1b[31m" not in words, f"{name}: {words}")
    check(json.loads(latecomer("bench", "show", name, "--json")) == content, f"{name}: JSON")
    latecomer("report", name)
    for damage in ("", "7", '{"format": "latecomer-bench"}'):
        with open(f"{name}/{name}.json", "w", encoding="utf-8") as file:
            file.write(damage)
        latecomer("bench", "show", name, code=1)
        latecomer("report", name, code=1)
print("beside: all as expected")
