/** Two results of `latecomer bench`: is an operation the same in both, and what differs between them. */
import type { JSX } from "preact";
import { across, Axes, ns, range, upwards, WIDTH } from "./fingerprint_axes";
import { percent, visible } from "./format";
import { Figure, Legend, Section, Table } from "./parts";
import type { BenchComparison, BenchPair, Fingerprint } from "./types";

const change = (v: number | null | undefined): string => (typeof v === "number" ? `${v > 0 ? "+" : ""}${percent(v)}` : "unknown");

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
  const [low, top] = range([quantiles.map((q) => q.low ?? q.shift), quantiles.map((q) => q.high ?? q.shift), [0]]);
  const height = 150;
  const x = across(0, 100);
  const y = upwards(height, low, top);
  return (
    <Figure name="shifts" width={WIDTH} height={height} label="Shift of each quantile from A to B, with its 95 % band">
      <Axes x={x} y={y} xUnit="" yUnit="change" xTitle="quantile" />
      <line class="axis strong" x1={x(0)} x2={x(100)} y1={y(0)} y2={y(0)} />
      {quantiles.map((q) => [
        typeof q.low === "number" && typeof q.high === "number" && <line class="axis" x1={x(q.percent)} x2={x(q.percent)} y1={y(q.low)} y2={y(q.high)} />,
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
  const outside = (q: BenchPair["quantiles"][number]): boolean => (typeof q.low === "number" && q.low > 0) || (typeof q.high === "number" && q.high < 0);
  return (
    <Section title="Compared" note={`A: ${visible(a)}; B: ${visible(b)}`}>
      <p class="verdict"><b>{visible(pair.verdict)}</b>{pair.why && <span class="dim"> ({visible(pair.why)})</span>}
        {pair.launches_guessed && <span class="dim"> one launch tells little of another: the band leaves room for a factor of 4; if launches were alike: {visible(pair.verdict_within)}</span>}</p>
      {pair.quantiles.length > 0 && <>
        {sides.length === 2 && <><Legend items={[{ class: "s0fill", text: "A" }, { class: "s1fill", text: "B" }]} /><Both sides={sides} /></>}
        <h3>Shift of each quantile from A to B</h3><Shifts pair={pair} />
        <Table name="shifts" rows={pair.quantiles} selected={outside} columns={[
          { title: "quantile", cell: (q) => `${q.percent} %`, value: (q) => q.percent, number: true },
          { title: "A", cell: (q) => ns(q.a_ns), value: (q) => q.a_ns, number: true }, { title: "B", cell: (q) => ns(q.b_ns), value: (q) => q.b_ns, number: true },
          { title: "shift", cell: (q) => change(q.shift), value: (q) => q.shift, number: true },
          { title: "from", hint: "95 % band of all quantiles together", cell: (q) => change(q.low), value: (q) => q.low, number: true },
          { title: "to", hint: "95 % band of all quantiles together", cell: (q) => change(q.high), value: (q) => q.high, number: true },
        ]} /></>}
      {(comparison.metadata ?? []).length > 0 && <><h3>Settings that differ</h3><Table name="differences" most={20} rows={[...(comparison.metadata ?? [])].sort((x, y) => depth(x.key) - depth(y.key))} columns={[
        { title: "setting", cell: (d) => visible(d.key), value: (d) => d.key },
        { title: "A", cell: (d) => visible(JSON.stringify(d.a) ?? "–"), value: (d) => JSON.stringify(d.a) }, { title: "B", cell: (d) => visible(JSON.stringify(d.b) ?? "–"), value: (d) => JSON.stringify(d.b) },
      ]} /></>}
    </Section>
  );
}
