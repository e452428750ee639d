/** Data that nothing measured: blocks in the layout of the command's, and a small result of them, for the page of components and for tests. */
import type { Result, ResultFile } from "./result";
import { Rows } from "./rows";
import { TimelineData } from "./timeline_data";
import type { FactorText, Finding, Late, Metric, PathRow, RootCause, Segment, Severe } from "./types";

export interface MadeRow {
  metric: number;
  path: number;
  sum: number;
  unit: number;
  steps: number[];
}

/** The block of src/report/page_rows.h; values of locations in steps of `unit`. */
export function rowsBlock(locations: number, rows: MadeRow[]): Uint8Array {
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

/** The block of src/analyze/page_timeline.h: its head as JSON, then the data. */
export function timelineBlock(head: object, data: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(head));
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

/** Tables of numbers one after the other behind `at` bytes, and where each is. */
function tables(at: number, all: number[][][]): { data: Uint8Array; places: { at: number; rows: number }[] } {
  const places = all.map((rows) => {
    const place = { at, rows: rows.length };
    at += 8 * rows.flat().length;
    return place;
  });
  const numbers = all.flat(2);
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((v, i) => view.setFloat64(8 * i, v, true));
  return { data: new Uint8Array(view.buffer), places };
}

const RANKS = 4;
const PATHS: PathRow[] = [
  [-1, "main", 0, "solver.c", 12], [0, "solve", 0, "solver.c", 40], [1, "MPI_Recv", 1, "", 0], [1, "MPI_Allreduce", 1, "", 0],
  [0, "a/name <of> a template with so many parameters that no column has the room for the whole of it", 0, "libsolver.so", 0],
];

const metric = (name: string, display: string, unit: string, parent = -1): Metric => ({ parent, kind: "inclusive", name, display, unit, descr: `What ${display} is.` });
const METRICS: Metric[] = [
  metric("time", "Time", "sec"), metric("mpi", "MPI", "sec", 0), { ...metric("mpi_latesender", "Late Sender", "sec", 1), waiting: true }, { ...metric("mpi_wait_nxn", "Wait at NxN", "sec", 1), waiting: true },
  { ...metric("visits", "Visits", "occ"), kind: "exclusive" }, { ...metric("mpi_latereceiver_estimated", "Late Receiver, estimated", "sec", 1), waiting: true },
];

/** Milliseconds of the ranks by metric and call path: rank 2 is late for the others. */
const VALUES: [number, number, number[]][] = [
  [0, 0, [4000, 4000, 4000, 4000]], [0, 1, [3600, 3600, 3600, 3800]], [0, 2, [900, 800, 0, 200]], [0, 3, [700, 900, 40, 900]], [0, 4, [300, 300, 300, 150]],
  [1, 2, [900, 800, 0, 200]], [1, 3, [700, 900, 40, 900]], [2, 2, [850, 760, 0, 150]], [3, 3, [650, 850, 0, 850]], [5, 2, [10, 0, 5, 0]],
];

export const FACTORS: FactorText[] = [
  { depth: 0, key: "parallel_efficiency", name: "Parallel efficiency", formula: "avg U / T", advice: "" },
  { depth: 1, key: "load_balance", name: "Load balance", formula: "avg U / max U", advice: "" },
  { depth: 1, key: "communication_efficiency", name: "Communication efficiency", formula: "max U / T", advice: "" },
];
const TASKS = { critical_path_s: 1.2, task_critical_path_s: 0.12, task_work_s: 2.4, task_curve: [...Array(11).keys()].map((i) => ({ threads: 2 ** i, at_least_s: Math.max(0.12, 2.4 / 2 ** i) })) };
export const POP = { parallel_efficiency: 0.52, load_balance: 0.71, communication_efficiency: 0.93, ...TASKS };

const finding = (more: Partial<Finding>): Finding => ({
  kind: "late_rank", severity_s: 1.76, share: 0.11, certainty: "exact", callpath: "main/solve/MPI_Recv", ranks: [0, 1, 3], n_ranks: 3, because: { callpath: "main/solve", rank: 2 }, gain_s: 0.42,
  gain_low_s: 0.38, gain_high_s: 0.42, gain_by: "replay", evidence: { metric: "mpi_latesender", callpath: "main/solve/MPI_Recv" }, text: "rank 2 is late: others wait 1.76 s (11.0 %) for it",
  advice: "give rank 2 less work", ...more,
});

/** Each way in which an item of the list can look. */
export const FINDINGS: Finding[] = [
  finding({}),
  finding({ kind: "imbalance", text: "some ranks have more work than others: 2.35 s of waiting", callpath: "main/solve/MPI_Allreduce", because: { callpath: "main/solve", ranks: [1, 2] }, gain_low_s: 0.42, certainty: "measured", advice: "spread the work evenly" }),
  finding({ kind: "late_receiver", text: "receives come late: sends wait 15 ms", callpath: PATHS[4][1], because: null, gain_s: null, gain_low_s: null, gain_high_s: null, certainty: "estimated", ranks: [0], n_ranks: 1, evidence: null, advice: "post the receives earlier" }),
  finding({ kind: "variability", text: "iteration 7 of 40 takes 2.1 times the median", because: { rank: 3 }, gain_by: "the median of the others", advice: "look at what rank 3 did in it", between: ["solver.c:41", ""] }),
];

const CAUSES: RootCause[] = [{
  rank: 2, thread: 0, callpath: "main/solve", cost_s: 2.9, short_term_s: 2.1, long_term_s: 0.8, wait_states: 40, from_s: 0.4, to_s: 1, chain_cost_s: 1.1,
  chain: [
    { rank: 1, thread: 0, callpath: "main/solve/MPI_Recv", start_s: 0.5, waiting_s: 0.5, cost_s: 0.6, kind: "mpi_latesender" },
    { rank: 0, thread: 0, callpath: "main/solve/MPI_Recv", start_s: 0.6, waiting_s: 0.5, cost_s: 0.5, kind: "mpi_latesender" },
  ],
}];
const PATH: Segment[] = [{ rank: 0, thread: 0, from_s: 0, to_s: 0.4 }, { rank: 2, thread: 0, from_s: 0.4, to_s: 1 }, { rank: 1, thread: 0, from_s: 1, to_s: 4 }];
const SEVERE: Severe = { rank: 1, thread: 0, start_s: 0.5, waiting_s: 0.5, direct_s: 0.3, indirect_s: 0.2, direct_s_waitfirst: 0.5, indirect_s_waitfirst: 0 };
const LATE: Late[] = [{ rank: 2, thread: 0, callpath: "main/solve", waiting_callpath: "main/solve/MPI_Recv", seconds: 1.76, share: 0.43 }];

const ACTIVITIES = ["useful", "mpi_p2p", "mpi_collective", "mpi_other", "openmp", "waiting"];

function timeline(): TimelineData {
  const bins = 64;
  const pyramid = new Uint8Array(RANKS * bins * ACTIVITIES.length);
  for (let rank = 0; rank < RANKS; rank++)
    for (let bin = 0; bin < bins; bin++) {
      const activity = rank !== 2 && bin % 16 > 6 ? (bin % 16 > 12 ? 2 : 5) : bin % 16 === 15 ? 1 : 0;
      pyramid[(rank * bins + bin) * ACTIVITIES.length + activity] = 255;
    }
  const slices = [0, 1, 2, 3].flatMap((l) => [[l, 0.4, 1, 0, 0], [l, 0.4, 1, 1, 1], [l, l === 2 ? 0.97 : 0.5 + 0.05 * l, 1, l === 2 ? 3 : 2, 2]]);
  const messages = [[2, 0.98, 1, 1, 4096], [1, 0.99, 0, 1, 64]];
  const waits = [[1, 0.55, 1, 0, 2, 1, 2], [0, 0.5, 1, 0, 1, 1, 2]];
  const pairs = [[0, 1, 0.85, 40, 2560], [1, 2, 0.76, 40, 163840], [3, 2, 0.15, 12, 768], [2, 3, 0, 12, 768]];
  const { data, places } = tables(pyramid.length, [slices, messages, waits, pairs]);
  const all = new Uint8Array(pyramid.length + data.length);
  all.set(pyramid);
  all.set(data, pyramid.length);
  const region = [...new Set(PATHS.map(([, name]) => name))];
  return new TimelineData(timelineBlock({
    duration_s: 4, events: 912, regions: region, cnodes: PATHS.map(([parent, name]) => [parent, region.indexOf(name)]), locations: Array.from({ length: RANKS }, (_, rank) => [rank, 0]),
    pyramid: { at: 0, rows: RANKS, bins, activities: ACTIVITIES, row_of: [0, 1, 2, 3], activity_of: PATHS.map((_, i) => [0, 0, 1, 2, 0][i]) }, wait_metrics: ["mpi_latesender"],
    windows: [{ from_s: 0.4, to_s: 1, metric: "mpi_latesender", cnode: 2, location: 1, cause: 2, cause_cnode: 1, begin_s: 0.5, end_s: 1, sum_s: 1.76, slices: places[0], messages: places[1], waits: places[2] }],
    matrices: { ...places[3], ranks: RANKS, left_out: { pairs: 0, waiting_s: 0, messages: 0, bytes: 0 } }, topologies: [{ dims: [2, 2], periodic: [1, 0], members: [0, 1, 2, 3] }],
  }, all));
}

function file(findings: Finding[], warnings: string[]): ResultFile {
  const rows = VALUES.map(([m, path, ms]) => ({ metric: m, path, sum: ms.reduce((a, b) => a + b, 0) / 1e3, unit: 1e-3, steps: ms }));
  for (const m of METRICS.keys()) { // inclusive metrics: what a call path has, its callers have too
    const parts = rows.filter((row) => row.metric === m);
    if (m > 0 && parts.length > 0)
      for (const path of [0, 1]) rows.push({ metric: m, path, sum: parts.reduce((sum, row) => sum + row.sum, 0), unit: 1e-3, steps: parts[0].steps.map((_, l) => parts.reduce((sum, row) => sum + row.steps[l], 0)) });
  }
  rows.push({ metric: 4, path: 2, sum: 104, unit: 1, steps: [40, 40, 12, 12] });
  return {
    json: {
      file: "made-up/profile.cubex", metrics: METRICS, paths: PATHS, factors: FACTORS,
      result: {
        meta: { program: "solver", command: ["solver", "--size", "<big>"], ranks: RANKS, wall_time_s: 4, mpi: "no MPI: made up", complete: warnings.length === 0, warnings },
        pop: { ...POP, iterations: [{ name: "solve", count: 4, kept: 4, each: { block: 1, elapsed_s: [0.9, 0.9, 1.9, 0.9] }, elapsed_s: 4 }] },
        findings, late: LATE, locations: Array.from({ length: RANKS }, (_, rank) => ({ rank, thread: 0, node: rank < 2 ? "node-a" : "node-b", name: `rank ${rank}` })),
        metrics: Object.fromEntries(METRICS.map((m, id) => {
          const locations = id === 0 ? VALUES[0][2].map((ms) => ms / 1e3) : VALUES.filter(([of]) => of === id).reduce((sums, [, , ms]) => sums.map((sum, l) => sum + ms[l] / 1e3), [0, 0, 0, 0]);
          return [m.name, { unit: m.unit, kind: m.kind, total: locations.reduce((a, b) => a + b, 0), locations }];
        })),
      },
    },
    rows: new Rows(rowsBlock(RANKS, rows), METRICS, PATHS), factors: FACTORS,
  };
}

/** With everything that an analysis and a trace add, or with nothing but the profile of a run that found nothing. */
export function madeUpResult(full: boolean): Result {
  return {
    name: full ? "with a trace" : "without a trace", profile: file(full ? FINDINGS : [], full ? [] : ["rank 3 ended before MPI_Finalize"]), analysis: full ? file(FINDINGS, []) : null,
    timeline: full ? timeline() : null, whyNoTimeline: full ? "" : "it has no trace", rootCauses: full ? CAUSES : [], rootCausesWaitFirst: [],
    waitParts: new Map(full ? [["mpi_latesender 1.0 500000000", SEVERE]] : []), criticalPath: full ? PATH : [], models: null, blame: null, lines: null, pairs: null, beside: null,
  };
}
