/** Draws the timeline: shares as stacked colour at any zoom; in windows of detail regions, messages, waits. */
import { linear, ticksOf } from "./axes";
import { shortName, tickTexts, visible } from "./format";
import { CanvasPen, LETTER, SvgPen, type Pen } from "./timeline_pen";
import type { Layout, Row, Shares } from "./timeline_rows";
import type { Detail, TimelineData, Wait } from "./timeline_data";
import type { Segment } from "./types";

export interface Span {
  from: number;
  to: number;
}

export interface Scene {
  data: TimelineData;
  layout: Layout;
  span: Span;
  /** Windows of detail that overlap the span and are wide enough to be seen. */
  details: Detail[];
  path: Segment[];
  showPath: boolean;
  selected: Wait | null;
  highlight: string;
  /** Row with the cursor; -1: none. */
  cursor: number;
  /** Another picture follows at once: wider columns are enough. */
  moving: boolean;
}

export interface Colours {
  activities: [number, number, number][];
  background: [number, number, number];
  text: string;
  late: string;
  page: string;
  regions: string[];
}

export const LEFT = 76;
export const TOP = 22;

/** Cells (row x column) of a picture that moves: with many rows its columns are up to four pixels wide. */
const MOST_MOVING_CELLS = 150000;

/** Cells (row x column) of a file of SVG: its columns are wider than a pixel where there are many rows. */
const MOST_SVG_CELLS = 60000;

export function heightOf(layout: Layout): number {
  return TOP + layout.height;
}

export function timeAt(span: Span, x: number, width: number): number {
  return span.from + ((x - LEFT) / Math.max(1, width - LEFT)) * (span.to - span.from);
}

function xOf(span: Span, width: number, time: number): number {
  return LEFT + ((time - span.from) / (span.to - span.from)) * (width - LEFT);
}

const rgb = (c: [number, number, number]): string => `rgb(${c.join(",")})`;

interface Edges {
  bin: Int32Array;
  part: Float64Array;
  at: Float64Array;
}

/** Where the edges of w columns lie among the bins: the bin, and which part of it is before the edge. */
function edgesOf(data: TimelineData, bins: number, span: Span, w: number): Edges {
  const [bin, part, at] = [new Int32Array(w + 1), new Float64Array(w + 1), new Float64Array(w + 1)];
  const scale = bins / data.head.duration_s;
  for (let x = 0; x <= w; x++) {
    at[x] = Math.min(bins, Math.max(0, (span.from + (x * (span.to - span.from)) / w) * scale));
    bin[x] = Math.min(Math.floor(at[x]), bins - 1);
    part[x] = at[x] - bin[x];
  }
  return { bin, part, at };
}

/** Edges by the number of bins a row has: groups and single locations differ. */
function edgesBy(data: TimelineData, span: Span, w: number): (shares: Shares) => Edges {
  const known = new Map<number, Edges>();
  return ({ bins }) => {
    let edges = known.get(bins);
    if (!edges) known.set(bins, (edges = edgesOf(data, bins, span, w)));
    return edges;
  };
}

/** Every pixel of a row is a share of its height: what the location did in the time of that column. Columns share their edges, so that a column
    costs one look at the sums; waiting lies on top, where rows are easiest to compare. */
function drawShares(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, width: number, height: number, ratio: number): void {
  const w = Math.max(1, Math.round((width - LEFT) * ratio));
  const h = Math.max(1, Math.round((height - TOP) * ratio));
  const { data, span } = scene;
  const image = context.createImageData(w, h);
  const pixels = new Uint32Array(image.data.buffer);
  const pack = (c: [number, number, number]): number => ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
  const palette = Uint32Array.from(colours.activities.map(pack));
  const background = pack(colours.background);
  const n = data.nActivities;
  const step = scene.moving ? Math.max(1, Math.min(4, Math.ceil((w * scene.layout.rows.length) / MOST_MOVING_CELLS))) : 1;
  const columns = Math.ceil(w / step);
  const edges = edgesBy(data, { from: span.from, to: span.from + ((span.to - span.from) * columns * step) / w }, columns);
  const before = new Float64Array(n);
  for (const row of scene.layout.rows) {
    const { sums, base } = row.shares;
    const { bin, part, at } = edges(row.shares);
    const top = Math.round(row.top * ratio);
    const bottom = Math.min(h, Math.max(top + 1, Math.round((row.top + row.height) * ratio) - (row.height >= 4 ? Math.ceil(ratio) : 0)));
    const tall = bottom - top;
    for (let x = 0; x <= columns; x++) {
      const from = base + bin[x] * n;
      const share = part[x];
      const column = (x - 1) * step;
      const next = Math.min(column + step, w);
      const scale = x > 0 ? tall / Math.max(255 * (at[x] - at[x - 1]), 1e-12) : 0;
      let y = top;
      let sum = 0;
      for (let i = n - 1; i >= 0; i--) {
        const value = sums[from + i] + share * (sums[from + n + i] - sums[from + i]);
        sum += value - before[i];
        before[i] = value;
        if (x === 0) continue;
        const end = Math.min(bottom, top + Math.round(sum * scale));
        for (; y < end; y++) for (let p = y * w + column; p < y * w + next; p++) pixels[p] = palette[i];
      }
      if (x === 0) continue;
      for (; y < bottom; y++) for (let p = y * w + column; p < y * w + next; p++) pixels[p] = background;
    }
  }
  context.putImageData(image, Math.round(LEFT * ratio), Math.round(TOP * ratio));
}

/** The same as shapes: per activity one path of rectangles; neighbours of the same height are one. */
function svgShares(pen: SvgPen, scene: Scene, colours: Colours, width: number): void {
  const { data, span, layout } = scene;
  const w = Math.max(1, Math.min(Math.round(width - LEFT), Math.floor(MOST_SVG_CELLS / Math.max(1, layout.rows.length))));
  const column = (width - LEFT) / w;
  const n = data.nActivities;
  const rects: number[][] = colours.activities.map(() => []);
  const shares = new Float64Array(n);
  for (const row of layout.rows) {
    const tall = row.height - (row.height >= 4 ? 1 : 0);
    pen.rect(LEFT, TOP + row.top, width - LEFT, tall, rgb(colours.background));
    const last: number[] = Array.from({ length: n }, () => -1);
    for (let x = 0; x < w; x++) {
      data.shares(row.shares, span.from + (x * (span.to - span.from)) / w, span.from + ((x + 1) * (span.to - span.from)) / w, shares);
      let sum = 0;
      for (let i = n - 1; i >= 0; i--) {
        const [y, end] = [sum, sum + shares[i]].map((v) => TOP + row.top + Math.round(v * tall * 10) / 10);
        sum += shares[i];
        const list = rects[i];
        const at = last[i];
        if (end <= y) last[i] = -1;
        else if (at >= 0 && list[at + 1] === y && list[at + 3] === end - y) list[at + 2] += column;
        else last[i] = list.push(LEFT + x * column, y, column, end - y) - 4;
      }
    }
  }
  rects.forEach((list, i) => pen.rects(list, rgb(colours.activities[i])));
}

function hash(text: string): number {
  let value = 7;
  for (let i = 0; i < text.length; i++) value = (value * 31 + text.charCodeAt(i)) >>> 0;
  return value;
}

/** Lanes of a row: the innermost regions that fit, outermost on top. */
export function lanesOf(height: number): number {
  return height >= 34 ? Math.min(8, Math.floor(height / 17)) : 1;
}

/** Above and below what is drawn in a row. */
function margin(row: Row): number {
  return row.height >= 4 ? 1 : 0;
}

/** The row of a location where it has one of its own. */
function ownRow(scene: Scene, location: number): Row | undefined {
  return scene.layout.rows[scene.layout.rowOf[location] ?? -1];
}

/** The narrowest part of a bar that has a name. */
const LEAST_NAME = 34;

/** The widest part of a bar from `a` to `b` that none of `covers`, which lie on it, hides; the first of equals. */
export function freePart(a: number, b: number, covers: [number, number][]): [number, number] {
  let best: [number, number] = [a, a];
  let from = a;
  for (const [begin, end] of [...covers.filter(([begin, end]) => begin < b && end > a).sort((x, y) => x[0] - y[0]), [b, b]]) {
    if (begin - from > best[1] - best[0]) best = [from, begin];
    from = Math.max(from, end);
  }
  return best;
}

interface Bar {
  a: number;
  b: number;
  y: number;
  tall: number;
  fill: string;
  text: string;
  colour: string;
  dimmed: boolean;
}

/** Names of bars in the order in which these were drawn: each where no later bar of its lane lies on its own, so that no two names meet. Bars that are
    narrower than a letter hide nothing. Returns what draws them. */
function namesOf(pen: Pen, bars: Bar[]): (() => void)[] {
  const names: (() => void)[] = [];
  const covers = new Map<number, [number, number][]>(); // by the top of the lane
  for (const { a, b, y, tall, fill, text, colour, dimmed } of bars.slice().reverse()) {
    let lane = covers.get(y);
    if (!lane) covers.set(y, (lane = []));
    const [from, to] = b - a > LEAST_NAME && tall >= 11 ? freePart(a, b, lane) : [a, a];
    if (b - a > LETTER) lane.push([a, b]);
    if (to - from <= LEAST_NAME) continue;
    names.push(() => {
      if (!dimmed) pen.rect(from + 1, y + 1, Math.min(to - from - 4, LETTER * text.length + 4), tall - 5, fill);
      pen.text(text, from + 3, y + tall / 2, "start", colour, to - from - 6);
    });
  }
  return names;
}

/** Returns what draws the names: they come after the waits, so that no hatching makes them unreadable. */
function drawSlices(pen: Pen, scene: Scene, colours: Colours, detail: Detail, width: number): (() => void)[] {
  const bars: Bar[] = [];
  const { data, span } = scene;
  const deepest = detail.slices.reduce((d, s) => Math.max(d, s.depth), 0);
  for (const slice of detail.slices.slice().sort((a, b) => a.depth - b.depth)) {
    const row = ownRow(scene, slice.location);
    const a = Math.max(LEFT, xOf(span, width, slice.from));
    const b = Math.min(width, xOf(span, width, slice.to));
    if (!row || b <= LEFT || a >= width || b - a < 0.3) continue;
    const inner = row.height - 2 * margin(row);
    const lanes = lanesOf(inner);
    const laneHeight = inner / lanes;
    const name = data.regionOf(slice.cnode);
    const activity = data.head.pyramid.activity_of[slice.cnode] ?? 0;
    const lane = lanes === 1 ? 0 : Math.min(lanes - 1, Math.max(0, slice.depth - Math.max(0, deepest + 1 - lanes)));
    const y = TOP + row.top + margin(row) + lane * laneHeight;
    const tall = lanes === 1 ? inner : laneHeight - 1;
    const dimmed = scene.highlight !== "" && !name.toLowerCase().includes(scene.highlight);
    const fill = activity > 0 ? rgb(colours.activities[activity]) : colours.regions[hash(name) % colours.regions.length];
    pen.rect(a, y, Math.max(0.6, b - a - 0.5), tall, fill, dimmed ? 0.25 : 1);
    const [red, green, blue] = colours.activities[activity];
    const colour = activity > 0 && 0.3 * red + 0.6 * green + 0.1 * blue < 110 ? "#ffffff" : "#15191d";
    bars.push({ a, b, y, tall, fill, text: visible(shortName(name)), colour, dimmed });
  }
  return namesOf(pen, bars);
}

function drawDetail(pen: Pen, scene: Scene, colours: Colours, detail: Detail, width: number): void {
  const x0 = Math.max(LEFT, xOf(scene.span, width, detail.json.from_s));
  const x1 = Math.min(width, xOf(scene.span, width, detail.json.to_s));
  for (const row of scene.layout.rows)
    if (row.location >= 0) pen.rect(x0, TOP + row.top, x1 - x0, row.height, rgb(colours.background));
  const names = drawSlices(pen, scene, colours, detail, width);
  drawWaits(pen, scene, colours, detail, width);
  for (const name of names) name();
  drawMessages(pen, scene, colours, detail, width);
}

/** Hatched where the row is high enough; of the selected wait a frame, and around the row of its cause. */
function drawWaits(pen: Pen, scene: Scene, colours: Colours, detail: Detail, width: number): void {
  for (const wait of detail.waits) {
    const row = ownRow(scene, wait.location);
    const a = Math.max(LEFT, xOf(scene.span, width, wait.from));
    const b = Math.min(width, xOf(scene.span, width, wait.to));
    if (!row || b <= LEFT || a >= width) continue;
    const tall = Math.min(row.height - 2 * margin(row), 14);
    const y = TOP + row.top + row.height - margin(row) - tall;
    const length = Math.max(1, b - a);
    const hatch: number[][] = [];
    for (let x = a - tall; x < b && tall > 4; x += 5) {
      const [from, to] = [Math.max(x, a), Math.min(x + tall, a + length)];
      hatch.push([from, y + tall - (from - x), to, y + tall - (to - x)]);
    }
    pen.rect(a, y, length, tall, colours.late, hatch.length > 0 ? 0.25 : 0.7);
    if (hatch.length > 0) pen.lines(hatch, colours.late, 1.2);
    if (!scene.selected || !sameWait(scene.selected, wait)) continue;
    pen.frame(a, y, Math.max(2, b - a), tall, colours.text, 2);
    const cause = scene.layout.rows[scene.layout.inRow[wait.cause] ?? -1];
    if (cause) pen.frame(LEFT + 1, TOP + cause.top + 1, width - LEFT - 2, Math.max(1, cause.height - 2), colours.late, 2);
  }
}

export function sameWait(a: Wait, b: Wait): boolean {
  return a.location === b.location && a.from === b.from && a.kind === b.kind;
}

/** Lines between rows; where both locations are in closed groups, nothing. */
function drawMessages(pen: Pen, scene: Scene, colours: Colours, detail: Detail, width: number): void {
  const { layout, span } = scene;
  const middle = (location: number): number => TOP + layout.rows[layout.inRow[location]].top + layout.rows[layout.inRow[location]].height / 2;
  const lines: number[][] = [];
  for (const { sender, sent, receiver, received } of detail.messages) {
    const x0 = xOf(span, width, sent);
    const x1 = xOf(span, width, received);
    if (x1 < LEFT || x0 > width || (!ownRow(scene, sender) && !ownRow(scene, receiver))) continue;
    lines.push([Math.max(LEFT, x0), middle(sender), Math.min(width, x1), middle(receiver)]);
  }
  pen.lines(lines, colours.text, 0.8, detail.messages.length > 400 ? 0.25 : 0.55);
}

function drawPath(pen: Pen, scene: Scene, colours: Colours, width: number): void {
  const { data, span, layout } = scene;
  const byName = new Map(data.head.locations.map(([rank, thread], l) => [`${rank}.${thread}`, l]));
  const segments = scene.path.filter((s) => s.to_s > span.from && s.from_s < span.to).sort((a, b) => a.from_s - b.from_s);
  const line: number[] = [];
  for (const segment of segments) {
    const row = layout.rows[layout.inRow[byName.get(`${segment.rank}.${segment.thread}`) ?? -1] ?? -1];
    if (!row) continue;
    const y = TOP + row.top + row.height / 2;
    line.push(Math.max(LEFT, xOf(span, width, segment.from_s)), y, Math.min(width, xOf(span, width, segment.to_s)), y);
  }
  pen.lines([line], colours.text, 1.2);
}

/** "rank 3", "3.1" where there are threads, "▸ 8 like 3" of a closed group. */
export function labelOf(data: TimelineData, row: Row): string {
  const [rank, thread] = data.head.locations[row.location >= 0 ? row.location : data.members[row.group][0]] ?? [row.group, 0];
  const name = data.hasThreads ? `${rank}.${thread}` : `rank ${rank}`;
  return row.members > 1 ? `${row.open ? "▾" : "▸"} ${row.members} like ${data.hasThreads ? name : rank}` : name;
}

function drawAxes(pen: Pen, scene: Scene, colours: Colours, width: number): void {
  const { data, span, layout } = scene;
  const scale = linear([span.from, span.to], [LEFT, width]);
  const list = ticksOf(scale, 110, "sec");
  const texts = tickTexts(list, "sec");
  for (const [i, time] of list.entries()) {
    const x = scale(time);
    if (x > LEFT + 20 && x < width - 24) pen.text(texts[i], x, TOP / 2 - 2, "middle", colours.text);
    pen.rect(x, TOP - 4, 1, 4, colours.text);
  }
  // Rows that are open are labelled whatever is around them.
  const labels = layout.rows.filter((row) => row.open || row.member);
  const taken = labels.map((row) => row.top + row.height / 2);
  let next = 0;
  let free = -Infinity;
  for (const row of layout.rows) {
    const y = row.top + row.height / 2;
    while (next < taken.length && taken[next] < y) free = Math.max(free, taken[next++] + 13);
    if (row.open || row.member || y < free || (next < taken.length && taken[next] - y < 13)) continue;
    labels.push(row);
    free = y + 13;
  }
  for (const row of labels) pen.text(labelOf(data, row), LEFT - 8, TOP + row.top + row.height / 2, "end", colours.text);
}

/** Everything but the shares. */
function drawShapes(pen: Pen, scene: Scene, colours: Colours, width: number): void {
  pen.clip(LEFT, TOP, width - LEFT, scene.layout.height);
  for (const detail of scene.details) drawDetail(pen, scene, colours, detail, width);
  if (scene.showPath) drawPath(pen, scene, colours, width);
  const cursor = scene.layout.rows[scene.cursor];
  if (cursor) pen.frame(LEFT + 1, TOP + cursor.top, width - LEFT - 2, Math.max(2, cursor.height), colours.text, 1.5);
  pen.unclip();
  drawAxes(pen, scene, colours, width);
}

export function draw(canvas: HTMLCanvasElement, scene: Scene, colours: Colours, width: number): void {
  const ratio = window.devicePixelRatio || 1;
  const height = heightOf(scene.layout);
  const context = canvas.getContext("2d");
  if (!context || width <= LEFT) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  drawShares(context, scene, colours, width, height, ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawShapes(new CanvasPen(context), scene, colours, width);
}

/** The picture as a file of SVG, of shapes and text. */
export function svg(scene: Scene, colours: Colours, width: number): string {
  const pen = new SvgPen();
  svgShares(pen, scene, colours, width);
  drawShapes(pen, { ...scene, cursor: -1 }, colours, width);
  return pen.file(width, heightOf(scene.layout), colours.page);
}
