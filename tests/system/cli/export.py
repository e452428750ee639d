#!/usr/bin/python3
"""Exports against the rules of their formats, and against `show --json`.
Usage: export.py LATECOMER MAKE_CUBEX GOLDEN_DIR SCRATCH_DIR"""
import csv
import glob
import io
import json
import math
import os
import re
import subprocess
import sys

import made
from made import check, enter, output

LATECOMER, MAKE, GOLDEN, SCRATCH = map(os.path.abspath, sys.argv[1:5])
enter(SCRATCH)
HOSTILE = 'a;b "c",\n\tend\x1b[2J'


def run(*args, code=0):
    return output([LATECOMER, *args], code)


def make(ranks):
    time = {"main": [10.0] * ranks, f"main/{HOSTILE}": [4.0 + r for r in range(ranks)], f"main/{HOSTILE}/MPI_Recv": [1.5] * ranks, "main/x": [1.0] * ranks}
    content = dict(meta=dict(program="made", ranks=ranks, wall_time_s=10.0), locations=[dict(rank=r, thread=0) for r in range(ranks)],
                   metrics={"time": {"callpaths": time}, "visits": {"callpaths": {f"main/{HOSTILE}/MPI_Recv": [r + 1 for r in range(ranks)]}},
                            "min_time": {"callpaths": {f"main/{HOSTILE}/MPI_Recv": [0.5 - 0.01 * r for r in range(ranks)]}}})
    os.makedirs(f"r{ranks}")
    with open("in.json", "w") as out:
        json.dump(content, out)
    subprocess.run([MAKE, "in.json", f"r{ranks}/profile.cubex"], check=True)


def own_times(result):
    """Own time per call path, one value per location, from inclusive ones."""
    time = result["metrics"]["time"]["callpaths"]
    own = {p: list(v) for p, v in time.items()}
    for path, values in time.items():
        if "/" in path:
            parent = own[path.rsplit("/", 1)[0]]
            for l, v in enumerate(values):
                parent[l] -= v
    return {p: [max(x, 0.0) for x in v] for p, v in own.items()}


def names_of(path):
    return [part.replace("%2F", "/") for part in path.split("/")]


def problem(value, schema, root, at="$"):
    """What JSON Schema has against a value, "" if nothing; of the words that speedscope's schema uses."""
    types = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}
    unknown = set(schema) - {"$schema", "$comment", "definitions", "title", "type", "properties", "required", "items", "enum", "const", "anyOf", "$ref"}
    check(not unknown, f"words of a schema that are not known here: {unknown}")
    if "$ref" in schema:
        return problem(value, root["definitions"][schema["$ref"].removeprefix("#/definitions/")], root, at)
    if "anyOf" in schema:
        found = [problem(value, one, root, at) for one in schema["anyOf"]]
        return "" if "" in found else f"{at}: " + " | ".join(found)
    if "type" in schema and (not isinstance(value, types[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean")):
        return f"{at} is no {schema['type']}"
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return f"{at} is {value!r}"
    missing = [name for name in schema.get("required", []) if name not in value]
    parts = [problem(value[name], one, root, f"{at}.{name}") for name, one in schema.get("properties", {}).items() if name in value]
    parts += [problem(one, schema["items"], root, f"{at}[{i}]") for i, one in enumerate(value if "items" in schema else [])]
    return f"{at} has no {missing}" if missing else next(filter(None, parts), "")


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "speedscope-schema.json"), encoding="utf-8") as schema_file:
    SPEEDSCOPE = json.load(schema_file)


def check_speedscope(file, result, segments=()):
    """speedscope's own schema, and what it does not say: frames are there, weights end where the profile ends."""
    data = json.loads(run("export", "--to=speedscope", file))
    check(problem(data, SPEEDSCOPE, SPEEDSCOPE) == "", problem(data, SPEEDSCOPE, SPEEDSCOPE))
    damaged = {**data, "profiles": [{**data["profiles"][0], "samples": [["x"]]}]}
    check(problem(damaged, SPEEDSCOPE, SPEEDSCOPE) != "", "the schema refuses what is damaged")
    check(set(data) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}, f"members {set(data)}")
    check(data["$schema"] == "https://www.speedscope.app/file-format-schema.json", "schema")
    frames = data["shared"]["frames"]
    for frame in frames:
        check(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}, f"frame {frame}")
        check(isinstance(frame.get("line", 1), int) and isinstance(frame.get("file", ""), str), f"frame {frame}")
    own, n = own_times(result), len(result["locations"])
    path = [profile for profile in data["profiles"] if profile["type"] == "evented"]
    check(not segments or len(path) == 1, "the critical path")
    data["profiles"] = [profile for profile in data["profiles"] if profile["type"] != "evented"]
    for profile in path if segments else []:
        events = [(frames[event["frame"]]["name"], event["type"], event["at"]) for event in profile["events"]]
        check(events == [(f"rank {rank}", kind, at) for rank, *ends in segments for kind, at in zip("OC", ends)], f"events {events}")
        check([profile["startValue"], profile["endValue"]] == [segments[0][1], segments[-1][2]], "ends of the critical path")
    check(0 <= data["activeProfileIndex"] < len(data["profiles"]) and len(data["profiles"]) == 1 + min(n, 16), "profiles")
    for index, profile in enumerate(data["profiles"]):
        check(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"} and profile["type"] == "sampled", "a profile")
        check(profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"), profile["unit"])
        check(len(profile["samples"]) == len(profile["weights"]) and all(w > 0 for w in profile["weights"]), "samples and weights")
        check(math.isclose(profile["endValue"] - profile["startValue"], sum(profile["weights"]), abs_tol=1e-9), "weights end where the profile ends")
        ranks = range(n) if index == 0 else range((index - 1) * n // min(n, 16), index * n // min(n, 16))
        wanted = {tuple(names_of(p)): sum(v[r] for r in ranks) / len(ranks) for p, v in own.items()}
        wanted = {p: v for p, v in wanted.items() if v > 0}
        got = {tuple(frames[i]["name"] for i in stack): w for stack, w in zip(profile["samples"], profile["weights"])}
        check(set(got) == set(wanted) and all(math.isclose(got[p], v, rel_tol=1e-9, abs_tol=1e-12) for p, v in wanted.items()), f"{profile['name']}: {got} != {wanted}")


def check_folded(file, result):
    """One stack per line: frames separated by ';', a blank, a whole number."""
    lines = run("export", "--to=folded", file).splitlines()
    wanted = {p: round(sum(v) * 1e6) for p, v in own_times(result).items()}
    check(len(lines) == sum(v >= 1 for v in wanted.values()), f"{len(lines)} stacks")
    total = 0
    for line in lines:
        match = re.fullmatch(r"([^;]+(?:;[^;]+)*) (\d+)", line)
        check(match and not re.search(r"[\x00-\x1f\x7f]", line), f"a stack: {line!r}")
        total += int(match.group(2))
    check(abs(total - sum(wanted.values())) <= len(lines), f"sum {total}")
    check(sorted(l.count(";") + 1 for l in lines) == sorted(len(names_of(p)) for p, v in wanted.items() if v >= 1), "depth of the stacks")


def check_csv(file, result):
    rows = list(csv.reader(io.StringIO(run("export", "--to=csv", file), newline="")))
    check(rows[0] == ["callpath", "metric", "rank", "thread", "value"] and all(len(r) == 5 for r in rows), "columns")
    got = {(m, p, int(r), int(t)): float(v) for p, m, r, t, v in rows[1:]}
    wanted = {(m, p, l["rank"], l["thread"]): v for m, data in result["metrics"].items() for p, values in data["callpaths"].items()
              for l, v in zip(result["locations"], values) if v}
    check(got == wanted, f"{len(got)} values instead of {len(wanted)}")


def check_hatchet(file, result):
    """What hatchet's GraphFrame.from_literal reads: frames with a name and type, the same metrics in all nodes, children."""
    own, seen = {p: sum(v) for p, v in own_times(result).items()}, {}
    literal = json.loads(run("export", "--to=hatchet", file))
    keys = set(literal[0]["metrics"])
    check({"time", "time (inc)"} <= keys and keys - {"time (inc)"} == set(result["metrics"]), f"metrics {keys}")

    def walk(node, above):
        check(set(node) == {"frame", "metrics", "children"} and set(node["frame"]) == {"name", "type"} and set(node["metrics"]) == keys, f"a node: {node['frame']}")
        path = (above + "/" if above else "") + node["frame"]["name"].replace("/", "%2F")
        seen[path] = node["metrics"]
        for child in node["children"]:
            walk(child, path)

    for root in literal:
        walk(root, "")
    for path, value in own.items():
        check(math.isclose(seen[path]["time"], value, rel_tol=1e-9, abs_tol=1e-9), f"{path}: {seen[path]['time']} != {value}")
        check(math.isclose(seen[path]["time (inc)"], sum(result["metrics"]["time"]["callpaths"][path]), rel_tol=1e-9), path)


for ranks in 2, 40:
    make(ranks)
    result = json.loads(run("show", "--json", f"r{ranks}"))
    for one in check_speedscope, check_folded, check_csv, check_hatchet:
        one(f"r{ranks}", result)
# The critical path of an analysis: from rank to rank.
segments = [(0, 0.0, 1.5), (1, 1.5, 4.0), (0, 4.0, 10.0)]
listed = [dict(rank=rank, thread=0, from_s=begin, to_s=end) for rank, begin, end in segments]
made.make(MAKE, dict(meta=dict(program="made", ranks=2, wall_time_s=10.0), locations=[dict(rank=r, thread=0) for r in range(2)],
                     metrics={"time": {"callpaths": {"main": [10.0] * 2, "main/x": [4.0, 6.0]}}}), "path/analysis.cubex",
          critical_path_json=json.dumps({"segments": listed}))
check_speedscope("path/analysis.cubex", json.loads(run("show", "--json", "path/analysis.cubex")), segments)
literal = json.loads(run("export", "--to", "hatchet", "--metric", "min_time", "r40"))
check(math.isclose(literal[0]["children"][0]["children"][0]["metrics"]["min_time"], 0.11), "the least of minima")
golden = f"{GOLDEN}/cubex/scorep-profile.cubex"
result = json.loads(run("show", "--json", golden))
check_csv(golden, result)
check_folded(golden, result)
check_speedscope(golden, result)

# Other metrics, files, limits, mistakes.
visits = run("export", "--to", "folded", "--metric", "visits", "r2").splitlines()
check(len(visits) == 1 and visits[0].endswith("MPI_Recv 3") and r"a:b ""c"",\n\tend\x1b[2J" not in visits[0] and r"\n\tend\x1b[2J" in visits[0], f"visits: {visits}")
run("export", "--to=csv", "-o", "out.csv", "r2")
check(open("out.csv", newline="").read() == run("export", "--to=csv", "r2") and not glob.glob("*.partial"), "a file")
check("raise --max-size" in run("export", "--to=csv", "--max-size=100", "-o", "small.csv", "r2", code=1), "too large")
check(not glob.glob("small.csv*"), "no partial file")
run("export", "--to=csv", "--max-size=0", "r2")
for wrong, said in ((["--to=speedscop", "r2"], "did you mean speedscope?"), (["r2"], "no format given"), (["--to=csv", "--max-size=5X", "r2"], "give a size"),
                    (["--to=csv", "r2", "r40"], "more than one operand")):
    check(said in run("export", *wrong, code=2), f"{wrong}")
check("has no metric nothing" in run("export", "--to=folded", "--metric=nothing", "r2", code=1), "no such metric")
check("cannot be written" in run("export", "--to=csv", "-o", "/nowhere/x", "r2", code=1), "no such folder")
print("export: all as expected")
