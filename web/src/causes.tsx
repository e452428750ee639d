/** Root causes: which delay costs how much, by two models; chains of waiting that one can follow into the timeline. */
import type { JSX } from "preact";
import { linear, XAxis, YAxis } from "./axes";
import { percent, seconds, visible } from "./format";
import { PerformanceImpact } from "./impact";
import { Bar, Choice, Figure, Legend, Lines, ModelChoice, PathText, Section, Table, type Column } from "./parts";
import type { Result } from "./result";
import { numberKey, waitFirst, type Navigation } from "./state";
import type { Costs, DelayModels, Late, RootCause } from "./types";

/** A chain in time: every victim a bar in the row of its rank, from who it waited for. */
function Chain(props: { cause: RootCause; nav: Navigation; hasTimeline: boolean }): JSX.Element {
  const { cause, nav } = props;
  const links = cause.chain.slice(0, 12);
  const from = Math.min(...links.map((l) => l.start_s));
  const to = Math.max(...links.map((l) => l.start_s + l.waiting_s));
  const names = [...new Set([`${cause.rank}.${cause.thread}`, ...links.map((l) => `${l.rank}.${l.thread}`)])];
  const x = linear([from, to], [70, 620]);
  const y = (name: string): number => 12 + names.indexOf(name) * 30;
  const look = (start: number, length: number): string => nav.link("timeline", { from: Math.max(0, start - length), to: start + 2 * length });
  return (
    <div class="chain">
      <Figure name="chain" width={640} height={names.length * 30 + 24} label={`Chain of ${links.length} waits caused by rank ${cause.rank}`}>
        {names.map((name) => <text class="tick" x="60" y={y(name) + 9} text-anchor="end">rank {name.replace(/\.0$/, "")}</text>)}
        {names.map((name) => <line class="grid" x1="70" x2="620" y1={y(name) + 5} y2={y(name) + 5} />)}
        {links.map((link, i) => {
          const before = i === 0 ? `${cause.rank}.${cause.thread}` : `${links[i - 1].rank}.${links[i - 1].thread}`;
          const name = `${link.rank}.${link.thread}`;
          const end = x(link.start_s + link.waiting_s);
          return (
            <g>
              <rect class="late" x={x(link.start_s)} y={y(name)} width={Math.max(2, end - x(link.start_s))} height="10"><title>{`rank ${name} waits ${seconds(link.waiting_s)} (${visible(link.kind)})`}</title></rect>
              <line class="axis strong" x1={end} x2={end} y1={y(before) + 5} y2={y(name) + 5} />
              <circle class="dot s0" cx={end} cy={y(before) + 5} r="3" />
            </g>
          );
        })}
        <XAxis scale={x} y={names.length * 30 + 4} unit="sec" />
      </Figure>
      <ol class="links-list">
        {links.map((link) => (
          <li>rank {link.rank}{link.thread > 0 && `.${link.thread}`} waits {seconds(link.waiting_s)}{link.cost_s !== undefined && link.cost_s < 0.995 * link.waiting_s && ` (${seconds(link.cost_s)} of it for this cause)`} in <PathText path={link.callpath} keep={1} />{" "}
            {props.hasTimeline && <a href={look(link.start_s, link.waiting_s)}>in the timeline</a>}</li>
        ))}
      </ol>
    </div>
  );
}

function Causes(props: { result: Result; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const second = waitFirst(nav.state) && result.rootCausesWaitFirst.length > 0;
  const causes = (second ? result.rootCausesWaitFirst : result.rootCauses).slice(0, 50);
  const chosen = Math.min(numberKey(nav.state, "cause", 0), causes.length - 1);
  const most = causes[0]?.cost_s ?? 1;
  const rows = causes.map((cause, i) => ({ cause, i }));
  type R = { cause: RootCause; i: number };
  return (
    <Section title="Root causes" note={second ? "what others waited because of it; what was late because of waiting pays last" : "what others waited because of it, directly and further along"}>
      {result.rootCausesWaitFirst.length > 0 && <ModelChoice nav={nav} />}
      <Table<R> name="root-causes" rows={rows} most={20} selected={(r) => r.i === chosen} columns={[
        { title: "costs", cell: (r) => <a href={nav.link("causes", { cause: r.i })}>{seconds(r.cause.cost_s)}</a>, value: (r) => r.cause.cost_s, number: true },
        { title: "directly, further", cell: (r) => <Bar parts={[{ share: r.cause.short_term_s / most, class: "late", title: "directly" }, { share: r.cause.long_term_s / most, class: "late2", title: "further along" }]} />, value: () => "" },
        { title: "rank", cell: (r) => r.cause.rank, value: (r) => r.cause.rank, number: true },
        { title: "where", cell: (r) => <PathText path={r.cause.callpath} />, value: (r) => r.cause.callpath },
        { title: "waits", cell: (r) => r.cause.wait_states, value: (r) => r.cause.wait_states, number: true },
      ]} />
      <Legend items={[{ class: "late", text: "waiting caused directly" }, { class: "late2", text: "and further along" }]} />
      {causes[chosen] && <><h3>The most expensive wait of the chosen cause, and whom it made wait in turn</h3><Chain cause={causes[chosen]} nav={nav} hasTimeline={result.timeline !== null} /></>}
    </Section>
  );
}

const sum = (pair: { short_term: number; long_term: number } | undefined): number => (pair ? (pair.short_term || 0) + (pair.long_term || 0) : 0);

type TreeRow = NonNullable<DelayModels["tree"]>[number];

/** "Late Sender: delay costs, short-term" below "Late Sender: delay costs": short-term. */
export function nameBelow(tree: { display: string; depth: number }[], at: number): string {
  const above = tree.slice(0, at).reverse().find((node) => node.depth < tree[at].depth);
  const { display } = tree[at];
  return above && display.startsWith(`${above.display}, `) ? display.slice(above.display.length + 2) : display;
}

/** What all code costs, and of which kind the waiting is: sums and their parts. */
function ModelTree(props: { models: DelayModels }): JSX.Element | null {
  const tree = props.models.tree ?? [];
  const rows = tree.map((node, at) => ({ ...node, name: nameBelow(tree, at) })).filter((node) => node.proportional !== 0 || node.waitfirst !== 0);
  type R = TreeRow & { name: string };
  if (rows.length === 0) return null;
  const difference = (r: R): number => { // no rounding errors
    const d = r.waitfirst - r.proportional;
    return Math.abs(d) < 1e-9 * Math.abs(r.proportional) ? 0 : d;
  };
  return (
    <Table<R> name="model-sums" rows={rows} most={60} columns={[
      { title: "in all", cell: (r) => <span class={`depth${Math.min(r.depth, 4)}`} title={r.metric}>{r.name}</span>, value: (r) => r.metric },
      { title: "proportional", cell: (r) => seconds(r.proportional), value: (r) => r.proportional, number: true },
      { title: "wait-first", cell: (r) => seconds(r.waitfirst), value: (r) => r.waitfirst, number: true },
      { title: "difference", cell: (r) => `${difference(r) > 0 ? "+" : ""}${seconds(difference(r))}`, value: difference, number: true },
    ]} />
  );
}

/** Runs of a mean: how far they are apart. */
function ModelRuns(props: { models: DelayModels }): JSX.Element | null {
  const runs = props.models.runs ?? [];
  if (runs.length < 2) return null;
  type R = (typeof runs)[number];
  const mean = runs.reduce((all, r) => all + r.delay_costs_s.proportional, 0) / runs.length || 1;
  const off = (r: R): number => r.delay_costs_s.proportional / mean - 1;
  return (
    <Table<R> name="model-runs" rows={runs} most={20} columns={[
      { title: "run", cell: (r) => visible(r.file), value: (r) => r.file },
      { title: "time of all ranks", cell: (r) => seconds(r.time_s), value: (r) => r.time_s, number: true },
      { title: "delay costs", cell: (r) => seconds(r.delay_costs_s.proportional), value: (r) => r.delay_costs_s.proportional, number: true },
      { title: "from the mean", cell: (r) => `${off(r) > 0 ? "+" : ""}${percent(off(r))}`, value: off, number: true },
    ]} />
  );
}

const MOST_BARS = 256;

/** A bar for each rank: what both models give it, and what one of them gives more. */
function ModelBars(props: { models: DelayModels; nav: Navigation }): JSX.Element | null {
  const ranks = props.models.ranks ?? [];
  if (ranks.length < 2) return null;
  const byCosts = props.nav.state.keys.order === "costs";
  const rows = (byCosts ? ranks : [...ranks].sort((a, b) => a.rank - b.rank)).slice(0, MOST_BARS);
  const [width, height, left] = [580, 130, 58];
  const most = Math.max(...ranks.flatMap((r) => [sum(r.proportional), sum(r.waitfirst)]), 1e-300);
  const step = width / rows.length;
  const y = linear([0, most], [8 + height, 8]);
  const every = Math.max(1, Math.ceil(rows.length / 24));
  return (
    <>
      <p class="tools left"><Choice label="Order" value={byCosts ? "costs" : "ranks"} options={[["ranks", "by rank"], ["costs", "by costs, proportional"]]} onChange={(order) => props.nav.set({ order })} /></p>
      <Legend items={[{ class: "bothfill", text: "in both models" }, { class: "s0fill", text: "more, proportional" }, { class: "s1fill", text: "more, wait-first" }]} />
      <Figure name="model-bars" width={640} height={height + 34} label={`Delay costs of ${rows.length} ranks in both models`}>
        <YAxis scale={y} left={left} right={left + width} unit="sec" />
        {rows.map((r, i) => {
          const [a, b] = [sum(r.proportional), sum(r.waitfirst)];
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          return (
            <g>
              <title>{`rank ${r.rank}: ${seconds(a)} proportional, ${seconds(b)} wait-first`}</title>
              <rect class="bothfill" x={left + i * step} y={y(low)} width={Math.max(0.5, step - 1)} height={8 + height - y(low)} />
              <rect class={a > b ? "s0fill" : "s1fill"} x={left + i * step} y={y(high)} width={Math.max(0.5, step - 1)} height={y(low) - y(high)} />
              {i % every === 0 && <text class="tick" x={left + (i + 0.5) * step} y={height + 24} text-anchor="middle">{r.rank}</text>}
            </g>
          );
        })}
      </Figure>
      {ranks.length > rows.length && <p class="dim">The first {rows.length} of {ranks.length}; all are in the table.</p>}
    </>
  );
}

/** Costs that a rank causes, and what it waits itself: bars of both models, in one scale. */
function ModelRanks(props: { models: DelayModels }): JSX.Element | null {
  const rows = props.models.ranks ?? [];
  if (rows.length === 0) return null;
  type R = (typeof rows)[number];
  const most = Math.max(...rows.flatMap((r) => [sum(r.proportional), sum(r.waitfirst)]), 1e-300);
  const waits = (r: R): number => r.proportional.direct + r.proportional.indirect;
  const bar = (c: Costs): JSX.Element => <Bar parts={[{ share: c.short_term / most, class: "late", title: "direct" }, { share: c.long_term / most, class: "late2", title: "indirect" }]} />;
  const part = (title: string, key: keyof Costs, model: "proportional" | "waitfirst", hint: string): Column<R> => ({ title, hint, cell: (r) => seconds(r[model][key]), value: (r) => r[model][key], number: true });
  return (
    <Table<R> name="model-ranks" rows={rows} most={25} columns={[
      { title: "rank", cell: (r) => r.rank, value: (r) => r.rank, number: true },
      { title: "costs, proportional", cell: (r) => bar(r.proportional), value: () => "" },
      { title: "sum", cell: (r) => seconds(sum(r.proportional)), value: (r) => sum(r.proportional), number: true },
      { title: "costs, wait-first", cell: (r) => bar(r.waitfirst), value: () => "" },
      { title: "sum", cell: (r) => seconds(sum(r.waitfirst)), value: (r) => sum(r.waitfirst), number: true },
      { title: "waits", hint: "in MPI, itself", cell: (r) => seconds(waits(r)), value: waits, number: true },
      part("indirect", "indirect", "proportional", "of its waiting, proportional: earlier waiting of others caused it"),
      part("wait-first", "indirect", "waitfirst", "of its waiting, wait-first: earlier waiting of others caused it"),
      part("propagating", "propagating", "proportional", "of its waiting, proportional: others waited for it in turn"),
      part("wait-first", "propagating", "waitfirst", "of its waiting, wait-first: others waited for it in turn"),
    ]} />
  );
}

const CURVES: Record<string, string> = { locations: "ranks and threads", ranks: "ranks", callpaths: "call paths" };

function Models(props: { own: DelayModels | null; mean: DelayModels | null; nav: Navigation }): JSX.Element | null {
  const { own, mean, nav } = props;
  const ofAll = mean !== null && (nav.state.keys.of === "all" || own === null);
  const models = ofAll ? mean : own;
  if (!models) return null;
  const rows = (models.callpaths ?? []).filter((r) => sum(r.proportional) + sum(r.waitfirst) > 0);
  const all = (key: "proportional" | "waitfirst"): number => rows.reduce((s, r) => s + sum(r[key]), 0) || 1;
  const [a, b] = [all("proportional"), all("waitfirst")];
  const hasThreads = (models.locations ?? []).length > (models.ranks ?? []).length;
  type R = (typeof rows)[number];
  return (
    <Section title="Two models of who pays" note="proportional: excess time shares the costs; wait-first: what was late because of waiting pays last">
      {mean && own && <p class="tools left"><Choice label="Of" value={ofAll ? "all" : "one"} options={[["one", "this run"], ["all", `mean of ${mean.analyses} runs`]]} onChange={(of) => nav.set({ of })} /></p>}
      <ModelRuns models={models} />
      <ModelTree models={models} />
      <h3>Ranks, with their threads</h3>
      <ModelBars models={models} nav={nav} />
      <ModelRanks models={models} />
      <Legend items={[{ class: "late", text: "waiting caused directly" }, { class: "late2", text: "and further along" }]} />
      <h3>Call paths</h3>
      <Table<R> name="delay-models" rows={rows} most={25} columns={[
        { title: "call path", cell: (r) => <PathText path={r.callpath} />, value: (r) => r.callpath },
        { title: "proportional", cell: (r) => seconds(sum(r.proportional)), value: (r) => sum(r.proportional), number: true },
        { title: "share", cell: (r) => percent(sum(r.proportional) / a), value: (r) => sum(r.proportional) / a, number: true },
        { title: "wait-first", cell: (r) => seconds(sum(r.waitfirst)), value: (r) => sum(r.waitfirst), number: true },
        { title: "share", cell: (r) => percent(sum(r.waitfirst) / b), value: (r) => sum(r.waitfirst) / b, number: true },
      ]} />
      {Object.entries(models.pareto ?? {}).filter(([what]) => what !== "locations" || hasThreads).map(([what, curves]) => (
        <div><h3>Costs covered by the first {CURVES[what] ?? what}</h3>
          <Legend items={[{ class: "s0fill", text: "proportional" }, { class: "s1fill", text: "wait-first" }]} />
          <Lines name={`pareto-${what}`} label="Pareto curves of both models" top={1} unit="share" xText={(i) => String(i + 1)}
            series={[{ class: "s0", values: normal(curves.proportional), text: "proportional" }, { class: "s1", values: normal(curves.waitfirst), text: "wait-first" }]} /></div>
      ))}
    </Section>
  );
}

function normal(values: number[] | undefined): number[] {
  const list = (values ?? []).slice(0, 200);
  const top = Math.max(...(values ?? []), 1e-300);
  return top <= 1.0001 ? list : list.map((v) => v / top);
}

function Blame(props: { late: Late[] }): JSX.Element {
  return (
    <Section title="Who was late" note="measured during the run: seconds that others waited">
      <Table<Late> name="late" rows={props.late} columns={[
        { title: "seconds", cell: (l) => seconds(l.seconds), value: (l) => l.seconds, number: true },
        { title: "of waiting", cell: (l) => percent(l.share), value: (l) => l.share, number: true },
        { title: "rank", cell: (l) => l.rank, value: (l) => l.rank, number: true },
        { title: "was in", cell: (l) => <PathText path={l.callpath} />, value: (l) => l.callpath },
        { title: "others waited in", cell: (l) => <PathText path={l.waiting_callpath} />, value: (l) => l.waiting_callpath },
      ]} />
    </Section>
  );
}

export function RootCauses(props: { result: Result; mean: DelayModels | null; nav: Navigation }): JSX.Element {
  const { result } = props;
  const late = result.profile.json.result.late ?? [];
  return (
    <div>
      {result.rootCauses.length > 0 ? <Causes result={result} nav={props.nav} /> : <p class="empty">Costs of delays come from the analysis of a trace: latecomer run --trace, then latecomer analyze.</p>}
      <PerformanceImpact result={result} />
      <Models own={result.models} mean={props.mean} nav={props.nav} />
      {late.length > 0 && <Blame late={late} />}
    </div>
  );
}
