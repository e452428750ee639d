// The definitions of docs/definitions as a module of the page, so that About shows them from the one place where they stand:
// `definitions` (src/definitions.d.ts), one entry per section, as HTML that is made here, of our own text. Links lead nowhere from a page
// without a network, so that their words stay.
import { readFileSync, readdirSync } from "node:fs";
import { Marked } from "marked";

const FIRST = ["wait-states", "efficiency-factors", "estimates"]; // where a metric stands in several pages, the first defines it
const NOT = /^(7|8)[. ]|^Where Scalasca|^What version/; // examples and comparisons name metrics, too
const marked = new Marked({ renderer: { link({ tokens }) { return this.parser.parseInline(tokens); } } });

/** Names in backticks ("`omp_lock_critical`, `_api`" names omp_lock_api, too), and those that indented lines begin with. */
export function namesIn(text) {
  const names = new Set();
  let last = "";
  for (const [, name] of text.matchAll(/`([a-z0-9_]+(?:_[XYZ])?)`/g)) {
    const whole = name.startsWith("_") ? last.replace(/_[^_]*$/, name) : name;
    names.add(whole);
    if (!name.startsWith("_")) last = whole;
  }
  for (const [, name] of text.matchAll(/^ {4,}([a-z0-9_]+)(?: {2}|$)/gm)) names.add(name);
  return [...names];
}

/** Sections of a page of Markdown: title, text below it, names of metrics in it. */
export function sectionsOf(page, markdown) {
  const parts = markdown.split(/^(?=#{1,4} )/m).filter((part) => part.startsWith("#"));
  return parts.map((part) => {
    const [heading, ...rest] = part.split("\n");
    const title = heading.replace(/^#+ /, "").replace(/`/g, "");
    const text = rest.join("\n").trim();
    return { page, title, html: marked.parse(text).trim(), names: NOT.test(title) ? [] : namesIn(text) };
  }).filter((section) => section.html !== "");
}

export function definitions(directory) {
  const pages = readdirSync(directory).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3)).sort();
  return [...FIRST, ...pages.filter((page) => !FIRST.includes(page))].flatMap((page) => sectionsOf(page, readFileSync(`${directory}/${page}.md`, "utf8")));
}

/** The plugin of esbuild (and of Vitest, by `load`). */
export const plugin = (directory) => ({
  name: "definitions",
  setup(build) {
    build.onResolve({ filter: /^definitions$/ }, () => ({ path: "definitions", namespace: "definitions" }));
    build.onLoad({ filter: /.*/, namespace: "definitions" }, () => ({ contents: `export default ${JSON.stringify(definitions(directory))};`, loader: "js" }));
  },
});
