/** Fingerprints of `latecomer bench`: how long an operation takes, how that is distributed, how it changes from repetition to repetition. */
import type { JSX } from "preact";
import { besideUses, isOf } from "./beside";
import { XAxis } from "./axes";
import { across, Axes, CATEGORIES, CLASSES, LEFT, ns, upwards, WIDTH } from "./fingerprint_axes";
import { AllCompared, FingerprintCompare, pairOf } from "./fingerprint_compare";
import { Curves, OtherWork, Phases } from "./fingerprint_phases";
import { count, percent, visible } from "./format";
import { Choice, Figure, Legend, PathText, Section, Table, type Column } from "./parts";
import type { Result } from "./result";
import { numberKey, type Navigation } from "./state";
import type { BenchComparison, BesideUse, Fingerprint, HistogramJson, SampledJson } from "./types";

const withoutOutliers = (f: Fingerprint, i: number): boolean => f.category?.[i] !== "outlier" && f.category?.[i] !== "first" && f.category?.[i] !== "warmup";

/** Run time per repetition; `zoom`: without first, warm-up and outliers. */
function Runs(props: { f: Fingerprint; zoom: boolean }): JSX.Element {
  const { f, zoom } = props;
  const shown = f.runs_ns.map((v, i) => ({ v, i })).filter((p) => !zoom || withoutOutliers(f, p.i));
  // At most so many points; those that are left out lie between the others.
  const step = Math.max(1, Math.ceil(shown.length / 4000));
  const points = shown.filter((p, k) => k % step === 0 || (f.category?.[p.i] ?? "good") !== "good");
  const top = shown.reduce((m, p) => Math.max(m, p.v), 1e-9);
  const low = zoom ? shown.reduce((m, p) => Math.min(m, p.v), top) : 0;
  const height = 170;
  const x = across(0, Math.max(1, f.runs_ns.length - 1));
  const y = upwards(height, low, top);
  return (
    <Figure name={zoom ? "runs-zoom" : "runs"} width={WIDTH} height={height} label={`Run time of ${shown.length} repetitions${zoom ? " without outliers" : ""}`}>
      <Axes x={x} y={y} xUnit="" yUnit="ns" xTitle="repetition" whole />
      {(f.change_points ?? []).map((at) => <line class="axis strong" x1={x(at)} x2={x(at)} y1="8" y2={height - 22}><title>{`the level changes at repetition ${at}`}</title></line>)}
      {points.map((p) => <circle class={CLASSES[f.category?.[p.i] ?? "good"] ?? "s0fill"} cx={x(p.i)} cy={y(p.v)} r="1.6" />)}
    </Figure>
  );
}

function Bins(props: { histogram: HistogramJson; name: string }): JSX.Element {
  const { edges_ns: edges, counts, categories } = props.histogram;
  const most = Math.max(...counts, 1);
  const height = 150;
  const x = across(edges[0], edges[edges.length - 1]);
  const y = upwards(height, 0, most);
  return (
    <Figure name={props.name} width={WIDTH} height={height} label={`Histogram of ${counts.reduce((a, b) => a + b, 0)} run times`}>
      <Axes x={x} y={y} xUnit="ns" yUnit="" />
      {counts.map((n, i) => {
        let below = 0; // good ones at the bottom, the others on them
        return [...CATEGORIES].reverse().map((c) => {
          const part = categories ? categories[c]?.[i] ?? 0 : c === "good" ? n : 0;
          below += part;
          return part > 0 && <rect class={CLASSES[c]} x={x(edges[i])} width={Math.max(0.5, x(edges[i + 1]) - x(edges[i]) - 1)} y={y(below)} height={y(0) - y(part)}><title>{`${part} of ${n} from ${ns(edges[i])} to ${ns(edges[i + 1])}`}</title></rect>;
        });
      })}
    </Figure>
  );
}

const MARKED = ["5", "25", "50", "75", "95"];

/** The share of run times up to a time; quantiles and modes as lines. */
function Distribution(props: { f: Fingerprint }): JSX.Element {
  const { f } = props;
  const e = f.ecdf ?? { ns: [], share: [] };
  const low = e.ns[0] ?? 0;
  const top = Math.max(f.quantiles_ns?.["99"] ?? 0, e.ns[Math.floor(e.ns.length * 0.99)] ?? 0, low + 1e-9);
  const height = 150;
  const x = across(low, top);
  const y = upwards(height, 0, 1);
  return (
    <Figure name="ecdf" width={WIDTH} height={height} label="Empirical distribution of the run times up to the 99 % quantile">
      <Axes x={x} y={y} xUnit="ns" yUnit="share" />
      {(f.modes ?? []).map((m) => <line class="axis strong" x1={x(m.location_ns)} x2={x(m.location_ns)} y1="8" y2={height - 22}><title>{`mode at ${ns(m.location_ns)}, ${percent(m.weight)} of the run times`}</title></line>)}
      {MARKED.flatMap((q) => { const v = f.quantiles_ns?.[q]; return typeof v === "number" ? [{ q, v }] : []; }).map(({ q, v }) => (
        <g class="quantile"><line class="axis" x1={x(v)} x2={x(v)} y1={y(Number(q) / 100)} y2={height - 22} /><circle class="s0fill" cx={x(v)} cy={y(Number(q) / 100)} r="2.5"><title>{`${q} %: ${ns(v)}`}</title></circle></g>))}
      <polyline class="line s0" points={e.ns.map((v, i) => `${x(v).toFixed(1)},${y(e.share[i]).toFixed(1)}`).join(" ")} />
    </Figure>
  );
}

function Box(props: { f: Fingerprint }): JSX.Element | null {
  const box = props.f.box;
  if (!box) return null;
  const [low, high] = [box.low_ns, Math.max(box.high_ns, box.low_ns + 1e-9)];
  const x = across(low, high);
  return (
    <Figure name="box" width={WIDTH} height={64} label={`Quartiles ${ns(box.q1_ns)}, ${ns(box.median_ns)}, ${ns(box.q3_ns)}; ${box.outside} beyond the whiskers`}>
      <line class="axis" x1={x(low)} x2={x(high)} y1="24" y2="24" />
      <rect class="meter" x={x(box.q1_ns)} width={Math.max(1, x(box.q3_ns) - x(box.q1_ns))} y="12" height="24" />
      <line class="axis strong" x1={x(box.median_ns ?? low)} x2={x(box.median_ns ?? low)} y1="8" y2="40" />
      <XAxis scale={x} y={44} unit="ns" />
    </Figure>
  );
}

/** How a counter goes with the run time, by groups of repetitions. */
interface Coefficients {
  pearson: Record<string, number>;
  spearman: Record<string, number>;
  /** Mean in the warm-up and in good repetitions. */
  levels: Record<string, number>;
}

export interface Counter extends Coefficients {
  name: string;
  total?: number | undefined;
  counted: boolean;
  values: number[];
  /** Each rank's own values and own run times, then the points of all ranks together. */
  ranks: (Coefficients & { who: string })[];
}

// What a file holds may be anything.
const numbers = (list: unknown): number[] => (Array.isArray(list) ? list.map((v) => (typeof v === "number" ? v : NaN)) : []);
const numbersIn = (o: unknown): Record<string, number> =>
  typeof o === "object" && o !== null ? Object.fromEntries(Object.entries(o).filter((e): e is [string, number] => typeof e[1] === "number")) : {};
const objects = (list: unknown): object[] => (Array.isArray(list) ? list.filter((v) => typeof v === "object" && v !== null) : []);
const most = (list: number[], least: number): number => list.reduce((a, b) => (b > a ? b : a), least);

const coefficientsOf = (o: object): Coefficients => {
  const { pearson, spearman, levels } = o as Record<string, unknown>;
  return { pearson: numbersIn(pearson), spearman: numbersIn(spearman), levels: numbersIn(levels) };
};

export function countersOf(f: Fingerprint): Counter[] {
  return Object.entries(f.counters ?? {}).map(([name, about]) => {
    const c = (typeof about === "object" && about !== null ? about : {}) as Record<string, unknown>;
    return { name, total: typeof c.total === "number" ? c.total : undefined, counted: c.series === "counted", values: numbers(c.values), ...coefficientsOf(c),
      ranks: [...objects(c.per_rank).map((r, i) => ({ who: String(i), ...coefficientsOf(r) })), ...objects([c.ranks_together]).map((r) => ({ who: "all, together", ...coefficientsOf(r) }))] };
  });
}

const coefficient = (v: number | null | undefined): string => (typeof v === "number" ? v.toFixed(2) : "–");

/** The repetitions that a counter has values of: their run times, categories, and places among those whose run time counts. */
export function seriesOf(f: Fingerprint, counter: Counter): { run: number; value: number; category: string; at: number }[] {
  const runs = counter.counted ? numbers(f.counted?.runs_ns) : f.runs_ns;
  const category: unknown[] = (counter.counted ? (Array.isArray(f.counted?.category) ? f.counted.category : []) : f.category) ?? [];
  const at = numbers(f.counted?.at);
  const n = Math.min(runs.length, counter.values.length);
  const step = Math.max(1, Math.ceil(n / 3000));
  return Array.from({ length: Math.ceil(n / step) }, (_, k) => k * step)
    .map((i) => ({ run: runs[i], value: counter.values[i], category: String(category[i] ?? "good"), at: counter.counted ? at[i] ?? 0 : i }))
    .filter((p) => [p.run, p.value, p.at].every(Number.isFinite));
}

/** The counter over repetitions. */
function Course(props: { f: Fingerprint; counter: Counter }): JSX.Element {
  const { f, counter } = props;
  const top = most(counter.values, 1e-300);
  const last = Math.max(1, f.runs_ns.length - 1);
  const height = 130;
  const x = across(0, last);
  const y = upwards(height, 0, top);
  return (
    <Figure name={`course-${visible(counter.name)}`} width={WIDTH} height={height} label={`${visible(counter.name)} per repetition`}>
      <Axes x={x} y={y} xUnit="" yUnit="" xTitle="repetition" whole />
      {seriesOf(f, counter).map((p) => <circle class={CLASSES[p.category] ?? "s0fill"} cx={x(p.at)} cy={y(p.value)} r="1.6" />)}
    </Figure>
  );
}

function Scatter(props: { f: Fingerprint; counter: Counter }): JSX.Element {
  const { f, counter } = props;
  const points = seriesOf(f, counter);
  const top = most(points.map((p) => p.run), 1e-9);
  const right = most(counter.values, 1e-300);
  const height = 170;
  const x = across(0, right);
  const y = upwards(height, 0, top);
  return (
    <Figure name={`counter-${visible(counter.name)}`} width={WIDTH} height={height} label={`Run time by ${visible(counter.name)}`}>
      <Axes x={x} y={y} xUnit="" yUnit="ns" xTitle={visible(counter.name)} />
      {points.map((p) => <circle class={CLASSES[p.category] ?? "s0fill"} cx={x(p.value)} cy={y(p.run)} r="1.6" />)}
    </Figure>
  );
}

const GROUPS: [string, string][] = [["all", "all"], ["warmup", "warm-up"], ["outlier", "outliers"], ["good", "good"], ["warmup_good", "with warm-up"]];

/** Coefficients of all repetitions and of good ones, and of the groups of which any is known; then the levels. */
function coefficientColumns<T extends Coefficients>(rows: T[]): Column<T>[] {
  return [
    ...(["pearson", "spearman"] as const).flatMap((kind) => GROUPS.filter(([group]) => group === "all" || group === "good" || rows.some((c) => group in c[kind])).map(([group, text]) => ({
      title: `${kind === "pearson" ? "Pearson" : "Spearman"}, ${text}`, cell: (c: T) => coefficient(c[kind][group]), value: (c: T) => c[kind][group], number: true }))),
    { title: "in the warm-up", cell: (c: T) => count(c.levels.warmup), value: (c: T) => c.levels.warmup, number: true },
    { title: "later", cell: (c: T) => count(c.levels.good), value: (c: T) => c.levels.good, number: true },
  ];
}

function Counters(props: { f: Fingerprint; nav: Navigation }): JSX.Element | null {
  const { f, nav } = props;
  const counters = countersOf(f);
  if (counters.length === 0) return null;
  const drawn = counters.filter((c) => c.values.some((v) => v > 0));
  const chosen = drawn.find((c) => c.name === nav.state.keys.counter) ?? drawn[0];
  const every = typeof f.counted?.every === "number" ? f.counted.every : 0;
  const change = f.counted?.perturbation;
  const ci = Array.isArray(f.counted?.ci) ? f.counted.ci : [];
  return (
    <Section title="Counters" note="over all repetitions coefficients mislead: outliers make them; those of the good ones, and of these with the warm-up, tell more">
      {every > 0 && <p class="dim">{`taken in one repetition of ${every}, whose run time does not count: it ${typeof change === "number" ? `changes by ${percent(change)}${ci.length > 0 ? `, 95 % interval ${ci.map((v) => typeof v === "number" ? percent(v) : "–").join(" to ")}` : ""}` : "may change: too few to tell"}`}</p>}
      <Table<Counter> name="coefficients" rows={counters} columns={[
        { title: "counter", cell: (c) => visible(c.name), value: (c) => c.name },
        { title: "total", cell: (c) => count(c.total), value: (c) => c.total, number: true },
        ...coefficientColumns(counters),
      ]} />
      {drawn.length > 0 && chosen && <><Choice label="Counter" value={chosen.name} options={drawn.map((c) => [c.name, visible(c.name)])} onChange={(v) => nav.set({ counter: v })} /><h3>Over repetitions</h3><Course f={f} counter={chosen} /><h3>Against the run time</h3><Scatter f={f} counter={chosen} />
        {chosen.ranks.length > 2 && <><h3>Each rank's values against its own run times</h3><Table<Counter["ranks"][number]> name="by-rank" rows={chosen.ranks} most={16} columns={[
          { title: "rank", cell: (r) => r.who, value: (r) => chosen.ranks.indexOf(r) }, ...coefficientColumns(chosen.ranks)]} /></>}</>}
    </Section>
  );
}

/** What of a file are samples: it may hold anything. */
export function sampled(list: unknown): SampledJson[] {
  const number = (v: unknown): number => (typeof v === "number" ? v : NaN);
  if (!Array.isArray(list)) return [];
  return list.filter((one) => typeof one === "object" && one !== null).map((one: Record<string, unknown>) => ({
    function: String(one.function ?? ""), file: String(one.file ?? ""), share: number(one.share), self_share: number(one.self_share), error: number(one.error), depth: Math.max(0, number(one.depth) || 0),
    of_category: Object.fromEntries(Object.entries(one.of_category ?? {}).filter((e): e is [string, number] => typeof e[1] === "number")),
  }));
}

/** Where the operation spends its time: call paths from the operation inwards, or functions. */
function Samples(props: { f: Fingerprint; nav: Navigation }): JSX.Element | null {
  const { f, nav } = props;
  const samples = f.samples ?? {};
  const flat = nav.state.keys.samples === "functions";
  const callpaths = sampled(samples.callpaths);
  if (callpaths.length === 0) return null;
  const rows = flat ? sampled(samples.functions) : callpaths;
  const categories = CATEGORIES.filter((c) => rows.some((r) => typeof r.of_category?.[c] === "number"));
  const lost = samples.lost ? `, ${count(samples.lost)} more found no room` : "";
  return (
    <Section title="Where the operation spends its time" note={`${count(samples.n)} samples of ${count(samples.repetitions)} repetitions, whose run time does not count${lost}; shares of all time, and of that in each category`}>
      <Choice label="Samples" value={flat ? "functions" : "callpaths"} options={[["callpaths", "call paths"], ["functions", "functions"]]} onChange={(v) => nav.set({ samples: v })} />
      <Table<SampledJson> name="samples" rows={rows} most={40} columns={[
        { title: "function", cell: (r) => <span style={{ paddingLeft: `${flat ? 0 : Math.min(r.depth ?? 0, 20)}em` }}>{visible(r.function)}</span>, value: (r) => r.function },
        { title: "library", cell: (r) => visible(r.file), value: (r) => r.file },
        { title: "share", cell: (r) => percent(r.share), value: (r) => r.share, number: true },
        { title: "±", hint: "standard error of the share", cell: (r) => percent(r.error), value: (r) => r.error, number: true },
        { title: "itself", cell: (r) => percent(r.self_share), value: (r) => r.self_share, number: true },
        ...categories.map((c) => ({ title: c, cell: (r: SampledJson) => percent(r.of_category?.[c]), value: (r: SampledJson) => r.of_category?.[c], number: true })),
      ]} />
    </Section>
  );
}

interface RankTimes {
  median_ns?: number;
  min_ns?: number;
  q95_ns?: number;
  max_ns?: number;
  last_share?: number;
}

/** Each rank's own run times, from the least to the 95 % quantile; median across. */
function Ranks(props: { ranks: RankTimes[] }): JSX.Element | null {
  const shown = props.ranks.slice(0, 64).filter((r) => typeof r.min_ns === "number" && typeof r.q95_ns === "number");
  if (shown.length === 0) return null;
  const low = Math.min(...shown.map((r) => r.min_ns ?? 0));
  const top = Math.max(...shown.map((r) => r.q95_ns ?? 0), low + 1e-9);
  const [step, height] = [12, 12 * shown.length + 22];
  const x = across(low, top);
  return (
    <Figure name="ranks" width={WIDTH} height={height} label={`Run times of ${shown.length} ranks: from the least to the 95 % quantile`}>
      {shown.map((r, i) => [
        <text class="tick" x={LEFT - 6} y={i * step + 11} text-anchor="end">{`rank ${props.ranks.indexOf(r)}`}</text>,
        <line class="axis" x1={x(r.min_ns ?? 0)} x2={x(r.q95_ns ?? 0)} y1={i * step + 8} y2={i * step + 8}><title>{`${ns(r.min_ns)} to ${ns(r.q95_ns)}`}</title></line>,
        <line class="axis strong" x1={x(r.median_ns ?? low)} x2={x(r.median_ns ?? low)} y1={i * step + 4} y2={i * step + 12}><title>{`median ${ns(r.median_ns)}`}</title></line>,
      ])}
      <XAxis scale={x} y={height - 20} unit="ns" />
    </Figure>
  );
}

function Numbers(props: { f: Fingerprint }): JSX.Element {
  const { f } = props;
  const ci = f.median_ci_ns;
  const rows: [string, string, number | undefined][] = [
    ["smallest", ns(f.min_ns), f.min_ns], ...Object.entries(f.quantiles_ns ?? {}).sort(([a], [b]) => Number(a) - Number(b)).map(([q, v]): [string, string, number] => [`${q} %`, ns(v), v]),
    ["largest", ns(f.max_ns), f.max_ns], ["mean", ns(f.mean_ns), f.mean_ns],
  ];
  return (
    <div>
      <p class="verdict"><b>{ns(f.median_ns)}</b> median{ci && <span class="dim"> ({ns(ci[0])} to {ns(ci[1])}, 95 %{typeof f.effective_repetitions === "number" && `, worth ${count(Math.round(f.effective_repetitions))} independent repetitions`})</span>}</p>
      <Table name="quantiles" rows={rows} columns={[{ title: "run time", cell: (r) => r[0], value: (r) => r[0] }, { title: "time", cell: (r) => r[1], value: (r) => r[2], number: true }]} />
      <Table name="categories" rows={CATEGORIES.filter((c) => f.categories?.[c])} columns={[
        { title: "category", cell: (c) => <><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class={CLASSES[c]} width="10" height="10" /></svg> {c}</>, value: (c) => c },
        { title: "repetitions", cell: (c) => count(f.categories?.[c]?.count), value: (c) => f.categories?.[c]?.count, number: true },
        { title: "share", cell: (c) => percent(f.categories?.[c]?.share), value: (c) => f.categories?.[c]?.share, number: true },
        { title: "median", cell: (c) => ns(f.categories?.[c]?.median_ns), value: (c) => f.categories?.[c]?.median_ns, number: true },
      ]} />
    </div>
  );
}

/** A value of the JSON; what has parts can be opened. */
function Value(props: { value: unknown }): JSX.Element {
  const { value } = props;
  if (typeof value !== "object" || value === null) return <>{visible(String(value ?? "–"))}</>;
  const parts = Object.entries(value);
  if (parts.every(([, v]) => typeof v !== "object") && Array.isArray(value)) return <>{visible(value.join(" "))}</>;
  return (
    <details>
      <summary>{count(parts.length)}</summary>
      <dl class="pairs">{parts.map(([key, v]) => <div><dt>{visible(key)}</dt><dd><Value value={v} /></dd></div>)}</dl>
    </details>
  );
}

export function Sheet(props: { f: Fingerprint; nav: Navigation }): JSX.Element {
  const { f, nav } = props;
  const ranks = objects(f.per_rank) as RankTimes[];
  const zoom = f.histogram?.zoom;
  return (
    <div class="overview">
      <div class="main">
        <Section title="Run time per repetition" note={(f.change_points ?? []).length > 0 ? "upright lines: the level changes" : ""}><Legend items={CATEGORIES.map((c) => ({ class: CLASSES[c], text: c }))} /><Runs f={f} zoom={false} /><h3>Good repetitions only</h3><Runs f={f} zoom /></Section>
        <Section title="Distribution" note={`share of the repetitions up to a time${(f.modes ?? []).length > 0 ? "; upright lines: modes" : ""}`}><Distribution f={f} />{f.box && <h3>Quartiles</h3>}<Box f={f} />{f.histogram?.all && <><h3>All repetitions</h3><Bins histogram={f.histogram.all} name="histogram" /></>}{zoom && <><h3>Without outliers</h3><Bins histogram={zoom} name="histogram-zoom" /></>}</Section>
        <Curves f={f} />
        <Counters f={f} nav={nav} />
        <OtherWork f={f} />
        <Samples f={f} nav={nav} />
        {ranks.length > 1 && <Section title="Run times of the ranks" note="from the least to the 95 % quantile, median across"><Ranks ranks={ranks} /></Section>}
      </div>
      <div class="side">
        <Section title="In numbers"><Numbers f={f} /></Section>
        <Phases f={f} />
        {ranks.length > 0 && <Section title="Run time per rank"><Table<{ r: RankTimes; i: number }> name="per-rank" rows={ranks.map((r, i) => ({ r, i }))} columns={[
          { title: "rank", cell: (x) => x.i, value: (x) => x.i, number: true }, { title: "median", cell: (x) => ns(x.r.median_ns), value: (x) => x.r.median_ns, number: true },
          { title: "95 %", cell: (x) => ns(x.r.q95_ns), value: (x) => x.r.q95_ns, number: true }, { title: "left last", cell: (x) => percent(x.r.last_share), value: (x) => x.r.last_share, number: true },
        ]} /></Section>}
        <Section title="How it was measured">
          <dl class="pairs">{[["nodes", Array.isArray(f.nodes) && f.nodes.length === 0 ? "not known" : f.nodes], ...Object.entries({ ...(f.mpi ?? {}), ...(f.machine ?? {}), ...((f.benchmark as Record<string, unknown> | undefined) ?? {}), ...((f.clock as Record<string, unknown> | undefined) ?? {}) }), ["environment", f.environment]].map(([key, value]) => (
            <div><dt>{visible(String(key).replace(/_/g, " "))}</dt><dd><Value value={value} /></dd></div>))}</dl>
        </Section>
      </div>
    </div>
  );
}

export const nameOf = (f: Fingerprint): string => `${visible(f.operation)}, ${count(f.bytes)} bytes, ${f.ranks} rank${f.ranks === 1 ? "" : "s"}`;

/** Calls of the programs of this page that this fingerprint was measured for, or is of: what of their time is arrival. */
function InTheProgram(props: { f: Fingerprint; results: Result[]; nav: Navigation }): JSX.Element | null {
  type R = { use: BesideUse; result: number };
  const rows: R[] = props.results.flatMap((r, result) => besideUses(r).filter((use) => isOf(use, props.f)).map((use) => ({ use, result })));
  const time = (v: number | null | undefined): string => (typeof v === "number" ? ns(v) : "–");
  if (rows.length === 0) return null;
  return (
    <Section title="In the program" note="the same operation there, mean of all calls; more than alone, where all ranks arrive together, is arrival, unless it is no waiting for late ranks: then the machine">
      <Table<R> name="in-program" rows={rows} most={20} columns={[
        ...(props.results.length > 1 ? [{ title: "result", cell: (r: R) => visible(props.results[r.result].name), value: (r: R) => props.results[r.result].name }] : []),
        { title: "call path", cell: (r) => <PathText path={r.use.callpath} />, value: (r) => r.use.callpath },
        { title: "bytes", cell: (r) => count(r.use.bytes), value: (r) => r.use.bytes, number: true },
        { title: "calls", cell: (r) => count(r.use.calls), value: (r) => r.use.calls, number: true },
        { title: "in the program", cell: (r) => time(r.use.program_ns), value: (r) => r.use.program_ns, number: true },
        { title: "more", cell: (r) => time(r.use.arrival_ns), value: (r) => r.use.arrival_ns, number: true },
        { title: "waiting", cell: (r) => time(r.use.waiting_ns), value: (r) => r.use.waiting_ns, number: true },
      ]} />
    </Section>
  );
}

export function Fingerprints(props: { all: Fingerprint[]; results: Result[]; comparison: BenchComparison | null; nav: Navigation }): JSX.Element {
  const { all, results, comparison, nav } = props;
  const chosen = Math.max(0, Math.min(numberKey(nav.state, "fingerprint", 0), all.length - 1));
  type R = { f: Fingerprint; i: number };
  const f = all[chosen];
  const pair = f && pairOf(comparison, f);
  const sources = new Set(all.map((x) => x.source)).size > 1;
  return (
    <div>
      {comparison && <AllCompared comparison={comparison} all={all} nav={nav} />}
      {all.length > 1 && <Section title="Fingerprints"><Table<R> name="operations" rows={all.map((x, i) => ({ f: x, i }))} most={20} selected={(r) => r.i === chosen} columns={[
        { title: "operation", cell: (r) => <a href={nav.link("fingerprint", { fingerprint: r.i })}>{visible(r.f.operation)}</a>, value: (r) => r.f.operation },
        ...(sources ? [{ title: "result", cell: (r: R) => visible(r.f.source ?? ""), value: (r: R) => r.f.source }] : []),
        { title: "bytes", cell: (r) => count(r.f.bytes), value: (r) => r.f.bytes, number: true },
        { title: "ranks", cell: (r) => r.f.ranks, value: (r) => r.f.ranks, number: true },
        { title: "median", cell: (r) => ns(r.f.median_ns), value: (r) => r.f.median_ns, number: true },
        { title: "95 %", cell: (r) => ns(r.f.quantiles_ns?.["95"]), value: (r) => r.f.quantiles_ns?.["95"], number: true },
        { title: "outliers", cell: (r) => percent(r.f.categories?.outlier?.share), value: (r) => r.f.categories?.outlier?.share, number: true },
        { title: "modes", cell: (r) => r.f.modes?.length ?? "", value: (r) => r.f.modes?.length, number: true },
      ]} /></Section>}
      {f && <>{all.length > 1 && <h2 class="sheet">{nameOf(f)}</h2>}{(Array.isArray(f.warnings) ? f.warnings : []).length > 0 && <ul class="warnings">{(f.warnings as unknown[]).map((w) => <li>{visible(String(w))}</li>)}</ul>}{comparison && pair && <FingerprintCompare comparison={comparison} pair={pair} all={all} />}<InTheProgram f={f} results={results} nav={nav} /><Sheet f={f} nav={nav} /></>}
    </div>
  );
}
