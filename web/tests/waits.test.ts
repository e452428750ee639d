import { expect, test } from "vitest";
import { nameBelow } from "../src/causes";
import { measuredFirst, partsOf, waitKey, waitMetrics } from "../src/result";

test("waiting is what the result calls so", () => {
  const metrics = [{ name: "time" }, { name: "mpi_latesender", waiting: true }, { name: "mpi_latesender_wo" }, { name: "omp_taskwait_wait", waiting: true }];
  expect(waitMetrics({ json: { metrics } })).toEqual([1, 3]);
});

test("the parts of a wait are found by its kind, place and start", () => {
  const severe = { rank: 2, thread: 0, start_s: 4.1, waiting_s: 3, direct_s: 1.8, indirect_s: 1.2, direct_s_waitfirst: 1, indirect_s_waitfirst: 2 };
  const parts = partsOf({ mpi_latesender: { severest: [severe, { rank: 1, thread: 0, start_s: 1, waiting_s: 1 }] } });
  expect(parts.get(waitKey("mpi_latesender", 2, 0, 4.1 + 1e-12))).toBe(severe);
  expect(parts.get(waitKey("mpi_latesender", 1, 0, 1))).toBeUndefined();
  expect(parts.get(waitKey("mpi_latereceiver", 2, 0, 4.1))).toBeUndefined();
});

test("in the tree of costs a name says what its parents do not say", () => {
  const tree = ["Delay costs", "Late Sender: delay costs", "Late Sender: delay costs, short-term", "Wait at Barrier: delay costs"].map((display, i) => ({ display, depth: [0, 1, 2, 1][i] }));
  expect(tree.map((_, at) => nameBelow(tree, at))).toEqual(["Delay costs", "Late Sender: delay costs", "short-term", "Wait at Barrier: delay costs"]);
});

test("what is measured stands before what is estimated", () => {
  const metrics = ["time", "mpi_latesender_estimated", "mpi_latesender", "visits"].map((name) => ({ name }));
  expect(measuredFirst([0, 1, 2, 3], metrics)).toEqual([0, 2, 3, 1]);
});
