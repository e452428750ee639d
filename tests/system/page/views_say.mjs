// What the views of a page say, number by number, beside what `latecomer show`, `scaling` and `compare --json` say of the same results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const UNITS = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, "%": 0.01, "": 1 };

/** "~12.3 ms" as 0.0123; null: no number. */
function numberOf(text) {
  const found = /^~?([+-]?[\d\s]+(?:\.\d+)?)\s?(s|ms|µs|ns|[KMGT]iB|B|%)?$/u.exec(text.replace(/\s+/gu, " ").trim());
  return found ? Number(found[1].replace(/\s/gu, "")) * UNITS[found[2] ?? ""] : null;
}

/** The page shows three digits at least, shares to a tenth of a percent. */
function agrees(text, value, what) {
  const shown = numberOf(text);
  const near = text.includes("%") ? 0.00051 : 0.0051 * Math.abs(value) + (/ns/.test(text) ? 5.1e-12 : 0);
  assert.ok(shown !== null && Math.abs(shown - value) <= near, `${what}: "${text}" is not ${value}`);
}

/** Without line breaks and capital letters: the page begins sentences with one. */
const plain = (text) => text.replace(/\s+/gu, " ").toLowerCase();
/** The member of the JSON that a factor is: "Load balance" load_balance, "Serialisation" serialisation_efficiency. */
const factorOf = (object, name) => {
  const key = name.toLowerCase().replace(/[^a-z]+/g, "_");
  return object[key] ?? object[`${key}_efficiency`];
};
const parts = (path) => path.split("/").map((part) => part.replace(/%2F/g, "/"));

/** Cells of a table, on all of its pages; of a call path all of it. */
async function tableOf(page, name) {
  const region = page.locator(`[role=region][aria-label="${name}"]`);
  await region.waitFor();
  const rows = [];
  const next = region.locator("button[aria-label='next lines']");
  for (;;) {
    rows.push(...await region.locator("tbody tr").evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.querySelector(".path")?.title || c.innerText))));
    if (!(await next.count()) || await next.isDisabled()) return rows;
    await next.click();
  }
}

async function goTo(page, about, view) {
  await page.goto("about:blank");
  await page.goto(`${pathToFileURL(about.file).href}#view=${view}`);
  await page.waitForSelector("html[data-ready='1']");
  await page.waitForFunction((v) => document.querySelector("nav a[aria-current=page]")?.hash.includes(`view=${v}`), view.split("&")[0]);
}

const sum = (values) => values.reduce((a, b) => a + (b ?? 0), 0);

/** Own time of each call path, of all locations together, largest first. */
function ownTimes(json) {
  const own = new Map(Object.entries(json.metrics.time.callpaths).map(([path, values]) => [path, sum(values)]));
  for (const [path, values] of Object.entries(json.metrics.time.callpaths)) {
    const caller = path.slice(0, path.lastIndexOf("/"));
    if (path.includes("/") && own.has(caller)) own.set(caller, own.get(caller) - sum(values));
  }
  return [...own].sort((a, b) => b[1] - a[1]);
}

async function overview(page, about, json) {
  await goTo(page, about, "overview");
  const findings = await page.locator(".finding").allInnerTexts();
  assert.equal(findings.length, json.findings.length, `${about.name}: findings`);
  findings.forEach((text, i) => {
    for (const said of ["text", "advice"]) assert.ok(plain(text).includes(plain(json.findings[i][said])), `${about.name}: finding ${i} says "${json.findings[i][said]}": ${text}`);
    if (json.findings[i].gain_s !== null) agrees(text.split("\n")[0], json.findings[i].gain_s, `${about.name}: gain of finding ${i}`);
  });
  const heaviest = await tableOf(page, "heaviest-call-paths");
  const own = ownTimes(json);
  assert.equal(heaviest.length, Math.min(8, own.length));
  for (const [row, [, seconds]] of heaviest.map((row, i) => [row, own[i]])) {
    agrees(row[1], seconds, `${about.name}: own time of ${row[0]}`);
    agrees(row[2], seconds / json.metrics.time.total, `${about.name}: share of ${row[0]}`);
  }
  if (json.pop) {
    const factors = await page.locator("section[aria-label=Efficiency] table.pop").first().locator("tr").evaluateAll((all) => all.map((r) => [r.cells[0].innerText, r.cells[2].innerText]));
    assert.ok(factors.length >= 4, `${about.name}: factors`);
    for (const [name, text] of factors) agrees(text, factorOf(json.pop, name), `${about.name}: ${name}`);
  }
}

async function metrics(page, about, json) {
  await goTo(page, about, "about");
  const rows = await tableOf(page, "metrics");
  let compared = 0;
  for (const [name, , total] of rows) {
    const of = json.metrics[name];
    if (!of || typeof of.total !== "number" || total === "") continue;
    agrees(total, of.total, `${about.name}: ${name} in all`);
    compared++;
  }
  assert.ok(compared >= 20, `${about.name}: ${compared} metrics`);
  if (about.name !== "demo") return; // of one page also in the explorer, metric by metric
  for (const [name, of] of Object.entries(json.metrics).filter(([, m]) => m.kind !== "derived" && m.total > 0)) {
    await page.goto(`${pathToFileURL(about.file).href}#view=explorer&metric=${name}`);
    const chosen = page.locator("[aria-label=Metrics] [role=treeitem][aria-selected=true] .n");
    await page.waitForFunction((metric) => new URLSearchParams(location.hash.slice(1)).get("metric") === metric, name);
    await chosen.waitFor();
    agrees(await chosen.innerText(), of.total, `${about.name}: ${name} in the tree of metrics`);
  }
}

async function causes(page, about, json) {
  await goTo(page, about, "causes");
  if (json.impact?.length > 0) {
    const impact = await tableOf(page, "performance-impact");
    const times = await tableOf(page, "critical-path-times");
    assert.equal(impact.length, json.impact.length);
    json.impact.forEach((of, i) => {
      assert.deepEqual([impact[i][0], times[i][0]], Array(2).fill(parts(of.callpath).join(" / ")), `${about.name}: call path ${i} by impact`);
      const columns = [[impact[i], 1, "impact_s"], [impact[i], 2, "share"], [impact[i], 4, "own_s"], [impact[i], 5, "intra_s"], [impact[i], 6, "inter_s"], [impact[i], 7, "ratio"],
        ...["min_s", "mean_s", "max_s", "max_minus_mean_s", "path_s", "path_minus_mean_s"].map((key, k) => [times[i], k + 1, key])];
      for (const [row, at, key] of columns) agrees(row[at], of[key] ?? 0, `${about.name}: ${key} of ${of.callpath}`);
    });
  }
  if (json.late?.length > 0) { // lines of functions that the page folds into one are one line there
    const late = await tableOf(page, "late");
    const rankOf = (of) => String(of.rank ?? "");
    assert.ok(late.length <= json.late.length, `${about.name}: ${late.length} lines of who was late`);
    assert.deepEqual(new Set(late.map((row) => row[2])), new Set(json.late.map(rankOf)));
    for (const rank of new Set(late.map((row) => row[2]))) {
      const [lines, of] = [late.filter((row) => row[2] === rank), json.late.filter((one) => rankOf(one) === rank)];
      for (const [at, key, rounding] of [[0, "seconds", 0], [1, "share", 0.00051]]) {
        const [shown, wanted] = [sum(lines.map((row) => numberOf(row[at]))), sum(of.map((one) => one[key]))];
        assert.ok(Math.abs(shown - wanted) <= 0.0051 * wanted + lines.length * rounding, `${about.name}: ${key} of rank ${rank}: ${shown} shown, ${wanted} wanted`);
      }
      if (lines.length === of.length) of.forEach((one, i) => agrees(lines[i][0], one.seconds, `${about.name}: who was late, rank ${rank}, line ${i}`));
    }
  }
}

async function sets(page, about, { scaling, compared }) {
  await goTo(page, about, "scaling");
  const runs = await tableOf(page, "runs");
  assert.equal(runs.length, scaling.runs.length);
  scaling.runs.forEach((run, i) => {
    assert.equal(runs[i][1], String(run.ranks));
    agrees(runs[i][2], run.wall_time_s, `${about.name}: wall time of run ${i}`);
    agrees(runs[i][3], run.useful_s, `${about.name}: useful time of run ${i}`);
  });
  for (const [name, ...texts] of await tableOf(page, "scaling")) {
    scaling.runs.forEach((run, i) => { const v = factorOf(run.pop, name) ?? factorOf(run, name); if (typeof v === "number") agrees(texts[i], v, `${about.name}: ${name} of run ${i}`); else assert.equal(texts[i], "–", `${about.name}: ${name} of run ${i}`); });
  }
  await goTo(page, about, "compare");
  const verdict = await page.locator(".verdict").first().innerText();
  assert.ok(verdict.startsWith(compared.verdict), `${about.name}: ${verdict} is not ${compared.verdict}`);
  if (typeof compared.ratio === "number") assert.ok(verdict.includes(compared.ratio.toFixed(3)), `${about.name}: ${verdict}: ${compared.ratio}`);
  const changes = await tableOf(page, "changes");
  assert.equal(changes.length, compared.callpaths.length);
  compared.callpaths.forEach((of, i) => { for (const [at, key] of [[1, "a_s"], [2, "b_s"], [3, "delta_s"]]) agrees(changes[i][at], of[key], `${about.name}: ${key} of ${of.path}`); });
}

export async function viewsSayTheJson({ page }, about) {
  const { show, scaling, compare } = Object.fromEntries(Object.entries(about.json).map(([what, file]) => [what, JSON.parse(readFileSync(file, "utf8"))]));
  if (show) { await overview(page, about, show); await metrics(page, about, show); await causes(page, about, show); }
  if (scaling) await sets(page, about, { scaling, compared: compare });
}
