/** The numbers of one result (src/report/page_rows.h): sums per metric and call path, values or quantiles per row. */
import { quantileSorted } from "d3-array";
import type { Metric, PathRow } from "./types";

const KIND_STORED = 0;
const KIND_EXCLUSIVE = 1;
const HEAD = 32;

interface Row {
  sum: number;
  unit: number;
  largestAt: number;
  at: number;
}

/** Values per location, or quantiles of them (0, 1/16, .., 1) with the location of the largest. */
export interface Spread {
  values: Float64Array;
  reduced: boolean;
  largestAt: number;
}

export class Rows {
  readonly children: number[][];
  readonly roots: number[] = [];
  readonly reduced: boolean;
  readonly nLocations: number;
  private readonly width: number;
  private readonly stored: Map<number, Row>[];
  private readonly inclusiveRows: Map<number, Row>[];
  private readonly sums = new Map<number, { own: Float64Array; all: Float64Array }>();
  private readonly view: DataView;

  constructor(bytes: Uint8Array, readonly metrics: Metric[], readonly paths: PathRow[]) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.nLocations = this.view.getUint32(0, true);
    this.width = this.view.getUint32(4, true);
    this.reduced = this.view.getUint32(8, true) === 1;
    this.stored = metrics.map(() => new Map());
    this.inclusiveRows = metrics.map(() => new Map());
    this.children = paths.map(() => []);
    paths.forEach((path, id) => (path[0] >= 0 ? this.children[path[0]].push(id) : this.roots.push(id)));
    this.index();
  }

  private index(): void {
    const size = HEAD + 2 * this.width;
    for (let at = 12; at + size <= this.view.byteLength; at += size) {
      const metric = this.view.getUint32(at, true);
      const path = this.view.getUint32(at + 4, true);
      const kind = this.view.getUint32(at + 8, true);
      if (metric >= this.metrics.length || path >= this.paths.length) continue;
      const row = { largestAt: this.view.getUint32(at + 12, true), sum: this.view.getFloat64(at + 16, true), unit: this.view.getFloat64(at + 24, true), at: at + HEAD };
      (kind === KIND_STORED || kind === KIND_EXCLUSIVE ? this.stored : this.inclusiveRows)[metric].set(path, row);
    }
  }

  metric(name: string): number {
    return this.metrics.findIndex((m) => m.name === name);
  }

  private join(metric: number, a: number, b: number): number {
    const kind = this.metrics[metric].kind;
    if (kind === "minimum") return a === 0 ? b : b === 0 ? a : Math.min(a, b);
    return kind === "maximum" ? Math.max(a, b) : a + b;
  }

  /** Per call path over all locations: without and with children. */
  private sumsOf(metric: number): { own: Float64Array; all: Float64Array } {
    const known = this.sums.get(metric);
    if (known) return known;
    const n = this.paths.length;
    const own = new Float64Array(n);
    const all = new Float64Array(n);
    for (const [path, row] of this.stored[metric]) own[path] = row.sum;
    if (this.metrics[metric].kind === "inclusive" && !this.reduced) {
      all.set(own);
      for (let p = 0; p < n; p++) if (this.paths[p][0] >= 0) own[this.paths[p][0]] -= all[p];
      for (let p = 0; p < n; p++) if (Math.abs(own[p]) < 1e-12 * Math.abs(all[p])) own[p] = 0; // what rounding leaves of a difference
    } else {
      all.set(own);
      for (let p = n - 1; p >= 0; p--) {
        const parent = this.paths[p][0];
        if (parent >= 0) all[parent] = this.join(metric, all[parent], all[p]);
      }
    }
    const result = { own, all };
    this.sums.set(metric, result);
    return result;
  }

  sum(metric: number, path: number, inclusive: boolean): number {
    const sums = this.sumsOf(metric);
    return (inclusive ? sums.all : sums.own)[path];
  }

  total(metric: number): number {
    return this.roots.reduce((sum, root) => this.join(metric, sum, this.sum(metric, root, true)), 0);
  }

  private raw(row: Row | undefined): Float64Array {
    const values = new Float64Array(this.width);
    if (!row) return values;
    for (let i = 0; i < this.width; i++) {
      const step = this.view.getInt16(row.at + 2 * i, true);
      values[i] = step === -32768 ? NaN : step * row.unit;
    }
    return values;
  }

  /** What the locations have of a call path; path -1: of the whole run. */
  spread(metric: number, path: number, inclusive: boolean): Spread {
    if (path < 0) return this.joined(metric, this.roots.map((root) => this.spread(metric, root, true)));
    if (this.reduced) {
      const row = (inclusive ? this.inclusiveRows : this.stored)[metric].get(path);
      return { values: this.raw(row), reduced: true, largestAt: row?.largestAt ?? -1 };
    }
    const storedInclusive = this.metrics[metric].kind === "inclusive";
    const own = this.raw(this.stored[metric].get(path));
    if (storedInclusive && !inclusive)
      for (const child of this.children[path]) this.raw(this.stored[metric].get(child)).forEach((v, i) => (own[i] -= v));
    const spread = { values: own, reduced: false, largestAt: largest(own) };
    if (storedInclusive || !inclusive) return spread;
    return this.joined(metric, [spread, ...this.children[path].map((child) => this.spread(metric, child, true))]);
  }

  private joined(metric: number, parts: Spread[]): Spread {
    if (parts.length === 1) return parts[0];
    if (this.reduced || parts.length === 0) return { values: new Float64Array(this.reduced ? 0 : this.width), reduced: this.reduced, largestAt: -1 };
    const values = Float64Array.from(parts[0].values);
    for (const part of parts.slice(1)) part.values.forEach((v, i) => (values[i] = this.join(metric, values[i], v)));
    return { values, reduced: false, largestAt: largest(values) };
  }

  /** "main/solve/MPI_Recv", as in the JSON. */
  pathName(path: number): string {
    const names: string[] = [];
    for (let at = path; at >= 0; at = this.paths[at][0]) names.unshift(this.paths[at][1].replace(/\//g, "%2F"));
    return names.join("/");
  }

  private byName: Map<string, number> | null = null;

  /** -1: none of that name. */
  find(name: string | null | undefined): number {
    if (!name) return -1;
    if (!this.byName) this.byName = new Map(this.paths.map((_, id) => [this.pathName(id), id]));
    return this.byName.get(name) ?? -1;
  }

  /** The same, or of its callers the nearest that is known: a finding may name what samples saw below a call path. */
  nearest(name: string | null | undefined): number {
    for (let path = name ?? ""; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
      const found = this.find(path);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** The call path, or of its callers the nearest, of which it is known in which file it is. */
  withSource(path: number): PathRow | undefined {
    let at = path;
    while (at >= 0 && this.paths[at][3] === "") at = this.paths[at][0];
    return this.paths[at];
  }
}

export function largest(values: ArrayLike<number>): number {
  let at = -1;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i]) && (at < 0 || values[i] > values[at])) at = i;
  return at;
}

/** Quantiles 0, 1/4, 1/2, 3/4, 1 of values, or of quantiles. */
export function fiveNumbers(spread: Spread): [number, number, number, number, number] {
  const sorted = Array.from(spread.values).filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
  const [least, q1, median, q3, most] = [0, 0.25, 0.5, 0.75, 1].map((q) => quantileSorted(sorted, q) ?? NaN);
  return [least, q1, median, q3, most];
}
