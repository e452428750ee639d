import { expect, test } from "vitest";
import { tickTexts, components, count, inUnit, percent, ranksText, seconds, shortName, shortPath, visible } from "../src/format";
import { partsOf } from "../src/parts";

test.each([[0, "0 s"], [1234.5, "1235 s"], [0.0123456, "12.3 ms"], [9.996e-4, "1.00 ms"], [2.5e-8, "25.0 ns"], [4e-11, "0.04 ns"], [-0.25, "-250 ms"], [NaN, "unknown"], [null, "unknown"]])(
  "seconds(%s) = %s", (value, text) => expect(seconds(value)).toBe(text));

test("sizes, counts and shares", () => {
  expect(inUnit(1536, "bytes")).toBe("1.50 KiB");
  expect(inUnit(0.5, "sec")).toBe("500 ms");
  expect(count(1234567)).toMatch(/^1\s234\s567$/);
  expect(count(0.123456)).toBe("0.123");
  expect(percent(0.1234)).toBe("12.3 %");
  expect(percent(undefined)).toBe("–");
});

test("names are short, and what a browser would hide is shown", () => {
  expect(shortName("std::sort(int*, int*)")).toBe("std::sort");
  expect(shortName("operator()(int)")).toBe("operator()(int)");
  expect(visible("a\nb\u001b[31m\u202e")).toBe("a\\nb\\x1b[31m\\x202e");
  expect(components("main/a%2Fb")).toEqual(["main", "a/b"]);
  expect(components("main/nap/(off CPU: sleeping)")).toEqual(["main", "nap (off CPU: sleeping)"]);
  expect(shortName("nap(int, double) (preempted)")).toBe("nap (preempted)");
  expect(shortPath("main/nap/(off CPU: sleeping)")).toBe("main / nap (off CPU: sleeping)");
  expect(shortPath("main/solve/MPI_Recv")).toBe("… / solve / MPI_Recv");
});

test("ranks", () => {
  expect(ranksText([3], 1)).toBe("rank 3");
  expect(ranksText([0, 1, 2], 5)).toBe("ranks 0, 1, 2 and 2 more");
  expect(ranksText([], 0)).toBe("");
});

test.each([["12.3 ms", "12", ".3", "ms"], ["-250 ms", "-250", "", "ms"], ["+1.00 s", "+1", ".00", "s"], ["1 234", "1 234", "", ""], ["97.9 %", "97", ".9", "%"], ["3.28 KiB", "3", ".28", "KiB"]])(
  "%s in parts, to be aligned", (text, whole, part, unit) => expect(partsOf(text)).toEqual({ whole, part, unit }));

test("what is no number is not aligned", () => {
  for (const text of ["unknown", "–", "", "1.00 ms to 2.00 ms", "rank 3"]) expect(partsOf(text)).toBeNull();
});

test("texts of an axis: one unit, as many digits as tell neighbours apart", () => {
  expect(tickTexts([0, 0.002, 0.004, 0.01], "sec")).toEqual(["0 ms", "2 ms", "4 ms", "10 ms"]);
  expect(tickTexts([0, 0.5, 1, 1.5], "sec")).toEqual(["0.0 s", "0.5 s", "1.0 s", "1.5 s"]);
  expect(tickTexts([1500, 2000], "ns")).toEqual(["1.5 µs", "2.0 µs"]);
  expect(tickTexts([0, 0.25, 0.5], "share")).toEqual(["0 %", "25 %", "50 %"]);
  expect(tickTexts([-0.1, 0, 0.1], "change")).toEqual(["-10 %", "0 %", "+10 %"]);
  expect(tickTexts([0, 512 * 1024], "bytes")).toEqual(["0 KiB", "512 KiB"]);
  expect(tickTexts([0, 5000, 10000], "")).toEqual(["0", "5 000", "10 000"]);
  expect(tickTexts([0, 0.5], "")).toEqual(["0.0", "0.5"]);
  // Over powers of ten each in its own unit.
  expect(tickTexts([1e-6, 1e-3, 1], "sec")).toEqual(["1 µs", "1 ms", "1 s"]);
});
