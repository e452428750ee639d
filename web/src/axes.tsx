/** Axes of all drawings: scales and round ticks are those of d3-scale, their look and their texts are ours. */
import { ticks as roundValues } from "d3-array";
import { scaleLinear, scaleLog } from "d3-scale";
import type { JSX } from "preact";
import { binarySize, tickTexts, type AxisUnit } from "./format";

export interface Scale {
  (value: number): number;
  ticks(count?: number): number[];
  domain(): number[];
  range(): number[];
}

/** Maps values from `domain` to pixels of `range`; values outside stand at the edge. */
export function linear(domain: [number, number], range: [number, number]): Scale {
  return scaleLinear(domain[0] === domain[1] ? [domain[0], domain[0] + 1] : domain, range).clamp(true);
}

/** The same for values above 0, by their logarithms. */
export function logarithmic(domain: [number, number], range: [number, number]): Scale {
  const [low, high] = [Math.max(domain[0], 1e-300), Math.max(domain[1], 1e-300)];
  return scaleLog(low === high ? [low / 1.1, low * 1.1] : [low, high], range).clamp(true);
}

/** Ticks that leave each label about `room` pixels, round in their unit: of whole numbers where `whole`; of logarithms only as many as fit. */
export function ticksOf(scale: Scale, room: number, unit: AxisUnit, whole = false): number[] {
  const [from, to] = scale.range();
  const most = Math.max(2, Math.floor(Math.abs(to - from) / room));
  const [low, high] = scale.domain();
  const size = unit === "bytes" ? binarySize(Math.max(Math.abs(low), Math.abs(high))) : 1;
  const ticks = (size === 1 ? scale.ticks(most) : roundValues(low / size, high / size, most).map((v) => v * size)).filter((v) => !whole || Number.isInteger(v));
  const places = ticks.map(scale);
  if (places.every((place, i) => i === 0 || Math.abs(place - places[i - 1]) >= room / 2)) return ticks;
  // Of 1, 2, 3 .. 10, 20 ..: 1, 2, 5; then the powers of ten.
  const first = (v: number): number => Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9));
  const fewer = ticks.filter((v) => [1, 2, 5, 10].includes(first(v)));
  return fewer.length <= most ? fewer : ticks.filter((v) => [1, 10].includes(first(v)));
}

/** Horizontal lines at round values, their texts left of `left`. */
export function YAxis(props: { scale: Scale; left: number; right: number; unit: AxisUnit }): JSX.Element {
  const { scale, left, right } = props;
  const ticks = ticksOf(scale, 32, props.unit);
  const texts = tickTexts(ticks, props.unit);
  return (
    <g>
      {ticks.map((v, i) => [
        <line class="grid" x1={left} x2={right} y1={scale(v)} y2={scale(v)} />,
        <text class="tick" x={left - 6} y={scale(v) + 4} text-anchor="end">{texts[i]}</text>,
      ])}
    </g>
  );
}

/** Round values below a drawing, whose lowest line is `y`; `title` stands before the first. */
export function XAxis(props: { scale: Scale; y: number; unit: AxisUnit; title?: string; whole?: boolean }): JSX.Element {
  const { scale, y, title } = props;
  const [left, right] = scale.range();
  const ticks = ticksOf(scale, 90, props.unit, props.whole);
  const texts = tickTexts(ticks, props.unit);
  const anchor = (x: number): string => (x < left + 16 ? "start" : x > right - 16 ? "end" : "middle");
  const named = (i: number): string => (i === 0 && title ? `${title} ${texts[i]}` : texts[i]);
  const free = (i: number): boolean => i === 0 || !title || scale(ticks[i]) - scale(ticks[0]) > 7 * named(0).length + 12; // the title needs room
  return (
    <g>
      <line class="axis" x1={left} x2={right} y1={y} y2={y} />
      {ticks.map((v, i) => [
        <line class="axis" x1={scale(v)} x2={scale(v)} y1={y} y2={y + 3} />,
        <text class="tick" x={scale(v)} y={y + 15} text-anchor={anchor(scale(v))}>{free(i) && named(i)}</text>,
      ])}
    </g>
  );
}
