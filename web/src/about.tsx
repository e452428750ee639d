/** Where the numbers come from: the command, what was covered and lost, how data is reduced, what each metric is. */
import definitions, { type Definition } from "definitions";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { inUnit, seconds, visible } from "./format";
import { Section, Table } from "./parts";
import type { Result } from "./result";
import type { Navigation } from "./state";
import type { Metric } from "./types";

function Value(props: { value: unknown }): JSX.Element {
  const { value } = props;
  if (value === null || value === undefined) return <span class="dim">–</span>;
  if (Array.isArray(value)) {
    const simple = value.every((v) => typeof v !== "object");
    return simple ? <span>{visible(value.slice(0, 32).join(", "))}{value.length > 32 && ` … (${value.length})`}{value.length === 0 && <span class="dim">none</span>}</span> : <Pairs object={Object.fromEntries(value.slice(0, 32).entries()) as Record<string, unknown>} />;
  }
  if (typeof value === "object") return <Pairs object={value as Record<string, unknown>} />;
  return <span>{visible(String(value))}</span>;
}

function Pairs(props: { object: Record<string, unknown> }): JSX.Element {
  return <dl class="pairs">{Object.entries(props.object).map(([key, value]) => <div><dt>{visible(key.replace(/_/g, " "))}</dt><dd><Value value={value} /></dd></div>)}</dl>;
}

/** The section that defines a metric; a member of a family (delay_KIND, mpi_wait_direct_KIND, both models) may stand there by the family's name. */
export function definitionOf(name: string, sections: Definition[] = definitions): Definition | undefined {
  const plain = name.replace(/_waitfirst$/, "");
  const short = plain.replace(/_(aggregate|longterm)$/, "");
  const family = plain.replace(/^omp_wait_/, "mpi_wait_").replace(/_[^_]+$/, "");
  for (const candidate of [plain, short, `${family}_X`, `${family}_Y`]) {
    const found = sections.find((section) => section.names.includes(candidate));
    if (found) return found;
  }
  return undefined;
}

/** "wait-states 2.2" of section "2.2 Point-to-point", "estimates: Blame" of one without a number. */
export function placeOf(definition: Definition): string {
  const number = /^[\d.]*\d/.exec(definition.title)?.[0];
  return number ? `${definition.page} ${number}` : `${definition.page}: ${definition.title}`;
}

function Definitions(props: { nav: Navigation }): JSX.Element {
  const chosen = definitions.find((d) => placeOf(d) === props.nav.state.keys.section);
  const shown = useRef<HTMLElement>(null);
  useEffect(() => { if (chosen) shown.current?.scrollIntoView({ block: "nearest" }); }, [chosen]);
  return (
    <div>
      <label>section <select value={chosen ? placeOf(chosen) : ""} onChange={(event) => props.nav.set({ section: event.currentTarget.value })}>
        <option value="">–</option>
        {[...new Set(definitions.map((d) => d.page))].map((page) => <optgroup label={page}>{definitions.filter((d) => d.page === page).map((d) => <option value={placeOf(d)}>{d.title}</option>)}</optgroup>)}
      </select></label>
      {chosen && <article class="definition" ref={shown} aria-label={chosen.title}>
        <h3>{chosen.title} <span class="note">docs/definitions/{chosen.page}.md</span></h3>
        <div dangerouslySetInnerHTML={{ __html: chosen.html }} />
      </article>}
    </div>
  );
}

function Place(props: { name: string; nav: Navigation }): JSX.Element {
  const found = definitionOf(props.name);
  return found ? <a class="place-of" href={props.nav.link("about", { section: placeOf(found) })}>{placeOf(found)}</a> : <span class="dim">–</span>;
}

export function About(props: { result: Result; creator: string; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const { json, rows } = result.profile;
  const meta = json.result.meta;
  const overhead = meta.overhead as { total_s?: number; call_ns?: number } | undefined;
  const metrics = [...json.metrics, ...(result.analysis?.json.metrics.filter((m) => json.metrics.every((p) => p.name !== m.name)) ?? [])];
  return (
    <div>
      <Section title="The run">
        <p><code>{visible((meta.command ?? [meta.program ?? json.file]).join(" "))}</code></p>
        <p class="dim">{visible(json.file)}; wall time {seconds(meta.wall_time_s)}{overhead?.total_s !== undefined && `; the measurement itself took ${seconds(overhead.total_s)} of all ranks`}. Page by {visible(props.creator)}.</p>
      </Section>
      <Section title="How the data of this page is reduced">
        <ul>
          <li>Sums are exact. Rows that are zero everywhere are left out.</li>
          <li>{rows.reduced ? "Values of more than 256 locations are kept as 17 quantiles for each metric and call path, with the location of the largest; totals of each location are complete." : "Values of each location are rounded to 1/32767 of the largest of their row."}</li>
          {result.timeline && <li>The timeline has {result.timeline.head.pyramid.bins} bins a row{result.timeline.head.single && ` (${result.timeline.head.single.bins} for a single location of a group)`}, shares are rounded to 1/255; windows of detail hold every event in them, of at most 12,000 changes of call path each (a window with more is narrower).</li>}
          {result.timeline && <li>Matrices are exact sums over the trace; beyond 131,072 pairs the lightest are left out and their sums named.</li>}
        </ul>
      </Section>
      <Section title="Definitions of all metrics">
        <Table<Metric> name="metrics" rows={metrics} most={400} columns={[
          { title: "metric", cell: (m) => <code>{visible(m.name)}</code>, value: (m) => m.name },
          { title: "unit", cell: (m) => m.unit, value: (m) => m.unit },
          { title: "total", cell: (m) => { const t = json.result.metrics[m.name]?.total ?? result.analysis?.json.result.metrics[m.name]?.total; return typeof t === "number" ? inUnit(t, m.unit) : ""; }, value: (m) => json.result.metrics[m.name]?.total, number: true },
          { title: "definition", cell: (m) => visible(m.descr), value: (m) => m.descr },
          { title: "formula", cell: (m) => <Place name={m.name} nav={nav} />, value: (m) => { const found = definitionOf(m.name); return found ? placeOf(found) : ""; } },
        ]} />
        <p class="dim">Efficiency factors: {result.profile.factors.map((f) => `${f.name} = ${f.formula}`).join("; ")}, where U is the useful time of a thread, CP the critical path of useful work, T the run time.</p>
      </Section>
      <Section title="Formulas and sources"><Definitions nav={nav} /></Section>
      <Section title="Everything that is known of the run"><Pairs object={meta} /></Section>
    </div>
  );
}
