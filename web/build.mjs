// Builds dist/page.html, the template that `latecomer report` writes data into, and design.html, which shows every component in every
// state. Everything is in the one file: the policy names the hash of its script and of its style, and lets nothing else run or load.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { plugin } from "./definitions.mjs";

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function bundle(entry) {
  const result = await build({
    entryPoints: [entry], bundle: true, minify: true, write: false, format: "iife", target: ["chrome109", "firefox113", "safari16.4"],
    jsx: "automatic", jsxImportSource: "preact", legalComments: "none", charset: "ascii", plugins: [plugin("../docs/definitions")],
  });
  // "</script" and "<!--" cannot stand in the text of a script.
  return result.outputFiles[0].text.trim().replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
}

const page = (title, script, style, data) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style></head>
<body><div id="app"><p class="loading">Reading the data of this page …</p></div>
<noscript><p>This page needs JavaScript (its own, nothing is loaded). Without: <code>latecomer show --full</code>.</p></noscript>
${data}<script>${script}</script>
</body></html>
`;

const style = (await build({ entryPoints: ["src/style.css"], minify: true, write: false })).outputFiles[0].text.trim();
mkdirSync("dist", { recursive: true });
writeFileSync("dist/page.html", page("Latecomer", await bundle("src/main.tsx"), style, "<!--data-->\n"));
writeFileSync("design.html", page("Latecomer: components", await bundle("src/design.tsx"), style, ""));
const bytes = readFileSync("dist/page.html").length;
console.log(`dist/page.html: ${bytes} bytes`);
