/** What all drawings of fingerprints share: their size, axes, and how times and categories look. */
import type { JSX } from "preact";
import { linear, XAxis, YAxis, type Scale } from "./axes";
import { seconds, type AxisUnit } from "./format";

export const CATEGORIES = ["first", "warmup", "outlier", "good"];
export const CLASSES: Record<string, string> = { first: "mpi_other", warmup: "mpi_p2p", outlier: "late", good: "s0fill" };
export const ns = (value: number | null | undefined): string => (typeof value === "number" ? seconds(value * 1e-9) : "–");

export const [LEFT, WIDTH, RIGHT] = [62, 640, 12];

/** From the left to the right edge of a drawing. */
export const across = (from: number, to: number): Scale => linear([from, to], [LEFT, WIDTH - RIGHT]);

/** From the lowest line of a drawing of that height, below which its axis stands, to its upper edge. */
export const upwards = (height: number, from: number, to: number): Scale => linear([from, to], [height - 22, 8]);

export function Axes(props: { x: Scale; y: Scale; xUnit: AxisUnit; yUnit: AxisUnit; xTitle?: string; whole?: boolean }): JSX.Element {
  return (
    <g>
      <YAxis scale={props.y} left={LEFT} right={WIDTH - RIGHT} unit={props.yUnit} />
      <XAxis scale={props.x} y={props.y.range()[0]} unit={props.xUnit} {...(props.xTitle && { title: props.xTitle })} {...(props.whole && { whole: true })} />
    </g>
  );
}

/** Least and largest of some lists; of none 0 and 1. */
export function range(lists: number[][]): [number, number] {
  let [low, top] = [Infinity, -Infinity];
  for (const list of lists) for (const v of list) if (Number.isFinite(v)) { low = Math.min(low, v); top = Math.max(top, v); }
  return low < top ? [low, top] : Number.isFinite(low) ? [low, low + 1] : [0, 1];
}
