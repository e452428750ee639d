// Clicks through every view of every page in headless Chromium. Structure is compared, not pixels. Usage: browser.mjs PAGES.json
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { viewsSayTheJson } from "./views_say.mjs";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const require = createRequire(`${plan.modules}/node_modules/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: plan.chromium, args: ["--no-sandbox"] });
// A page's limit of time ends what hangs (tests/patience.py); on a quiet machine no step takes a second.
const patient = (context) => {
  context.setDefaultTimeout(30000 * Number(process.env.LC_PATIENCE ?? "3"));
  return context;
};

// In the page: what its canvas shows, from a copy. Chromium warns of a canvas that is read several times, as it is where something is waited for.
function pixels() {
  globalThis.drawn = ({ top = 0, width } = {}) => {
    const canvas = document.querySelector("canvas");
    const copy = new OffscreenCanvas(width ?? canvas.width, canvas.height - top).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, -top);
    return copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height);
  };
}

// Anything on the console, any error and any request beside the page itself is a failure. The check of accessibility is put into the page
// by the debugger, which no policy of the page governs.
async function open(file, colorScheme = "light") {
  const context = patient(await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme }));
  const page = await context.newPage();
  await page.addInitScript(pixels);
  const wrong = [];
  page.on("console", (message) => wrong.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => { if (request.url().split("#")[0] !== pathToFileURL(file).href && !request.url().startsWith("blob:")) wrong.push(`request: ${request.url()}`); });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-ready='1']");
  return { context, page, wrong };
}

/** `but`: rules that do not hold here; coloursOnly: all others were checked, in the other theme. */
async function accessible(page, what, { but = [], coloursOnly = false } = {}) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const options = { resultTypes: ["violations"], rules: Object.fromEntries(but.map((rule) => [rule, { enabled: false }])) };
  if (coloursOnly) options.runOnly = { type: "rule", values: ["color-contrast"] };
  const { violations } = await page.evaluate((chosen) => globalThis.axe.run(document, chosen), options);
  return violations.map((v) => `${what}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.html} (${n.failureSummary})`).join(" | ")}`);
}

const METRICS = "[aria-label=Metrics] [role=treeitem]", PATHS = "[aria-label='Call tree'] [role=treeitem]";
const viewOf = (page) => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("view") ?? "overview");

async function everyView({ page }, about) {
  const links = page.locator("nav a");
  const names = await links.evaluateAll((all) => all.map((a) => new URLSearchParams(a.hash.slice(1)).get("view")));
  const always = about.only ? about.only : about.fingerprints ? ["fingerprint"] : ["overview", "explorer", "timeline", "causes", "matrix", ...(about.views ?? []), "about"];
  for (const view of always) assert.ok(names.includes(view), `${about.name}: has the view ${view}`);
  for (let i = 0; i < names.length; i++) {
    await links.nth(i).click();
    await page.waitForFunction((view) => document.querySelector("nav a[aria-current=page]")?.hash.includes(`view=${view}`), names[i]);
    assert.ok((await page.locator("main").innerText()).trim().length > 20, `${about.name}: ${names[i]} shows something`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${about.name}: ${names[i]} is no wider than the window`);
  }
  return names;
}

// A second page that opens on the link of a state shows the same.
async function linksRestore({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=explorer&metric=visits`);
  await page.waitForSelector(`${METRICS}[aria-selected=true], .empty`);
  if (await page.locator(".empty").count()) return;
  const first = page.locator(PATHS).first();
  await first.click();
  await page.locator("button", { hasText: "histogram" }).click();
  const link = page.url();
  const selected = async () => [await page.locator(`${PATHS}[aria-selected=true] .name`).innerText(), await page.locator(`${METRICS}[aria-selected=true]`).innerText(), await page.locator("button[aria-pressed=true]").allInnerTexts()];
  const before = await selected();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector(`${PATHS}[aria-selected=true]`);
  assert.deepEqual(await selected(), before, `${about.name}: a link restores its state`);
  await page.locator("nav a", { hasText: "About" }).click();
  await page.goBack();
  await page.waitForSelector(`${PATHS}[aria-selected=true]`);
  assert.deepEqual(await selected(), before, `${about.name}: back restores the state`);
  await page.goForward();
  assert.equal(await viewOf(page), "about");
  await page.locator("a.place-of").first().click();
  await page.waitForSelector("article.definition");
  const metric = await page.locator("tr:has(a.place-of) code").first().innerText();
  assert.ok((await page.locator("article.definition").innerText()).includes(metric), `${about.name}: the definition of ${metric}`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${about.name}: definitions are no wider than the window`);
}

async function timeline({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  const canvas = page.locator("canvas");
  await canvas.waitFor();
  const label = () => canvas.getAttribute("aria-label");
  const whole = await label();
  await canvas.focus();
  await page.keyboard.press("+");
  await page.waitForFunction((old) => (document.querySelector("canvas")?.getAttribute("aria-label") ?? old) !== old, whole);
  await page.waitForFunction(() => location.hash.includes("from="));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("0");
  await page.waitForFunction((old) => document.querySelector("canvas")?.getAttribute("aria-label") === old, whole);
  // A key that comes right when the last one has settled, before the page has drawn that, counts.
  await page.waitForFunction(() => location.hash.includes("from=0&"));
  await page.evaluate(() => {
    const plain = history.replaceState.bind(history);
    history.replaceState = (...state) => {
      plain(...state);
      history.replaceState = plain;
      document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
    };
  });
  await page.keyboard.press("+");
  await page.waitForFunction(() => !location.hash.includes("from=0&"));
  await page.waitForFunction(() => location.hash.includes("from=0&"));
  const colours = await page.evaluate(() => new Set(new Uint32Array(globalThis.drawn().data.buffer)).size);
  assert.ok(colours > 4, `${about.name}: the timeline is drawn (${colours} colours)`);
  if (await page.locator("[role=region][aria-label=windows] a").count()) {
    await page.locator("[role=region][aria-label=windows] a").first().click();
    await page.waitForSelector(".card");
    assert.match(await page.locator(".card").innerText(), /waits/, `${about.name}: who waits`);
    await page.locator("canvas").focus();
    await page.keyboard.press("n");
    await page.waitForFunction(() => location.hash.includes("wait="));
    await page.locator(".card button").click();
  }
}

// Each window's link shows its severest wait, also where windows overlap.
async function windowsShowTheirWait({ page }, about) {
  const links = page.locator("[role=region][aria-label=windows] a");
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  await page.locator("[role=region][aria-label=windows], .empty").first().waitFor();
  let divided = 0; // the severest waits of a kind at rare call paths may be none of the severest of the kind
  for (const hash of await links.evaluateAll((all) => all.map((a) => a.hash))) {
    await page.goto(pathToFileURL(about.file).href + hash);
    await page.waitForFunction((link) => {
      const chosen = document.querySelector("[role=region][aria-label=windows] tr.selected a");
      return chosen?.hash === link && document.querySelector(".card .late-text")?.textContent === chosen.textContent;
    }, hash);
    const cells = await page.locator("[role=region][aria-label=windows] tr.selected td").allInnerTexts();
    const card = (await page.locator(".card").innerText()).replace(/\s+/g, " ");
    divided += cells[2] !== "";
    if (cells[2] !== "")
      assert.ok(card.includes(`of it ${cells[2]} by code of ${cells[cells.length - 1]}, ${cells[3]} inherited from its own waiting`.replace(/\s+/g, " ")), `${about.name}: parts of a wait: ${cells}: ${card}`);
  }
  assert.ok(divided > 0 || !about.causes, `${about.name}: the parts of no wait are known`);
}

// How often one must click from opening the page to the cause (not at all), and to its place in the timeline (once).
async function newcomer({ page }, about) {
  await page.goto("about:blank");
  await page.goto(pathToFileURL(about.file).href);
  const first = page.locator(".finding").first();
  await first.waitFor();
  const box = await first.boundingBox();
  assert.ok(box.y + box.height < 800, `${about.name}: the first finding is on the first screen`);
  assert.ok((await first.innerText()).includes(about.cause), `${about.name}: the first finding names ${about.cause}`);
  const source = first.locator("button.copies");
  assert.match(await source.innerText(), /\.c:\d+$|^lib|^latecomer/, `${about.name}: where the cause's code is`);
  await source.click();
  await source.getByText("copied").waitFor();
  await first.locator("a", { hasText: "in the timeline" }).click();
  await page.waitForSelector("canvas");
  await page.waitForSelector(".card");
}

// Of an analysis: impact per call path in both tables, root causes of either model, costs as a tree that opens.
async function analysed({ page }, about) {
  const file = pathToFileURL(about.file).href;
  await page.goto(`${file}#view=causes`);
  const impacts = page.locator("[role=region][aria-label=performance-impact] tbody tr"), times = page.locator("[role=region][aria-label=critical-path-times] tbody tr");
  await impacts.first().waitFor();
  assert.equal(await impacts.count(), await times.count(), `${about.name}: both tables have the same call paths`);
  assert.equal(await impacts.first().locator("td").count(), 8);
  assert.deepEqual(await page.locator("[role=region][aria-label=critical-path-times] th").allInnerTexts(), ["call path", "min", "mean", "max", "max − mean", "on path", "path − mean"]);
  const sums = await page.locator("[role=region][aria-label=model-sums] tbody td:first-child").allInnerTexts();
  assert.ok(sums.includes("Delay costs") && sums.includes("short-term"), `${about.name}: tree of both models: ${sums}`);
  const ofRanks = await page.locator("[role=region][aria-label=model-ranks] tbody tr").count();
  assert.equal(await page.locator("svg[aria-label*='in both models'] g title").count(), ofRanks > 1 ? ofRanks : 0, `${about.name}: a bar for each rank`);
  assert.equal((await page.locator("[role=region][aria-label=model-ranks] thead th").allInnerTexts()).filter((title) => title.includes("wait-first")).length, 3);
  await page.locator("button", { hasText: "wait-first" }).click();
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("model") === "wait-first");
  assert.ok((await page.locator("[role=region][aria-label=root-causes] tbody tr").count()) > 0, `${about.name}: causes of the model wait-first`);
  await page.locator("nav a", { hasText: "Overview" }).click();
  const pressed = page.locator("section[aria-label=Findings] button[aria-pressed=true]");
  await pressed.waitFor();
  assert.equal(await pressed.innerText(), "wait-first", `${about.name}: findings follow the model`);
  await page.goto(`${file}#view=explorer&data=analysis&metric=delay`);
  const costs = page.locator(`${METRICS}[aria-selected=true]`);
  await costs.waitFor();
  assert.equal(await costs.getAttribute("aria-expanded"), "false", `${about.name}: the kinds of costs are folded`);
  const before = await page.locator(METRICS).count();
  await page.locator("[role=tree][aria-label=Metrics]").press("ArrowRight");
  await page.waitForFunction(([metrics, n]) => document.querySelectorAll(metrics).length > n, [METRICS, before]);
  assert.equal(await costs.getAttribute("aria-expanded"), "true", `${about.name}: a key opens them`);
}

async function keyboardOnly({ page }, about) {
  await page.goto("about:blank");
  await page.goto(pathToFileURL(about.file).href);
  await page.waitForSelector("nav a");
  const seen = new Set();
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement?.textContent === "Explorer")); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=tree]");
  for (let i = 0; i < 40 && seen.size < 3; i++) {
    await page.keyboard.press("Tab");
    const [role, label] = await page.evaluate(() => ["role", "aria-label"].map((name) => document.activeElement?.getAttribute(name)));
    if (label === "Call tree") {
      seen.add(label);
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
      assert.equal(await page.locator(`${PATHS}[aria-selected=true]`).count(), 1, "a call path is chosen by keys");
    }
    if (label === "Metrics") { seen.add(label); await page.keyboard.press("ArrowDown"); assert.notEqual(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("metric")), null); }
    if (role === "region") seen.add(role);
  }
  assert.ok(seen.has("Call tree") && seen.has("Metrics"), `tree and metrics are reached by Tab: ${[...seen]}`);
  await page.keyboard.press("/");
  await page.keyboard.type("MPI_");
  await page.waitForFunction(() => location.hash.includes("search=MPI_"));
  await page.locator("body").press("Escape");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await page.waitForSelector("[role=dialog]");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=dialog]").count(), 0);
  await page.keyboard.press("1");
  await page.waitForSelector(".findings");
}

async function policyHolds({ page }) {
  const results = await page.evaluate(async () => {
    const out = { script: false, request: "" };
    globalThis.ran = false;
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    document.body.append(script);
    out.script = globalThis.ran;
    try { await fetch("data:text/plain,x"); out.request = "allowed"; } catch { out.request = "refused"; }
    return out;
  });
  assert.deepEqual(results, { script: false, request: "refused" }, "the policy is in force");
}

async function files({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=overview`);
  await page.waitForSelector(".table button");
  const [table] = await Promise.all([page.waitForEvent("download"), page.locator(".table button").first().click()]);
  assert.match(readFileSync(await table.path(), "utf8"), /^[^\n]+,[^\n]+\n/, "a table as CSV");
  // Decimal points stand below each other, whatever the units.
  const points = await page.locator("[role=region][aria-label=heaviest-call-paths] .fraction").evaluateAll((all) => all.map((e) => [e.closest("td").cellIndex, e.getBoundingClientRect().left]));
  for (const [column, left] of points) assert.ok(Math.abs(left - points.find(([c]) => c === column)[1]) < 1, `decimal points of column ${column}`);
  assert.ok(points.length > 8);
  const [figure] = await Promise.all([page.waitForEvent("download"), page.locator("figure button").first().click()]);
  assert.match(readFileSync(await figure.path(), "utf8"), /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/, "a figure as SVG");
}

// Paper is light, whatever the theme: text and names of rows are dark on white.
async function printed({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  await page.waitForSelector("canvas");
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
  await page.waitForTimeout(200);
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(() => { // the names of rows are drawn again, dark
    const labels = globalThis.drawn({ top: 30, width: 70 }).data;
    let darkest = 255;
    for (let i = 0; i < labels.length; i += 4) if (labels[i + 3] > 200) darkest = Math.min(darkest, labels[i]);
    return darkest < 100;
  });
  const text = await page.evaluate(() => getComputedStyle(document.querySelector("h1")).color);
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => { delete document.documentElement.dataset.theme; });
  assert.deepEqual(text, "rgb(29, 34, 39)", `${about.name}: text on paper`);
}

// The timeline as a file: shapes and text, no pixels, of bounded size.
async function timelineFile({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline&window=0`);
  await page.waitForSelector("canvas");
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("button", { hasText: "SVG" }).first().click()]);
  const text = readFileSync(await file.path(), "utf8");
  const shapes = await page.evaluate((xml) => {
    const svg = new DOMParser().parseFromString(xml, "image/svg+xml");
    return Object.fromEntries(["parsererror", "image", "rect", "path", "text", "script"].map((name) => [name, svg.getElementsByTagName(name).length]));
  }, text);
  assert.deepEqual([shapes.parsererror, shapes.image, shapes.script], [0, 0, 0], `${about.name}: ${JSON.stringify(shapes)}`);
  assert.ok(shapes.rect > 4 && shapes.path > 4 && shapes.text > 4 && />(rank \d+|▸ \d+ like \d+)<\/text>/.test(text), `${about.name}: ${JSON.stringify(shapes)}`);
  assert.ok(text.length < 4e6, `${about.name}: ${text.length} bytes of SVG`);
}

// More locations than rows: groups open and close by link, by mouse and by keys; the link of the page holds which.
async function groups({ page }, about) {
  await page.goto("about:blank");
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  const link = page.locator("[role=region][aria-label=groups] a").first();
  await link.waitFor();
  const height = () => page.evaluate(() => document.querySelector("canvas").clientHeight);
  const opened = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("open"));
  const waitFor = (expanded) => page.waitForFunction((e) => document.querySelector("[role=region][aria-label=groups] a")?.getAttribute("aria-expanded") === e, expanded);
  const closed = await height();
  await link.click();
  await waitFor("true");
  const group = await opened();
  assert.match(group, /^\d+$/);
  assert.ok((await height()) > closed + 30, `${about.name}: members have rows of their own`);
  const state = page.url();
  await page.goBack();
  await waitFor("false");
  assert.equal(await height(), closed, `${about.name}: back closes the group`);
  await page.goto("about:blank");
  await page.goto(state);
  await waitFor("true");
  await page.locator("canvas").focus();
  for (let i = 0; i <= Number(group) + 1; i++) await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.querySelector("p.hover")?.textContent.startsWith("rank "));
  await page.keyboard.press("Enter");
  await waitFor("false");
  assert.equal(await opened(), "none", `${about.name}: Enter on a member closes its group`);
  await page.keyboard.press("Enter");
  await waitFor("true");
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click(box.x + 30, box.y + 22 + ((closed - 22) / 512) * Number(group) + 7);
  await waitFor("false");
}

// Iterations of every rank, and pairs of ranks, of a profile.
async function recorded({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  await page.waitForSelector("figure svg[aria-label^='Waiting of']");
  assert.ok((await page.locator("figure svg[aria-label^='Duration of'] rect").count()) >= 4 * 8, `${about.name}: iterations of every rank`);
  // A link to them opens there, whatever is above.
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline&at=iterations`);
  await page.waitForFunction(() => Math.abs(document.querySelector("section[aria-label='Iterations over time']")?.getBoundingClientRect().top ?? 1e9) < innerHeight);
  await page.goto(`${pathToFileURL(about.file).href}#view=matrix`);
  await page.waitForSelector("figure.matrix");
  assert.ok((await page.locator("[role=region][aria-label=pairs-waiting] tbody tr").count()) > 0, `${about.name}: who waits for whom`);
  await page.locator("button", { hasText: "bytes" }).click();
  await page.waitForSelector("[role=region][aria-label=pairs-bytes] tbody tr");
}

// The program's Cartesian grid: neighbours, imbalance, and the locations of the explorer on it.
async function onGrid({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=matrix`);
  const along = page.locator("[role=region][aria-label=grid] tbody tr");
  await along.first().waitFor();
  assert.deepEqual((await along.evaluateAll((rows) => rows.map((r) => r.cells[1].textContent))), ["80", "40", "0"], `${about.name}: messages along the dimensions`);
  assert.equal(await page.locator("[role=region][aria-label=grid-imbalance] tbody tr").count(), 3);
  await page.goto(`${pathToFileURL(about.file).href}#view=explorer&system=grid`);
  await page.waitForSelector("[aria-label=System] figure");
  assert.equal(await page.locator("[aria-label=System] figure rect").count(), 4);
}

// Fingerprints: two pages of repetitions and a box; clicking through what there is.
async function sheet({ page }, about) {
  await page.goto(pathToFileURL(about.file).href);
  for (const name of ["Run time of", "Empirical distribution", "Quartiles", "Histogram of"]) await page.waitForSelector(`figure svg[aria-label^='${name}']`);
  for (const name of ["misses per repetition", "Run time by misses"]) assert.equal(await page.locator(`figure svg[aria-label^='${name}'] circle`).count(), 100);
  const counters = await page.locator("[role=region][aria-label=coefficients]").innerText();
  for (const text of ["0.88", "0.25", "20"]) assert.ok(counters.includes(text), counters);
  assert.ok((await page.locator("body").innerText()).includes("it changes by 12.5 %, 95 % interval 6.3 % to 25.0 %"));
  for (const name of ["Metrics over repetitions", "Changes of the metrics"]) assert.equal(await page.locator(`figure svg[aria-label^='${name}'] polyline`).count(), 5, name);
  for (const [category, style] of [["warmup", "mpi_p2p"], ["good", "s0fill"], ["outlier", "late"]])
    assert.equal(await page.locator(`figure svg[aria-label='Histogram of 400 run times'] rect.${style}`).count(), about.bars[category], `${about.name}: bars of ${category}`);
  assert.equal(await page.locator("g.quantile").count(), 5);
  assert.equal(await page.locator("figure svg[aria-label^='Run times of 2 ranks'] line:has(title)").count(), 4);
  const phases = await page.locator("section[aria-label='Phases and patterns']").innerText();
  for (const text of about.said) assert.ok(phases.includes(text), `${about.name}: ${text} is not in ${phases}`);
  const samples = await page.locator("[role=region][aria-label=samples]").innerText();
  for (const text of ["<img>progress", "libmpi.so", "75.0 %", "6.3 %"]) assert.ok(samples.includes(text), samples);
  if (about.compared) {
    const section = await page.locator("section[aria-label=Compared]").innerText();
    for (const text of about.compared) assert.ok(section.includes(text), `${about.name}: ${text} is not in ${section}`);
    const both = await page.locator("section[aria-label='Both results compared']").innerText();
    for (const text of about.both) assert.ok(both.includes(text), `${about.name}: ${text} is not in ${both}`);
    assert.equal(await page.locator("figure svg[aria-label^='Distribution of the run times of A and B'] polyline").count(), 2);
  }
  for (const category of ["first", "outlier", "good"]) assert.ok((await page.locator("[role=region][aria-label=categories]").innerText()).includes(category));
}

// A table with more lines than a page: all can be reached.
async function turnPages({ page }, about) {
  await page.goto(`${pathToFileURL(about.file).href}#view=timeline`);
  const region = page.locator("[role=region][aria-label=time-per-rank]");
  await region.waitFor();
  const first = await region.locator("tbody tr").first().innerText();
  await region.locator("button[aria-label='next lines']").click();
  assert.match(await region.locator(".pages").innerText(), /201 – 300 of 300/);
  assert.notEqual(await region.locator("tbody tr").first().innerText(), first);
  assert.equal(await region.locator("button[aria-label='next lines']").isDisabled(), true);
}

async function pictures(about) {
  const views = { overview: "", timeline: "#view=timeline&window=0", explorer: "#view=explorer", causes: "#view=causes", matrix: "#view=matrix" };
  for (const theme of ["light", "dark"]) {
    const { page, context } = await open(about.file, theme);
    for (const [view, hash] of Object.entries(views)) {
      await page.goto("about:blank");
      await page.goto(pathToFileURL(about.file).href + hash);
      await page.waitForSelector("main section");
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${plan.pictures}/page-${view}-${theme}.png` });
    }
    await context.close();
  }
}

// What needs no mouse, no clock and no data is checked on each page; the rest where it makes a difference.
for (const about of plan.pages) {
  const tab = await open(about.file);
  await everyView(tab, about);
  await tab.page.locator("nav a").first().click();
  const text = await tab.page.locator("body").innerText();
  if (about.title) assert.ok(text.includes(about.title), `${about.name}: names the program`);
  if (about.text) assert.ok(text.includes(about.text), `${about.name}: says "${about.text}"`);
  if (about.findings) assert.ok((await tab.page.locator(".finding").count()) > 0, `${about.name}: has findings`);
  for (const name of about.hostile ?? []) {
    await tab.page.goto(`${pathToFileURL(about.file).href}#view=explorer`);
    await tab.page.waitForSelector("[role=treeitem]");
    const titles = await tab.page.locator("[role=treeitem] .name").evaluateAll((all) => all.map((e) => e.getAttribute("title")));
    assert.ok(titles.includes(name), `${about.name}: ${name} is shown as it is: ${titles}`);
  }
  assert.notEqual(await tab.page.title(), "taken");
  assert.equal(await tab.page.locator("img, b:text('bold')").count(), 0, `${about.name}: no name became an element`);
  if (about.timeline) { await timeline(tab, about); await windowsShowTheirWait(tab, about); }
  if (about.groups) await groups(tab, about);
  if (about.groups || about.name === "demo") await timelineFile(tab, about);
  if (about.causes) await analysed(tab, about);
  if (about.by_rank) await recorded(tab, about);
  if (about.grid) await onGrid(tab, about);
  if (about.fingerprints) await sheet(tab, about);
  if (about.name === "many") await turnPages(tab, about);
  if (!about.fingerprints && !about.only) await linksRestore(tab, about);
  for (const [view, words] of Object.entries(about.says ?? {})) {
    await tab.page.goto(`${pathToFileURL(about.file).href}#view=${view}`);
    await tab.page.waitForFunction((v) => document.querySelector("nav a[aria-current=page]")?.hash.includes(`view=${v}`), view);
    const said = (await tab.page.locator("main").innerText()).replace(/\s+/g, " ");
    for (const word of words) assert.ok(said.includes(word), `${about.name}: ${view} says "${word}": ${said}`);
  }
  if (about.json) await viewsSayTheJson(tab, about);
  if (about.one_click) await newcomer(tab, about);
  if (about.name === "demo") { await keyboardOnly(tab, about); await files(tab, about); await printed(tab, about); }
  assert.deepEqual(tab.wrong, [], `${about.name}: nothing on the console, no request`);
  if (about.name === "demo") await policyHolds(tab);
  await tab.context.close();
  console.log(`${about.name}: ok`);
}

if (plan.pictures) {
  await pictures(plan.pages[0]);
  await browser.close();
  process.exit(0);
}

// Accessibility: every view of a page that has all of them, dark and light.
const violations = [], checked = new Set();
for (const [name, theme, only] of [["demo", "light"], ["demo", "dark"], ["scaling", "light", ["scaling", "compare"]], ["lammps", "light", ["timeline", "matrix"]], ["groups", "dark", ["timeline"]], ["fingerprint", "dark"], ["fingerprints", "light"], ["launches", "light"], ["launches", "dark"]]) {
  const about = plan.pages.find((page) => page.name === name);
  const { page, context } = await open(about.file, theme);
  for (const view of await page.locator("nav a").evaluateAll((all) => all.map((a) => new URLSearchParams(a.hash.slice(1)).get("view")))) {
    if (only && !only.includes(view)) continue;
    await page.goto(`${pathToFileURL(about.file).href}#view=${view}`);
    await page.waitForFunction((v) => document.querySelector("nav a[aria-current=page]")?.hash.includes(`view=${v}`), view);
    violations.push(...await accessible(page, `${name} ${view} ${theme}`, { coloursOnly: checked.has(name) }));
  }
  checked.add(name);
  await context.close();
}

assert.deepEqual(violations, [], "accessibility");

// The components alone, and the colours of what must be told apart, as people with the three deficiencies see them
// (matrices of Machado, Oliveira, Fernandes 2009, severity 1).
const deficiencies = {
  none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
function lab(hex, matrix) {
  const rgb = [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  const seen = [0, 1, 2].map((r) => Math.min(1, Math.max(0, matrix[3 * r] * rgb[0] + matrix[3 * r + 1] * rgb[1] + matrix[3 * r + 2] * rgb[2])));
  const xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]].map((row) => row.reduce((s, k, i) => s + k * seen[i], 0));
  const f = xyz.map((v, i) => { const t = v / [0.9505, 1, 1.089][i]; return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116; });
  return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])];
}
const alike = [];
for (const theme of ["light", "dark"]) {
  const { page, context, wrong } = await open(plan.pages[0].file, theme);
  // Activities; grades of factors; lines of a chart; categories of run times.
  for (const group of ["useful p2p collective mpi-other openmp late", "good fair poor", "s0 s1", "mpi-other p2p late s0"]) {
    const names = group.split(" ").map((name) => `--${name}`);
    const colours = await page.evaluate((all) => all.map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()), names);
    for (const [deficiency, matrix] of Object.entries(deficiencies))
      for (let a = 0; a < names.length; a++)
        for (let b = a + 1; b < names.length; b++) {
          const [x, y] = [lab(colours[a], matrix), lab(colours[b], matrix)];
          const distance = Math.hypot(...x.map((v, i) => v - y[i]));
          if (distance < 14) alike.push(`${theme}, ${deficiency}: ${names[a]} and ${names[b]} differ by ${distance.toFixed(1)} only`);
        }
  }
  assert.deepEqual(wrong, []);
  await context.close();
}
assert.deepEqual(alike, [], "colours that look alike");
{
  const context = patient(await browser.newContext());
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.goto(pathToFileURL(plan.design).href);
  await page.waitForSelector("section");
  const components = {
    ".finding": 4, "[role=tree]": 2, canvas: 1, "svg[aria-label^='Chain of']": 1, "svg[aria-label$='ranks, 3 pairs']": 1, ".warnings": 2, ".empty": 4,
    "[role=region][aria-label=windows]": 1, "[role=region][aria-label=metrics]": 1, "svg[aria-label^='Medians of the launches']": 1,
  };
  for (const [what, least] of Object.entries(components)) assert.ok((await page.locator(what).count()) >= least, `components: ${what}, ${await page.locator(what).count()}`);
  assert.ok((await page.locator("main").innerText()).includes("This page cannot be shown: this page holds no data of Latecomer"), "components: an error");
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
    wrong.push(...(await accessible(page, `components, ${theme}`, { but: ["landmark-unique"], coloursOnly: theme === "dark" }))); // views stand there twice
    await page.screenshot({ path: `components-${theme}.png`, fullPage: true }); // to look at
  }
  const numbers = await page.locator(".n").allInnerTexts();
  assert.deepEqual(numbers.filter((text) => /NaN|undefined|Infinity|^-[\d.]+ *[a-z]*$/.test(text)), [], "components: numbers");
  assert.deepEqual(wrong, []);
  await page.locator("button", { hasText: /^help$/ }).click();
  await page.waitForSelector("[role=dialog]");
  await context.close();
}
await browser.close();
console.log("all pages: ok");
