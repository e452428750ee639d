/** What several launches of `latecomer bench` say: variants of an operation, ranked; collectives and operations that do the same. */
import type { JSX } from "preact";
import { logarithmic, XAxis, type Scale } from "./axes";
import { count, percent, seconds, visible } from "./format";
import { Figure, Legend, Section, Table } from "./parts";
import type { Audit, GuidelineComparison, Guidelines, Sweep, Variant } from "./types";

const ns = (value: number | null | undefined): string => (typeof value === "number" ? seconds(value * 1e-9) : "–");
/** Files may hold anything. */
const list = <T extends object>(values: T[] | undefined): T[] => (Array.isArray(values) ? values.filter((v) => typeof v === "object" && v !== null) : []);
const text = (value: unknown): string => visible(typeof value === "string" ? value : "?");
const known = (values: (number | null | undefined)[] | undefined): number[] => (Array.isArray(values) ? values : []).filter((v): v is number => typeof v === "number" && Number.isFinite(v) && v > 0);

const [LEFT, WIDTH, RIGHT, ROW] = [190, 640, 16, 22];

/** A logarithmic axis over values above 0. */
const axis = (values: number[]): Scale => logarithmic([values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), 0)], [LEFT, WIDTH - RIGHT]);

const short = (name: string): string => (name.length > 25 ? `${name.slice(0, 11)}…${name.slice(-13)}` : name);

/** The median of each launch, and over them: a row for each variant, fastest first. */
function Launches(props: { name: string; variants: Variant[] }): JSX.Element | null {
  const { variants } = props;
  const all = variants.flatMap((v) => known([...(v.launch_medians_ns ?? []), v.median_ns]));
  if (all.length === 0) return null;
  const x = axis(all);
  const height = variants.length * ROW + 30;
  return (
    <Figure name={props.name} width={WIDTH} height={height} label={`Medians of the launches of ${variants.length} variants, from ${ns(x.domain()[0])} to ${ns(x.domain()[1])}, on a logarithmic axis`}>
      {variants.map((v, i) => (
        <g>
          <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={i * ROW + 14} y2={i * ROW + 14} />
          <text class="tick" x={LEFT - 8} y={i * ROW + 18} text-anchor="end">{short(text(v.name))}<title>{text(v.name)}</title></text>
          {known(v.launch_medians_ns).map((m) => <circle class="s0fill" cx={x(m)} cy={i * ROW + 14} r="3" opacity="0.6"><title>{`a launch: ${ns(m)}`}</title></circle>)}
          {known([v.median_ns]).map((m) => <line class="axis strong" x1={x(m)} x2={x(m)} y1={i * ROW + 6} y2={i * ROW + 22}><title>{`median ${ns(m)}`}</title></line>)}
        </g>
      ))}
      <XAxis scale={x} y={height - 21} unit="ns" />
    </Figure>
  );
}

/** "+12.5 % (+3.0 to +22.9)": against another, with an interval. */
function against(ratio: number | undefined, ci: [number | null, number | null] | undefined): string {
  if (typeof ratio !== "number") return "–";
  const part = (v: number): string => `${v >= 1 ? "+" : ""}${percent(v - 1)}`;
  const [low, high] = Array.isArray(ci) ? ci : [null, null];
  const times = (v: number): string => Number(v.toPrecision(3)).toString();
  if (typeof low === "number" && typeof high === "number" && high > 10) return `${times(ratio)} times (${times(low)} to ${times(high)})`;
  return typeof low === "number" && typeof high === "number" ? `${part(ratio)} (${part(low)} to ${part(high)})` : part(ratio);
}

const AUDIT: [string, string, boolean][] = [["empty_ns", "empty, which is in every run time", false], ["empty_share", "that, of an operation", true], ["perturbation", "reading counters, of repetitions that do not count", true],
  ["start_skew_ns", "ranks begin apart", false], ["clock_error_ns", "the global clock is known to", false]];

function Measuring(props: { audit: Audit | undefined }): JSX.Element | null {
  const rows = AUDIT.flatMap(([key, what, share]) => { const one = props.audit?.[key]; return typeof one === "object" && one !== null ? [{ key, what, share, ...one }] : []; });
  if (rows.length === 0) return null;
  return (
    <Section title="What measuring itself does" note="over all launches">
      <Table name="audit" rows={rows} columns={[
        { title: "what", cell: (r) => r.what, value: (r) => r.key },
        { title: "median", cell: (r) => (r.share ? percent(r.median) : ns(r.median)), value: (r) => r.median, number: true },
        { title: "largest", cell: (r) => (r.share ? percent(r.largest) : ns(r.largest)), value: (r) => r.largest, number: true },
        { title: "of", cell: (r) => count(r.n), value: (r) => r.n, number: true },
      ]} />
    </Section>
  );
}

function rounds(all: { rounds?: number; rounds_wanted?: number; complete?: boolean }): string {
  return `${count(all.rounds)} rounds${all.complete === false && all.rounds !== all.rounds_wanted ? ` of ${count(all.rounds_wanted)}: it was stopped` : ""}`;
}

function OneSweep(props: { sweep: Sweep }): JSX.Element {
  const { sweep } = props;
  return (
    <div>
      {list(sweep.jobs).map((job) => {
        const name = `${text(job.operation)}, ${count(job.bytes)} B`;
        const variants = list(job.variants);
        return (
          <Section title={name} note={`${rounds(sweep)}, each variant once in each, in random order; variants that share places are not told apart`}>
            <Launches name={`${job.operation}-${job.bytes}`} variants={variants} />
            <Table<Variant> name={`variants-${job.operation}-${job.bytes}`} rows={variants} columns={[
              { title: "place", cell: (v) => (Array.isArray(v.places) ? (v.places[0] === v.places[1] ? v.places[0] : `${v.places[0]}–${v.places[1]}`) : "–"), value: (v) => (Array.isArray(v.places) ? v.places.join("-") : null) },
              { title: "variant", cell: (v) => text(v.name), value: (v) => v.name },
              { title: "median", cell: (v) => ns(v.median_ns), value: (v) => v.median_ns, number: true },
              { title: "against the first (95 %)", cell: (v) => (v.ratio === 1 ? "" : against(v.ratio, v.ratio_ci)), value: (v) => v.ratio },
            ]} />
          </Section>
        );
      })}
      {list(sweep.failed).length > 0 && (
        <Section title="Left out">
          <ul class="warnings">{list(sweep.failed).map((f) => <li>{text(f.variant)}: {text(f.why)}</li>)}</ul>
        </Section>
      )}
      <Measuring audit={sweep.audit} />
    </div>
  );
}

export function SweepView(props: { all: Sweep[] }): JSX.Element {
  return <div>{props.all.map((sweep) => <OneSweep sweep={sweep} />)}</div>;
}

/** As `latecomer bench guidelines` says it. */
function mockUp(given: unknown): string {
  const name = typeof given === "string" ? given : "?";
  const mark = name.indexOf("~");
  const what = name.slice(mark + 1);
  return mark < 0 ? name : what === "larger" ? "itself with twice the bytes" : what === "parts" ? "itself in two halves" : what.replace(/_(?=[A-Z])/g, " and ");
}

const verdict = (c: GuidelineComparison): string => (c.violated ? "violated" : c.holds ? "holds" : "not told");

/** Ratios to the mock-ups with their intervals: right of the line the collective is slower. */
function Ratios(props: { rows: GuidelineComparison[] }): JSX.Element | null {
  const rows = props.rows.slice(0, 60);
  const all = rows.flatMap((c) => known([c.ratio, ...(c.ratio_ci ?? [])]));
  if (all.length === 0) return null;
  const x = axis([...all, 1]);
  const height = rows.length * ROW + 30;
  return (
    <Figure name="ratios" width={WIDTH} height={height} label={`Run times of collectives relative to those of ${rows.length} mock-ups, on a logarithmic axis; slower is right of the line`}>
      <line class="axis strong" x1={x(1)} x2={x(1)} y1="2" y2={height - 24} />
      {rows.map((c, i) => {
        const [from, to] = [c.ratio_ci?.[0] ?? c.ratio ?? 1, c.ratio_ci?.[1] ?? c.ratio ?? 1];
        const label = `${text(c.operation).replace("MPI_", "")} ${count(c.bytes)} B: ${visible(mockUp(c.mock_up))}`;
        return (
          <g>
            <text class="tick" x={LEFT - 8} y={i * ROW + 18} text-anchor="end">{short(label)}<title>{label}</title></text>
            <line class="axis" x1={x(from)} x2={x(to)} y1={i * ROW + 14} y2={i * ROW + 14} />
            {known([c.ratio]).map((r) => <circle class={c.violated ? "late" : "s0fill"} cx={x(r)} cy={i * ROW + 14} r="4"><title>{`${verdict(c)}: ${r.toFixed(2)} times`}</title></circle>)}
          </g>
        );
      })}
      <XAxis scale={x} y={height - 21} unit="times" />
    </Figure>
  );
}

function OneOfGuidelines(props: { guidelines: Guidelines }): JSX.Element {
  const { guidelines } = props;
  const rank = (c: GuidelineComparison): number => (c.violated ? 2 : c.holds ? 0 : 1);
  const rows = list(guidelines.comparisons).sort((a, b) => rank(b) - rank(a) || (b.ratio ?? 0) - (a.ratio ?? 0));
  const violated = rows.filter((c) => c.violated).length;
  return (
    <div>
      <Section title={`${violated} of ${rows.length} guidelines violated`} note={`${rounds(guidelines)}; a collective ought to be no slower than other operations that do the same; 5 % for all comparisons together`}>
        <Legend items={[{ class: "late", text: "violated" }, { class: "s0fill", text: "holds, or not told from these rounds" }]} />
        <Ratios rows={rows} />
        <Table<GuidelineComparison> name="guidelines" rows={rows} most={100} columns={[
          { title: "verdict", cell: (c) => <span class={c.violated ? "late-text" : ""}>{verdict(c)}</span>, value: verdict },
          { title: "collective", cell: (c) => text(c.operation), value: (c) => c.operation },
          { title: "bytes", cell: (c) => count(c.bytes), value: (c) => c.bytes, number: true },
          { title: "mock-up", cell: (c) => visible(mockUp(c.mock_up)), value: (c) => c.mock_up },
          { title: "median", cell: (c) => ns(c.median_ns), value: (c) => c.median_ns, number: true },
          { title: "mock-up's", cell: (c) => ns(c.mock_up_median_ns), value: (c) => c.mock_up_median_ns, number: true },
          { title: "longer by", cell: (c) => ns(c.excess_ns), value: (c) => c.excess_ns, number: true },
          { title: "against the mock-up", cell: (c) => against(c.ratio, c.ratio_ci), value: (c) => c.ratio },
        ]} />
        {list(guidelines.left_out).length > 0 && <ul class="warnings">{list(guidelines.left_out).map((l) => <li>{text(l.operation)}: {text(l.why)}</li>)}</ul>}
      </Section>
      <Measuring audit={guidelines.audit} />
    </div>
  );
}

export function GuidelinesView(props: { all: Guidelines[] }): JSX.Element {
  return <div>{props.all.map((one) => <OneOfGuidelines guidelines={one} />)}</div>;
}
