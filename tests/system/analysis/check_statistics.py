#!/usr/bin/env python3
"""Statistics, timeline and phases of the result against the wait states that the oracle finds in random programs.

check_statistics.py LATECOMER WORK FIRST-LAST

Exact: count, sum, mean, extremes, quartiles (type 7), and the severest instances with time, place, culprit. The bins of the
timeline: equal parts of the run, to a tick per wait state.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict

import oracle
import random_trace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from patience import patience  # noqa: E402

SEVEREST, BINS = 50, 1000


def members(file, *names):
    return [json.loads(subprocess.run(["tar", "-xOf", file, name], check=True, capture_output=True, text=True).stdout)
            for name in names]


def name_of(path):
    return "/".join(n.replace("/", "%2F") for n in path)


def expected_statistics(states, trace):
    seconds = lambda ticks: ticks / trace.resolution
    since = lambda time: seconds(time - trace.t0)
    w = sorted(s.w for s in states)
    quartiles = statistics.quantiles(w, n=4, method="inclusive") if len(w) > 1 else w * 3
    worst = sorted(states, key=lambda s: (-s.w, s.s, s.process))[:SEVEREST]
    numbers = {"count": len(w), "sum_s": seconds(sum(w)), "mean_s": seconds(sum(w)) / len(w), "min_s": seconds(w[0]),
               "max_s": seconds(w[-1]), "q1_s": seconds(quartiles[0]), "median_s": seconds(quartiles[1]),
               "q3_s": seconds(quartiles[2])}
    return numbers, [{"waiting_s": seconds(s.w), "start_s": since(s.s), "rank": s.process, "thread": 0, "callpath": name_of(s.path),
                      "release_s": since(s.u), "cause_rank": s.cause, "cause_thread": 0,
                      "cause_callpath": name_of(s.cause_call.path), **parts(s, seconds)} for s in worst]


def parts(state, seconds):
    """Waiting that the code of the cause is to blame for (D), and its own waiting (W), in both models."""
    D, W, w = state.D_sum, state.W_sum, state.w
    inherited = {"": w * (W / (D + W)) if D + W else 0.0, "_waitfirst": float(min(W, w))}
    return {f"{name}_s{model}": seconds(value) for model, indirect in inherited.items() for name, value in (("direct", w - indirect), ("indirect", indirect))}


def same(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b)) if isinstance(a, float) or isinstance(b, float) else a == b


def all_same(a, b):
    return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)


def timeline_wrong(bins, states, trace):
    width = (trace.t1 - trace.t0) / BINS
    sums = [0.0] * BINS
    for s in states:
        first, last = (min(int((t - trace.t0) / width), BINS - 1) for t in (s.s, s.end))
        for i in range(first, last + 1):
            begin = trace.t0 + i * width
            sums[i] += max(0, min(s.end, begin + width) - max(s.s, begin))
    # Edges are whole ticks, and values have nine digits.
    tolerance = lambda i: (1 + sum(1 for s in states if s.s < trace.t0 + (i + 1) * width + 1 and
                                   s.end > trace.t0 + i * width - 1)) / trace.resolution + 1e-8 * sums[i] / trace.resolution
    return [i for i in range(BINS) if abs(bins[i] - sums[i] / trace.resolution) > tolerance(i)]


def judge(directory, out, wrong):
    trace = oracle.Trace(directory + "/traces.otf2")
    by_metric = defaultdict(list)
    for state in oracle.Analysis(trace).states:
        by_metric[oracle.METRIC[state.kind]].append(state)
    found, timeline, phases = members(out, "wait_statistics.json", "timeline.json", "phases.json")
    if found.keys() != by_metric.keys() or timeline["metrics"].keys() != by_metric.keys() or phases:
        wrong.append(f"metrics {sorted(found)}, expected {sorted(by_metric)}")
        return
    if timeline["bins"] != BINS or not same(timeline["end_s"], (trace.t1 - trace.t0) / trace.resolution):
        wrong.append("bounds of the timeline")
    for metric, states in by_metric.items():
        numbers, worst = expected_statistics(states, trace)
        listed = found[metric].pop("severest")
        if not all_same(found[metric], numbers):
            wrong.append(f"{metric}: {found[metric]}, expected {numbers}")
        if len(listed) != len(worst) or not all(all_same(a, b) for a, b in zip(listed, worst)):
            wrong.append(f"{metric}: severest {listed[:2]}, expected {worst[:2]}")
        bins = timeline_wrong(timeline["metrics"][metric], states, trace)
        if bins:
            wrong.append(f"{metric}: bins {bins[:5]}")


def main():
    latecomer, work, seeds = sys.argv[1:]
    first, last = map(int, seeds.split("-"))
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    wrong, lists = [], 0
    for seed in range(first, last + 1):
        directory, out = f"{work}/{seed}", f"{work}/a.cubex"
        program = random_trace.Program(seed)
        program.write(directory)
        ranks = "3" if seed == first else "1"
        subprocess.run([latecomer, "-q", "analyze", "-n", ranks, "-o", out, directory], check=True, timeout=patience(100))
        before = len(wrong)
        judge(directory, out, wrong)
        lists += 1
        for line in wrong[before:]:
            print(f"{seed}: {line}")
    print(f"{lists} traces, {len(wrong)} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
