/** Components that more than one view uses. */
import { cloneElement, isValidElement, type ComponentChildren, type JSX, type VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { linear, ticksOf, YAxis } from "./axes";
import { components, shortName, tickTexts, visible, type AxisUnit } from "./format";
import { waitFirst, type Navigation } from "./state";
import type { PathRow } from "./types";

/** Gives the reader a file. */
export function download(name: string, type: string, content: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A section with a heading, and what one can take away from it. */
export function Section(props: { title: string; note?: string; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class={props.class ?? ""} aria-label={props.title}>
      <h2>{props.title}{props.note && <span class="note"> {props.note}</span>}</h2>
      {props.children}
    </section>
  );
}

export interface Column<T> {
  title: string;
  /** What is shown, and what stands in the file of the table. */
  cell: (row: T) => ComponentChildren;
  value: (row: T) => string | number | null | undefined;
  number?: boolean;
  hint?: string;
}

const quoted = (value: string | number | null | undefined): string => {
  const text = value === null || value === undefined ? "" : String(value);
  // A cell that begins like a formula must stay text in a spreadsheet.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

export function csv<T>(columns: Column<T>[], rows: T[]): string {
  return [columns.map((c) => quoted(c.title)).join(","), ...rows.map((row) => columns.map((c) => quoted(c.value(row))).join(","))].join("\n") + "\n";
}

interface NumberParts {
  whole: string;
  part: string;
  unit: string;
}

/** "12.3 ms" as 12, .3, ms; null: no such text. */
export function partsOf(text: string): NumberParts | null {
  const found = /^([+\-\u2212]?\d[\d \u202f]*?)(\.\d+)?( ?[^\d\s]\S*)?$/u.exec(text);
  return found ? { whole: found[1], part: found[2] ?? "", unit: (found[3] ?? "").trim() } : null;
}

/** What stands in a cell as text, also inside of one element. */
function textOf(cell: ComponentChildren): string | null {
  const inner = isValidElement(cell) ? (cell as VNode<{ children?: ComponentChildren }>).props.children : cell;
  return typeof inner === "string" || typeof inner === "number" ? String(inner) : null;
}

/** Numbers of a column with their decimal points below each other, whatever their digits and units. */
function aligned(cells: ComponentChildren[]): ComponentChildren[] {
  const numbers = cells.map((cell) => { const text = textOf(cell); return text === null ? null : partsOf(text); });
  const digits = numbers.reduce((most, n) => Math.max(most, n ? n.part.length - 1 : 0), 0);
  const unit = numbers.reduce((most, n) => Math.max(most, n ? n.unit.length : 0), 0);
  return cells.map((cell, i) => {
    const n = numbers[i];
    if (!n) return cell;
    const text = [n.whole, digits > 0 && <span class="fraction" style={{ width: `calc(${digits}ch + 0.32em)` }}>{n.part}</span>,
      unit > 0 && " ", unit > 0 && <span class="unit" style={{ width: `${unit + 0.7}ch` }}>{n.unit}</span>];
    return isValidElement(cell) ? cloneElement(cell as VNode<object>, {}, text) : text;
  });
}

/** Long tables have pages; that of the selected line is open at first. */
export function Table<T>(props: { name: string; columns: Column<T>[]; rows: T[]; selected?: (row: T) => boolean; most?: number }): JSX.Element {
  const most = props.most ?? 200;
  const { rows, selected } = props;
  const [turned, setTurned] = useState<number | null>(null);
  const pages = Math.max(1, Math.ceil(rows.length / most));
  const page = Math.min(pages - 1, turned ?? (selected && rows.length > most ? Math.max(0, Math.floor(rows.findIndex(selected) / most)) : 0));
  const first = page * most;
  const shown = rows.slice(first, first + most);
  const cells = props.columns.map((c) => { const list = shown.map((row) => c.cell(row)); return c.number ? aligned(list) : list; });
  return (
    <div class="table" role="region" aria-label={props.name} tabIndex={0}>
      <table>
        <thead>
          <tr>{props.columns.map((c) => <th scope="col" class={c.number ? "n" : ""} title={c.hint ?? ""}>{c.title}</th>)}</tr>
        </thead>
        <tbody>
          {shown.map((row, i) => (
            <tr class={props.selected?.(row) ? "selected" : ""}>{props.columns.map((c, k) => <td class={c.number ? "n" : ""}>{cells[k][i]}</td>)}</tr>
          ))}
        </tbody>
      </table>
      <p class="tools">
        {pages > 1 && (
          <span class="pages" role="group" aria-label={`Pages of ${props.name}`}>
            <button type="button" class="quiet" disabled={page === 0} onClick={() => setTurned(page - 1)} aria-label="previous lines">‹</button>
            <span aria-live="polite">{first + 1} – {first + shown.length} of {rows.length}</span>
            <button type="button" class="quiet" disabled={page === pages - 1} onClick={() => setTurned(page + 1)} aria-label="next lines">›</button>
          </span>
        )}
        <button type="button" class="quiet" onClick={() => download(`${props.name}.csv`, "text/csv", csv(props.columns, rows))}>CSV</button>
      </p>
    </div>
  );
}

/** A drawing that can be saved: its colours are written into the file. */
export function Figure(props: { name: string; width: number; height: number; label: string; children: ComponentChildren; class?: string }): JSX.Element {
  const svg = useRef<SVGSVGElement>(null);
  const save = (): void => {
    if (!svg.current) return;
    const copy = svg.current.cloneNode(true) as SVGSVGElement;
    const from = svg.current.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, i) => {
      const style = getComputedStyle(from[i]);
      for (const key of ["fill", "stroke", "stroke-width", "font-size", "font-family", "opacity", "text-anchor"]) element.setAttribute(key, style.getPropertyValue(key));
      element.removeAttribute("class");
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    download(`${props.name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
  };
  return (
    <figure class={props.class ?? ""} style={{ maxWidth: `${Math.round(1.15 * props.width)}px` }}>
      <svg ref={svg} viewBox={`0 0 ${props.width} ${props.height}`} role="img" aria-label={props.label}>{props.children}</svg>
      <p class="tools"><button type="button" class="quiet" onClick={save}>SVG</button></p>
    </figure>
  );
}

export interface BarPart {
  share: number;
  class: string;
  title: string;
}

/** A horizontal bar of shares of 1. */
export function Bar(props: { parts: BarPart[] }): JSX.Element {
  let x = 0;
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={props.parts.map((p) => `${p.title} ${(100 * p.share).toFixed(1)} %`).join(", ")}>
      <rect class="track" x="0" y="0" width="100" height="10" />
      {props.parts.map((part) => {
        const width = Math.max(0, Math.min(100 * part.share, 100 - x));
        const rect = <rect class={part.class} x={x} y="0" width={width} height="10"><title>{part.title}</title></rect>;
        x += width;
        return rect;
      })}
    </svg>
  );
}

export function Legend(props: { items: { class: string; text: string }[] }): JSX.Element {
  return (
    <p class="legend">
      {props.items.map((item) => <span><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class={item.class} width="10" height="10" /></svg> {item.text}</span>)}
    </p>
  );
}

/** A name that may be broken after its parts, not inside of words; very long words anywhere. */
export function Name(props: { text: string }): JSX.Element {
  const pieces = visible(shortName(props.text)).split(/(?<=[_:.,(<])(?![_:])/).flatMap((piece) => piece.match(/.{1,32}/gsu) ?? []);
  return <>{pieces.map((piece, i) => [i > 0 && <wbr />, piece])}</>;
}

/** A call path: its end in full, the rest on hover; what is hostile in it is text. */
export function PathText(props: { path: string | null; keep?: number }): JSX.Element {
  if (props.path === null || props.path === "") return <span class="whole">the whole run</span>;
  const parts = components(props.path);
  const keep = props.keep ?? 2;
  return (
    <span class="path" title={visible(parts.join(" / "))}>
      {parts.length > keep && <span class="dim">… / </span>}
      {parts.slice(-keep).map((part, i, all) => [i > 0 && <span class="dim"> / </span>, <span class={i === all.length - 1 ? "last" : "dim"}><Name text={part} /></span>])}
    </span>
  );
}

/** Also where there is no clipboard for the page (a browser's setting): by way of a selection. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** "solver.c:40", which a click copies; of a library or a file without lines its name only. */
export function Source(props: { path: PathRow | undefined }): JSX.Element | null {
  const { path } = props;
  const [copied, setCopied] = useState(false);
  if (!path || path[3] === "") return null;
  const file = path[3].replace(/^(\.\.\/)+/, ""); // from the folder in which it was compiled
  const text = path[4] > 0 ? `${file}:${path[4]}` : file;
  return <button type="button" class="quiet copies" title="click: copy" onClick={() => void copy(text).then(() => setCopied(true))}><code>{visible(text)}</code>{copied && " copied"}</button>;
}

/** Buttons of which one is pressed. */
export function Choice(props: { label: string; value: string; options: [string, string][]; onChange: (value: string) => void }): JSX.Element {
  return (
    <span class="choice" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>{text}</button>
      ))}
    </span>
  );
}

/** Which delay-cost model root causes, findings and parts of waits take. */
export function ModelChoice(props: { nav: Navigation }): JSX.Element {
  return (
    <p class="tools left"><Choice label="Model" value={waitFirst(props.nav.state) ? "wait-first" : "proportional"} options={[["proportional", "proportional"], ["wait-first", "wait-first"]]}
      onChange={(model) => props.nav.set({ model, cause: "" })} /></p>
  );
}

/** Lines over 1, 2, 3 .., which `xText` names, from 0 to `top` or a bit more than the largest value. */
export function Lines(props: { name: string; label: string; series: { class: string; values: number[]; text: string }[]; xText: (i: number) => string; unit: AxisUnit; top?: number; marks?: { at: number; text: string }[] }): JSX.Element {
  const [width, height, left, right] = [640, 150, 58, 628];
  const n = Math.max(...props.series.map((s) => s.values.length), 1);
  const x = linear([0, Math.max(1, n - 1)], [left, right]);
  const y = linear([0, props.top ?? Math.max(...props.series.flatMap((s) => s.values.filter(Number.isFinite)), 1e-300) * 1.05], [height - 22, 8]);
  const anchor = (i: number): string => (i === 0 ? "start" : i === n - 1 ? "end" : "middle");
  return (
    <Figure name={props.name} width={width} height={height} label={props.label} class="lines">
      <YAxis scale={y} left={left} right={right} unit={props.unit} />
      {ticksOf(x, 90, "", true).filter((i) => i < n).map((i) => <text class="tick" x={x(i)} y={height - 6} text-anchor={anchor(i)}>{props.xText(i)}</text>)}
      {props.series.map((s) => (
        <polyline class={`line ${s.class}`} points={s.values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ")}><title>{s.text}</title></polyline>
      ))}
      {n <= 32 && props.series.map((s) => s.values.map((v, i) => <circle class={`dot ${s.class}`} cx={x(i)} cy={y(v)} r="3"><title>{`${s.text}: ${tickTexts([v], props.unit)[0]}`}</title></circle>))}
      {props.marks?.map((mark) => <circle class="mark" cx={x(mark.at)} cy={y(Math.max(...props.series.map((s) => s.values[mark.at] ?? 0)))} r="4"><title>{mark.text}</title></circle>)}
    </Figure>
  );
}
