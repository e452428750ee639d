import { expect, test } from "vitest";
import { linesOf } from "../src/explorer";

const table = {
  columns: ["callpath", "line", "inlined", "called_at", "samples", "seconds", "error"],
  rows: [
    ["main/f", "a.c:100", "", "", "5", "0.5", "0.01"],
    ["main/g", "a.c:7", "", "", "1", "0.1", "0.1"],
    ["main/f", "a.c:20", "step/axpy", "a.c:9", "10", "1", "0.02"],
    ["main/f", "A.h:3", "", "", "2", "0.2", "0"],
  ],
};

test("lines of a call path in the order of the source, by number", () => {
  expect(linesOf(table, "main/f").map((l) => l.line)).toEqual(["a.c:20", "a.c:100", "A.h:3"]);
  expect(linesOf(table, "main/f")[0]).toEqual({ line: "a.c:20", inlined: "step/axpy", calledAt: "a.c:9", samples: 10, seconds: 1, error: 0.02 });
});

test("no table, no such path, cut rows", () => {
  expect(linesOf(null, "main")).toEqual([]);
  expect(linesOf(table, "main")).toEqual([]);
  expect(linesOf({ columns: table.columns, rows: [["main"]] }, "main")[0].line).toBe("");
});
