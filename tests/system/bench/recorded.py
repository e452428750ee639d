"""The statistics of a fingerprint on recorded series of real launches and on made ones whose truth is known, against the same computed here, from
docs/definitions/micro-benchmark.md.

recorded.py LATECOMER SCRATCH_DIR"""
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

LATECOMER, SCRATCH = sys.argv[1:3]
RECORDED = Path(__file__).parent / "recorded"
WINDOW = 21  # of running metrics
ROW = 7
FAILED = []


def check(condition, what):
    if not condition:
        FAILED.append(what)


def bench(*args):
    done = subprocess.run([LATECOMER, "bench", *args], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(100), check=False)
    check(done.returncode == 0, f"{args}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def imported(name, runs):
    with open(f"{SCRATCH}/{name}.txt", "w", encoding="utf-8") as file:
        file.write("".join(f"{run:.17g}\n" for run in runs))
    return json.loads(bench("import", f"{name}.txt", "--operation", "MPI_Allreduce", "--bytes", "8", "-o", name, "--json"))


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def quantile(ordered, q):
    """Linear between order statistics (type 7)."""
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def numbers(name, one, runs):
    ordered = sorted(runs)
    for key, q in (("1", 0.01), ("5", 0.05), ("25", 0.25), ("50", 0.5), ("75", 0.75), ("95", 0.95), ("99", 0.99)):
        check(near(one["quantiles_ns"][key], quantile(ordered, q)), f"{name}: {key} %: {one['quantiles_ns'][key]}, {quantile(ordered, q)} expected")
    check(near(one["mean_ns"], statistics.fmean(runs)) and one["min_ns"] == ordered[0] and one["max_ns"] == ordered[-1], f"{name}: mean, min, max")
    q1, q3 = quantile(ordered, 0.25), quantile(ordered, 0.75)
    within = [run for run in runs if q1 - 1.5 * (q3 - q1) <= run <= q3 + 1.5 * (q3 - q1)]
    box = one["box"]
    check((box["low_ns"], box["high_ns"], box["outside"]) == (min([*within, q1]), max([*within, q3]), len(runs) - len(within)), f"{name}: box {box}")
    for at, share in zip(one["ecdf"]["ns"], one["ecdf"]["share"]):
        check(sum(run < at for run in runs) < share * len(runs) + 1e-6 <= sum(run <= at for run in runs) + 2e-6, f"{name}: share {share} up to {at}")
    low, high = one["median_ci_ns"]
    check(low <= one["median_ns"] <= high and 1 <= one["effective_repetitions"] <= len(runs), f"{name}: interval {low} to {high}")


def phases(name, one, runs):
    """Categories, given where the warm-up ends; the end by the raw rule."""
    median = statistics.median(runs)
    least, raw = [min(runs[:i + 1]) for i in range(len(runs))], None
    for i in range(10, len(runs)):
        if raw is None and least[i] - least[i - 1] <= -0.1 * median:
            raw = i
    end = one["warmup"]["end"]
    check(one["warmup"]["raw_end"] == raw and end in (None, raw), f"{name}: warm-up {one['warmup']}, by the raw rule {raw}")
    expected = ["first" if i == 0 else "warmup" if end is not None and i < end else "outlier" if run >= 2 * median else "good" for i, run in enumerate(runs)]
    check(one["category"] == expected, f"{name}: categories")
    for category, about in one["categories"].items():
        of = [run for run, c in zip(runs, expected) if c == category]
        check(about["count"] == len(of) and (not of or near(about["median_ns"], statistics.median(of))), f"{name}: {category}: {about}")
    for which, zoomed in (("all", False), ("zoom", True)):
        histogram = one["histogram"][which]
        shown = [(run, c) for run, c in zip(runs, expected) if not zoomed or run < 2 * median]
        edges, bins = histogram["edges_ns"], len(histogram["counts"])
        places = [(min(int((run - edges[0]) / (edges[-1] - edges[0]) * bins), bins - 1), c) for run, c in shown]
        for category, counts in histogram["categories"].items():
            check(counts == [sum(place == (i, category) for place in places) for i in range(bins)], f"{name}: histogram {which} of {category}")
        check(histogram["counts"] == [sum(of) for of in zip(*histogram["categories"].values())], f"{name}: histogram {which}")
    return expected


def clusters(name, one, category):
    """Outliers three repetitions apart or less are one."""
    at = [i for i, c in enumerate(category) if c == "outlier"]
    rows = [[i] for i in at[:1]]
    for before, i in zip(at, at[1:]):
        if i - before <= 3:
            rows[-1].append(i)
        else:
            rows.append([i])
    found = one["patterns"]
    check((found["outliers"], found["outlier_clusters"], found["largest_cluster"]) == (len(at), len(rows), max(map(len, rows), default=0)), f"{name}: {found}")


def curves(name, one, runs):
    padded = [runs[0]] * (WINDOW // 2) + list(runs) + [runs[-1]] * (WINDOW // 2)
    windows = [padded[i:i + WINDOW] for i in range(len(runs))]
    metrics = {"cumulative_mean": [], "cumulative_median": [], "cumulative_minimum": [], "running_mean": [statistics.fmean(w) for w in windows],
               "running_median": [statistics.median(w) for w in windows]}
    for i in range(len(runs)):
        metrics["cumulative_mean"].append(statistics.fmean(runs[:i + 1]))
        metrics["cumulative_median"].append(statistics.median(runs[:i + 1]))
        metrics["cumulative_minimum"].append(min(runs[:i + 1]))
    for metric, values in metrics.items():
        curve, before = one["cumulative"][metric], 0
        for at, ns, delta in zip(curve["at"], curve["ns"], curve["delta"]):
            steps = [(values[i] - values[i - 1]) / one["median_ns"] for i in range(before + 1, at + 1)]
            right = near(delta, max(steps, key=abs, default=0)) or any(near(abs(delta), abs(step)) for step in steps)
            check(near(ns, values[at]) and right and abs(delta) + 1e-9 >= max(map(abs, steps), default=0), f"{name}: {metric} at {at}: {ns}, {delta}")
            before = at
        check(curve["at"][-1] == len(runs) - 1, f"{name}: {metric}: ends at {curve['at'][-1]}")


def statistics_of(name, runs):
    one = imported(name, runs)
    check(one["runs_ns"] == runs, f"{name}: run times")
    numbers(name, one, runs)
    clusters(name, one, phases(name, one, runs))
    curves(name, one, runs)
    return one


def recorded():
    """Where the warm-up ends in each was read from a plot; halves of a series, rows of 7 in turn, are equal (one and the next are not: odd ones of the
    first series take 1.4 % longer; nor are rows of 8 of the second, where a batch has 16), and one of both 10 % longer is not."""
    for name, end in (("allreduce_8192", 335), ("allreduce_8_mpich", None)):
        runs = [float(line) for line in (RECORDED / f"{name}.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        one = statistics_of(name, runs)
        check(one["warmup"]["end"] == end, f"{name}: warm-up ends at {one['warmup']['end']}, {end} expected")
        rest = runs[end or 1:]
        halves = [[run for i, run in enumerate(rest) if i // ROW % 2 == half] for half in range(2)]
        imported(f"{name}-a", halves[0])
        imported(f"{name}-b", halves[1])
        imported(f"{name}-longer", [1.1 * run for run in halves[1]])
        verdict = json.loads(bench("compare", "--json", f"{name}-a", f"{name}-b"))["verdict"]
        check(verdict == "same", f"{name}: halves are {verdict}")
        pair = json.loads(bench("compare", "--json", f"{name}-a", f"{name}-longer"))["pairs"][0]
        middle = pair["quantiles"][4]
        check(pair["verdict"] != "same" and middle["low"] > 0 and middle["low"] <= 0.1 <= middle["high"], f"{name}: 10 % longer: {pair['verdict']}, {middle}")


def made():
    """A cliff at 60; two modes that stay for 5 repetitions; every tenth repetition slow; outliers in rows of three."""
    random.seed(7)
    noise = [random.gauss(0, 5) for _ in range(900)]
    one = statistics_of("cliff", [(1600 if i < 60 else 1000) + x for i, x in enumerate(noise)])
    check(one["warmup"]["end"] == 60 and one["change_points"] == [60] and len(one["modes"]) == 1, f"cliff: {one['warmup']} {one['change_points']}")
    one = statistics_of("modes", [(1400 if i // 5 % 2 else 1000) + x for i, x in enumerate(noise)])
    check(one["warmup"]["end"] is None and [round(m["location_ns"], -2) for m in one["modes"]] == [1000, 1400], f"modes: {one['modes']}")
    check(all(m["dwell"]["longest"] == 5 and abs(m["weight"] - 0.5) < 0.02 for m in one["modes"]), f"modes: {one['modes']}")
    check(one["patterns"]["period"] == 10, f"modes: {one['patterns']}")
    one = statistics_of("period", [(1500 if i % 10 == 3 else 1000) + x for i, x in enumerate(noise)])
    check(one["patterns"]["period"] == 10, f"period: {one['patterns']}")
    one = statistics_of("clusters", [(5000 if 200 <= i % 300 < 203 else 1000) + x for i, x in enumerate(noise)])
    check((one["patterns"]["outlier_clusters"], one["patterns"]["largest_cluster"]) == (3, 3) and one["patterns"]["clusters_p"] < 1e-6, f"clusters: {one['patterns']}")


def crossing():
    """Figure 4.18 of the thesis: B has a higher median and a lower tail, and both are told. A seventh of the repetitions is slow."""
    random.seed(8)
    for name, most, slow in (("low-median", 27000, 69000), ("low-tail", 30000, 60000)):
        imported(name, [(slow if i % 7 == 3 else most) * math.exp(random.gauss(0, 0.03)) for i in range(900)])
    pair = json.loads(bench("compare", "--json", "low-median", "low-tail"))["pairs"][0]
    told = [1 if q["low"] > 0 else -1 if q["high"] < 0 else 0 for q in pair["quantiles"]]
    check(pair["crosses"] and told[:7] == [1] * 7 and told[-1] == -1, f"crossing: {told}")
    check("The distributions cross: B takes longer at 5 10 25 40 50 60 75 %, less at " in bench("compare", "low-median", "low-tail"), "crossing: not said")
    check("A median that differs by less than 0." in bench("compare", "low-median", "low-median"), "resolution: not said")
    imported("short", [(slow if i % 7 == 3 else most) * math.exp(random.gauss(0, 0.03)) / 400 for i in range(900)])
    check(" 1/40" in bench("compare", "low-tail", "short") and " 40" in bench("compare", "short", "low-tail"), f"factors: {bench('compare', 'low-tail', 'short')}")
    pair = json.loads(bench("compare", "--json", "low-median", "low-median"))["pairs"][0]
    check(not pair["crosses"] and pair["verdict"] == "same", f"crossing: {pair}")


def damaged():
    """The second of two fingerprints that are listed is damaged: one line, whatever reads them."""
    imported("damaged", [1000.0] * 40)
    with open(f"{SCRATCH}/damaged/second.fingerprint.json", "w", encoding="utf-8") as file:
        file.write('{"format": "latecomer-fingerprint"')
    with open(f"{SCRATCH}/damaged/bench.json", encoding="utf-8") as file:
        listed = json.load(file)
    listed["jobs"].append({"file": "second.fingerprint.json"})
    with open(f"{SCRATCH}/damaged/bench.json", "w", encoding="utf-8") as file:
        json.dump(listed, file)
    for words in (["report", "-o", "page.html", "damaged"], ["bench", "show", "damaged"], ["bench", "compare", "damaged", "damaged"]):
        done = subprocess.run([LATECOMER, *words], capture_output=True, text=True, cwd=SCRATCH, timeout=patience(100), check=False)
        check(done.returncode == 1 and done.stderr.count("\n") == 1 and "second" in done.stderr, f"damaged: {words}: {done.returncode} {done.stderr}")


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    recorded()
    made()
    crossing()
    damaged()
    if FAILED:
        sys.exit("\n".join(FAILED[:40]))


if __name__ == "__main__":
    main()
