import { expect, test } from "vitest";
import { sampled } from "../src/fingerprint";
import { range } from "../src/fingerprint_axes";
import { pairOf } from "../src/fingerprint_compare";
import { phaseLines } from "../src/fingerprint_phases";
import type { BenchComparison, Fingerprint } from "../src/types";

const of = (more: object): Fingerprint => ({ operation: "MPI_Scan", bytes: 8, runs_ns: [1], ...more }) as unknown as Fingerprint;

test("phases and patterns in words", () => {
  expect(phaseLines(of({}))).toEqual(["No warm-up.", "The level changes nowhere.", "No period is seen."]);
  const patterns = { period: 10, autocorrelation: 0.456, outliers: 40, outlier_clusters: 4, largest_cluster: 10, clusters_by_chance: 35.6, clusters_p: 1e-9 };
  expect(phaseLines(of({ warmup: { end: 48, raw_end: 48, fall: 0.5 }, change_points: [48], patterns }))).toEqual([
    "The warm-up ends at repetition 48 (the level falls by 50.0 %).", "The level changes at 48.", "A pattern comes again every 10 repetitions (autocorrelation 0.46).",
    "Outliers come together: 40 in 4 clusters (by chance about 36), 10 in the largest."]);
  const lines = phaseLines(of({ warmup: { end: null, raw_end: 7 }, change_points: Array.from({ length: 12 }, (_, i) => i), patterns: { ...patterns, period: null, outliers: 1, outlier_clusters: 1, largest_cluster: 1, clusters_by_chance: 0, clusters_p: 1 } }));
  expect(lines[0]).toContain("at repetition 7 is no change of level");
  expect(lines[1]).toBe("The level changes at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ….");
  expect(lines[3]).toBe("Outliers: 1 in 1 cluster, 1 in the largest.");
});

test("the pair of an operation and size", () => {
  const pairs = [{ operation: "MPI_Scan", bytes: 64 }, { operation: "MPI_Scan", bytes: 8 }];
  expect(pairOf({ pairs } as unknown as BenchComparison, of({}))).toBe(pairs[1]);
  expect(pairOf({ pairs } as unknown as BenchComparison, of({ bytes: 9 }))).toBeUndefined();
  expect(pairOf(null, of({}))).toBeUndefined();
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
