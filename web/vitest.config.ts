import { defineConfig } from "vitest/config";
import { definitions } from "./definitions.mjs";

// What web/build.mjs gives to esbuild: the module "definitions".
export default defineConfig({
  plugins: [{
    name: "definitions",
    enforce: "pre",
    resolveId: (id: string) => (id === "definitions" ? "\0definitions" : undefined),
    load: (id: string) => (id === "\0definitions" ? `export default ${JSON.stringify(definitions("../docs/definitions"))};` : undefined),
  }],
});
