import { expect, test } from "vitest";
import { timelineBlock } from "../src/made_up";
import { TimelineData } from "../src/timeline_data";
import { clampSpan } from "../src/timeline";
import { freePart, svg } from "../src/timeline_draw";
import { escaped, LETTER, SvgPen } from "../src/timeline_pen";
import { layOut, MOST_OPEN, OPEN_HEIGHT, parseOpen, rowAt, runs, toggled } from "../src/timeline_rows";

/** Three locations in two rows of four bins; 0 and 2 are a group. Activities: useful, waiting. */
function made(single: boolean): TimelineData {
  const pyramid = [/* 0 and 2 */ 255, 0, 255, 0, 0, 255, 0, 0, /* 1 */ 0, 255, 0, 255, 0, 255, 0, 255];
  const singles = [/* 0 */ 255, 0, 0, 0, /* 1 */ 0, 255, 0, 255, /* 2 */ 255, 0, 0, 255];
  const empty = { at: 0, rows: 0 };
  const head = {
    duration_s: 4, events: 0, regions: ["main", "a/b"], cnodes: [[-1, 0], [0, 1]], locations: [[0, 0], [1, 0], [2, 0]],
    pyramid: { at: 0, rows: 2, bins: 4, activities: ["useful", "waiting"], row_of: [0, 1, 0], activity_of: [0, 0] },
    ...(single && { single: { at: pyramid.length, rows: 3, bins: 2 } }), wait_metrics: [],
    windows: [[0, 1], [0.5, 1.5], [2, 3]].map(([from_s, to_s]) => ({ from_s, to_s, metric: "late_sender", cnode: 1, slices: empty, messages: empty, waits: empty })), matrices: empty, topologies: [],
  };
  return new TimelineData(timelineBlock(head, Uint8Array.from([...pyramid, ...singles])));
}

function shares(data: TimelineData, of: ReturnType<TimelineData["groupShares"]>, from: number, to: number): number[] {
  const out = new Float64Array(2);
  data.shares(of, from, to, out);
  return Array.from(out).map((v) => Math.round(v * 1000) / 1000);
}

test("shares of any span are sums of bins, parts of bins in part", () => {
  const data = made(true);
  expect(shares(data, data.groupShares(0), 0, 4)).toEqual([0.5, 0.25]);
  expect(shares(data, data.groupShares(0), 1.5, 2.5)).toEqual([0.5, 0.5]);
  expect(shares(data, data.groupShares(1), 0.1, 0.2)).toEqual([0, 1]);
  expect(shares(data, data.singleShares(2), 0, 4)).toEqual([0.5, 0.5]);
  expect(shares(data, data.singleShares(0), -5, 9)).toEqual([0.5, 0]);
});

test("call paths, and the window of a finding", () => {
  const data = made(true);
  expect(data.pathOf(1)).toBe("main/a%2Fb");
  expect(data.windowFor("late_sender_estimated", "main/a%2Fb")).toBe(0);
  expect(data.windowFor("late_receiver", null)).toBe(-1);
});

test("of windows that overlap the chosen one is drawn", () => {
  const data = made(true);
  const drawn = (from: number, to: number, chosen: number): number[] => data.detailsIn(from, to, chosen).map((d) => d.json.from_s);
  expect(drawn(0.5, 1.5, 1)).toEqual([0.5]);
  expect(drawn(0, 1, 0)).toEqual([0]);
  expect(drawn(0, 4, -1)).toEqual([0, 2]);
  expect(drawn(0, 3, 1)).toEqual([0.5, 2]);
  expect(drawn(0, 400, 1)).toEqual([]);
  expect(drawn(3.2, 3.9, 1)).toEqual([]);
});

test("an open group has a row for each member below it", () => {
  const data = made(true);
  const closed = layOut(data, []);
  expect(closed.rows.map((r) => [r.location, r.members])).toEqual([[-1, 2], [1, 1]]);
  expect([Array.from(closed.rowOf), Array.from(closed.inRow)]).toEqual([[-1, 1, -1], [0, 1, 0]]);
  const open = layOut(data, [0]);
  expect(open.rows.map((r) => [r.location, r.open, r.member])).toEqual([[-1, true, false], [0, false, true], [2, false, true], [1, false, false]]);
  expect(Array.from(open.rowOf)).toEqual([1, 3, 2]);
  expect(open.rows.every((row, i) => row.height >= OPEN_HEIGHT && rowAt(open, row.top) === i && rowAt(open, row.top + row.height - 0.01) === i)).toBe(true);
  expect([rowAt(open, -1), rowAt(open, open.height)]).toEqual([-1, -1]);
});

test("without rows of single locations groups stay closed", () => expect(layOut(made(false), [0]).rows.length).toBe(2));

test("which groups are open, in the link", () => {
  expect(parseOpen("3,1,3,x,-1,99,", 10)).toEqual([3, 1]);
  expect(parseOpen("none", 10)).toEqual([]);
  expect(toggled([1, 2], 1)).toBe("2");
  expect(toggled([2], 2)).toBe("none");
  const many = Array.from({ length: MOST_OPEN }, (_, i) => i);
  expect(parseOpen(toggled(many, 20), 100)).toEqual([...many.slice(1), 20]);
});

test("runs of numbers", () => {
  expect(runs([7, 1, 2, 3, 9, 10], 8)).toBe("1 – 3, 7, 9, 10");
  expect(runs([0, 2, 4, 6], 2)).toBe("0, 2, …");
});

test("a file of SVG: names are text, letters that XML cannot hold are replaced, long names are cut", () => {
  const pen = new SvgPen();
  pen.text("<script>&\u0000\ud800", 1, 2, "start", "#000");
  pen.text("a name that is too long", 1, 2, "start", "#000", 60);
  pen.rects([0, 0, 1.234, 2], "rgb(1,2,3)");
  pen.lines([[0, 1, 2, 3, 4, 5]], "#fff", 1, 0.5);
  const file = pen.file(10, 20, "#fff");
  expect(file).toContain(">&lt;script&gt;&amp;\ufffd\ufffd</text>");
  expect(file).toContain(">a name th…</text>");
  expect(file).toContain('d="M0 0h1.23v2h-1.23z"');
  expect(file).toContain('d="M0 1L2 3 4 5"');
  expect(escaped(`"'`)).toBe("&quot;&apos;");
});

test("a span of nanoseconds stays one, also in a long trace", () => {
  const data = made(true);
  expect(clampSpan(data, { from: 1, to: 1 + 25e-9 })).toEqual({ from: 1, to: 1 + 25e-9 });
  const point = clampSpan(data, { from: 2, to: 2 });
  expect(point.to - point.from).toBeCloseTo(1e-9, 12);
  expect(clampSpan(data, { from: -3, to: 1 })).toEqual({ from: 0, to: 4 });
  expect(clampSpan(data, { from: 3, to: 5 })).toEqual({ from: 2, to: 4 });
});

test("the part of a bar that others leave free", () => {
  expect(freePart(0, 100, [])).toEqual([0, 100]);
  expect(freePart(0, 100, [[0, 30], [90, 120]])).toEqual([30, 90]);
  expect(freePart(0, 100, [[50, 60], [10, 20]])).toEqual([60, 100]);
  expect(freePart(0, 100, [[10, 80], [20, 30]])).toEqual([80, 100]);
  expect(freePart(0, 100, [[-5, 200]])).toEqual([0, 0]);
});

// Kernels lie deep: what is around them shares a lane with them.
test("names in a window of detail do not meet, and the innermost stand", () => {
  const data = made(false);
  data.head.regions = ["main", "a_long_name_of_a_function", "a_kernel"];
  data.head.cnodes = [[-1, 0], [0, 1], [1, 2]];
  data.head.pyramid.activity_of = [0, 0, 0];
  const slices = [[0, 4, 0, 0], [0, 4, 1, 1], [1, 2, 2, 2], [2.5, 3, 2, 2]].map(([from, to, cnode, depth]) => ({ location: 1, from, to, cnode, depth }));
  const layout = layOut(data, []);
  for (const [height, most] of [[20, 3], [50, 9]]) {
    layout.rows.forEach((row, i) => Object.assign(row, { top: i * height, height }));
    const scene = {
      data, layout, span: { from: 0, to: 4 }, details: [{ json: data.head.windows[0], slices, messages: [], waits: [] }],
      path: [], showPath: false, selected: null, highlight: "", cursor: -1, moving: false,
    };
    const colours = { activities: [[200, 200, 200], [0, 0, 0]] as [number, number, number][], background: [255, 255, 255] as [number, number, number], text: "#000", late: "#f00", page: "#fff", regions: ["#eee"] };
    const names = [...svg(scene, colours, 1000).matchAll(/<text x="([\d.]+)" y="([\d.]+)" text-anchor="start"[^>]*>([^<]*)</g)]
      .map(([, x, y, text]) => ({ x: Number(x), y: Number(y), end: Number(x) + LETTER * [...text].length, text }));
    expect(names.filter((name) => name.text === "a_kernel").length).toBe(2);
    expect(names.length).toBeLessThanOrEqual(most);
    for (const a of names) for (const b of names) expect(a === b || a.y !== b.y || a.end <= b.x || b.end <= a.x, `${a.text} and ${b.text}`).toBe(true);
  }
});
