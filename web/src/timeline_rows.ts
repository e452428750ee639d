/** The rows of the timeline as they are drawn: one for each location or group of locations, and below an open group its members. */
import type { TimelineData } from "./timeline_data";

/** Height of a row of an open group and of its members, pixels. */
export const OPEN_HEIGHT = 14;

/** Groups that may be open at once. */
export const MOST_OPEN = 8;

/** Sums of shares over the bins before, per activity: of bin b of this row from base + b * activities on. */
export interface Shares {
  sums: Uint32Array;
  base: number;
  bins: number;
}

export interface Row {
  top: number;
  height: number;
  /** Of the pyramid. */
  group: number;
  /** -1: several. */
  location: number;
  members: number;
  open: boolean;
  /** Row of a member of an open group. */
  member: boolean;
  shares: Shares;
}

export interface Layout {
  rows: Row[];
  height: number;
  /** Per location the row in which its details are drawn; -1: it has none of its own. */
  rowOf: Int32Array;
  /** Per location the row in which it is, alone or with others. */
  inRow: Int32Array;
}

/** Numbers of groups in the state, "3,17"; what is no group is left out. */
export function parseOpen(text: string, groups: number): number[] {
  const numbers = text.split(",").filter((part) => /^\d+$/.test(part)).map(Number);
  return [...new Set(numbers)].filter((group) => group < groups).slice(-MOST_OPEN);
}

/** The state after a group is opened or closed; of too many the one that was opened first is closed. "none": all are closed. */
export function toggled(open: number[], group: number): string {
  const next = open.includes(group) ? open.filter((g) => g !== group) : [...open, group].slice(-MOST_OPEN);
  return next.join(",") || "none";
}

function heightOf(rows: number): number {
  return Math.max(138, Math.min(538, rows * (rows <= 8 ? 78 : rows <= 64 ? 14 : 4)));
}

export function layOut(data: TimelineData, open: number[]): Layout {
  const { rows: groups, row_of: groupOf } = data.head.pyramid;
  const each = heightOf(groups) / Math.max(1, groups);
  const rows: Row[] = [];
  const rowOf = new Int32Array(groupOf.length).fill(-1);
  const inRow = new Int32Array(groupOf.length).fill(-1);
  let top = 0;
  const add = (row: Omit<Row, "top">): void => {
    rows.push({ top, ...row });
    top += row.height;
  };
  for (let group = 0; group < groups; group++) {
    const members = data.members[group];
    const alone = members.length === 1;
    const isOpen = !alone && open.includes(group) && data.hasSingle;
    for (const location of members) inRow[location] = rows.length;
    if (alone) rowOf[members[0]] = rows.length;
    add({ height: isOpen ? Math.max(each, OPEN_HEIGHT) : each, group, location: alone ? members[0] : -1, members: members.length, open: isOpen, member: false, shares: data.groupShares(group) });
    if (!isOpen) continue;
    for (const location of members) {
      rowOf[location] = inRow[location] = rows.length;
      add({ height: Math.max(each, OPEN_HEIGHT), group, location, members: 1, open: false, member: true, shares: data.singleShares(location) });
    }
  }
  return { rows, height: top, rowOf, inRow };
}

/** The row at a height below the axis; -1: none. */
export function rowAt(layout: Layout, y: number): number {
  let [low, high] = [0, layout.rows.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (layout.rows[middle].top <= y) low = middle; else high = middle - 1;
  }
  return y >= 0 && y < layout.height && layout.rows.length > 0 ? low : -1;
}

/** "0 – 3, 7, 9 – 11": sorted numbers, runs of more than two joined; at most so many parts. */
export function runs(numbers: number[], most: number): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end++;
    if (end - i < 2) end = i;
    parts.push(end > i ? `${sorted[i]} – ${sorted[end]}` : String(sorted[i]));
    i = end + 1;
  }
  return parts.slice(0, most).join(", ") + (parts.length > most ? ", …" : "");
}
