/** Operations of a program beside the same measured alone: what `latecomer bench --of` has left with a result, and which fingerprint is of it. */
import type { Result } from "./result";
import type { BesideUse, Fingerprint } from "./types";

/** What `latecomer bench --of` has told of a result. */
export const besideUses = (result: Result): BesideUse[] => (result.beside?.callpaths ?? []).filter((c) => typeof c === "object" && c !== null && typeof c.callpath === "string");

/** Lists of ranks that --comm or --ranks gave it; "": all ranks. */
const communicator = (f: Fingerprint): string => {
  const about = (f.benchmark ?? {}) as Record<string, unknown>;
  const wanted = [about.comm, about.ranks_wanted].find((v) => typeof v === "string" && /^[0-9]/.test(v));
  return typeof wanted === "string" ? wanted : "";
};

/** Whether a call was measured alone by this fingerprint: of several on other communicators, by that on its own. */
export const isOf = (use: BesideUse, f: Fingerprint): boolean =>
  use.operation === f.operation && use.alone_bytes === f.bytes && (communicator(f) === "" || !use.comm || communicator(f) === use.comm);
