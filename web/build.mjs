// Builds dist/page.html, the template that `latecomer report` writes data into, and design.html, which shows every component in every
// state. Everything is in the one file: the policy names the hash of its script and of its style, and lets nothing else run or load.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { plugin } from "./definitions.mjs";

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function bundle(entry) {
  const result = await build({
    entryPoints: [entry], bundle: true, minify: true, write: false, format: "iife", target: ["chrome109", "firefox113", "safari16.4"],
    jsx: "automatic", jsxImportSource: "preact", legalComments: "none", charset: "ascii", plugins: [plugin("../docs/definitions")], metafile: true,
  });
  // "</script" and "<!--" cannot stand in the text of a script.
  const text = result.outputFiles[0].text.trim().replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
  return { text, licenses: licensesOf(Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs).filter(([, of]) => of.bytesInOutput > 0).map(([file]) => file))) };
}

/** The licences of the packages of which these files are, each with the packages that have it: they ask to go along with every copy. */
function licensesOf(files) {
  const packages = new Map(files.flatMap((file) => { const found = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file); return found ? [[found[2], found[1]]] : []; }));
  const texts = new Map();
  for (const [name, folder] of [...packages].sort()) {
    const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const text = readFileSync(`${folder}/${readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))}`, "utf8").replace(/\r/g, "").trim().replace(/--+>?/g, "-");
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}:\n${text}\n`).join("\n");
}

const page = (title, { text: script, licenses }, style, data) => `<!doctype html>
<!-- Of this page's script parts are of others:

${licenses}-->
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
