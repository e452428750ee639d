import { expect, test } from "vitest";
import { components, count, inUnit, percent, ranksText, seconds, shortName, shortPath, visible } from "../src/format";
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
