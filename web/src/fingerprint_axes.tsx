/** What all drawings of fingerprints share: their size, axes, and how times and categories look. */
import type { JSX } from "preact";
import { seconds } from "./format";

export const CATEGORIES = ["first", "warmup", "outlier", "good"];
export const CLASSES: Record<string, string> = { first: "mpi_other", warmup: "mpi_p2p", outlier: "late", good: "s0fill" };
export const ns = (value: number | null | undefined): string => (typeof value === "number" ? seconds(value * 1e-9) : "–");

export const [LEFT, WIDTH, RIGHT] = [62, 640, 12];

export function Axes(props: { height: number; top: number; low: number; xText: [string, string]; text: (v: number) => string }): JSX.Element {
  const { height, top, low } = props;
  return (
    <g>
      {[0, 0.5, 1].map((q) => [
        <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={8 + (1 - q) * (height - 30)} y2={8 + (1 - q) * (height - 30)} />,
        <text class="tick" x={LEFT - 6} y={12 + (1 - q) * (height - 30)} text-anchor="end">{props.text(low + q * (top - low))}</text>,
      ])}
      <text class="tick" x={LEFT} y={height - 4}>{props.xText[0]}</text>
      <text class="tick" x={WIDTH - RIGHT} y={height - 4} text-anchor="end">{props.xText[1]}</text>
    </g>
  );
}

/** Where a value stands in a drawing of that height. */
export const upright = (height: number, low: number, top: number) => (v: number): number => 8 + (1 - (v - low) / Math.max(top - low, 1e-300)) * (height - 30);
export const along = (share: number): number => LEFT + Math.min(1, Math.max(0, share)) * (WIDTH - LEFT - RIGHT);

/** Least and largest of some lists; of none 0 and 1. */
export function range(lists: number[][]): [number, number] {
  let [low, top] = [Infinity, -Infinity];
  for (const list of lists) for (const v of list) if (Number.isFinite(v)) { low = Math.min(low, v); top = Math.max(top, v); }
  return low < top ? [low, top] : Number.isFinite(low) ? [low, low + 1] : [0, 1];
}
