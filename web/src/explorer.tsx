/** Three linked panels: which metric, where in the call tree, who. */
import { bin } from "d3-array";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { linear, XAxis } from "./axes";
import { axisUnit, inUnit, percent, shortName, visible } from "./format";
import { Choice, csv, download, Figure, PathText, Section, Source, Table, type Column } from "./parts";
import { isEstimate, measuredFirst, topologiesOf, type Result, type ResultFile, type TextTable } from "./result";
import { fiveNumbers, largest, type Rows, type Spread } from "./rows";
import { numberKey, type Navigation } from "./state";
import type { Metric, PathRow } from "./types";
import { useVirtualizer } from "./virtual";

const LINE = 22;

interface Line {
  path: number;
  depth: number;
  open: boolean;
  leaf: boolean;
}

/** The lines of the tree that are open; with a search those that match and what is around them. */
function visibleLines(rows: Rows, open: Set<number>, matches: Set<number> | null): Line[] {
  const lines: Line[] = [];
  const add = (path: number, depth: number): void => {
    if (matches && !matches.has(path)) return;
    const isOpen = matches !== null || open.has(path);
    lines.push({ path, depth, open: isOpen, leaf: rows.children[path].length === 0 });
    if (isOpen) for (const child of rows.children[path]) add(child, depth + 1);
  };
  for (const root of rows.roots) add(root, 0);
  return lines;
}

function search(rows: Rows, text: string): Set<number> | null {
  if (text === "") return null;
  const found = new Set<number>();
  const wanted = text.toLowerCase();
  rows.paths.forEach((path, id) => {
    if (path[1].toLowerCase().includes(wanted)) for (let at = id; at >= 0; at = rows.paths[at][0]) found.add(at);
  });
  return found;
}

/** From the root down, while one child has most of it. */
function hotPath(rows: Rows, metric: number): number[] {
  const path: number[] = [];
  let list = rows.roots;
  while (list.length > 0 && path.length < 64) {
    const best = list.reduce((a, b) => (rows.sum(metric, b, true) > rows.sum(metric, a, true) ? b : a));
    path.push(best);
    const children = rows.children[best];
    const sums = children.map((c) => rows.sum(metric, c, true));
    if (Math.max(0, ...sums) < 0.5 * rows.sum(metric, best, true)) break;
    list = children;
  }
  return path;
}

function ancestors(rows: Rows, path: number): number[] {
  const list: number[] = [];
  for (let at = path; at >= 0; at = rows.paths[at][0]) list.push(at);
  return list;
}

/** Metrics that open at a click on their sign; those around the chosen one are open. Trees of sums over many kinds are folded at first. */
function Metrics(props: { file: ResultFile; metric: number; path: number; nav: Navigation }): JSX.Element {
  const { file, nav } = props;
  const metrics = file.json.metrics;
  const [turned, setTurned] = useState<Map<number, boolean>>(new Map());
  const around = new Set<number>();
  for (let m = metrics[props.metric]?.parent ?? -1; m >= 0; m = metrics[m].parent) around.add(m);
  const folded = (m: number): boolean => /^(delay|waitstates_|performance_impact)/.test(metrics[m].name);
  const isOpen = (m: number): boolean => turned.get(m) ?? (around.has(m) || !folded(m));
  const counts = (m: number): boolean => metrics[m].kind !== "derived" && (file.rows.total(m) !== 0 || m === props.metric || around.has(m));
  const children = new Map<number, number[]>();
  metrics.forEach((m, id) => { if (counts(id)) children.set(m.parent, [...(children.get(m.parent) ?? []), id]); });
  const shown: { id: number; depth: number }[] = [];
  const add = (parent: number, depth: number): void => measuredFirst(children.get(parent) ?? [], metrics).forEach((id) => { shown.push({ id, depth }); if (isOpen(id)) add(id, depth + 1); });
  add(-1, 0);
  const zero = metrics.filter((_, id) => !counts(id)).length;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const chosen = box.current?.querySelector<HTMLElement>(".selected");
    if (!box.current || !chosen) return;
    const top = chosen.offsetTop - box.current.offsetTop;
    if (top < box.current.scrollTop || top + chosen.offsetHeight > box.current.scrollTop + box.current.clientHeight) box.current.scrollTop = top - box.current.clientHeight / 2;
  }, [props.metric, file]);
  const turn = (m: number, open: boolean): void => setTurned(new Map(turned).set(m, open));
  const amount = (m: number): number => (props.path >= 0 ? file.rows.sum(m, props.path, true) : file.rows.total(m));
  const columns: Column<number>[] = [{ title: "metric", cell: () => "", value: (m) => metrics[m].name }, { title: "parent", cell: () => "", value: (m) => metrics[metrics[m].parent]?.name ?? "" }, { title: "value", cell: () => "", value: amount }, { title: "unit", cell: () => "", value: (m) => metrics[m].unit }];
  const onKey = (e: KeyboardEvent): void => {
    const at = shown.findIndex((s) => s.id === props.metric);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const next = shown[at + step];
    if (step !== 0 && next) nav.set({ metric: metrics[next.id].name });
    else if (e.key === "ArrowRight" || e.key === "ArrowLeft") turn(props.metric, e.key === "ArrowRight");
    else return;
    e.preventDefault();
  };
  return (
    <Section title="Metrics" note={props.path >= 0 ? "of the chosen call path, with callees" : `${zero} that are zero are left out`} class="panel">
      <div class="list" ref={box} role="tree" aria-label="Metrics" tabIndex={0} onKeyDown={onKey}>
        {shown.map(({ id, depth }) => {
          const leaf = !children.has(id);
          return (
            <div role="treeitem" aria-level={depth + 1} aria-selected={id === props.metric} {...(leaf ? {} : { "aria-expanded": isOpen(id) })} class={`metric ${id === props.metric ? "selected" : ""}`} style={{ paddingLeft: `${Math.min(depth, 8) * 12 + 4}px` }}
              title={visible(metrics[id].descr)} onClick={() => nav.set({ metric: metrics[id].name })}>
              <span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); if (!leaf) turn(id, !isOpen(id)); }}>{leaf ? "" : isOpen(id) ? "▾" : "▸"}</span>
              <span class="name">{visible(shortDisplay(metrics, id))}</span>
              <span class="n">{isEstimate(metrics[id]) && "~"}{inUnit(amount(id), metrics[id].unit)}</span>
            </div>
          );
        })}
      </div>
      <p class="tools"><button type="button" class="quiet" onClick={() => download("metrics.csv", "text/csv", csv(columns, [...children.values()].flat().sort((x, y) => x - y)))}>CSV</button></p>
    </Section>
  );
}

/** Below a parent of the same words only what is new: "Late Sender: delay costs, short-term" below "Late Sender: delay costs" is "short-term". */
function shortDisplay(metrics: Metric[], id: number): string {
  const name = metrics[id].display || metrics[id].name;
  const parent = metrics[metrics[id].parent]?.display.replace(/ \(wait-first\)$/, "");
  return parent && name.startsWith(`${parent}, `) ? name.slice(parent.length + 2) : name;
}

function Tree(props: { file: ResultFile; metric: number; selected: number; nav: Navigation }): JSX.Element {
  const { file, metric, selected, nav } = props;
  const { rows } = file;
  const text = nav.state.keys.search ?? "";
  const mode = nav.state.keys.show ?? "absolute";
  const key = `${file.json.file}:${metric}`;
  const [open, setOpen] = useState<{ key: string; set: Set<number> }>({ key: "", set: new Set() });
  const set = open.key === key ? open.set : new Set([...hotPath(rows, metric), ...ancestors(rows, selected).slice(1), ...open.set]);
  const lines = useMemo(() => visibleLines(rows, set, search(rows, text)), [rows, set, set.size, text]);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer(box, lines.length, LINE);
  const at = lines.findIndex((l) => l.path === selected);
  useEffect(() => {
    const element = box.current;
    if (element && at >= 0 && (at * LINE < element.scrollTop || (at + 1) * LINE > element.scrollTop + element.clientHeight)) virtual.scrollToIndex(at, { align: "center" });
  }, [at]);
  const unit = file.json.metrics[metric].unit;
  const total = rows.total(metric);
  const base = mode === "selection" && selected >= 0 ? rows.sum(metric, selected, true) : total;
  const value = (line: Line): number => rows.sum(metric, line.path, !line.open || line.leaf);
  const show = (v: number): string => (mode === "absolute" ? inUnit(v, unit) : percent(base !== 0 ? v / base : null));
  const errors = rows.metrics[metric].name === "time" ? rows.metric("time_error") : -1;
  /** Standard error of its own time, at most: those of all locations together. */
  const error = (line: Line): number => (errors < 0 ? 0 : rows.sum(errors, line.path, false));
  const toggle = (line: Line, want?: boolean): void => {
    const next = new Set(set);
    if (want ?? !next.has(line.path)) next.add(line.path); else next.delete(line.path);
    setOpen({ key, set: next });
  };
  const onKey = (e: KeyboardEvent): void => {
    const line = lines[at];
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) nav.set({ path: lines[Math.max(0, Math.min(lines.length - 1, at + step))]?.path ?? -1 }, true);
    else if (line && e.key === "ArrowRight") toggle(line, true);
    else if (line && e.key === "ArrowLeft") { if (line.open && !line.leaf) toggle(line, false); else if (rows.paths[line.path][0] >= 0) nav.set({ path: rows.paths[line.path][0] }, true); }
    else return;
    e.preventDefault();
  };
  return (
    <Section title="Call tree" note="with what is called where folded, own values where open" class="panel tree">
      <p class="tools left">
        <input type="search" aria-label="Search the call tree" placeholder="search  ( / )" value={text} onInput={(e) => nav.set({ search: e.currentTarget.value }, true)} />
        <Choice label="Show" value={mode} options={[["absolute", "absolute"], ["root", "% of root"], ["selection", "% of selection"]]} onChange={(v) => nav.set({ show: v })} />
      </p>
      <div class="scroll" ref={box} role="tree" aria-label="Call tree" tabIndex={0} onKeyDown={onKey}>
        <div role="none" style={{ height: `${virtual.getTotalSize()}px`, position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index];
            if (!line) return null;
            const v = value(line);
            const share = total !== 0 ? Math.min(1, Math.abs(v / total)) : 0;
            return (
              <div role="treeitem" aria-level={line.depth + 1} aria-selected={line.path === selected} {...(line.leaf ? {} : { "aria-expanded": line.open })} class={`node ${line.path === selected ? "selected" : ""}`} style={{ top: `${start}px`, paddingLeft: `${Math.min(line.depth, 24) * 14 + 4}px` }}
                onClick={() => nav.set({ path: line.path })} onDblClick={() => toggle(line)}>
                <span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); if (!line.leaf) toggle(line); }}>{line.leaf ? "" : line.open ? "▾" : "▸"}</span>
                <span class={`name ${rows.paths[line.path][2] ? "mpi" : ""}`} title={visible(rows.paths[line.path][1])}>{visible(shortName(rows.paths[line.path][1]))}</span>
                <span class="amount"><svg viewBox="0 0 60 10" preserveAspectRatio="none" aria-hidden="true"><rect class="meter" x={60 - 60 * share} width={60 * share} height="10" /></svg><span class="n" {...(error(line) > 0 ? { title: `divided by samples: standard error ${inUnit(error(line), "sec")} at most` } : {})}>{v === 0 ? "" : `${error(line) > 0 ? "~" : ""}${show(v)}`}</span></span>
              </div>
            );
          })}
        </div>
      </div>
      <p class="tools"><button type="button" class="quiet" onClick={() => download("call-tree.csv", "text/csv", csv(treeColumns(rows, metric), rows.paths.map((_, path) => path)))}>CSV of all call paths</button></p>
    </Section>
  );
}

function treeColumns(rows: Rows, metric: number): Column<number>[] {
  return [
    { title: "call path", cell: () => "", value: (p) => rows.pathName(p) },
    { title: `${rows.metrics[metric].name}, own`, cell: () => "", value: (p) => rows.sum(metric, p, false) },
    { title: `${rows.metrics[metric].name}, with callees`, cell: () => "", value: (p) => rows.sum(metric, p, true) },
  ];
}

function quantileNote(spread: Spread): string {
  return spread.reduced ? "17 quantiles of all locations; the location of the largest is named" : "";
}

/** A box plot: smallest, quarters, largest; the mean of the values is not in it. */
export function BoxPlot(props: { spread: Spread; unit: string; name: string }): JSX.Element {
  const [low, q1, median, q3, high] = fiveNumbers(props.spread);
  const x = linear([Math.min(low, 0), Math.max(high, 0)], [10, 410]);
  return (
    <Figure name={props.name} width={420} height={70} label={`From ${inUnit(low, props.unit)} to ${inUnit(high, props.unit)}, median ${inUnit(median, props.unit)}`}>
      <line class="axis" x1={x(low)} x2={x(high)} y1="25" y2="25" />
      <rect class="meter" x={x(q1)} y="12" width={Math.max(1, x(q3) - x(q1))} height="26" />
      <line class="axis strong" x1={x(median)} x2={x(median)} y1="8" y2="42" />
      <XAxis scale={x} y={48} unit={axisUnit(props.unit)} />
    </Figure>
  );
}

export function Histogram(props: { spread: Spread; unit: string }): JSX.Element {
  const values = Array.from(props.spread.values).filter((v) => !Number.isNaN(v));
  const x = linear([Math.min(...values, 0), Math.max(...values, 0)], [10, 410]);
  const classes = bin().domain(x.domain() as [number, number]).thresholds(x.ticks(Math.max(4, Math.min(24, Math.ceil(Math.sqrt(values.length) * 2)))))(values);
  const y = linear([0, Math.max(...classes.map((c) => c.length), 1)], [120, 10]);
  return (
    <Figure name="histogram" width={420} height={150} label={`Histogram of ${values.length} values in ${classes.length} classes`}>
      {classes.map((c) => <rect class="meter" x={x(c.x0 ?? 0)} width={Math.max(0.5, x(c.x1 ?? 0) - x(c.x0 ?? 0) - 1)} y={y(c.length)} height={120 - y(c.length)}><title>{`${c.length} between ${inUnit(c.x0 ?? 0, props.unit)} and ${inUnit(c.x1 ?? 0, props.unit)}`}</title></rect>)}
      <XAxis scale={x} y={120} unit={axisUnit(props.unit)} />
    </Figure>
  );
}

/** A field of cells, one per location; rows are nodes, or those of a Cartesian grid. */
export function Cells(props: { values: ArrayLike<number>; rows: number[][]; labels: string[]; unit: string; name: string }): JSX.Element {
  const columns = Math.max(...props.rows.map((r) => r.length), 1);
  const size = Math.max(4, Math.min(26, 370 / columns));
  let top = 1e-300;
  for (let i = 0; i < props.values.length; i++) top = Math.max(top, props.values[i] || 0);
  return (
    <Figure name={props.name} width={420} height={Math.max(20, props.rows.length * size + 4)} label={`${props.values.length} locations as cells, darker is more`}>
      {props.rows.map((row, y) => row.map((l, x) => (
        <rect class="heat" x={40 + x * size} y={y * size} width={size - 1} height={size - 1} fill-opacity={0.06 + 0.94 * Math.max(0, (props.values[l] || 0) / top)}><title>{`${props.labels[l]}: ${inUnit(props.values[l], props.unit)}`}</title></rect>
      )))}
      {size >= 10 && props.rows.map((_, y) => <text class="tick" x="34" y={y * size + size - 4} text-anchor="end">{y}</text>)}
    </Figure>
  );
}

function exactly(values: (number | null)[]): Spread {
  const list = Float64Array.from(values, (v) => v ?? NaN);
  return { values: list, reduced: false, largestAt: largest(list) };
}

function System(props: { result: Result; file: ResultFile; metric: number; path: number; nav: Navigation }): JSX.Element {
  const { file, nav, result } = props;
  const { locations } = file.json.result;
  const unit = file.json.metrics[props.metric].unit;
  const inclusive = nav.state.keys.own !== "1";
  const form = nav.state.keys.system ?? (locations.length > 16 ? "box" : "list");
  // Of the whole run every location is known, whatever their number.
  const totals = props.path < 0 && file.rows.reduced ? file.json.result.metrics[file.json.metrics[props.metric].name]?.locations : undefined;
  const spread = totals ? exactly(totals) : file.rows.spread(props.metric, props.path, inclusive);
  const labels = locations.map((l) => `rank ${l.rank}${l.thread > 0 ? ` thread ${l.thread}` : ""} on ${visible(l.node)}`);
  const nodes = new Map<string, number[]>();
  locations.forEach((l, i) => nodes.set(l.node, [...(nodes.get(l.node) ?? []), i]));
  const topology = topologiesOf(result).find((t) => t.members.length > 0);
  const grid = topology && locations.every((l) => l.thread === 0) ? gridRows(topology) : null;
  const most = Math.max(...Array.from(spread.values).filter((v) => !Number.isNaN(v)), 1e-300);
  const forms: [string, string][] = [["list", "list"], ["box", "box plot"], ["histogram", "histogram"], ["cells", "node × rank"]];
  if (grid) forms.push(["grid", "grid"]);
  const where = spread.largestAt >= 0 ? labels[spread.largestAt] : "";
  return (
    <Section title="System" note={quantileNote(spread)} class="panel system">
      <p class="place"><PathText path={props.path >= 0 ? file.rows.pathName(props.path) : null} /></p>
      <p class="tools left">
        <Choice label="Form" value={form} options={forms} onChange={(v) => nav.set({ system: v })} />
        <Choice label="Values" value={inclusive ? "0" : "1"} options={[["0", "with callees"], ["1", "own"]]} onChange={(v) => nav.set({ own: v })} />
      </p>
      {where && <p class="dim">largest: {where}, {inUnit(most, unit)}</p>}
      {form === "list" && !spread.reduced && (
        <Table<number> name="locations" rows={locations.map((_, i) => i)} columns={[
          { title: "location", cell: (l) => labels[l], value: (l) => labels[l] },
          { title: "of the largest", cell: (l) => <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="meter" width={Math.max(0, (100 * (spread.values[l] || 0)) / most)} height="10" /></svg>, value: () => "" },
          { title: visible(file.json.metrics[props.metric].display), cell: (l) => (Number.isNaN(spread.values[l]) ? "unknown" : inUnit(spread.values[l], unit)), value: (l) => (Number.isNaN(spread.values[l]) ? null : spread.values[l]), number: true },
        ]} />
      )}
      {form === "list" && spread.reduced && (
        <Table<number> name="quantiles" rows={Array.from(spread.values.keys())} columns={[
          { title: "quantile", cell: (q) => percent(q / 16), value: (q) => q / 16, number: true },
          { title: visible(file.json.metrics[props.metric].display), cell: (q) => inUnit(spread.values[q], unit), value: (q) => spread.values[q], number: true },
        ]} />
      )}
      {form === "box" && <BoxPlot spread={spread} unit={unit} name="box-plot" />}
      {form === "histogram" && <Histogram spread={spread} unit={unit} />}
      {form === "cells" && (spread.reduced ? <p class="empty">Of more than 256 locations only quantiles are kept for each call path.</p> : <Cells values={spread.values} rows={[...nodes.values()]} labels={labels} unit={unit} name="node-rank" />)}
      {form === "grid" && grid && !spread.reduced && <Cells values={spread.values} rows={grid} labels={labels} unit={unit} name="grid" />}
    </Section>
  );
}

/** Where the chosen call path's code is. */
function Place(props: { row: PathRow | undefined }): JSX.Element | null {
  return props.row && props.row[3] !== "" ? <p class="source">{visible(props.row[1])}: <Source path={props.row} /></p> : null;
}

interface SourceLine {
  line: string;
  inlined: string;
  calledAt: string;
  samples: number;
  seconds: number;
  error: number;
}

/** Source lines that samples of the chosen call path fell on, in their order. */
export function linesOf(table: TextTable | null, callpath: string): SourceLine[] {
  const columns = table?.columns ?? [];
  const [path, line, inlined, calledAt, samples, seconds, error] = ["callpath", "line", "inlined", "called_at", "samples", "seconds", "error"].map((name) => columns.indexOf(name));
  const number = (text: string): number => Number(text.slice(text.lastIndexOf(":") + 1));
  return (table?.rows ?? [])
    .filter((row) => row[path] === callpath)
    .map((row) => ({ line: row[line] ?? "", inlined: row[inlined] ?? "", calledAt: row[calledAt] ?? "", samples: Number(row[samples]), seconds: Number(row[seconds]), error: Number(row[error]) }))
    .sort((a, b) => a.line.slice(0, a.line.lastIndexOf(":")).localeCompare(b.line.slice(0, b.line.lastIndexOf(":"))) || number(a.line) - number(b.line));
}

function Lines(props: { result: Result; callpath: string }): JSX.Element | null {
  const lines = linesOf(props.result.lines, props.callpath);
  if (lines.length === 0) return null;
  const most = Math.max(...lines.map((l) => l.seconds)) || 1;
  return (
    <Section title="Source lines" note="that samples fell on, with the time that is theirs of the call path's own">
      <Table<SourceLine> name="source-lines" rows={lines} columns={[
        { title: "line", cell: (l) => <code>{visible(l.line)}</code>, value: (l) => l.line },
        { title: "time", cell: (l) => <span title={`standard error ${inUnit(l.error, "sec")}, ${l.samples} samples`}>~{inUnit(l.seconds, "sec")}</span>, value: (l) => l.seconds, number: true },
        { title: "of the largest", cell: (l) => <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="meter" width={(100 * l.seconds) / most} height="10" /></svg>, value: () => "" },
        { title: "inlined", cell: (l) => l.inlined === "" ? "" : <span>{visible(l.inlined.replace(/\//g, " › ").replace(/%2F/g, "/"))}{l.calledAt !== "" && <span class="note"> called at {visible(l.calledAt)}</span>}</span>, value: (l) => l.inlined },
      ]} />
    </Section>
  );
}

/** Rows of the last dimension; the planes of the others one below the other. */
export function gridRows(topology: { dims: number[]; members: number[] }): number[][] {
  const width = topology.dims[topology.dims.length - 1] || 1;
  const rows: number[][] = [];
  for (let i = 0; i < topology.members.length; i += width) rows.push(topology.members.slice(i, i + width));
  return rows;
}

export function Explorer(props: { result: Result; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const wanted = nav.state.keys.metric ?? "time";
  const inAnalysis = result.analysis !== null && (nav.state.keys.data === "analysis" || (nav.state.keys.data !== "profile" && result.profile.rows.metric(wanted) < 0));
  const file = inAnalysis && result.analysis ? result.analysis : result.profile;
  const metric = Math.max(0, file.rows.metric(wanted));
  const path = Math.min(numberKey(nav.state, "path", -1), file.rows.paths.length - 1);
  if (file.json.metrics.length === 0 || file.rows.roots.length === 0) return <p class="empty">This result holds no call paths.</p>;
  return (
    <div>
      {result.analysis && <p class="tools left"><Choice label="Result" value={inAnalysis ? "analysis" : "profile"} options={[["profile", "profile"], ["analysis", "analysis of the trace"]]} onChange={(v) => nav.set({ data: v, path: -1 })} /></p>}
      <div class="explorer">
        <Metrics file={file} metric={metric} path={path} nav={nav} />
        <div><Tree file={file} metric={metric} selected={path} nav={nav} /><Place row={file.json.paths[path]} />{path >= 0 && <Lines result={result} callpath={file.rows.pathName(path)} />}</div>
        <System result={result} file={file} metric={metric} path={path} nav={nav} />
      </div>
    </div>
  );
}
