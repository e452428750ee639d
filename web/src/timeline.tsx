/** Who did what when; windows of full detail around the severest waits; the critical path. */
import { scaleLinear } from "d3-scale";
import { select, type Selection } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior, type ZoomTransform } from "d3-zoom";
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, inUnit, percent, seconds, shortPath, visible } from "./format";
import { Bar, download, Legend, ModelChoice, PathText, Section, Table } from "./parts";
import { Iterations } from "./overview";
import { waitKey, type Result } from "./result";
import { numberKey, waitFirst, type Navigation } from "./state";
import { draw, heightOf, labelOf, LEFT, sameWait, svg, timeAt, TOP, type Colours, type Scene, type Span } from "./timeline_draw";
import type { Detail, TimelineData, Wait, WindowJson } from "./timeline_data";
import { layOut, MOST_OPEN, parseOpen, rowAt, runs, toggled, type Row } from "./timeline_rows";
import type { Severe } from "./types";

const TEXTS: Record<string, string> = {
  useful: "outside MPI", mpi_p2p: "point-to-point", mpi_collective: "collective", mpi_other: "other MPI", openmp: "OpenMP", waiting: "waiting",
};

function readColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  const rgb = (name: string): [number, number, number] => {
    const value = parseInt(get(name).replace("#", ""), 16) || 0;
    return [value >> 16, (value >> 8) & 255, value & 255];
  };
  return {
    activities: ["--useful", "--p2p", "--collective", "--mpi-other", "--openmp", "--late"].map(rgb), background: rgb("--empty"),
    text: get("--text"), late: get("--late"), page: get("--background"),
    regions: ["--region-0", "--region-1", "--region-2", "--region-3", "--region-4"].map(get),
  };
}

function spanOf(data: TimelineData, nav: Navigation): Span {
  const window = data.head.windows[numberKey(nav.state, "window", -1)];
  const from = numberKey(nav.state, "from", window ? window.from_s : 0);
  const to = numberKey(nav.state, "to", window ? window.to_s : data.head.duration_s);
  return to > from ? clampSpan(data, { from, to }) : { from: 0, to: data.head.duration_s };
}

/** Groups of locations that are open: by the state, else those that the window is about. */
function openGroups(data: TimelineData, nav: Navigation): number[] {
  const groups = data.head.pyramid.rows;
  if (nav.state.keys.open !== undefined) return parseOpen(nav.state.keys.open, groups);
  const window = data.head.windows[numberKey(nav.state, "window", -1)];
  const about = [window?.location, window?.cause].filter((l) => l !== undefined && l >= 0) as number[];
  return parseOpen(about.map((l) => data.head.pyramid.row_of[l]).join(","), groups);
}

function isGrouped(data: TimelineData): boolean {
  return data.head.pyramid.rows < data.head.locations.length;
}

/** "ranks 0 – 3, 7"; where there are threads "0.0, 0.1, 1.0". */
function membersText(data: TimelineData, group: number): string {
  const names = data.members[group].map((l) => data.head.locations[l]);
  if (!data.hasThreads) return `ranks ${runs(names.map(([rank]) => rank), 8)}`;
  return names.slice(0, 8).map(([rank, thread]) => `${rank}.${thread}`).join(", ") + (names.length > 8 ? ", …" : "");
}

/** Seconds that can be looked at, at least. */
const shortest = (whole: number): number => Math.min(whole, Math.max(whole * 1e-12, 1e-9));

export function clampSpan(data: TimelineData, span: Span): Span {
  const whole = data.head.duration_s;
  const length = Math.min(whole, Math.max(span.to - span.from, shortest(whole)));
  const middle = (span.from + span.to) / 2;
  const from = Math.min(Math.max(0, length > span.to - span.from ? middle - length / 2 : span.from), whole - length);
  return { from, to: from + length };
}

function waitAt(details: Detail[], location: number, time: number, slack: number): Wait | null {
  for (const detail of details)
    for (const wait of detail.waits) if (wait.location === location && time >= wait.from - slack && time <= wait.to + slack) return wait;
  return null;
}

function regionAt(details: Detail[], location: number, time: number): number {
  let best = -1;
  let depth = -1;
  for (const detail of details)
    for (const slice of detail.slices) if (slice.location === location && time >= slice.from && time < slice.to && slice.depth > depth) { depth = slice.depth; best = slice.cnode; }
  return best;
}

function partsOfWait(result: Result, data: TimelineData, wait: Wait): Severe | undefined {
  const [rank, thread] = data.head.locations[wait.location] ?? [-1, 0];
  return result.waitParts.get(waitKey(data.head.wait_metrics[wait.kind], rank, thread, wait.from));
}

/** By the cause's own code, and inherited, in either model. */
function inModel(parts: Severe, second: boolean): [number, number] {
  return second ? [parts.direct_s_waitfirst ?? 0, parts.indirect_s_waitfirst ?? 0] : [parts.direct_s ?? 0, parts.indirect_s ?? 0];
}

/** How much of a wait its cause's own code is to blame for, and how much the cause inherited by waiting itself. */
function Parts(props: { parts: Severe; cause: string; second: boolean }): JSX.Element {
  const [direct, indirect] = inModel(props.parts, props.second);
  const [otherDirect, otherIndirect] = inModel(props.parts, !props.second);
  const all = direct + indirect || 1;
  const differ = Math.abs(otherDirect - direct) > 0.005 * all;
  return (
    <p class="place"><span class="label">of it</span> {seconds(direct)} by code of {props.cause}, {seconds(indirect)} inherited from its own waiting{differ && ` (${props.second ? "proportional" : "wait-first"}: ${seconds(otherDirect)} and ${seconds(otherIndirect)})`}{" "}
      <Bar parts={[{ share: direct / all, class: "late", title: "by its code" }, { share: indirect / all, class: "late2", title: "inherited" }]} /></p>
  );
}

function WaitCard(props: { data: TimelineData; wait: Wait; parts: Severe | undefined; nav: Navigation; go: (span: Span) => void }): JSX.Element {
  const { data, wait } = props;
  const length = wait.to - wait.from;
  return (
    <div class="card" role="status">
      <p class="sentence"><b>{data.who(wait.location)}</b> waits <b class="late-text">{seconds(length)}</b>{wait.cause >= 0 && <> for <b>{data.who(wait.cause)}</b></>}</p>
      <p class="place"><span class="label">waits in</span> <PathText path={data.pathOf(wait.cnode)} /></p>
      {wait.causeCnode >= 0 && <p class="place"><span class="label">until it comes to</span> <PathText path={data.pathOf(wait.causeCnode)} /></p>}
      {props.parts && <Parts parts={props.parts} cause={data.who(wait.cause)} second={waitFirst(props.nav.state)} />}
      <p class="links"><span class="dim">{data.head.wait_metrics[wait.kind]}, {seconds(wait.from)} after the first event</span>
        <button type="button" onClick={() => props.go({ from: wait.from - length, to: wait.to + length })}>show its cause</button></p>
    </div>
  );
}

function Windows(props: { result: Result; data: TimelineData; nav: Navigation }): JSX.Element {
  const { data, nav, result } = props;
  const parts = (w: WindowJson): Severe | undefined => {
    const [rank, thread] = data.head.locations[w.location ?? -1] ?? [-1, 0];
    return result.waitParts.get(waitKey(w.metric ?? "", rank, thread, w.begin_s ?? -1));
  };
  const part = (w: WindowJson, which: 0 | 1): number | null => {
    const found = parts(w);
    return found ? inModel(found, waitFirst(nav.state))[which] : null;
  };
  const rows = data.head.windows.map((w, i) => ({ w, i }));
  type R = { w: WindowJson; i: number };
  const current = numberKey(nav.state, "window", -1);
  return (
    <Section title="Severest waits" note="one window of full detail for each kind and call path">
      {result.waitParts.size > 0 && <ModelChoice nav={nav} />}
      {rows.length === 0 ? <p class="empty">Nobody waited in this trace.</p> :
        <Table<R> name="windows" rows={rows} selected={(r) => r.i === current} columns={[
          { title: "waiting in all", cell: (r) => (r.w.sum_s === undefined ? "" : seconds(r.w.sum_s)), value: (r) => r.w.sum_s, number: true },
          { title: "the severest", cell: (r) => <a href={nav.link("timeline", { window: r.i })}>{r.w.begin_s === undefined ? "as asked for" : seconds((r.w.end_s ?? 0) - r.w.begin_s)}</a>, value: (r) => (r.w.begin_s === undefined ? null : (r.w.end_s ?? 0) - r.w.begin_s), number: true },
          { title: "by code", hint: "of the cause: its own delay", cell: (r) => (part(r.w, 0) === null ? "" : seconds(part(r.w, 0))), value: (r) => part(r.w, 0), number: true },
          { title: "inherited", hint: "from the cause's own waiting", cell: (r) => (part(r.w, 1) === null ? "" : seconds(part(r.w, 1))), value: (r) => part(r.w, 1), number: true },
          { title: "at", cell: (r) => seconds(r.w.begin_s ?? r.w.from_s), value: (r) => r.w.begin_s ?? r.w.from_s, number: true },
          { title: "kind", cell: (r) => r.w.metric ?? "", value: (r) => r.w.metric ?? "" },
          { title: "who", cell: (r) => (r.w.location === undefined ? "" : data.who(r.w.location)), value: (r) => (r.w.location === undefined ? "" : data.who(r.w.location)) },
          { title: "where", cell: (r) => (r.w.cnode === undefined ? "" : <PathText path={data.pathOf(r.w.cnode)} />), value: (r) => (r.w.cnode === undefined ? "" : data.pathOf(r.w.cnode)) },
          { title: "for", cell: (r) => (r.w.cause === undefined || r.w.cause < 0 ? "" : data.who(r.w.cause)), value: (r) => (r.w.cause === undefined || r.w.cause < 0 ? "" : data.who(r.w.cause)) },
        ]} />}
    </Section>
  );
}

function Groups(props: { data: TimelineData; nav: Navigation }): JSX.Element {
  const { data, nav } = props;
  const open = openGroups(data, nav);
  const waiting = data.head.pyramid.activities.indexOf("waiting");
  const groups = data.members.map((_, group) => group).filter((group) => data.members[group].length > 1);
  const share = (group: number): number => {
    const out = new Float64Array(data.nActivities);
    data.shares(data.groupShares(group), 0, data.head.duration_s, out);
    return out[waiting];
  };
  return (
    <Section title="Groups of locations" note={data.hasSingle ? `locations that wait for about the same time; at most ${MOST_OPEN} are open at once` : "locations that wait for about the same time; there are too many to show each"}>
      <Table<number> name="groups" rows={groups} most={20} selected={(g) => open.includes(g)} columns={[
        { title: "locations", cell: (g) => data.members[g].length, value: (g) => data.members[g].length, number: true },
        { title: "waiting", cell: (g) => percent(share(g)), value: share, number: true, hint: "share of the time of the members" },
        { title: "members", cell: (g) => data.hasSingle ? <a href={nav.link("timeline", { ...nav.state.keys, open: toggled(open, g) })} aria-expanded={open.includes(g)}>{open.includes(g) ? "▾" : "▸"} {membersText(data, g)}</a> : membersText(data, g), value: (g) => data.members[g].map((l) => data.who(l)).join("; ") },
      ]} />
    </Section>
  );
}

function sharesText(data: TimelineData, row: Row, from: number, to: number): string {
  const shares = new Float64Array(data.nActivities);
  data.shares(row.shares, from, to, shares);
  const parts = data.head.pyramid.activities.map((a, i) => ({ a, s: shares[i] })).filter((p) => p.s > 0.005).sort((x, y) => y.s - x.s).map((p) => `${TEXTS[p.a] ?? p.a} ${percent(p.s)}`);
  const who = row.location >= 0 ? data.who(row.location) : `${row.members} locations (${membersText(data, row.group)})`;
  return `${who}: ${parts.join(", ") || "nothing recorded"}`;
}

function hoverText(data: TimelineData, details: Detail[], row: Row, time: number, step: number): string {
  const { location } = row;
  const region = regionAt(details, location, time);
  const wait = waitAt(details, location, time, 0);
  if (wait) return `${data.who(location)}: waits ${seconds(wait.to - wait.from)}${wait.cause >= 0 ? ` for ${data.who(wait.cause)}` : ""}, in ${shortPath(data.pathOf(wait.cnode))}`;
  if (region >= 0) return `${data.who(location)}: ${shortPath(data.pathOf(region))}`;
  return sharesText(data, row, time - step, time + step);
}

declare global {
  interface HTMLCanvasElement {
    /** Where d3-zoom keeps the transform of an element. */
    __zoom?: ZoomTransform;
  }
}

type Gestures = ZoomBehavior<HTMLCanvasElement, unknown>;

/** Zoom and pan by wheel, mouse and fingers are those of d3-zoom, whose transform of the whole run is the span that is seen; `go` is led along. */
function useZoom(canvas: RefObject<HTMLCanvasElement | null>, whole: number, width: number, seen: Span, go: (span: Span) => void): (act: (gestures: Gestures, on: Selection<HTMLCanvasElement, unknown, null, undefined>) => void) => void {
  const gestures = useMemo((): Gestures => zoom(), []);
  const run = scaleLinear([0, whole], [LEFT, Math.max(LEFT + 1, width)]);
  gestures.extent([[LEFT, 0], [width, 1]]).translateExtent([[LEFT, -Infinity], [width, Infinity]]).scaleExtent([1, whole / shortest(whole)])
    .on("zoom", (e: D3ZoomEvent<HTMLCanvasElement, unknown>) => { const [from, to] = e.transform.rescaleX(run).domain(); go({ from, to }); });
  useLayoutEffect(() => { if (canvas.current) select(canvas.current).call(gestures).on("dblclick.zoom", null); }, []);
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const k = whole / (seen.to - seen.from);
    canvas.current.__zoom = zoomIdentity.translate(LEFT - k * run(seen.from), 0).scale(k); // what others led to
  });
  return (act) => { if (canvas.current) act(gestures, select(canvas.current)); };
}

function Chart(props: { result: Result; data: TimelineData; nav: Navigation }): JSX.Element {
  const { data, nav, result } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, version: 0 });
  const [hover, setHover] = useState("");
  const redraw = useRef((): void => undefined);
  const span = spanOf(data, nav);
  const [live, setLive] = useState<Span | null>(null);
  const seen = live ?? span;
  const open = openGroups(data, nav);
  const layout = useMemo(() => layOut(data, open), [data, open.join(",")]);
  const height = heightOf(layout);
  const [cursor, setCursor] = useState(-1);
  const grouped = isGrouped(data) && data.hasSingle;
  const chosen = numberKey(nav.state, "window", -1);
  const details = useMemo(() => data.detailsIn(seen.from, seen.to, chosen), [data, seen.from, seen.to, chosen]);
  const selected = useMemo(() => {
    const about = data.head.windows[chosen];
    if (nav.state.keys.wait === undefined && about?.begin_s !== undefined)
      return details.flatMap((d) => d.waits).find((w) => w.location === about.location && w.from === about.begin_s) ?? null;
    const [location, from, kind] = (nav.state.keys.wait ?? "").split(",").map(Number);
    return details.flatMap((d) => d.waits).find((w) => w.location === location && Math.abs(w.from - from) < 1e-9 && w.kind === kind) ?? null;
  }, [details, nav.state.keys.wait, chosen]);
  const showPath = nav.state.keys.path !== "0";
  const highlight = (nav.state.keys.search ?? "").toLowerCase();

  const scene: Scene = { data, layout, span: seen, details, path: result.criticalPath, showPath, selected, highlight, cursor, moving: live !== null };

  useLayoutEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const measure = (): void => setSize((s) => ({ width: element.clientWidth, version: s.version + 1 }));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", measure);
    // Paper is light: what is printed is drawn again before.
    const paper = matchMedia("print");
    const print = (): void => redraw.current();
    paper.addEventListener("change", print);
    const theme = new MutationObserver(measure);
    theme.observe(document.documentElement, { attributes: true });
    return () => { observer.disconnect(); theme.disconnect(); dark.removeEventListener("change", measure); paper.removeEventListener("change", print); };
  }, []);
  useEffect(() => {
    const element = canvas.current;
    if (!element || size.width === 0) return undefined;
    redraw.current = () => draw(element, scene, readColours(element), size.width);
    const frame = requestAnimationFrame(redraw.current);
    return () => cancelAnimationFrame(frame);
  });

  // What a window opened stays open when one goes on from there.
  const keepOpen: Record<string, string> = open.length > 0 ? { open: open.join(",") } : {};
  const settle = useRef(0);
  const here = { ...span, window: nav.state.keys.window ?? "" };
  const known = useRef(here); // where the reader is, or has been led by go()
  const go = (next: Span, wait = 250): void => {
    const to = clampSpan(data, next);
    setLive(to);
    clearTimeout(settle.current);
    settle.current = setTimeout(() => { known.current = { ...to, window: "" }; setLive(null); nav.set({ from: to.from, to: to.to, window: "", ...keepOpen }, wait > 0); }, wait) as unknown as number;
  };
  // Who has gone elsewhere meanwhile stays there; what was begun since go() led somewhere goes on.
  useEffect(() => {
    const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * (here.to - here.from); // after the way through the address
    if (near(here.from, known.current.from) && near(here.to, known.current.to) && here.window === known.current.window) return;
    known.current = here;
    clearTimeout(settle.current);
    setLive(null);
  }, [here.from, here.to, here.window]);
  useEffect(() => () => clearTimeout(settle.current), []);
  const zooming = useZoom(canvas, data.head.duration_s, size.width, seen, go);
  const zoomBy = (factor: number): void => zooming((gestures, on) => gestures.scaleBy(on, factor));
  const moveBy = (share: number): void => zooming((gestures, on) => gestures.translateBy(on, ((share * (seen.to - seen.from)) / data.head.duration_s) * (LEFT - size.width), 0));
  const place = (e: MouseEvent): { row: number; time: number; step: number } => {
    const box = (e.currentTarget as Element).getBoundingClientRect();
    return { row: rowAt(layout, e.clientY - box.top - TOP), time: timeAt(seen, e.clientX - box.left, size.width), step: (seen.to - seen.from) / Math.max(1, size.width - LEFT) };
  };
  const toggle = (index: number): void => {
    const row = layout.rows[index];
    if (!grouped || !row || (row.members === 1 && !row.member)) return;
    nav.set({ open: toggled(open, row.group) });
    if (row.member) setCursor(layout.rows.findIndex((r) => r.group === row.group));
  };
  const moveCursor = (step: number): void => {
    const next = Math.max(0, Math.min(layout.rows.length - 1, cursor + step));
    setCursor(next);
    setHover(`${labelOf(data, layout.rows[next])}. ${sharesText(data, layout.rows[next], seen.from, seen.to)}`);
  };
  const onKey = (e: KeyboardEvent): void => {
    const moves: Record<string, () => void> = {
      ArrowLeft: () => moveBy(-0.2), ArrowRight: () => moveBy(0.2), "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(0.5), "0": () => go({ from: 0, to: data.head.duration_s }),
      ...(grouped && { ArrowUp: () => moveCursor(-1), ArrowDown: () => moveCursor(1), Enter: () => toggle(cursor), " ": () => toggle(cursor) }),
    };
    const waits = details.flatMap((d) => d.waits).sort((a, b) => a.from - b.from);
    const step = e.key === "n" ? 1 : e.key === "p" ? -1 : 0;
    if (step !== 0 && waits.length > 0) {
      const at = selected ? waits.findIndex((w) => sameWait(w, selected)) : step > 0 ? -1 : 0;
      const next = waits[(at + step + waits.length) % waits.length];
      nav.set({ wait: `${next.location},${next.from},${next.kind}` }, true);
    } else if (moves[e.key]) moves[e.key]();
    else return;
    e.preventDefault();
  };
  const showCause = (wait: Span): void => {
    if (!selected || selected.cause < 0) return go(wait, 0);
    const cause = details.flatMap((d) => d.waits).find((w) => w.location === selected.cause && w.to >= selected.from && w.from <= selected.to && !sameWait(w, selected));
    if (cause) nav.set({ wait: `${cause.location},${cause.from},${cause.kind}` });
    else go(wait, 0);
  };
  return (
    <div>
      <p class="tools left">
        <span class="choice"><button type="button" aria-label="zoom in" onClick={() => zoomBy(2)}>+</button>
          <button type="button" aria-label="zoom out" onClick={() => zoomBy(0.5)}>−</button>
          <button type="button" onClick={() => go({ from: 0, to: data.head.duration_s }, 0)}>all</button></span>
        <label><input type="checkbox" checked={showPath} disabled={result.criticalPath.length === 0} onChange={(e) => nav.set({ path: e.currentTarget.checked ? "" : "0" })} /> critical path{result.criticalPath.length === 0 && " (after latecomer analyze)"}</label>
        <input type="search" aria-label="Highlight regions" placeholder="highlight  ( / )" value={nav.state.keys.search ?? ""} onInput={(e) => nav.set({ search: e.currentTarget.value }, true)} />
        <button type="button" class="quiet" onClick={() => canvas.current && download("timeline.svg", "image/svg+xml", svg(scene, readColours(canvas.current), size.width))}>SVG</button>
      </p>
      <Legend items={data.head.pyramid.activities.map((a) => ({ class: a === "waiting" ? "late" : a, text: TEXTS[a] ?? a }))} />
      <div class="canvas">
        <canvas ref={canvas} tabIndex={0} role="img" style={{ height: `${height}px` }}
          aria-label={`Timeline of ${data.head.locations.length} locations from ${seconds(seen.from)} to ${seconds(seen.to)}. Arrows move, plus and minus zoom, n and p go through the waits${grouped ? ", up and down choose a row, Enter opens and closes a group" : ""}; the table below has the severest of them.`}
          onKeyDown={onKey} onBlur={() => setCursor(-1)}
          onMouseMove={(e) => { const p = place(e); setHover(p.row >= 0 && p.time >= seen.from ? `${seconds(p.time)}  ${hoverText(data, details, layout.rows[p.row], p.time, p.step)}` : ""); }}
          onMouseLeave={() => setHover("")}
          onClick={(e) => {
            const p = place(e);
            const row = layout.rows[p.row];
            const wait = row && p.time >= seen.from ? waitAt(details, row.location, p.time, 2 * p.step) : null;
            if (!wait && row && row.members > 1) toggle(p.row);
            else nav.set({ wait: wait ? `${wait.location},${wait.from},${wait.kind}` : "" });
          }} />
      </div>
      <p class="hover" aria-live={cursor >= 0 ? "polite" : "off"}>{hover || (grouped && details.length === 0 ? "Each row is a location or a group of them; click a group to open it." : details.length > 0 ? "Full detail: click a hatched wait to see who, why and how long." : "Shares of time; zoom in on a window below for regions and messages.")}</p>
      {selected && <WaitCard data={data} wait={selected} parts={partsOfWait(result, data, selected)} nav={nav} go={showCause} />}
    </div>
  );
}

export function Timeline(props: { result: Result; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const data = result.timeline;
  if (!data) return (
    <div>
      <p class="empty">{result.whyNoTimeline !== "" ? `There is no timeline: ${visible(result.whyNoTimeline)}.` : "This result has no trace. Measure with latecomer run --trace for a timeline; here is the run by its iterations and ranks."}</p>
      <Iterations json={result.profile.json.result} byRank shown={nav.state.keys.at === "iterations"} />
      <RankDurations result={result} />
    </div>
  );
  const { pyramid } = data.head;
  return (
    <div>
      <p class="dim">{count(data.head.events)} events of {data.head.locations.length} locations in {seconds(data.head.duration_s)}; {pyramid.bins} bins a row, shares to 1/255; {data.head.windows.length} {data.head.windows.length === 1 ? "window" : "windows"} of full detail.
        {isGrouped(data) && ` Locations that wait for about the same time share a row: ${pyramid.rows} rows${data.head.single ? `; opened, each member has a row of ${data.head.single.bins} bins, and its details` : ""}.`}</p>
      <Chart result={result} data={data} nav={nav} />
      <Windows result={result} data={data} nav={nav} />
      {isGrouped(data) && <Groups data={data} nav={nav} />}
      <Iterations json={result.profile.json.result} byRank shown={nav.state.keys.at === "iterations"} />
    </div>
  );
}

/** Without a trace: per rank the time of the run and what of it was waiting. */
function RankDurations(props: { result: Result }): JSX.Element {
  const { json } = props.result.profile;
  const time = json.result.metrics["time"]?.locations ?? [];
  return (
    <Section title="Time per rank">
      <Table name="time-per-rank" rows={json.result.locations.map((l, i) => ({ l, i }))} columns={[
        { title: "rank", cell: (r) => r.l.rank, value: (r) => r.l.rank, number: true },
        { title: "thread", cell: (r) => r.l.thread, value: (r) => r.l.thread, number: true },
        { title: "time", cell: (r) => inUnit(time[r.i] ?? NaN, "sec"), value: (r) => time[r.i], number: true },
      ]} />
    </Section>
  );
}
