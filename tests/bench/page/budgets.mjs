// Times of a page in headless Chromium: until the first view, until it reacts, frames while scrolling the call tree and while zooming the
// timeline, memory. Usage: budgets.mjs MODULES CHROMIUM PAGE..; prints one object of JSON a page.
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, chromium, ...files] = process.argv.slice(2);
const { chromium: launcher } = createRequire(`${modules}/node_modules/`)("playwright-core");
const browser = await launcher.launch({ executablePath: chromium, args: ["--no-sandbox", "--enable-precise-memory-info"] });

// Times between frames while `step` runs before each of them.
const frames = (page, n, step) => page.evaluate(async ([count, text]) => {
  const act = Function("i", text);
  const times = [];
  await new Promise((done) => {
    let last = 0;
    const frame = (now) => {
      if (last > 0) times.push(now - last);
      last = now;
      if (times.length === count) return done();
      act(times.length);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  times.sort((a, b) => a - b);
  return { median_ms: times[Math.floor(count / 2)], p95_ms: times[Math.floor(count * 0.95)], most_ms: times[count - 1] };
}, [n, step]);

for (const file of files) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const begin = Date.now();
  await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
  await page.waitForSelector("html[data-ready='1']", { timeout: 120000 });
  const first = Date.now() - begin;
  await page.locator("nav a", { hasText: "Explorer" }).click();
  await page.waitForSelector("[role=treeitem], .empty");
  const interactive = Date.now() - begin;
  const result = { file, bytes: statSync(file).size, first_view_ms: first, interactive_ms: interactive };
  if (await page.locator("[role=tree]").count()) {
    // Everything open: the search matches every name.
    await page.locator("[role=tree][aria-label='Call tree']").focus();
    await page.locator("input[type=search]").first().fill("_");
    await page.waitForTimeout(500);
    result.tree = await frames(page, 240, `document.querySelector("[role=tree][aria-label='Call tree']").scrollTop += 37`);
  }
  await page.evaluate(() => { location.hash = "#view=timeline"; });
  await page.waitForTimeout(800);
  if (await page.locator("canvas").count())
    result.timeline = await frames(page, 240, `const c = document.querySelector('canvas'), b = c.getBoundingClientRect();
      c.dispatchEvent(new WheelEvent('wheel', { deltaY: i % 60 < 30 ? -100 : 100, clientX: b.left + b.width * 0.6, clientY: b.top + 60, bubbles: true, cancelable: true }))`);
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const { metrics } = await client.send("Performance.getMetrics");
  result.heap_mib = Math.round(metrics.find((m) => m.name === "JSHeapUsedSize").value / 2 ** 20);
  const memory = await page.evaluate(() => performance.measureUserAgentSpecificMemory?.().then((m) => m.bytes).catch(() => null) ?? null).catch(() => null);
  if (memory) result.memory_mib = Math.round(memory / 2 ** 20);
  console.log(JSON.stringify(result));
  await page.context().close();
}
await browser.close();
