// Opens exports in speedscope itself, in headless Chromium, as its own command does: every profile of each is there, under its name, and what is damaged
// is refused. Usage: in_speedscope.mjs PLAN.json
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const require = createRequire(`${plan.modules}/node_modules/`);
const { chromium } = require("playwright-core");
const app = pathToFileURL(join(plan.modules, "node_modules/speedscope/dist/release/index.html")).href;
const browser = await chromium.launch({ executablePath: plan.chromium, args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--allow-file-access-from-files"] });
const limit = 30000 * Number(process.env.LC_PATIENCE ?? "3");

async function open(name, text) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const wrong = [];
  page.setDefaultTimeout(limit);
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error") wrong.push(`console: ${message.text()}`); });
  const script = join(plan.scratch, `${name}.js`);
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${JSON.stringify(Buffer.from(text).toString("base64"))})`);
  await page.goto(`${app}#localProfilePath=${script}`);
  return { page, wrong };
}

for (const file of plan.files) {
  const text = readFileSync(file, "utf8");
  const wanted = JSON.parse(text).profiles.map((profile) => profile.name);
  const { page, wrong } = await open("export", text);
  for (let i = 0; i < wanted.length; i++) { // "n": the next profile
    const shown = wanted.length > 1 ? `${wanted[i]} (${i + 1}/${wanted.length})` : wanted[i];
    await page.waitForFunction((text) => document.body.innerText.includes(text), shown);
    await page.keyboard.press("n");
  }
  assert.deepEqual(wrong, [], file);
  await page.close();
}

const damaged = JSON.parse(readFileSync(plan.files[0], "utf8"));
damaged.profiles[0].samples = [[1e6]];
damaged.profiles[0].weights = [1];
const { page } = await open("damaged", JSON.stringify(damaged));
await page.waitForFunction(() => /something went wrong/i.test(document.body.innerText));
await browser.close();
console.log(`speedscope shows all profiles of ${plan.files.length} exports`);
