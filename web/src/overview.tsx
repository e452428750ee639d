/** The first view: what is wrong, where, for what reason, and what it costs. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { besideUses, isOf } from "./beside";
import { components, count, percent, ranksText, seconds, visible } from "./format";
import { Bar, csv, download, Figure, Legend, Lines, ModelChoice, Name, PathText, Section, Source, Table, type Column } from "./parts";
import { waitMetrics, type Result } from "./result";
import type { Rows } from "./rows";
import { waitFirst, type Navigation } from "./state";
import type { BesideUse, ByRank, FactorText, Factors, Finding, Fingerprint, Late, Phase, ResultJson, TaskCurve } from "./types";

/** Colours of the factors as in POP's tables: good, fair, poor. */
export function grade(value: number): string {
  return value >= 0.8 ? "good" : value >= 0.6 ? "fair" : "poor";
}

function gainText(finding: Finding): { main: string; bounds: string } {
  if (finding.gain_s === null) return { main: "–", bounds: "gain not predicted" };
  const bounded = finding.gain_low_s !== null && finding.gain_high_s !== null && finding.gain_low_s !== finding.gain_high_s;
  return { main: seconds(finding.gain_s), bounds: bounded ? `${seconds(finding.gain_low_s)} to ${seconds(finding.gain_high_s)}` : "of the run time" };
}

function timelineLink(finding: Finding, result: Result, nav: Navigation): JSX.Element | null {
  if (finding.kind === "variability" && iterationsOf(result.profile.json.result).length > 0) return <a href={nav.link("timeline", { at: "iterations" })}>the iterations</a>;
  if (!result.timeline) return null;
  const index = result.timeline.windowFor(finding.evidence?.metric, finding.evidence?.callpath ?? finding.callpath);
  if (index < 0) return <a href={nav.link("timeline")}>timeline</a>;
  return <a href={nav.link("timeline", { window: index })}>in the timeline</a>;
}

function Cause(props: { finding: Finding }): JSX.Element {
  const { finding } = props;
  const because = finding.because;
  const who = ranksText(finding.ranks, finding.n_ranks);
  return (
    <p class="place">
      <span class="label">{because ? "waits in" : "where"}</span> <PathText path={finding.callpath} />
      {finding.between && finding.between.some((place) => place !== "") && <span class="source"> {finding.between.filter((p) => p !== "").map(visible).join(" to ")}</span>}
      {who && <span class="who"> {who}</span>}
      {because && <span class="because"><br /><span class="label">cause</span> {because.callpath && <PathText path={because.callpath} />}{because.rank !== undefined && because.rank >= 0 && ` on rank ${because.rank}`}</span>}
    </p>
  );
}

export function FindingItem(props: { finding: Finding; result: Result; nav: Navigation }): JSX.Element {
  const { finding, result, nav } = props;
  const gain = gainText(finding);
  const place = result.profile.rows.nearest(finding.because?.callpath ?? finding.callpath);
  return (
    <li class="finding">
      <div class="gain"><b class={finding.gain_s === null ? "none" : ""}>{gain.main}</b><small>{gain.bounds}</small></div>
      <div>
        <p class="sentence">{visible(finding.text)}</p>
        <Cause finding={finding} />
        <p class="advice">{visible(finding.advice)}</p>
        <p class="links">
          {timelineLink(finding, result, nav)}
          {place >= 0 && <a href={nav.link("explorer", { path: place, metric: finding.evidence?.metric ?? "time" })}>in the call tree</a>}
          <Source path={result.profile.rows.withSource(place)} />
          <span class="dim">{finding.certainty}{finding.gain_by && `; gain: ${finding.gain_by}`}{finding.gain_estimated && `; ${finding.gain_by ? "an estimate" : "gain unknown"}: ${finding.gain_estimated}`}</span>
        </p>
      </div>
    </li>
  );
}

export function Findings(props: { result: Result; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const other = result.profile.json.findings_waitfirst;
  const hasCauses = (result.profile.json.result.late ?? []).length > 0 || result.rootCauses.length > 0;
  const waiting = hasCauses ? waitingShare(result) : 0;
  const findings = (waitFirst(nav.state) && other) || result.profile.json.result.findings;
  return (
    <Section title="Findings" note="what the run would save without each, largest first">
      {other && <ModelChoice nav={nav} />}
      {findings.length === 0 && <p class="empty">{waiting > 0.05 ? `No single cause: ${percent(waiting)} of the time is waiting, but of none of its causes is it known that the run would be shorter without it.` : "Nothing above the accuracy of this measurement."}</p>}
      <ol class="findings">{findings.map((finding) => <FindingItem finding={finding} result={result} nav={nav} />)}</ol>
    </Section>
  );
}

export function Efficiency(props: { factors: FactorText[]; pop: Factors; title?: string }): JSX.Element {
  const known = props.factors.filter((f) => typeof props.pop[f.key] === "number");
  const columns: Column<FactorText>[] = [{ title: "factor", cell: (f) => f.name, value: (f) => f.name }, { title: "value", cell: () => "", value: (f) => props.pop[f.key] as number }, { title: "formula", cell: () => "", value: (f) => f.formula }];
  return (
    <>
    <table class="pop">
      <caption class="hidden">{props.title ?? "Efficiency factors"}</caption>
      <tbody>
        {known.map((factor) => {
          const value = props.pop[factor.key] as number;
          return (
            <tr title={`${factor.name} = ${factor.formula}`}>
              <th scope="row" class={`depth${factor.depth}`}>{factor.name}</th>
              <td class="bars"><Bar parts={[{ share: value, class: grade(value), title: factor.name }]} /></td>
              <td class="n">{percent(value)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
    <p class="tools"><button type="button" class="quiet" onClick={() => download("efficiency.csv", "text/csv", csv(columns, known))}>CSV</button></p>
    </>
  );
}

interface RankRow {
  name: string;
  time: number;
  mpi: number;
  waiting: number;
  unknown: boolean;
}

/** Of the time of all locations. */
function waitingShare(result: Result): number {
  const rows = rankRows(result);
  return rows.reduce((sum, r) => sum + r.waiting, 0) / Math.max(rows.reduce((sum, r) => sum + r.time, 0), 1e-300);
}

/** Time, time in MPI, waiting per location, from the totals of the JSON. */
export function rankRows(result: Result): RankRow[] {
  const { json } = result.profile;
  const metrics = json.result.metrics;
  const of = (name: string): (number | null)[] => metrics[name]?.locations ?? [];
  const time = of("time");
  const waits = waitMetrics(result.profile).map((id) => of(json.metrics[id].name));
  const mpiRows = mpiTime(result);
  const threads = json.result.locations.some((l) => l.thread > 0);
  return json.result.locations.map((location, l) => ({
    name: threads ? `${location.rank}.${location.thread}` : String(location.rank),
    time: time[l] ?? 0, mpi: mpiRows[l] ?? 0, waiting: waits.reduce((sum, wait) => sum + (wait[l] ?? 0), 0), unknown: location.unknown === true,
  }));
}

/** Per location: time in MPI calls (those that no other MPI call is around). */
function mpiTime(result: Result): number[] {
  const { rows, json } = result.profile;
  const time = rows.metric("time");
  const sums: number[] = json.result.locations.map(() => 0);
  if (time < 0 || rows.reduced) return sums;
  json.paths.forEach((path, id) => {
    if (path[2] === 1 && (path[0] < 0 || json.paths[path[0]][2] === 0)) rows.spread(time, id, true).values.forEach((v, l) => (sums[l] += v || 0));
  });
  return sums;
}

function Ranks(props: { result: Result; nav: Navigation }): JSX.Element {
  const rows = rankRows(props.result);
  const most = Math.max(...rows.map((r) => r.time), 1e-300);
  const reduced = props.result.profile.rows.reduced;
  const shown = rows.slice(0, 64);
  const height = Math.max(3, Math.min(14, 220 / shown.length));
  return (
    <Section title="Ranks" note={reduced ? "waiting of each" : ""}>
      <Legend items={[{ class: "useful", text: reduced ? "time" : "outside MPI" }, ...(reduced ? [] : [{ class: "mpi_p2p", text: "in MPI" }]), { class: "late", text: "waiting" }]} />
      <Figure name="ranks" width={420} height={shown.length * (height + 2)} label="Time of each rank: outside MPI, in MPI, waiting">
        {shown.map((row, i) => {
          const x = (v: number): number => (370 * v) / most;
          const y = i * (height + 2);
          const waiting = Math.min(row.waiting, row.mpi > 0 ? row.mpi : row.time);
          const inside = Math.max(0, row.mpi - waiting);
          const outside = Math.max(0, row.time - inside - waiting);
          return (
            <g>
              <title>{row.unknown ? `${row.name}: nothing is known` : `rank ${row.name}: ${seconds(row.time)}, in MPI ${seconds(row.mpi)}, waiting ${seconds(row.waiting)}`}</title>
              {height >= 9 && <text class="tick" x="34" y={y + height - 2} text-anchor="end">{row.name}</text>}
              <rect class="useful" x="40" y={y} width={x(outside)} height={height} />
              <rect class="mpi_p2p" x={40 + x(outside)} y={y} width={x(inside)} height={height} />
              <rect class="late" x={40 + x(outside + inside)} y={y} width={x(waiting)} height={height} />
            </g>
          );
        })}
      </Figure>
      {rows.length > shown.length && <p class="dim">The first 64 of {rows.length}; all are in <a href={props.nav.link("explorer")}>the explorer</a>.</p>}
    </Section>
  );
}

interface Heavy {
  path: number;
  time: number;
  waiting: number;
}

function Heaviest(props: { result: Result; nav: Navigation }): JSX.Element {
  const { rows, json } = props.result.profile;
  const time = rows.metric("time");
  const waits = waitMetrics(props.result.profile);
  const total = time >= 0 ? rows.total(time) : 0;
  const list: Heavy[] = json.paths.map((_, path) => ({ path, time: time >= 0 ? rows.sum(time, path, false) : 0, waiting: waits.reduce((sum, m) => sum + rows.sum(m, path, false), 0) }));
  list.sort((a, b) => b.time - a.time);
  return (
    <Section title="Heaviest call paths" note="own time, all ranks">
      <Table<Heavy> name="heaviest-call-paths" rows={list.slice(0, 8)} columns={[
        { title: "call path", cell: (r) => <a href={props.nav.link("explorer", { path: r.path })}><PathText path={rows.pathName(r.path)} /></a>, value: (r) => rows.pathName(r.path) },
        { title: "time", cell: (r) => seconds(r.time), value: (r) => r.time, number: true },
        { title: "share", cell: (r) => percent(total > 0 ? r.time / total : null), value: (r) => (total > 0 ? r.time / total : null), number: true },
        { title: "waiting", cell: (r) => (r.waiting > 0 ? seconds(r.waiting) : ""), value: (r) => r.waiting, number: true },
        { title: "of all", cell: (r) => <Bar parts={[
          { share: total > 0 ? (r.time - r.waiting) / total : 0, class: json.paths[r.path][2] ? "mpi_p2p" : "useful", title: "not waiting" },
          { share: total > 0 ? r.waiting / total : 0, class: "late", title: "waiting" }]} />, value: () => "" },
      ]} />
    </Section>
  );
}

/** Iterations from left to right, ranks from top to bottom: darker took, or waited, longer. */
export function IterationField(props: { byRank: ByRank; what: "elapsed_s" | "waiting_s" }): JSX.Element {
  const { byRank, what } = props;
  const rows = byRank[what];
  const columns = Math.max(1, ...rows.map((r) => r.length));
  const values = rows.flatMap((r) => r.filter((v) => v !== null));
  const most = values.reduce((a, b) => Math.max(a, b), 1e-300);
  // Durations differ little: from the shortest on.
  const low = what === "elapsed_s" ? values.reduce((a, b) => Math.min(a, b), most) : 0;
  const height = Math.max(3, Math.min(18, 300 / rows.length));
  const width = 570 / columns;
  const every = Math.max(1, Math.ceil(13 / height));
  const name = (row: number): string => (byRank.ranks === 1 ? `${row}` : `${row * byRank.ranks} – ${(row + 1) * byRank.ranks - 1}`);
  return (
    <Figure name={`iterations-${what === "elapsed_s" ? "duration" : "waiting"}`} width={640} height={rows.length * height + 22} label={`${what === "elapsed_s" ? "Duration" : "Waiting"} of ${columns} iterations or blocks of them on ${rows.length} ranks or groups of them, from ${seconds(low)} to ${seconds(most)}`}>
      {rows.map((row, y) => row.map((v, x) => v !== null && (
        <rect class={what === "elapsed_s" ? "heat2" : "heat"} x={58 + x * width} y={y * height} width={Math.max(0.5, width - 0.5)} height={Math.max(0.5, height - 0.5)} fill-opacity={0.06 + 0.94 * Math.max(0, (v - low) / Math.max(most - low, 1e-300))}>
          <title>{`rank ${name(y)}, no. ${x * byRank.block + 1}: ${seconds(v)}`}</title>
        </rect>
      )))}
      {rows.map((_, y) => y % every === 0 && <text class="tick" x="52" y={y * height + Math.min(height, 13) - 2} text-anchor="end">{name(y)}</text>)}
      <text class="tick" x="58" y={rows.length * height + 16}>no. 1</text>
      <text class="tick" x="343" y={rows.length * height + 16} text-anchor="middle">{`${seconds(low)} to ${seconds(most)}`}</text>
      <text class="tick" x="628" y={rows.length * height + 16} text-anchor="end">{`no. ${(columns - 1) * byRank.block + 1}`}</text>
    </Figure>
  );
}

/** Phases and loops with a time for each iteration. */
function iterationsOf(json: ResultJson): Phase[] {
  return [...(json.pop?.phases ?? []), ...(json.pop?.iterations ?? [])].filter((p) => (p.each?.elapsed_s?.length ?? 0) > 1);
}

/** `shown`: the view opens on them. */
export function Iterations(props: { json: ResultJson; byRank?: boolean; shown?: boolean }): JSX.Element | null {
  const phases = iterationsOf(props.json);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => { if (props.shown) top.current?.scrollIntoView(); }, [props.shown]);
  if (phases.length === 0) return null;
  return (
    <div ref={top}>
    <Section title="Iterations over time" note="run time of each, of the slowest rank">
      {phases.slice(0, 4).map((phase) => {
        const values = phase.each?.elapsed_s ?? [];
        const block = phase.each?.block ?? 1;
        const marks = (phase.outliers ?? []).map((o) => ({ at: Math.floor((o.from - 1) / block), text: `no. ${o.from} to ${o.to}: ${o.times_median.toFixed(2)} times the median` })).filter((m) => m.at < values.length);
        return (
          <div>
            <p class="place">{phase.name ? <b>{visible(phase.name)}</b> : <PathText path={phase.callpath ?? null} />} <span class="dim">{phase.kept ?? values.length} iterations{phase.found_by ? `, found by ${phase.found_by}` : ""}{block > 1 ? `, means of ${block}` : ""}</span></p>
            <Lines name="iterations" label={`Run time of ${values.length} iterations`} series={[{ class: "s0", values, text: "run time" }]} xText={(i) => `no. ${i * block + 1}`} unit="sec" marks={marks} />
            {props.byRank && phase.by_rank && <>
              <h3>Duration by rank</h3><IterationField byRank={phase.by_rank} what="elapsed_s" />
              <h3>Waiting by rank</h3><IterationField byRank={phase.by_rank} what="waiting_s" />
            </>}
          </div>
        );
      })}
    </Section>
    </div>
  );
}

/** A run, and phases of it, with explicit tasks of OpenMP: on how many threads they would still gain. */
export function TaskCurves(props: { json: ResultJson }): JSX.Element | null {
  const { pop } = props.json;
  const curves = [{ name: "", of: pop as TaskCurve | undefined }, ...(pop?.phases ?? []).map((p) => ({ name: p.name ?? "", of: p as TaskCurve }))].filter((c) => (c.of?.task_curve?.length ?? 0) > 1);
  if (curves.length === 0) return null;
  return (
    <Section title="Tasks on more threads" note="at least max(longest chain of tasks, work / threads)">
      <Legend items={[{ class: "s0fill", text: "at least" }, { class: "s1fill", text: "longest chain of tasks" }]} />
      {curves.slice(0, 8).map(({ name, of }) => {
        const points = of?.task_curve ?? [];
        const chain = of?.task_critical_path_s ?? 0;
        return (
          <div>
            <p class="place">{name ? <>phase <b>{visible(name)}</b></> : "the whole run"} <span class="dim">work {seconds(of?.task_work_s)}, longest chain of tasks {seconds(chain)}, critical path with these threads {seconds(of?.critical_path_s)}</span></p>
            <Lines name="tasks-on-threads" label={`Least time on 1 to ${points[points.length - 1].threads} threads`} xText={(i) => `${points[i].threads} ${points[i].threads === 1 ? "thread" : "threads"}`} unit="sec"
              series={[{ class: "s0", values: points.map((p) => p.at_least_s), text: "at least" }, { class: "s1", values: points.map(() => chain), text: "longest chain of tasks" }]} />
          </div>
        );
      })}
    </Section>
  );
}

export function Warnings(props: { result: Result }): JSX.Element | null {
  const { meta, locations } = props.result.profile.json.result;
  const { crowded } = props.result.profile.json;
  const unknown = locations.filter((l) => l.unknown).length;
  const lost = (meta.coverage as { calls_lost?: number } | undefined)?.calls_lost ?? 0;
  const texts = [
    meta.complete === false && `The run was not measured to its end (${visible(String(meta.ending ?? "unknown"))}): what follows is what was saved.`,
    unknown > 0 && `Nothing is known of ${unknown} of ${locations.length} threads: their zeros mean nothing.`,
    meta.oversubscribed === true && "More threads than cores: waiting includes waiting for a core.",
    crowded !== undefined && `${crowded.threads} threads compute on ${crowded.cores} cores: waiting may include waiting for a core.`,
    lost > 0 && `${lost} calls were lost: there was no room for them.`,
    props.result.whyNoTimeline !== "" && `No timeline: ${props.result.whyNoTimeline}.`,
  ].filter((text) => text !== false);
  return texts.length > 0 ? <ul class="warnings">{texts.map((text) => <li>{text}</li>)}</ul> : null;
}

function Phases(props: { result: Result }): JSX.Element | null {
  const phases = [...(props.result.profile.json.result.pop?.phases ?? []), ...(props.result.profile.json.result.pop?.iterations ?? [])].filter((p) => p.factors);
  const factors = props.result.profile.factors;
  if (phases.length === 0) return null;
  return (
    <Section title="Efficiency per phase">
      <Table<Phase> name="phases" rows={phases} columns={[
        { title: "phase", cell: (p) => (p.name ? visible(p.name) : <PathText path={p.callpath ?? null} keep={1} />), value: (p) => p.name ?? p.callpath ?? "" },
        { title: "iterations", cell: (p) => p.count, value: (p) => p.count, number: true },
        { title: "time", cell: (p) => seconds(p.elapsed_s), value: (p) => p.elapsed_s, number: true },
        ...factors.map((f) => ({ title: f.name, number: true, hint: f.formula, cell: (p: Phase) => { const v = p.factors?.[f.key]; return typeof v === "number" ? <span class={`cell ${grade(v)}`}>{percent(v)}</span> : "–"; }, value: (p: Phase) => p.factors?.[f.key] as number | undefined })),
      ]} />
    </Section>
  );
}

const DIALECTS: Record<string, string> = { mpi: "MPI", omp: "OpenMP", additive: "additive", talp: "TALP" };

function Dialects(props: { result: Result }): JSX.Element | null {
  const pop = props.result.profile.json.result.pop;
  const threads = props.result.profile.json.result.locations.some((l) => l.thread > 0);
  if (!pop) return null;
  const all: Record<string, Factors> = { ...(threads ? { mpi: pop.mpi ?? {}, omp: pop.omp ?? {} } : {}), ...pop.dialects };
  return (
    <details>
      <summary>Other dialects of the factors</summary>
      {Object.entries(all).map(([name, factors]) => (
        <div class="dialect"><h3>{DIALECTS[name] ?? visible(name)}</h3>
          <dl>{Object.entries(factors).filter(([, v]) => typeof v === "number").map(([key, v]) => <div><dt>{key.replace(/_/g, " ")}</dt><dd>{percent(v as number)}</dd></div>)}</dl>
        </div>
      ))}
    </details>
  );
}

/** The last function of a call path; what the kernel does with its thread, "(off CPU)", is none. */
function functionOf(path: string): string {
  const parts = path.split("/");
  return parts.reverse().find((part) => !/^\(.*\)$/.test(part)) ?? parts[0] ?? "";
}

/** One line for a rank and function of the program: call paths that end in it, or in what the C library did for it, are joined. */
export function lateByFunction(late: Late[], rows: Rows): Late[] {
  const joined = new Map<string, Late>();
  for (const whole of late) {
    const known = rows.nearest(whole.callpath); // the call tree of the page is without frames of the C library
    const l = known >= 0 ? { ...whole, callpath: rows.pathName(known) } : whole;
    const key = `${l.rank}.${l.thread ?? ""} ${functionOf(l.callpath)}`;
    const before = joined.get(key);
    joined.set(key, before ? { ...before, seconds: before.seconds + l.seconds, share: before.share + l.share } : l);
  }
  return [...joined.values()].sort((a, b) => b.seconds - a.seconds);
}

/** Operations of the program beside the same measured alone, where `latecomer bench --of` has been. */
function BesideAlone(props: { result: Result; fingerprints: Fingerprint[]; nav: Navigation }): JSX.Element | null {
  const rows = besideUses(props.result);
  const sheet = (c: BesideUse): number => props.fingerprints.findIndex((f) => isOf(c, f));
  const alone = (c: BesideUse): string => time(c.alone_median_ns) + (c.with ? ` with ${c.with}` : "");
  const time = (ns: number | null | undefined): string => (typeof ns === "number" ? seconds(ns * 1e-9) : "–");
  if (rows.length === 0) return null;
  return (
    <Section title="MPI beside the same operations alone" note="latecomer bench --of: alone, all ranks arrive together; what is more is arrival, unless it is no waiting for late ranks: then the machine. Of calls that only begin an operation: with what completes it">
      <Table<BesideUse> name="beside" rows={rows} most={20} columns={[
        { title: "call path", cell: (c) => <PathText path={c.callpath} />, value: (c) => c.callpath },
        { title: "bytes", cell: (c) => count(c.bytes), value: (c) => c.bytes, number: true },
        { title: "ranks", cell: (c) => count(c.members), value: (c) => c.members, number: true },
        { title: "calls", cell: (c) => count(c.calls), value: (c) => c.calls, number: true },
        { title: "in the program", cell: (c) => time(c.program_ns), value: (c) => c.program_ns, number: true },
        { title: "alone", cell: (c) => (sheet(c) >= 0 ? <a href={props.nav.link("fingerprint", { fingerprint: sheet(c) })}>{alone(c)}</a> : alone(c)), value: (c) => c.alone_median_ns, number: true },
        { title: "more", cell: (c) => time(c.arrival_ns), value: (c) => c.arrival_ns, number: true },
        { title: "waiting", cell: (c) => time(c.waiting_ns), value: (c) => c.waiting_ns, number: true },
      ]} />
    </Section>
  );
}

export function Overview(props: { result: Result; fingerprints: Fingerprint[]; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const { json, factors } = result.profile;
  const late = lateByFunction(json.result.late ?? [], result.profile.rows).slice(0, 6);
  return (
    <div class="overview">
      <div class="main">
        <Warnings result={result} />
        <Findings result={result} nav={nav} />
        <Heaviest result={result} nav={nav} />
        <BesideAlone result={result} fingerprints={props.fingerprints} nav={nav} />
        <Phases result={result} />
        <Iterations json={json.result} />
        <TaskCurves json={json.result} />
      </div>
      <div class="side">
        {json.result.pop ? <Section title="Efficiency" note="between MPI_Init and MPI_Finalize; the factors multiply"><Efficiency factors={factors} pop={json.result.pop} />{json.factors_note && <p class="dim">{json.factors_note}</p>}<Dialects result={result} /></Section>
          : <Section title="Efficiency"><p class="empty">This result has no efficiency factors.</p></Section>}
        <Ranks result={result} nav={nav} />
        {late.length > 0 && (
          <Section title="Who was late" note="seconds that others waited for it">
            <Table name="late" rows={late} columns={[
              { title: "rank", cell: (l) => (l.thread === null ? l.rank : `${l.rank}.${l.thread}`), value: (l) => l.rank, number: true },
              { title: "in", cell: (l) => <span title={visible(components(l.callpath).join(" / "))}><Name text={components(functionOf(l.callpath))[0]} /></span>, value: (l) => l.callpath },
              { title: "seconds", cell: (l) => seconds(l.seconds), value: (l) => l.seconds, number: true },
              { title: "of waiting", cell: (l) => percent(l.share), value: (l) => l.share, number: true },
            ]} />
          </Section>
        )}
      </div>
    </div>
  );
}
