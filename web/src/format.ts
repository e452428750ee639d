/** Numbers as people read them: three significant digits and a unit. */

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

function scaled(value: number, units: [number, string][]): string {
  const size = Math.abs(value);
  for (const [unit, name] of units) if (size >= unit * 0.9995) return `${digits(value / unit)} ${name}`;
  const [unit, name] = units[units.length - 1];
  return `${digits(value / unit)} ${name}`;
}

const TIMES: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const BYTES: [number, string][] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

/** The power of 1,024 in which so many bytes are said. */
export const binarySize = (bytes: number): number => (BYTES.find(([size]) => bytes >= size * 0.9995) ?? BYTES[BYTES.length - 1])[0];

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  if (value === 0) return "0 s";
  return scaled(value, TIMES);
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  return `${(100 * share).toFixed(1)} %`;
}

/** A plain number: thousands are separated, fractions have three significant digits. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US").replace(/,/g, " ");
  return Number(value.toPrecision(3)).toString();
}

export function inUnit(value: number, unit: string): string {
  if (unit === "sec") return seconds(value);
  if (unit === "bytes") return value === 0 ? "0 B" : scaled(value, BYTES);
  return count(value);
}

/** What an axis counts: seconds, nanoseconds, bytes, shares of 1, changes of 1 with their sign, multiples, or plain numbers. */
export type AxisUnit = "sec" | "ns" | "bytes" | "share" | "change" | "times" | "";

/** That of a metric. */
export const axisUnit = (unit: string): AxisUnit => (unit === "sec" || unit === "bytes" ? unit : "");

/** Texts of the ticks of one axis: one unit, and as many digits as tell neighbours apart; where they reach over powers of ten each has its own. */
export function tickTexts(ticks: number[], unit: AxisUnit): string[] {
  const sizes = ticks.map(Math.abs).filter((v) => v > 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (sizes.length === ticks.length && most >= 100 * least) return ticks.map((v) => tickTexts([v], unit)[0]);
  const scale = unit === "ns" ? 1e-9 : unit === "share" || unit === "change" ? 100 : 1;
  const units: [number, string][] = unit === "sec" || unit === "ns" ? TIMES : unit === "bytes" ? BYTES : [[1, unit === "share" || unit === "change" ? "%" : unit]];
  const [size, name] = units.find(([size]) => most * scale >= size * 0.9995) ?? units[units.length - 1];
  const values = ticks.map((v) => (v * scale) / size);
  const exact = (places: number): boolean => values.every((v) => Math.abs(Number(v.toFixed(places)) - v) <= 1e-6 * Math.abs(v));
  const places = [0, 1, 2, 3, 4, 5].find(exact) ?? 6;
  const sign = (v: number): string => (unit === "change" && v > 0 ? "+" : "");
  return values.map((v) => `${sign(v)}${unit === "" && places === 0 ? count(Math.round(v)) : v.toFixed(places)}${name && ` ${name}`}`);
}

/** The short name of a function: of C++ without parameters. What it did stays with it: "nap(int) (off CPU: sleeping)" is "nap (off CPU: sleeping)". */
export function shortName(name: string): string {
  const did = / \([^()]*\)$/.exec(name)?.[0] ?? "";
  const whole = name.slice(0, name.length - did.length);
  const open = whole.indexOf("(");
  return (open > 0 && whole.endsWith(")") && !whole.startsWith("operator") ? whole.slice(0, open) : whole) + did;
}

/** Characters that a browser would not show are shown as escapes. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => {
    const known: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };
    return known[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

/** The components of a call path of the JSON form; '/' in a name is %2F. What a function did, "(off CPU: sleeping)", stands with its name. */
export function components(path: string): string[] {
  const parts = path.split("/").map((part) => part.replace(/%2F/g, "/"));
  const did = parts[parts.length - 1];
  return parts.length > 1 && did.startsWith("(") ? [...parts.slice(0, -2), `${parts[parts.length - 2]} ${did}`] : parts;
}

/** The end of a call path, with its caller. */
export function shortPath(path: string, keep = 2): string {
  const parts = components(path).map((part) => visible(shortName(part)));
  return (parts.length > keep ? "… / " : "") + parts.slice(-keep).join(" / ");
}

export function ranksText(ranks: number[], n: number): string {
  if (n === 0) return "";
  const shown = ranks.slice(0, 8).join(", ");
  return `rank${n > 1 ? "s" : ""} ${shown}${n > ranks.length ? ` and ${n - ranks.length} more` : ""}`;
}
