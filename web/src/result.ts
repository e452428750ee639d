/** One result of the page with everything that belongs to it, read once. */
import type { Blocks } from "./blocks";
import { Rows } from "./rows";
import { TimelineData } from "./timeline_data";
import type { BenchComparison, Beside, Comparison, DelayModels, FactorText, FileJson, Fingerprint, Guidelines, PageJson, PairsJson, RootCause, Scaling, Segment, Severe, Sweep, Topology } from "./types";

/** A member of a result that is a table. */
export interface TextTable {
  columns: string[];
  rows: string[][];
}

/** A .cubex file. */
export interface ResultFile {
  json: FileJson;
  rows: Rows;
  factors: FactorText[];
}

export interface Result {
  name: string;
  profile: ResultFile;
  analysis: ResultFile | null;
  timeline: TimelineData | null;
  whyNoTimeline: string;
  rootCauses: RootCause[];
  rootCausesWaitFirst: RootCause[];
  /** Of the severest wait states, by waitKey. */
  waitParts: Map<string, Severe>;
  criticalPath: Segment[];
  models: DelayModels | null;
  blame: TextTable | null;
  /** Source lines that samples fell on. */
  lines: TextTable | null;
  pairs: PairsJson | null;
  /** Operations beside the same measured alone. */
  beside: Beside | null;
}

export interface PageData {
  page: PageJson;
  results: Result[];
  scaling: Scaling | null;
  comparison: Comparison | null;
  /** Delay costs of all analyses together, where they are of runs of one size. */
  meanModels: DelayModels | null;
  fingerprints: Fingerprint[];
  benchComparison: BenchComparison | null;
  sweeps: Sweep[];
  guidelines: Guidelines[];
}

async function readFile(blocks: Blocks, prefix: string): Promise<ResultFile | null> {
  const [json, bytes] = await Promise.all([blocks.json<FileJson>(`${prefix}.json`), blocks.bytes(`${prefix}.rows`)]);
  if (!json || !bytes) return null;
  return { json, rows: new Rows(bytes, json.metrics, json.paths), factors: json.factors.filter((f) => f !== null) };
}

function parseTable(text: string | null): TextTable | null {
  if (!text) return null;
  const [columns, ...rows] = text.split("\n").filter((line) => line !== "").map((line) => line.split("\t"));
  return columns ? { columns, rows } : null;
}

/** The start in whole nanoseconds: it comes from two files. */
export function waitKey(metric: string, rank: number, thread: number, start: number): string {
  return `${metric} ${rank}.${thread} ${Math.round(start * 1e9)}`;
}

export function partsOf(statistics: Record<string, { severest?: Severe[] }> | null): Map<string, Severe> {
  const parts = new Map<string, Severe>();
  for (const [metric, { severest }] of Object.entries(statistics ?? {}))
    for (const wait of severest ?? []) if (wait.direct_s !== undefined) parts.set(waitKey(metric, wait.rank, wait.thread, wait.start_s), wait);
  return parts;
}

async function readResult(blocks: Blocks, k: number, about: PageJson["results"][number]): Promise<Result> {
  const profile = await readFile(blocks, `${k}/profile`);
  if (!profile) throw new Error(`the data of ${about.name} is damaged`);
  const analysis = about.analysis ? await readFile(blocks, `${k}/analysis`) : null;
  const role = about.analysis ? "analysis" : "profile";
  const [causes, path, models, blame, lines, pairs, bytes, statistics, beside] = await Promise.all([
    blocks.json<{ root_causes?: RootCause[]; root_causes_waitfirst?: RootCause[] }>(`${k}/${role}/root_causes.json`),
    blocks.json<{ segments?: Segment[] }>(`${k}/${role}/critical_path.json`),
    blocks.json<DelayModels>(`${k}/${role}/delay_models.json`),
    blocks.text(`${k}/profile/blame.tsv`),
    blocks.text(`${k}/profile/lines.tsv`),
    blocks.json<PairsJson>(`${k}/profile/pairs.json`),
    blocks.bytes(`${k}/timeline`),
    blocks.json<Record<string, { severest?: Severe[] }>>(`${k}/${role}/wait_statistics.json`),
    blocks.json<Beside>(`${k}/beside.json`),
  ]);
  return {
    name: about.name, profile, analysis, timeline: bytes && new TimelineData(bytes), whyNoTimeline: about.why_no_timeline,
    rootCauses: causes?.root_causes ?? [], rootCausesWaitFirst: causes?.root_causes_waitfirst ?? [], waitParts: partsOf(statistics), criticalPath: path?.segments ?? [], models, blame: parseTable(blame), lines: parseTable(lines),
    pairs: pairs && Array.isArray(pairs.rows) ? pairs : null, beside: beside && Array.isArray(beside.callpaths) ? beside : null,
  };
}

export async function readPage(blocks: Blocks): Promise<PageData> {
  const page = await blocks.json<PageJson>("page.json");
  if (!page || page.format !== "latecomer-page") throw new Error("this page holds no data of Latecomer");
  const results = await Promise.all(page.results.map((about, k) => readResult(blocks, k, about)));
  const [scaling, comparison, meanModels, benchComparison] = await Promise.all([
    blocks.json<Scaling>("scaling.json"), blocks.json<Comparison>("compare.json"), blocks.json<DelayModels>("delay_models.json"),
    blocks.json<BenchComparison>("fingerprint/compare.json")]);
  const all = async <T,>(kind: string, n: number | undefined): Promise<T[]> => (await Promise.all(Array.from({ length: n ?? 0 }, (_, i) => blocks.json<T>(`${kind}/${i}.json`)))).filter((one) => one !== null) as T[];
  const [fingerprints, sweeps, guidelines] = await Promise.all([all<Fingerprint>("fingerprint", page.fingerprints), all<Sweep>("sweep", page.sweeps), all<Guidelines>("guidelines", page.guidelines)]);
  return { page, results, scaling, comparison, meanModels, fingerprints, benchComparison, sweeps, guidelines };
}

/** Metrics whose sum is the waiting: the result says which (measured ones; estimates where nothing was measured). */
export function waitMetrics(file: { json: { metrics: { waiting?: boolean }[] } }): number[] {
  return file.json.metrics.flatMap((m, id) => (m.waiting ? [id] : []));
}

/** Whether a metric is an estimate from the shortest calls, not measured. */
export const isEstimate = (metric: { name: string }): boolean => metric.name.endsWith("_estimated");

/** Numbers of metrics in their order, but what is measured before what is estimated. */
export function measuredFirst(ids: number[], metrics: { name: string }[]): number[] {
  return [...ids.filter((id) => !isEstimate(metrics[id])), ...ids.filter((id) => isEstimate(metrics[id]))];
}

/** Cartesian grids of the trace, or of the profile. */
export function topologiesOf(result: Result): Topology[] {
  const ofTrace = result.timeline?.head.topologies ?? [];
  return ofTrace.length > 0 ? ofTrace : (result.profile.json.result.meta.topologies ?? []);
}
