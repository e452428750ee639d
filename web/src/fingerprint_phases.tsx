/** Phases of a fingerprint: where the warm-up ends and by which metrics that is seen, what comes again, outliers that come together; other work beside it. */
import type { JSX } from "preact";
import { logarithmic } from "./axes";
import { across, Axes, ns, range, upwards, WIDTH } from "./fingerprint_axes";
import { count, percent, type AxisUnit } from "./format";
import { Figure, Legend, Section, Table } from "./parts";
import type { CurveJson, Fingerprint } from "./types";

const METRICS: [string, string][] = [["cumulative_minimum", "cumulative minimum"], ["cumulative_median", "cumulative median"], ["cumulative_mean", "cumulative mean"],
  ["running_median", "running median"], ["running_mean", "running mean"]];
const BY_CHANCE = 0.001;

function Curve(props: { f: Fingerprint; name: string; label: string; lists: [string, CurveJson][]; of: (c: CurveJson) => number[]; unit: AxisUnit }): JSX.Element {
  const { f, lists } = props;
  const last = Math.max(1, f.runs_ns.length - 1);
  const [low, top] = range(lists.map(([, c]) => props.of(c)));
  const height = 170;
  const x = across(0, last);
  const y = props.unit === "ns" ? logarithmic([low, top], [height - 22, 8]) : upwards(height, low, top);
  const end = f.warmup?.end;
  return (
    <Figure name={props.name} width={WIDTH} height={height} label={props.label}>
      <Axes x={x} y={y} xUnit="" yUnit={props.unit} xTitle="repetition" whole />
      {typeof end === "number" && <line class="axis strong" x1={x(end)} x2={x(end)} y1="8" y2={height - 22}><title>{`the warm-up ends at repetition ${end}`}</title></line>}
      {lists.map(([name, c]) => <polyline class={`line s${METRICS.findIndex((m) => m[0] === name)}`} points={props.of(c).map((v, i) => `${x(c.at[i]).toFixed(1)},${y(v).toFixed(1)}`).join(" ")} />)}
    </Figure>
  );
}

/** The metrics over repetitions, and their changes: by the cumulative minimum the end of the warm-up is found. */
export function Curves(props: { f: Fingerprint }): JSX.Element | null {
  const { f } = props;
  const lists = METRICS.flatMap(([name]): [string, CurveJson][] => { const c = f.cumulative?.[name]; return c && c.at.length > 1 ? [[name, c]] : []; });
  if (lists.length === 0) return null;
  return (
    <Section title="Metrics of the warm-up" note="windows of running metrics: 21 repetitions; upright line: the warm-up ends">
      <Legend items={METRICS.map(([, text], i) => ({ class: `s${i}fill`, text }))} />
      <Curve f={f} name="metrics" label="Metrics over repetitions (logarithmic)" lists={lists} of={(c) => c.ns.map((v) => Math.max(v, 1e-3))} unit="ns" />
      <h3>Change from one repetition to the next, in medians (beyond 100 % at the edge)</h3>
      <Curve f={f} name="metric-changes" label="Changes of the metrics from one repetition to the next" lists={lists} of={(c) => c.delta.map((v) => Math.min(1, Math.max(-1, v)))} unit="change" />
    </Section>
  );
}

/** Sentences as those of the terminal (src/bench/fingerprint_text.c). */
export function phaseLines(f: Fingerprint): string[] {
  const { warmup, patterns } = f;
  const lines: string[] = [];
  if (typeof warmup?.end === "number") lines.push(`The warm-up ends at repetition ${warmup.end}${typeof warmup.fall === "number" ? ` (the level falls by ${percent(warmup.fall)})` : ""}.`);
  else if (typeof warmup?.raw_end === "number") lines.push(`No warm-up: the fall of the minimum at repetition ${warmup.raw_end} is no change of level.`);
  else lines.push("No warm-up.");
  const late = (f.benchmark as { late_first?: unknown } | undefined)?.late_first;
  if (typeof late === "number" && late > 0) lines.push(`${count(late)} repetition${late === 1 ? "" : "s"} before the first that counts began late: left out, though ${late === 1 ? "it" : "they"} may have been part of a warm-up (with --sync barrier all count).`);
  const points = f.change_points ?? [];
  lines.push(points.length > 0 ? `The level changes at repetition ${points.slice(0, 10).join(", ")}${points.length > 10 ? ", …" : ""}.` : "The level changes nowhere.");
  if (typeof patterns?.period === "number") lines.push(`A pattern comes again every ${count(patterns.period)} repetitions (autocorrelation ${(patterns.autocorrelation ?? 0).toFixed(2)}).`);
  else lines.push("No period is seen.");
  if (patterns && patterns.outliers > 0) {
    const together = patterns.clusters_p < BY_CHANCE ? "Outliers come together" : "Outliers";
    const chance = patterns.clusters_by_chance > 0 ? ` (by chance about ${count(Math.round(patterns.clusters_by_chance))})` : "";
    lines.push(`${together}: ${count(patterns.outliers)} in ${count(patterns.outlier_clusters)} cluster${patterns.outlier_clusters === 1 ? "" : "s"}${chance}, ${count(patterns.largest_cluster)} in the largest.`);
  }
  return lines;
}

export function Phases(props: { f: Fingerprint }): JSX.Element {
  const { f } = props;
  return (
    <Section title="Phases and patterns">
      <ul class="plain">{phaseLines(f).map((line) => <li>{line}</li>)}</ul>
      {(f.modes ?? []).length > 0 && <Table name="modes" rows={f.modes ?? []} columns={[
        { title: "mode at", cell: (m) => ns(m.location_ns), value: (m) => m.location_ns, number: true },
        { title: "share", cell: (m) => percent(m.weight), value: (m) => m.weight, number: true },
        { title: "in succession", hint: "repetitions in succession in this mode, mean", cell: (m) => (m.dwell ? m.dwell.mean.toFixed(1) : "–"), value: (m) => m.dwell?.mean, number: true },
        { title: "longest", cell: (m) => count(m.dwell?.longest), value: (m) => m.dwell?.longest, number: true },
        { title: "stays", cell: (m) => count(m.dwell?.stays), value: (m) => m.dwell?.stays, number: true },
      ]} />}
    </Section>
  );
}

interface Interference {
  run_delay_share?: number | null;
  run_delay_share_of?: (number | null)[];
  steal_share?: number | null;
  other_share?: number | null;
  windows?: { at?: number[]; run_delay_ns?: (number | null)[] };
}

const interferenceOf = (f: Fingerprint): Interference | null => (typeof f.interference === "object" && f.interference !== null ? (f.interference as Interference) : null);

/** How much the ranks had to do with what else ran. */
export function otherWorkLines(f: Fingerprint): string[] {
  const about = interferenceOf(f);
  if (!about) return [];
  const known = (v: unknown): v is number => typeof v === "number";
  const whose = Array.isArray(about.run_delay_share_of) ? about.run_delay_share_of.indexOf(about.run_delay_share ?? NaN) : -1;
  return [
    known(about.run_delay_share) ? `Rank ${Math.max(whose, 0)} was ready to run, but waited for a CPU in ${percent(about.run_delay_share)} of the time${f.ranks > 1 ? ": the longest of all ranks" : ""}.` : "How long ranks waited for a CPU is not known.",
    known(about.steal_share) ? `The hypervisor gave ${percent(about.steal_share)} of the time of a rank's CPUs to others, at most.` : "What a hypervisor took is not known, or the job was too short to tell.",
    known(about.other_share) ? `Other processes had ${percent(about.other_share)} of it, at most.` : "What other processes had of it is not known, or the job was too short to tell.",
  ];
}

/** The run delay between two readings, over repetitions: a reading is taken after each batch. */
function Delays(props: { f: Fingerprint; at: number[]; delays: number[] }): JSX.Element {
  const { f, at, delays } = props;
  const last = Math.max(1, f.runs_ns.length - 1);
  const height = 110;
  const x = across(0, last);
  const y = upwards(height, 0, range([delays, [0]])[1]);
  const step = Math.max(1, Math.ceil(at.length / 2000));
  const shown = at.map((from, i) => ({ from, to: at[i + 1] ?? last, delay: delays[i] })).filter((w, i) => i % step === 0 || w.delay > 0);
  return (
    <Figure name="run-delay" width={WIDTH} height={height} label="How long the rank that waited longest for a CPU did so, between two readings">
      <Axes x={x} y={y} xUnit="" yUnit="ns" xTitle="repetition" whole />
      {shown.map((w) => <line class="axis strong" x1={x(w.from)} x2={Math.max(x(w.to), x(w.from) + 1)} y1={y(w.delay)} y2={y(w.delay)}><title>{`${ns(w.delay)} from repetition ${w.from} on`}</title></line>)}
    </Figure>
  );
}

export function OtherWork(props: { f: Fingerprint }): JSX.Element | null {
  const { f } = props;
  const lines = otherWorkLines(f);
  const windows = interferenceOf(f)?.windows;
  const numbers = (list: unknown): number[] => (Array.isArray(list) ? list.map((v) => (typeof v === "number" && Number.isFinite(v) ? v : 0)) : []);
  const [at, delays] = [numbers(windows?.at), numbers(windows?.run_delay_ns)];
  if (lines.length === 0) return null;
  return (
    <Section title="Other work" note="what else ran on the CPUs of the ranks while they measured">
      <ul class="plain">{lines.map((line) => <li>{line}</li>)}</ul>
      {at.length > 1 && delays.some((v) => v > 0) && <><h3>Waiting for a CPU</h3><Delays f={f} at={at} delays={delays.slice(0, at.length)} /></>}
    </Section>
  );
}
