/** The whole state of the page is in the fragment of its address: every view is a link, back and forward restore it. */
export const VIEWS = ["overview", "explorer", "timeline", "causes", "matrix", "scaling", "compare", "fingerprint", "sweep", "guidelines", "about"] as const;
export type View = (typeof VIEWS)[number];

export interface State {
  view: View;
  /** Which result of the page. */
  result: number;
  /** Everything else, by name; views own their keys. */
  keys: Record<string, string>;
}

export function parseState(fragment: string): State {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const keys: Record<string, string> = {};
  params.forEach((value, key) => (keys[key] = value));
  const view = VIEWS.find((v) => v === keys.view) ?? "overview";
  const result = Math.max(0, Math.floor(Number(keys.result ?? 0)) || 0);
  delete keys.view;
  delete keys.result;
  return { view, result, keys };
}

export function formatState(state: State): string {
  const params = new URLSearchParams({ view: state.view });
  if (state.result > 0) params.set("result", String(state.result));
  for (const key of Object.keys(state.keys).sort()) if (state.keys[key] !== "") params.set(key, state.keys[key]);
  return `#${params.toString()}`;
}

/** What holds in every view of a result: the delay-cost model. */
export function lasting(state: State): Record<string, string> {
  return state.keys.model ? { model: state.keys.model } : {};
}

/** Whether the second delay-cost model was chosen. */
export function waitFirst(state: State): boolean {
  return state.keys.model === "wait-first";
}

/** What a view does with the state: change some keys (`replace`: without a step of "back"), or go elsewhere. */
export interface Navigation {
  state: State;
  set(keys: Record<string, string | number>, replace?: boolean): void;
  link(view: View, keys?: Record<string, string | number>): string;
}

export function withKeys(state: State, keys: Record<string, string | number>): State {
  const all = { ...state.keys };
  for (const [key, value] of Object.entries(keys)) all[key] = String(value);
  return { ...state, keys: all };
}

export function numberKey(state: State, key: string, otherwise: number): number {
  const value = Number(state.keys[key] ?? NaN);
  return Number.isFinite(value) ? value : otherwise;
}
