import { expect, test } from "vitest";
import { countersOf, sampled, seriesOf } from "../src/fingerprint";
import { range } from "../src/fingerprint_axes";
import { change, comparedRows, comparisonLines, pairOf } from "../src/fingerprint_compare";
import { otherWorkLines, phaseLines } from "../src/fingerprint_phases";
import type { BenchComparison, BenchPair, Fingerprint } from "../src/types";

const of = (more: object): Fingerprint => ({ operation: "MPI_Scan", bytes: 8, runs_ns: [1], ...more }) as unknown as Fingerprint;

test("phases and patterns in words", () => {
  expect(phaseLines(of({}))).toEqual(["No warm-up.", "The level changes nowhere.", "No period is seen."]);
  const patterns = { period: 10, autocorrelation: 0.456, outliers: 40, outlier_clusters: 4, largest_cluster: 10, clusters_by_chance: 35.6, clusters_p: 1e-9 };
  expect(phaseLines(of({ benchmark: { late_first: 7 } }))[1]).toContain("7 repetitions before the first that counts began late");
  expect(phaseLines(of({ benchmark: { late_first: 0 } }))).toHaveLength(3);
  expect(phaseLines(of({ warmup: { end: 48, raw_end: 48, fall: 0.5 }, change_points: [48], patterns }))).toEqual([
    "The warm-up ends at repetition 48 (the level falls by 50.0 %).", "The level changes at repetition 48.", "A pattern comes again every 10 repetitions (autocorrelation 0.46).",
    "Outliers come together: 40 in 4 clusters (by chance about 36), 10 in the largest."]);
  const lines = phaseLines(of({ warmup: { end: null, raw_end: 7 }, change_points: Array.from({ length: 12 }, (_, i) => i), patterns: { ...patterns, period: null, outliers: 1, outlier_clusters: 1, largest_cluster: 1, clusters_by_chance: 0, clusters_p: 1 } }));
  expect(lines[0]).toContain("at repetition 7 is no change of level");
  expect(lines[1]).toBe("The level changes at repetition 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ….");
  expect(lines[3]).toBe("Outliers: 1 in 1 cluster, 1 in the largest.");
});

test("the pair of an operation and size", () => {
  const pairs = [{ operation: "MPI_Scan", bytes: 64 }, { operation: "MPI_Scan", bytes: 8 }];
  expect(pairOf({ pairs } as unknown as BenchComparison, of({}))).toBe(pairs[1]);
  expect(pairOf({ pairs } as unknown as BenchComparison, of({ bytes: 9 }))).toBeUndefined();
  expect(pairOf(null, of({}))).toBeUndefined();
});

const quantile = (percent: number, shift: number, low: number | null, high: number | null) => ({ percent, a_ns: 100, b_ns: 100 * (1 + shift), shift, low, high });
const pair = (more: object): BenchPair => ({ operation: "MPI_Scan", bytes: 8, verdict: "same", verdict_within: "same", why: null, shift: 0, quantiles: [], launches: [3, 3], launches_guessed: false, ...more }) as BenchPair;

test("a comparison in words", () => {
  const crossing = pair({ verdict: "shifted", crosses: true, quantiles: [quantile(5, 0.5, 0.25, 1), quantile(50, 0, -0.5, 0.5), quantile(90, -0.5, -0.75, -0.25), quantile(95, -0.5, -0.75, -0.25)] });
  expect(comparisonLines(crossing)).toEqual(["The distributions cross: B takes longer at 5 %, less at 90, 95 %.", "3 and 3 launches; the band includes how much they differ."]);
  const one = { launches: [1, 1], launches_guessed: true, verdict_within: "shifted" };
  expect(comparisonLines(pair({ ...one, quantiles: [quantile(50, 0.25, -0.5, 4)] }))).toEqual(["A median that differs by less than 300.0 % would not be told.",
    "With 1 and 1 launches, the band allows for launches that differ by a factor of 4; three on each side show how much they really do.", "If all launches were alike: shifted."]);
  expect(comparisonLines(pair({ quantiles: [quantile(50, 0, -0.99, 21264)] }))[0]).toBe("Of the median nothing can be told.");
  expect(comparisonLines(pair({ quantiles: [quantile(50, 0, null, null)], one_after_other: true }))).toHaveLength(3);
});

test("changes in words", () => {
  expect([0.031, -0.5, -0.9, 12.34, 31199, -0.92, -1 + 1 / 31200, null].map(change)).toEqual(["+3.1 %", "-50.0 %", "-90.0 %", "13.3 times", "31200 times", "1/12.5", "1/31200", "unknown"]);
});

test("operations of both sides, and those of one", () => {
  const rows = comparedRows({ pairs: [pair({}), pair({ bytes: 64, verdict: "shifted", shift: 0.5, crosses: true }), pair({ bytes: 9, verdict: "not comparable", why: "of two sizes", shift: null })],
    only_in_a: [{ operation: "MPI_Bcast", bytes: 8 }], only_in_b: [{ operation: "MPI_Gather", bytes: 16 }] });
  expect(rows.map((r) => [r.operation, r.bytes, r.verdict, r.note, r.shift])).toEqual([["MPI_Bcast", 8, "not comparable", "only in A", null], ["MPI_Gather", 16, "not comparable", "only in B", null],
    ["MPI_Scan", 64, "shifted", "the distributions cross", 0.5], ["MPI_Scan", 9, "not comparable", "of two sizes", null], ["MPI_Scan", 8, "same", "", 0]]);
  expect(comparedRows({ why: "no such file" })).toEqual([]);
});

test("ranges of what is drawn", () => {
  expect(range([[3, 1], [2, NaN]])).toEqual([1, 3]);
  expect(range([[5]])).toEqual([5, 6]);
  expect(range([])).toEqual([0, 1]);
});

test("samples of a file that holds anything", () => {
  expect(sampled("text")).toEqual([]);
  expect(sampled([null, 3, { function: "f", share: 0.5, of_category: { good: 1, warmup: "x" }, depth: -2 }])).toEqual([
    { function: "f", file: "", share: 0.5, self_share: NaN, error: NaN, depth: 0, of_category: { good: 1 } }]);
});

test("other work in words; what is not known is no zero", () => {
  expect(otherWorkLines(of({}))).toEqual([]);
  expect(otherWorkLines(of({ ranks: 2, interference: { run_delay_share: 0.25, run_delay_share_of: [0.1, 0.25], steal_share: 0, other_share: null } }))).toEqual([
    "Rank 1 was ready to run, but waited for a CPU in 25.0 % of the time: the longest of all ranks.", "The hypervisor gave 0.0 % of the time of a rank's CPUs to others, at most.",
    "What other processes had of it is not known, or the job was too short to tell."]);
  expect(otherWorkLines(of({ interference: { windows: "text" } }))[0]).toBe("How long ranks waited for a CPU is not known.");
});

test("a counter of each rank, and of all points together", () => {
  const [c] = countersOf(of({ counters: { c: { per_rank: [{ spearman: { all: 0.5, good: null }, levels: { warmup: 3 } }, { pearson: { all: 1 } }], ranks_together: { spearman: { all: 0.25 } } } } }));
  expect(c.ranks).toEqual([{ who: "0", pearson: {}, spearman: { all: 0.5 }, levels: { warmup: 3 } }, { who: "1", pearson: { all: 1 }, spearman: {}, levels: {} },
    { who: "all, together", pearson: {}, spearman: { all: 0.25 }, levels: {} }]);
  expect(countersOf(of({ counters: { c: { per_rank: "text", ranks_together: null } } }))[0].ranks).toEqual([]);
});

test("counters of a file that holds anything", () => {
  const f = of({ runs_ns: [10, 20], category: ["first", "good"], counted: { runs_ns: "text", category: 7 }, counters: { a: null, b: { series: "counted", values: [1] }, c: { total: "x", values: [1, "x"], pearson: { all: 0.5, good: null }, levels: 3 } } });
  const [a, b, c] = countersOf(f);
  expect([a.values, b.counted, c.total, c.pearson, c.levels]).toEqual([[], true, undefined, { all: 0.5 }, {}]);
  expect(seriesOf(f, b)).toEqual([]);
  expect(seriesOf(f, c)).toEqual([{ run: 10, value: 1, category: "first", at: 0 }]);
  expect(seriesOf(of({ counted: { runs_ns: [7], at: [4], category: ["outlier"] } }), b)).toEqual([{ run: 7, value: 1, category: "outlier", at: 4 }]);
});
