/** docs/definitions, by web/definitions.mjs: one entry per section. */
declare module "definitions" {
  export interface Definition {
    /** "wait-states" of docs/definitions/wait-states.md. */
    page: string;
    title: string;
    html: string;
    /** Metrics that it names, those of families with X, Y or Z for the kind. */
    names: string[];
  }
  const definitions: Definition[];
  export default definitions;
}

/** A file as text, in tests. */
declare module "*?raw" {
  const text: string;
  export default text;
}
