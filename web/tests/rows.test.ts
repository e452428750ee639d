import { expect, test } from "vitest";
import { rowsBlock } from "../src/made_up";
import { lateByFunction } from "../src/overview";
import { fiveNumbers, largest, Rows } from "../src/rows";
import type { Late, Metric, PathRow } from "../src/types";

const METRICS = [{ name: "time", kind: "inclusive" }, { name: "visits", kind: "exclusive" }, { name: "least", kind: "minimum" }] as Metric[];
const PATHS = [[-1, "main"], [0, "a/b"]] as unknown as PathRow[];

const rows = new Rows(rowsBlock(2, [
  { metric: 0, path: 0, sum: 10, unit: 1, steps: [4, 6] },
  { metric: 0, path: 1, sum: 3, unit: 1, steps: [1, 2] },
  { metric: 1, path: 0, sum: 2, unit: 1, steps: [1, 1] },
  { metric: 1, path: 1, sum: 8, unit: 0.5, steps: [10, 6] },
  { metric: 2, path: 1, sum: 5, unit: 1, steps: [5, -32768] },
  { metric: 9, path: 0, sum: 1, unit: 1, steps: [1, 1] },
]), METRICS, PATHS);

test("inclusive metrics lose their children, exclusive ones gain them", () => {
  expect([rows.sum(0, 0, true), rows.sum(0, 0, false)]).toEqual([10, 7]);
  expect([rows.sum(1, 0, true), rows.sum(1, 0, false)]).toEqual([10, 2]);
  expect(rows.total(0)).toBe(10);
  expect(Array.from(rows.spread(0, 0, false).values)).toEqual([3, 4]);
  expect(Array.from(rows.spread(1, 0, true).values)).toEqual([6, 4]);
});

test("a minimum of no value is that of the children", () => expect(rows.sum(2, 0, true)).toBe(5));

test("values that are missing stay so", () => {
  const { values, largestAt } = rows.spread(2, 1, false);
  expect(Array.from(values)).toEqual([5, NaN]);
  expect(largestAt).toBe(0);
});

test("paths by name, with a slash in a name", () => {
  expect(rows.pathName(1)).toBe("main/a%2Fb");
  expect(rows.find("main/a%2Fb")).toBe(1);
  expect(rows.find("main/a/b")).toBe(-1);
});

test("a block that was cut has the rows that are whole", () => {
  const whole = rowsBlock(1, [{ metric: 1, path: 0, sum: 4, unit: 1, steps: [4] }, { metric: 1, path: 1, sum: 5, unit: 1, steps: [5] }]);
  const cut = new Rows(whole.subarray(0, whole.length - 1), METRICS, PATHS);
  expect(cut.total(1)).toBe(4);
});

test("quantiles of values", () => {
  expect(fiveNumbers({ values: Float64Array.of(4, NaN, 0, 2), reduced: false, largestAt: 0 })).toEqual([0, 1, 2, 3, 4]);
  expect(largest([NaN, -1, -3])).toBe(1);
});

test("what rounding leaves of a difference is nothing", () => {
  const parts = [0.1, 0.2];
  const of = new Rows(rowsBlock(1, [{ metric: 0, path: 0, sum: 0.3, unit: 1, steps: [0] }, ...parts.map((sum, i) => ({ metric: 0, path: i + 1, sum, unit: 1, steps: [0] }))]), METRICS, [[-1, "main"], [0, "a"], [0, "b"]] as unknown as PathRow[]);
  expect(of.sum(0, 0, false)).toBe(0);
});

test("of a call path that is not known, the nearest caller", () => {
  expect(rows.nearest("main/a%2Fb/(off CPU: sleeping)")).toBe(1);
  expect(rows.nearest("main/other")).toBe(0);
  expect([rows.nearest("other"), rows.nearest(null), rows.nearest("")]).toEqual([-1, -1, -1]);
});

test("who was late: the function of the program, one line for each rank", () => {
  const late = (rank: number, callpath: string, seconds: number): Late => ({ rank, thread: null, callpath, waiting_callpath: "main/MPI_Recv", seconds, share: seconds / 10 });
  const lines = lateByFunction([late(1, "main/a%2Fb/clock_nanosleep/(off CPU)", 2), late(0, "main/a%2Fb", 3), late(1, "main/a%2Fb", 1.5), late(1, "other/(off CPU)", 1)], rows);
  expect(lines.map((l) => [l.rank, l.callpath, l.seconds])).toEqual([[1, "main/a%2Fb", 3.5], [0, "main/a%2Fb", 3], [1, "other/(off CPU)", 1]]);
});
