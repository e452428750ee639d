#!/usr/bin/python3
"""`show --json` of every golden .cubex equals the JSON beside it; --by and --metric agree with it; text names the largest waits.
Usage: show_golden.py LATECOMER GOLDEN_DIR"""
import json
import math
import subprocess
import sys

LATECOMER, GOLDEN = sys.argv[1:3]


def show(*args):
    done = subprocess.run([LATECOMER, "show", *args], capture_output=True, text=True, check=True)
    return done.stdout


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def total_of(name, metric, wanted):
    """Golden totals are sums, also those of minima and maxima; ours are the minimum and maximum."""
    cells = [x for row in wanted["callpaths"].values() for x in row]
    if name == "min_time":
        return min((x for x in cells if x > 0), default=0)
    if name == "max_time":
        return max(cells, default=0)
    return wanted["total"]


for name in ("scorep-profile", "scalasca-scout", "scalasca-trace"):
    cubex = f"{GOLDEN}/cubex/{name}.cubex"
    wanted = json.load(open(f"{GOLDEN}/cubex/{name}.json"))
    got = json.loads(show("--json", cubex))
    check(got["format"] == "latecomer-result" and got["version"] == 1, "format")
    check(got["meta"]["ranks"] == wanted["ranks"], "ranks")
    check([(l["rank"], l["thread"]) for l in got["locations"]]
          == [(l["rank"], l["thread"]) for l in wanted["locations"]], "locations")
    check(set(got["metrics"]) == set(wanted["metrics"]), f"{name}: names of metrics")
    for metric, w in wanted["metrics"].items():
        g = got["metrics"][metric]
        check((g["unit"], g["kind"]) == (w["unit"], w["kind"]), f"{name} {metric}: unit, kind")
        check(close(g["total"], total_of(metric, g, w)), f"{name} {metric}: total {g['total']}")
        check(set(g["callpaths"]) == set(w["callpaths"]), f"{name} {metric}: call paths")
        for path, row in w["callpaths"].items():
            check(all(map(close, g["callpaths"][path], row)) and len(row) == len(g["callpaths"][path]),
                  f"{name} {metric} {path}: values")
    by_path = json.loads(show("--json", "--by", "callpath", cubex, "--metric", "visits,time"))
    check(set(by_path["metrics"]) == {"visits", "time"}, "--metric restricts")
    for metric, g in by_path["metrics"].items():
        for path, value in g["callpaths"].items():
            check(close(value, sum(wanted["metrics"][metric]["callpaths"][path])), "--by callpath")
    by_location = json.loads(show("--json", "--by=location", "--metric=time", cubex))["metrics"]["time"]
    roots = [r for p, r in wanted["metrics"]["time"]["callpaths"].items() if "/" not in p]
    check(all(map(close, by_location["locations"], map(sum, zip(*roots)))), "--by location")
    check("callpaths" not in by_location, "--by location has no call paths")
    text = show("--only=all", cubex)
    check("MPI_Init" in text and "Call tree" in text, "text")
    check("\033" not in text, "no colour outside of a terminal")
    check(max(map(len, text.splitlines())) <= 110, "width")

text = show("--only=all", f"{GOLDEN}/cubex/scalasca-scout.cubex")
first = " ".join(text.split("Largest wait states")[1].splitlines()[2:4])
check("Late Sender" in first and "particle_partition/MPI_Recv" in first, "largest wait state first: " + first)
causes = text.split("Root causes")[1].splitlines()
check(causes[1].split() == "all 614 ms = 598 ms direct + 16 ms indirect 100.0 %".split(), "direct and indirect costs: " + causes[1])
check("delay_latesender " in causes[2], "the kind that costs most first: " + causes[2])
check("mesh_transform" in [line for line in causes if line.startswith("      ")][0], f"largest root cause first: {causes}")
print("show: all golden files agree")
