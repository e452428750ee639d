/** Draws the timeline on a canvas: shares as stacked colour at any zoom; in windows of detail regions, messages, waits. */
import { shortName, visible } from "./format";
import type { Detail, TimelineData, Wait } from "./timeline_data";
import type { Segment } from "./types";

export interface Span {
  from: number;
  to: number;
}

export interface Scene {
  data: TimelineData;
  span: Span;
  /** Windows of detail that overlap the span and are wide enough to be seen. */
  details: Detail[];
  path: Segment[];
  showPath: boolean;
  selected: Wait | null;
  highlight: string;
}

export interface Colours {
  activities: [number, number, number][];
  background: [number, number, number];
  text: string;
  line: string;
  late: string;
  regions: string[];
}

export const LEFT = 64;
export const TOP = 22;

export function rowHeight(data: TimelineData, height: number): number {
  return (height - TOP) / Math.max(1, data.head.pyramid.rows);
}

export function timeAt(span: Span, x: number, width: number): number {
  return span.from + ((x - LEFT) / Math.max(1, width - LEFT)) * (span.to - span.from);
}

function xOf(span: Span, width: number, time: number): number {
  return LEFT + ((time - span.from) / (span.to - span.from)) * (width - LEFT);
}

/** Every pixel of a row is a share of its height: what the location did in the time of that column. */
function drawShares(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, width: number, height: number, ratio: number): void {
  const w = Math.max(1, Math.round((width - LEFT) * ratio));
  const h = Math.max(1, Math.round((height - TOP) * ratio));
  const { data, span } = scene;
  const image = context.createImageData(w, h);
  const pixels = new Uint32Array(image.data.buffer);
  const pack = (c: [number, number, number]): number => (255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0];
  const palette = colours.activities.map(pack);
  const background = pack(colours.background);
  const rows = data.head.pyramid.rows;
  const shares = new Float64Array(data.nActivities);
  const step = (span.to - span.from) / w;
  // Waiting lies on top, where rows are easiest to compare.
  const order = Array.from(palette.keys()).reverse();
  for (let r = 0; r < rows; r++) {
    const top = Math.round((r * h) / rows);
    const bottom = Math.max(top + 1, Math.round(((r + 1) * h) / rows) - (h / rows >= 4 * ratio ? Math.ceil(ratio) : 0));
    for (let x = 0; x < w; x++) {
      data.shares(r, span.from + x * step, span.from + (x + 1) * step, shares);
      let y = top;
      let sum = 0;
      for (const activity of order) {
        sum += shares[activity];
        const end = Math.min(bottom, top + Math.round(sum * (bottom - top)));
        for (; y < end; y++) pixels[y * w + x] = palette[activity];
      }
      for (; y < bottom; y++) pixels[y * w + x] = background;
    }
  }
  context.putImageData(image, Math.round(LEFT * ratio), Math.round(TOP * ratio));
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

function drawDetail(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, detail: Detail, width: number, height: number): void {
  const { data, span } = scene;
  const row = rowHeight(data, height);
  const lanes = lanesOf(row - 2);
  const laneHeight = (row - 2) / lanes;
  const rowOf = data.head.pyramid.row_of;
  if (data.head.pyramid.rows < data.head.locations.length) return;
  const deepest = detail.slices.reduce((d, s) => Math.max(d, s.depth), 0);
  const base = Math.max(0, deepest + 1 - lanes);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const x0 = Math.max(LEFT, xOf(span, width, detail.json.from_s));
  const x1 = Math.min(width, xOf(span, width, detail.json.to_s));
  context.fillStyle = `rgb(${colours.background.join(",")})`;
  context.fillRect(x0, TOP, x1 - x0, height - TOP);
  const slices = detail.slices.slice().sort((a, b) => a.depth - b.depth);
  for (const slice of slices) {
    const a = Math.max(LEFT, xOf(span, width, slice.from));
    const b = Math.min(width, xOf(span, width, slice.to));
    if (b <= LEFT || a >= width || b - a < 0.3) continue;
    const name = data.regionOf(slice.cnode);
    const activity = data.head.pyramid.activity_of[slice.cnode] ?? 0;
    const lane = lanes === 1 ? 0 : Math.min(lanes - 1, Math.max(0, slice.depth - base));
    const y = TOP + rowOf[slice.location] * row + 1 + lane * laneHeight;
    const tall = lanes === 1 ? row - 2 : laneHeight - 1;
    context.fillStyle = activity > 0 ? `rgb(${colours.activities[activity].join(",")})` : colours.regions[hash(name) % colours.regions.length];
    context.globalAlpha = scene.highlight !== "" && !name.toLowerCase().includes(scene.highlight) ? 0.25 : 1;
    context.fillRect(a, y, Math.max(0.6, b - a - 0.5), tall);
    context.globalAlpha = 1;
    if (b - a > 34 && tall >= 11) {
      context.save();
      context.beginPath();
      context.rect(a, y, b - a - 3, tall);
      context.clip();
      const [red, green, blue] = colours.activities[activity];
      context.fillStyle = activity > 0 && 0.3 * red + 0.6 * green + 0.1 * blue < 110 ? "#ffffff" : "#15191d";
      context.fillText(visible(shortName(name)), a + 3, y + tall / 2);
      context.restore();
    }
  }
  drawWaits(context, scene, colours, detail, width, row);
  drawMessages(context, scene, colours, detail, width, row);
}

function drawWaits(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, detail: Detail, width: number, row: number): void {
  const rowOf = scene.data.head.pyramid.row_of;
  for (const wait of detail.waits) {
    const a = Math.max(LEFT, xOf(scene.span, width, wait.from));
    const b = Math.min(width, xOf(scene.span, width, wait.to));
    if (b <= LEFT || a >= width) continue;
    const y = TOP + rowOf[wait.location] * row + 1;
    const tall = Math.max(2, Math.min(row - 2, 14));
    const bottom = y + row - 2 - tall;
    context.save();
    context.beginPath();
    context.rect(a, bottom, Math.max(1, b - a), tall);
    context.fillStyle = colours.late;
    context.globalAlpha = 0.25;
    context.fill();
    context.globalAlpha = 1;
    context.clip();
    context.strokeStyle = colours.late;
    context.lineWidth = 1.2;
    context.beginPath();
    for (let x = a - tall; x < b; x += 5) {
      context.moveTo(x, bottom + tall);
      context.lineTo(x + tall, bottom);
    }
    context.stroke();
    context.restore();
    if (scene.selected && sameWait(scene.selected, wait)) {
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.strokeRect(a, bottom, Math.max(2, b - a), tall);
      if (wait.cause >= 0) {
        context.strokeStyle = colours.late;
        context.strokeRect(LEFT + 1, TOP + rowOf[wait.cause] * row + 1, width - LEFT - 2, row - 2);
      }
    }
  }
}

export function sameWait(a: Wait, b: Wait): boolean {
  return a.location === b.location && a.from === b.from && a.kind === b.kind;
}

function drawMessages(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, detail: Detail, width: number, row: number): void {
  const rowOf = scene.data.head.pyramid.row_of;
  context.strokeStyle = colours.text;
  context.lineWidth = 0.8;
  context.globalAlpha = detail.messages.length > 400 ? 0.25 : 0.55;
  context.beginPath();
  for (const message of detail.messages) {
    const x0 = xOf(scene.span, width, message.sent);
    const x1 = xOf(scene.span, width, message.received);
    if (x1 < LEFT || x0 > width) continue;
    context.moveTo(Math.max(LEFT, x0), TOP + (rowOf[message.sender] + 0.5) * row);
    context.lineTo(Math.min(width, x1), TOP + (rowOf[message.receiver] + 0.5) * row);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawPath(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, width: number, row: number): void {
  const { data, span } = scene;
  const byName = new Map(data.head.locations.map(([rank, thread], l) => [`${rank}.${thread}`, l]));
  const segments = scene.path.filter((s) => s.to_s > span.from && s.from_s < span.to).sort((a, b) => a.from_s - b.from_s);
  context.strokeStyle = colours.line;
  context.lineWidth = 1.2;
  context.beginPath();
  let started = false;
  for (const segment of segments) {
    const location = byName.get(`${segment.rank}.${segment.thread}`);
    if (location === undefined) continue;
    const y = TOP + (data.head.pyramid.row_of[location] + 0.5) * row;
    const x0 = Math.max(LEFT, xOf(span, width, segment.from_s));
    const x1 = Math.min(width, xOf(span, width, segment.to_s));
    if (started) context.lineTo(x0, y); else context.moveTo(x0, y);
    context.lineTo(x1, y);
    started = true;
  }
  context.stroke();
}

/** Round times: about one label per 110 pixels. */
export function ticks(span: Span, width: number): number[] {
  const wanted = (span.to - span.from) / Math.max(1, Math.floor((width - LEFT) / 110));
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= wanted) ?? 10 * power;
  const list: number[] = [];
  for (let i = Math.ceil(span.from / step); i * step <= span.to && list.length < 40; i++) list.push(i * step);
  return list;
}

/** All labels of an axis in one unit, with as many digits as tell neighbours apart. */
export function tickText(time: number, step: number): string {
  const [unit, name] = step >= 0.1 ? [1, "s"] : step >= 1e-4 ? [1e-3, "ms"] : [1e-6, "µs"];
  const places = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return `${(time / unit).toFixed(Math.min(3, places))} ${name}`;
}

function drawAxes(context: CanvasRenderingContext2D, scene: Scene, colours: Colours, width: number, height: number): void {
  const { data, span } = scene;
  const row = rowHeight(data, height);
  context.fillStyle = colours.text;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const list = ticks(span, width);
  const step = list.length > 1 ? list[1] - list[0] : span.to - span.from;
  context.textAlign = "center";
  for (const time of list) {
    const x = xOf(span, width, time);
    if (x > LEFT + 20 && x < width - 24) context.fillText(tickText(time, step), x, TOP / 2 - 2);
    context.fillRect(x, TOP - 4, 1, 4);
  }
  context.textAlign = "right";
  const every = Math.max(1, Math.ceil(13 / row));
  const grouped = data.head.pyramid.rows < data.head.locations.length;
  for (let r = 0; r < data.head.pyramid.rows; r += every) {
    const location = data.head.pyramid.row_of.indexOf(r);
    const members = grouped ? data.head.pyramid.row_of.filter((x) => x === r).length : 1;
    const [rank, thread] = data.head.locations[location] ?? [r, 0];
    const threads = data.head.locations.some(([, t]) => t > 0);
    const text = members > 1 ? `${members} like ${rank}` : threads ? `${rank}.${thread}` : `rank ${rank}`;
    context.fillText(text, LEFT - 8, TOP + (r + 0.5) * row);
  }
  context.textAlign = "left";
}

export function draw(canvas: HTMLCanvasElement, scene: Scene, colours: Colours, width: number, height: number): void {
  const ratio = window.devicePixelRatio || 1;
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
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP, width - LEFT, height - TOP);
  context.clip();
  for (const detail of scene.details) drawDetail(context, scene, colours, detail, width, height);
  if (scene.showPath) drawPath(context, scene, colours, width, rowHeight(scene.data, height));
  context.restore();
  drawAxes(context, scene, colours, width, height);
}
