/** What the page has of a trace (src/analyze/page_timeline.h): a pyramid of shares, windows of detail, matrices. */
import type { Shares } from "./timeline_rows";

interface Table {
  at: number;
  rows: number;
}

export interface WindowJson {
  from_s: number;
  to_s: number;
  metric?: string;
  cnode?: number;
  location?: number;
  cause?: number;
  cause_cnode?: number;
  begin_s?: number;
  end_s?: number;
  sum_s?: number;
  slices: Table;
  messages: Table;
  waits: Table;
}

interface Header {
  duration_s: number;
  events: number;
  regions: string[];
  cnodes: [number, number][];
  locations: [number, number][];
  pyramid: Table & { bins: number; activities: string[]; row_of: number[]; activity_of: number[] };
  /** Coarser rows of the single locations, where the pyramid's are groups and there are not too many locations. */
  single?: Table & { bins: number };
  wait_metrics: string[];
  windows: WindowJson[];
  matrices: Table & { ranks: number; left_out: { pairs: number; waiting_s: number; messages: number; bytes: number } };
  topologies: { dims: number[]; periodic: number[]; members: number[] }[];
}

export interface Slice {
  location: number;
  from: number;
  to: number;
  cnode: number;
  depth: number;
}

export interface Message {
  sender: number;
  sent: number;
  receiver: number;
  received: number;
  bytes: number;
}

export interface Wait {
  location: number;
  from: number;
  to: number;
  kind: number;
  cause: number;
  causeCnode: number;
  cnode: number;
}

export interface Detail {
  json: WindowJson;
  slices: Slice[];
  messages: Message[];
  waits: Wait[];
}

export interface PairSums {
  from: number;
  to: number;
  waiting: number;
  messages: number;
  bytes: number;
}

export class TimelineData {
  readonly head: Header;
  readonly pairs: PairSums[];
  readonly nActivities: number;
  readonly hasThreads: boolean;
  /** Per row of the pyramid: its locations. */
  readonly members: number[][];
  private readonly prefix: Uint32Array;
  private readonly singles = new Map<number, Shares>();
  private readonly data: DataView;
  private readonly details = new Map<number, Detail>();

  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = Number(view.getBigUint64(0, true));
    this.head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Header;
    this.data = new DataView(bytes.buffer, bytes.byteOffset + 8 + length);
    this.nActivities = this.head.pyramid.activities.length;
    this.hasThreads = this.head.locations.some(([, thread]) => thread > 0);
    const { at, rows, bins, row_of: rowOf } = this.head.pyramid;
    this.prefix = this.sumUp(at, rows, bins);
    this.members = Array.from({ length: rows }, () => []);
    rowOf.forEach((row, location) => this.members[row].push(location));
    this.pairs = this.table(this.head.matrices, 5).map(([from, to, waiting, messages, sum]) => ({ from, to, waiting, messages, bytes: sum }));
  }

  /** Sums over the bins before, per row, bin and activity: exact whole numbers, so that any span costs two look-ups. */
  private sumUp(at: number, rows: number, bins: number): Uint32Array {
    const n = this.nActivities;
    const prefix = new Uint32Array(rows * (bins + 1) * n);
    for (let r = 0; r < rows; r++) {
      let from = at + r * bins * n;
      let to = r * (bins + 1) * n;
      for (let i = 0; i < bins * n; i++, to++) prefix[to + n] = prefix[to] + this.data.getUint8(from++);
    }
    return prefix;
  }

  /** Whether single locations of a group can be shown. */
  get hasSingle(): boolean {
    return this.head.single !== undefined;
  }

  groupShares(row: number): Shares {
    const { bins } = this.head.pyramid;
    return { sums: this.prefix, base: row * (bins + 1) * this.nActivities, bins };
  }

  /** Only where hasSingle. */
  singleShares(location: number): Shares {
    const { at, bins } = this.head.single ?? this.head.pyramid;
    let shares = this.singles.get(location);
    if (!shares) {
      shares = { sums: this.sumUp(at + location * bins * this.nActivities, 1, bins), base: 0, bins };
      this.singles.set(location, shares);
    }
    return shares;
  }

  private table(table: Table, columns: number): number[][] {
    const rows: number[][] = [];
    for (let r = 0, at = table.at; r < table.rows; r++, at += 8 * columns)
      rows.push(Array.from({ length: columns }, (_, c) => this.data.getFloat64(at + 8 * c, true)));
    return rows;
  }

  /** Shares of the activities of a row between two times, into `out`; parts of bins count in part. */
  shares(of: Shares, from: number, to: number, out: Float64Array): void {
    const { bins, base, sums: p } = of;
    const n = this.nActivities;
    const scale = bins / this.head.duration_s;
    const a = Math.min(bins, Math.max(0, from * scale));
    const b = Math.min(bins, Math.max(0, to * scale));
    const first = Math.min(Math.floor(a), bins - 1);
    const last = Math.min(Math.floor(b), bins - 1);
    const width = Math.max(b - a, 1e-12) * 255;
    for (let i = 0; i < n; i++) {
      const begin = p[base + first * n + i] + (a - first) * (p[base + (first + 1) * n + i] - p[base + first * n + i]);
      const end = p[base + last * n + i] + (b - last) * (p[base + (last + 1) * n + i] - p[base + last * n + i]);
      out[i] = (end - begin) / width;
    }
  }

  detail(index: number): Detail {
    let detail = this.details.get(index);
    if (!detail) {
      const json = this.head.windows[index];
      detail = {
        json,
        slices: this.table(json.slices, 5).map(([location, from, to, cnode, depth]) => ({ location, from, to, cnode, depth })),
        messages: this.table(json.messages, 5).map(([sender, sent, receiver, received, bytes]) => ({ sender, sent, receiver, received, bytes })),
        waits: this.table(json.waits, 7).map(([location, from, to, kind, cause, causeCnode, cnode]) => ({ location, from, to, kind, cause, causeCnode, cnode })),
      };
      this.details.set(index, detail);
    }
    return detail;
  }

  /**
   * The details to draw from `from` to `to`: of windows that are at least a fifth of it and do not overlap, as both hold the same
   * there. The chosen one comes first, so that a link into it always shows what it is about; -1: none is.
   */
  detailsIn(from: number, to: number, chosen: number): Detail[] {
    const found: number[] = [];
    const order = this.head.windows.map((_, i) => i).sort((a, b) => Number(b === chosen) - Number(a === chosen));
    for (const i of order) {
      const w = this.head.windows[i];
      const seen = Math.min(w.to_s, to) > Math.max(w.from_s, from) && w.to_s - w.from_s > 0.2 * (to - from);
      const overlaps = found.some((f) => this.head.windows[f].from_s < w.to_s && this.head.windows[f].to_s > w.from_s);
      if (seen && !overlaps) found.push(i);
    }
    return found.map((i) => this.detail(i));
  }

  regionOf(cnode: number): string {
    const entry = this.head.cnodes[cnode];
    return entry ? this.head.regions[entry[1]] : "unknown";
  }

  pathOf(cnode: number): string {
    const names: string[] = [];
    for (let at = cnode; at >= 0 && at < this.head.cnodes.length; at = this.head.cnodes[at][0])
      names.unshift(this.head.regions[this.head.cnodes[at][1]].replace(/\//g, "%2F"));
    return names.join("/");
  }

  who(location: number): string {
    const entry = this.head.locations[location];
    if (!entry) return "unknown";
    return this.hasThreads ? `rank ${entry[0]} thread ${entry[1]}` : `rank ${entry[0]}`;
  }

  /** The window that shows a finding: its metric at its call path, else its metric; -1: none. */
  windowFor(metric: string | undefined, path: string | null | undefined): number {
    const windows = this.head.windows;
    const plain = metric?.replace(/_estimated$/, "");
    const exact = windows.findIndex((w) => w.metric === plain && w.cnode !== undefined && this.pathOf(w.cnode) === path);
    return exact >= 0 ? exact : windows.findIndex((w) => w.metric !== undefined && w.metric === plain);
  }
}
