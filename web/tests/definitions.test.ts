import { expect, test } from "vitest";
import { definitions, namesIn, sectionsOf } from "../definitions.mjs";
import metrics from "../../src/model/metrics.c?raw";
import { definitionOf, placeOf } from "../src/about";

const sections = definitions("../docs/definitions");

test("names in backticks, abbreviated ones whole", () => {
  expect(namesIn("`omp_lock_critical`, `_api` and `visits`, not `A - B`")).toEqual(["omp_lock_critical", "omp_lock_api", "visits"]);
});

test("sections by heading, links as their words, examples define nothing", () => {
  const [first, second] = sectionsOf("p", "# Page\n\n## 2.1 `a_b` waits\nSee [the paper](x.md): `a_b`.\n\n## 7. Examples\n`a_b`\n");
  expect(first).toEqual({ page: "p", title: "2.1 a_b waits", html: "<p>See the paper: <code>a_b</code>.</p>", names: ["a_b"] });
  expect(second.names).toEqual([]);
});

test("families stand by their name, in both models", () => {
  for (const name of ["delay_latesender_longterm_waitfirst", "delay_io_aggregate", "mpi_wait_direct_n2n", "omp_wait_terminal_lock", "mpi_wait_propagating_ls_waitfirst"])
    expect(definitionOf(name, sections)?.page).toBe("wait-states");
  expect(placeOf(definitionOf("mpi_latesender", sections)!)).toBe("wait-states 2.2");
  expect(definitionOf("no_such_metric", sections)).toBeUndefined();
});

test("every metric of the model is defined", () => {
  const names = [...metrics.matchAll(/^ {4}\{"([a-z0-9]\w*)",/gm)].map((found) => found[1]);
  const kinds = new Set([...metrics.matchAll(/^ {4}\{"(\w+)", "\w+", "[^"]+", "(?:mpi|omp)", "delay_\w+"\}/gm)].map((found) => found[1]));
  expect(kinds.size).toBe(17);
  const members = [...kinds].map((kind) => `delay_${kind}`);
  expect([...names.filter((name) => !kinds.has(name) && name !== "delay_"), ...members].filter((name) => definitionOf(name, sections) === undefined)).toEqual([]);
});
