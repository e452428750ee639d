import { expect, test } from "vitest";
import { besideUses, isOf } from "../src/beside";
import type { Result } from "../src/result";
import type { BesideUse, Fingerprint } from "../src/types";

const of = (benchmark: object): Fingerprint => ({ operation: "MPI_Allreduce", bytes: 8, benchmark }) as unknown as Fingerprint;
const use = (more: object): BesideUse => ({ callpath: "main/MPI_Allreduce", operation: "MPI_Allreduce", alone_bytes: 8, ...more }) as BesideUse;

test("which fingerprint is of a call in the program", () => {
  expect(isOf(use({ comm: "0-3" }), of({ comm: "world" }))).toBe(true);
  expect(isOf(use({ comm: "0,2/1,3" }), of({ comm: "0,2/1,3" }))).toBe(true);
  expect(isOf(use({ comm: "0-1/2-3" }), of({ comm: "0,2/1,3" }))).toBe(false);
  expect(isOf(use({ comm: "3,1" }), of({ comm: "world", ranks_wanted: "3,1" }))).toBe(true);
  expect(isOf(use({ alone_bytes: 16 }), of({ comm: "world" }))).toBe(false);
  expect(isOf(use({ operation: "MPI_Bcast" }), of({ comm: "world" }))).toBe(false);
  expect(isOf(use({ alone_bytes: null }), of({ comm: "world" }))).toBe(false);
});

test("damaged rows are left out", () => {
  const result = { beside: { callpaths: [7, null, { callpath: 3 }, use({})] } } as unknown as Result;
  expect(besideUses(result)).toHaveLength(1);
  expect(besideUses({ beside: null } as Result)).toEqual([]);
});
