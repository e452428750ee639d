import { expect, test } from "vitest";
import { formatState, lasting, numberKey, parseState, waitFirst, withKeys } from "../src/state";

test("a link restores the state it was made of", () => {
  const state = { view: "explorer" as const, result: 2, keys: { path: "main/a%2Fb", search: "a&b=c #é" } };
  expect(parseState(formatState(state))).toEqual(state);
});

test("links made by hand: unknown views, negative and broken numbers", () => {
  expect(parseState("#view=nonsense&result=-3").view).toBe("overview");
  expect(parseState("#result=-3").result).toBe(0);
  expect(parseState("#result=x").result).toBe(0);
  expect(numberKey(parseState("#from=abc"), "from", 7)).toBe(7);
  expect(numberKey(parseState("#from=Infinity"), "from", 7)).toBe(7);
});

test("empty keys leave the link; other keys stay", () => {
  const state = withKeys(parseState("#view=timeline&from=1&window=3"), { window: "", to: 2 });
  expect(formatState(state)).toBe("#view=timeline&from=1&to=2");
});

test("the delay-cost model holds in every view, other keys in their own", () => {
  const state = parseState("#view=causes&model=wait-first&cause=3");
  expect(waitFirst(state)).toBe(true);
  expect(formatState({ view: "timeline", result: 0, keys: lasting(state) })).toBe("#view=timeline&model=wait-first");
  expect(lasting(parseState("#view=causes&cause=3"))).toEqual({});
});
