import { expect, test } from "vitest";
import { linear, logarithmic, ticksOf } from "../src/axes";

test("ticks are round in their unit and leave room for their texts", () => {
  expect(ticksOf(linear([0, 0.0113], [60, 560]), 100, "sec")).toEqual([0, 0.002, 0.004, 0.006, 0.008, 0.01]);
  expect(ticksOf(linear([0, 3], [0, 600]), 60, "", true)).toEqual([0, 1, 2, 3]);
  expect(ticksOf(linear([0, 5 * 1024], [0, 500]), 100, "bytes")).toEqual([0, 1024, 2048, 3072, 4096, 5120]);
  // One value: the scale has a domain all the same.
  expect(ticksOf(linear([7, 7], [0, 500]), 100, "").length).toBeGreaterThan(1);
});

test("of logarithms as many as fit: powers of ten, and between them 2 and 5", () => {
  expect(ticksOf(logarithmic([1, 100], [0, 600]), 80, "ns")).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(ticksOf(logarithmic([1, 1e6], [0, 600]), 80, "ns")).toEqual([1, 10, 100, 1000, 10000, 100000, 1000000]);
  expect(logarithmic([5, 5], [0, 600])(5)).toBeCloseTo(300);
});

test("what lies outside of a scale stands at its edge", () => {
  expect(linear([0, 1], [10, 20])(7)).toBe(20);
  expect(logarithmic([1, 10], [10, 20])(0.1)).toBe(10);
});
