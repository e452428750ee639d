/** Two results of `latecomer bench`: is an operation the same in both, and what differs between them. */
import type { JSX } from "preact";
import { across, Axes, ns, range, upwards, WIDTH } from "./fingerprint_axes";
import { count, percent, visible } from "./format";
import { Figure, Legend, Section, Table } from "./parts";
import type { Navigation } from "./state";
import type { BenchAlone, BenchComparison, BenchPair, Fingerprint } from "./types";

type Quantile = BenchPair["quantiles"][number];

/** As the terminal tells it (src/bench/compare_text.c): from ten times as long, or as short, on as a factor. */
export const change = (v: number | null | undefined): string =>
  typeof v !== "number" ? "unknown" : v < -0.9 && v > -1 ? `1/${v > -0.999 ? Number((1 / (1 + v)).toPrecision(3)) : Math.round(1 / (1 + v))}` : v >= 9 ? `${v < 999 ? Number((1 + v).toPrecision(3)) : Math.round(1 + v)} times` : `${v > 0 ? "+" : ""}${percent(v)}`;

/** A band of more than a factor of 100 that holds 0 tells nothing. */
const bandOf = (q: Quantile): [number, number] | null =>
  typeof q.low === "number" && typeof q.high === "number" && !(q.low <= 0 && q.high >= 0 && q.high + 1 > 100 * (q.shift + 1)) ? [q.low, q.high] : null;
const longer = (q: Quantile): boolean => typeof q.low === "number" && q.low > 0;
const shorter = (q: Quantile): boolean => typeof q.high === "number" && q.high < 0;

/** "same" is worth as much as the band of the median is narrow. */
function resolution(pair: BenchPair): string[] {
  const median = pair.quantiles.find((q) => q.percent === 50);
  if (pair.verdict !== "same" || !median) return [];
  const band = bandOf(median);
  if (!band) return ["Of the median nothing can be told."];
  const factor = (1 + band[1]) / (1 + median.shift);
  return [`A median that differs by less than ${factor < 10 ? percent(factor - 1) : `a factor of ${Number(factor.toPrecision(3))}`} would not be told.`];
}

/** What the terminal says below the quantiles. */
export function comparisonLines(pair: BenchPair): string[] {
  const at = (some: (q: Quantile) => boolean): string => `${pair.quantiles.filter(some).map((q) => q.percent).join(", ")} %`;
  const [a, b] = pair.launches ?? [1, 1];
  return [
    ...(pair.crosses ? [`The distributions cross: B takes longer at ${at(longer)}, less at ${at(shorter)}.`] : []),
    ...resolution(pair),
    ...(pair.launches_guessed ? [`With ${a} and ${b} launches, the band allows for launches that differ by a factor of 4; three on each side show how much they really do.`] : []),
    ...(pair.launches_guessed && pair.verdict_within !== pair.verdict ? [`If all launches were alike: ${visible(pair.verdict_within)}.`] : []),
    ...(!pair.launches_guessed && a + b > 2 ? [`${a} and ${b} launches; the band includes how much they differ.`] : []),
    ...(pair.one_after_other ? ["All launches of one side came first: what changed on the machine since counts as a difference."] : []),
  ];
}

/** The pair of this operation and size. */
export const pairOf = (comparison: BenchComparison | null, f: Fingerprint): BenchPair | undefined => comparison?.pairs?.find((p) => p.operation === f.operation && p.bytes === f.bytes);

/** Both distributions in one drawing. */
function Both(props: { sides: Fingerprint[] }): JSX.Element | null {
  const lists = props.sides.map((f) => f.ecdf ?? { ns: [], share: [] });
  const [low, high] = range(lists.map((e) => e.ns));
  const top = Math.min(high, Math.max(...props.sides.map((f) => f.quantiles_ns?.["99"] ?? high)));
  const height = 150;
  const x = across(low, top);
  const y = upwards(height, 0, 1);
  return (
    <Figure name="both" width={WIDTH} height={height} label="Distribution of the run times of A and B up to the 99 % quantile">
      <Axes x={x} y={y} xUnit="ns" yUnit="share" />
      {lists.map((e, side) => <polyline class={`line s${side}`} points={e.ns.map((v, i) => `${x(v).toFixed(1)},${y(e.share[i]).toFixed(1)}`).join(" ")} />)}
    </Figure>
  );
}

/** Shifts of the quantiles, and the band that holds for all of them at once. */
function Shifts(props: { pair: BenchPair }): JSX.Element {
  const { quantiles } = props.pair;
  const bands = quantiles.map(bandOf);
  const [low, top] = range([quantiles.map((q) => q.shift), bands.flatMap((band) => band ?? []), [0]]);
  const height = 150;
  const x = across(0, 100);
  const y = upwards(height, low, top);
  return (
    <Figure name="shifts" width={WIDTH} height={height} label="Shift of each quantile from A to B, with its 95 % band">
      <Axes x={x} y={y} xUnit="" yUnit="change" xTitle="quantile" />
      <line class="axis strong" x1={x(0)} x2={x(100)} y1={y(0)} y2={y(0)} />
      {quantiles.map((q, i) => [
        bands[i] && <line class="axis" x1={x(q.percent)} x2={x(q.percent)} y1={y(bands[i][0])} y2={y(bands[i][1])} />,
        <circle class="s0fill" cx={x(q.percent)} cy={y(q.shift)} r="3"><title>{`${q.percent} %: ${change(q.shift)}`}</title></circle>,
      ])}
    </Figure>
  );
}

/** What says the most first: then variables of the environment and parameters, which differ by the hundred between two MPIs, and libraries. */
const depth = (key: string): number => (/librar/.test(key) ? 2 : /param|environment|variables/.test(key) ? 1 : 0);

export function FingerprintCompare(props: { comparison: BenchComparison; pair: BenchPair; all: Fingerprint[] }): JSX.Element {
  const { comparison, pair } = props;
  const [a, b] = comparison.sources ?? ["A", "B"];
  const sides = [a, b].flatMap((source) => { const f = props.all.find((x) => x.source === source && x.operation === pair.operation && x.bytes === pair.bytes); return f ? [f] : []; });
  return (
    <Section title="Compared" note={`A: ${visible(a)}; B: ${visible(b)}`}>
      <p class="verdict"><b>{visible(pair.verdict)}</b>{pair.why && <span class="dim"> ({visible(pair.why)})</span>}</p>
      {pair.quantiles.length > 0 && <>
        <ul class="plain">{comparisonLines(pair).map((line) => <li>{line}</li>)}</ul>
        {sides.length === 2 && <><Legend items={[{ class: "s0fill", text: "A" }, { class: "s1fill", text: "B" }]} /><Both sides={sides} /></>}
        <h3>Shift of each quantile from A to B</h3><Shifts pair={pair} />
        <Table name="shifts" rows={pair.quantiles} selected={(q) => longer(q) || shorter(q)} columns={[
          { title: "quantile", cell: (q) => `${q.percent} %`, value: (q) => q.percent, number: true },
          { title: "A", cell: (q) => ns(q.a_ns), value: (q) => q.a_ns, number: true }, { title: "B", cell: (q) => ns(q.b_ns), value: (q) => q.b_ns, number: true },
          { title: "shift", cell: (q) => change(q.shift), value: (q) => q.shift, number: true },
          { title: "from", hint: "95 % band of all quantiles together", cell: (q) => change(bandOf(q)?.[0]), value: (q) => bandOf(q)?.[0], number: true },
          { title: "to", hint: "95 % band of all quantiles together", cell: (q) => change(bandOf(q)?.[1]), value: (q) => bandOf(q)?.[1], number: true },
        ]} /></>}
      {(comparison.metadata ?? []).length > 0 && <><h3>Settings that differ</h3><Table name="differences" most={20} rows={[...(comparison.metadata ?? [])].sort((x, y) => depth(x.key) - depth(y.key))} columns={[
        { title: "setting", cell: (d) => visible(d.key), value: (d) => d.key },
        { title: "A", cell: (d) => visible(JSON.stringify(d.a) ?? "–"), value: (d) => JSON.stringify(d.a) }, { title: "B", cell: (d) => visible(JSON.stringify(d.b) ?? "–"), value: (d) => JSON.stringify(d.b) },
      ]} /></>}
    </Section>
  );
}

export interface ComparedRow {
  operation: string;
  bytes: number;
  verdict: string;
  note: string;
  shift: number | null;
}

/** Each operation and size of either side: those that differ, or that one side lacks, first. */
export function comparedRows(comparison: BenchComparison): ComparedRow[] {
  const alone = (side: string, list: BenchAlone[] | undefined): ComparedRow[] =>
    (Array.isArray(list) ? list : []).map((job) => ({ operation: job.operation, bytes: job.bytes, verdict: "not comparable", note: `only in ${side}`, shift: null }));
  const pairs = (comparison.pairs ?? []).map((p): ComparedRow => ({ operation: p.operation, bytes: p.bytes, verdict: p.verdict, note: p.why ?? (p.crosses ? "the distributions cross" : ""), shift: p.shift ?? null }));
  const rows = [...alone("A", comparison.only_in_a), ...alone("B", comparison.only_in_b), ...pairs];
  return [...rows.filter((r) => r.verdict !== "same"), ...rows.filter((r) => r.verdict === "same")];
}

/** All operations of both results; nothing where that is one, which has its own section. */
export function AllCompared(props: { comparison: BenchComparison; all: Fingerprint[]; nav: Navigation }): JSX.Element | null {
  const { comparison, all, nav } = props;
  const [a, b] = comparison.sources ?? ["A", "B"];
  if (comparison.why) return <Section title="Both results compared"><p class="empty">They cannot be compared: {visible(comparison.why)}</p></Section>;
  const rows = comparedRows(comparison);
  if (rows.length < 2) return null;
  const named = (r: ComparedRow): JSX.Element | string => {
    const at = all.findIndex((f) => f.operation === r.operation && f.bytes === r.bytes && (f.source === a || r.note === "only in B"));
    return at < 0 ? visible(r.operation) : <a href={nav.link("fingerprint", { fingerprint: at })}>{visible(r.operation)}</a>;
  };
  return (
    <Section title="Both results compared" note={`A: ${visible(a)}; B: ${visible(b)}`}>
      <p class="verdict"><b>{visible(comparison.verdict ?? "?")}</b></p>
      <Table name="both-compared" rows={rows} most={20} columns={[
        { title: "operation", cell: named, value: (r) => r.operation },
        { title: "bytes", cell: (r) => count(r.bytes), value: (r) => r.bytes, number: true },
        { title: "verdict", cell: (r) => visible(r.verdict), value: (r) => r.verdict },
        { title: "median", hint: "shift of the median from A to B", cell: (r) => (r.shift === null ? "–" : change(r.shift)), value: (r) => r.shift, number: true },
        { title: "note", cell: (r) => visible(r.note), value: (r) => r.note },
      ]} />
    </Section>
  );
}
