import { expect, test } from "vitest";
import { fiveNumbers, largest, Rows } from "../src/rows";
import type { Metric, PathRow } from "../src/types";

const METRICS = [{ name: "time", kind: "inclusive" }, { name: "visits", kind: "exclusive" }, { name: "least", kind: "minimum" }] as Metric[];
const PATHS = [[-1, "main"], [0, "a/b"]] as unknown as PathRow[];

/** The block of src/report/page_rows.h, values in steps of `unit`. */
function blockOf(locations: number, rows: { metric: number; path: number; sum: number; unit: number; steps: number[] }[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(12 + rows.length * (32 + 2 * locations)));
  [locations, locations, 0].forEach((v, i) => view.setUint32(4 * i, v, true));
  rows.forEach((row, r) => {
    const at = 12 + r * (32 + 2 * locations);
    [row.metric, row.path, 0, 0].forEach((v, i) => view.setUint32(at + 4 * i, v, true));
    view.setFloat64(at + 16, row.sum, true);
    view.setFloat64(at + 24, row.unit, true);
    row.steps.forEach((step, i) => view.setInt16(at + 32 + 2 * i, step, true));
  });
  return new Uint8Array(view.buffer);
}

const rows = new Rows(blockOf(2, [
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
  const whole = blockOf(1, [{ metric: 1, path: 0, sum: 4, unit: 1, steps: [4] }, { metric: 1, path: 1, sum: 5, unit: 1, steps: [5] }]);
  const cut = new Rows(whole.subarray(0, whole.length - 1), METRICS, PATHS);
  expect(cut.total(1)).toBe(4);
});

test("quantiles of values", () => {
  expect(fiveNumbers({ values: Float64Array.of(4, NaN, 0, 2), reduced: false, largestAt: 0 })).toEqual([0, 1, 2, 3, 4]);
  expect(largest([NaN, -1, -3])).toBe(1);
});
