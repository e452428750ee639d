/** Views of several results: how they scale, and what changed from the first to the last. */
import type { JSX } from "preact";
import { percent, seconds, visible } from "./format";
import { Figure, Legend, Lines, PathText, Section, Table } from "./parts";
import { grade } from "./overview";
import type { Comparison, FactorText, Factors, Scaling } from "./types";

type Run = NonNullable<Scaling["runs"]>[number];

export function ScalingView(props: { scaling: Scaling; factors: FactorText[] }): JSX.Element {
  const runs = props.scaling.runs;
  if (!runs || runs.length === 0) return <p class="empty">No table of these results: {visible(props.scaling.why ?? "they have no efficiency factors")}.</p>;
  const rows = [...props.factors.map((f) => ({ name: f.name, depth: f.depth, of: (r: Run) => r.pop[f.key] as number | undefined })),
    { name: "Computational scalability", depth: 0, of: (r: Run) => r.computational_scalability }, { name: "Global efficiency", depth: 0, of: (r: Run) => r.global_efficiency }];
  return (
    <div>
      <Section title="Factors of each run" note="the smallest run first; computational scalability against it">
        <Table name="scaling" rows={rows} columns={[
          { title: "factor", cell: (r) => <span class={`depth${r.depth}`}>{r.name}</span>, value: (r) => r.name },
          ...runs.map((run) => ({ title: `${run.ranks} rank${run.ranks === 1 ? "" : "s"}${run.threads !== run.ranks ? `, ${run.threads} threads` : ""}`, hint: visible(run.file), number: true,
            cell: (r: (typeof rows)[number]) => { const v = r.of(run); return typeof v === "number" ? <span class={`cell ${grade(v)}`}>{percent(v)}</span> : "–"; }, value: (r: (typeof rows)[number]) => r.of(run) })),
        ]} />
      </Section>
      <Section title="Efficiency by number of threads of execution">
        <Legend items={[{ class: "s0fill", text: "parallel efficiency" }, { class: "s1fill", text: "global efficiency" }]} />
        <Lines name="scaling" label="Efficiency over threads of execution" top={1.05} unit="share" xText={(i) => String(runs[i].threads)}
          series={[{ class: "s0", values: runs.map((r) => r.pop.parallel_efficiency ?? NaN), text: "parallel efficiency" }, { class: "s1", values: runs.map((r) => r.global_efficiency), text: "global efficiency" }]} />
        <Table name="runs" rows={runs} columns={[
          { title: "result", cell: (r) => visible(r.file), value: (r) => r.file },
          { title: "ranks", cell: (r) => r.ranks, value: (r) => r.ranks, number: true },
          { title: "wall time", cell: (r) => seconds(r.wall_time_s), value: (r) => r.wall_time_s, number: true },
          { title: "useful time", cell: (r) => seconds(r.useful_s), value: (r) => r.useful_s, number: true },
        ]} />
      </Section>
    </div>
  );
}

const BY: Record<string, string> = { runs: "intervals from several runs", iterations: "intervals from iterations", none: "one sample each: no significance can be given" };

/** Parts of a change that add up to it. */
function Parts(props: { parts: Record<string, number> }): JSX.Element {
  const entries = Object.entries(props.parts);
  const most = Math.max(...entries.map(([, v]) => Math.abs(v)), 1e-300);
  return (
    <Figure name="parts" width={640} height={entries.length * 28 + 10} label="Parts of the change">
      <line class="axis" x1="330" x2="330" y1="0" y2={entries.length * 28} />
      {entries.map(([name, v], i) => [
        <text class="tick" x="120" y={i * 28 + 18} text-anchor="end">{visible(name)}</text>,
        <rect class={v > 0 ? "late" : "good"} x={v > 0 ? 330 : 330 - (190 * -v) / most} y={i * 28 + 6} width={Math.max(1, (190 * Math.abs(v)) / most)} height="16" />,
        <text class="tick" x="630" y={i * 28 + 18} text-anchor="end">{`${v > 0 ? "+" : ""}${seconds(v)}`}</text>,
      ])}
    </Figure>
  );
}

export function CompareView(props: { comparison: Comparison; names: [string, string]; factors: FactorText[] }): JSX.Element {
  const c = props.comparison;
  if (!c.verdict) return <p class="empty">These results cannot be compared: {visible(c.why ?? "unknown")}.</p>;
  const bounds = typeof c.ratio_low === "number" && typeof c.ratio_high === "number" ? ` (${c.ratio_low.toFixed(3)} to ${c.ratio_high.toFixed(3)}, 95 %)` : "";
  type P = NonNullable<Comparison["callpaths"]>[number];
  const value = (pop: Factors | undefined, key: string): number | undefined => pop?.[key] as number | undefined;
  return (
    <div>
      <Section title="What changed">
        <p class="verdict"><b class={c.verdict === "slower" ? "late-text" : ""}>{visible(c.verdict)}</b> {typeof c.ratio === "number" && `× ${c.ratio.toFixed(3)}${bounds}`}</p>
        <p class="dim">A: {visible(props.names[0])}, {seconds(c.a_s)}. B: {visible(props.names[1])}, {seconds(c.b_s)}. {BY[c.significance ?? ""] ?? ""}{c.significance === "none" && typeof c.threshold === "number" && `; what counts is more than ${percent(c.threshold)}`}.{c.why && ` ${visible(c.why)}`}</p>
      </Section>
      {c.parts && Object.keys(c.parts).length > 0 && <Section title="Parts of the change" note="they add up to it"><Parts parts={c.parts} /></Section>}
      {c.pop && (
        <Section title="Efficiency factors">
          <Table name="factors" rows={props.factors} columns={[
            { title: "factor", cell: (f) => <span class={`depth${f.depth}`}>{f.name}</span>, value: (f) => f.name },
            { title: "A", cell: (f) => percent(value(c.pop?.a, f.key)), value: (f) => value(c.pop?.a, f.key), number: true },
            { title: "B", cell: (f) => percent(value(c.pop?.b, f.key)), value: (f) => value(c.pop?.b, f.key), number: true },
          ]} />
        </Section>
      )}
      <Section title="Call paths" note="own time, mean over ranks and threads; largest change first">
        <Table<P> name="changes" rows={c.callpaths ?? []} most={40} columns={[
          { title: "call path", cell: (p) => <><PathText path={p.path} />{p.path_a && p.path_a !== p.path && <span class="dim"> (in A: <PathText path={p.path_a} />)</span>}</>, value: (p) => p.path },
          { title: "A", cell: (p) => seconds(p.a_s), value: (p) => p.a_s, number: true },
          { title: "B", cell: (p) => seconds(p.b_s), value: (p) => p.b_s, number: true },
          { title: "change", cell: (p) => <span class={p.delta_s > 0 ? "late-text" : ""}>{p.delta_s > 0 ? "+" : ""}{seconds(p.delta_s)}</span>, value: (p) => p.delta_s, number: true },
          { title: "95 %", cell: (p) => (p.low_s === null || p.high_s === null ? "–" : `${seconds(p.low_s)} to ${seconds(p.high_s)}`), value: (p) => p.low_s, number: true },
        ]} />
      </Section>
    </div>
  );
}
