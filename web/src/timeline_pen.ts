/** What the timeline is drawn with: on a canvas, or as the text of a file of SVG with the same shapes. */

/** An rgb() or #hex colour. */
export type Colour = string;

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: Colour, opacity?: number): void;
  /** The outline of a rectangle. */
  frame(x: number, y: number, width: number, height: number, stroke: Colour, lineWidth: number): void;
  /** Lines, each a list of x, y, x, y, .. */
  lines(lines: number[][], stroke: Colour, lineWidth: number, opacity?: number): void;
  /** Text at its middle height; what is wider than `most` pixels is cut. */
  text(text: string, x: number, y: number, anchor: "start" | "middle" | "end", fill: Colour, most?: number): void;
  /** From here to `unclip` only this rectangle is drawn in. */
  clip(x: number, y: number, width: number, height: number): void;
  unclip(): void;
}

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
  }

  rect(x: number, y: number, width: number, height: number, fill: Colour, opacity = 1): void {
    this.context.globalAlpha = opacity;
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  frame(x: number, y: number, width: number, height: number, stroke: Colour, lineWidth: number): void {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = lineWidth;
    this.context.strokeRect(x, y, width, height);
  }

  lines(lines: number[][], stroke: Colour, lineWidth: number, opacity = 1): void {
    const { context } = this;
    context.globalAlpha = opacity;
    context.strokeStyle = stroke;
    context.lineWidth = lineWidth;
    context.beginPath();
    for (const line of lines)
      for (let i = 0; i + 1 < line.length; i += 2) if (i === 0) context.moveTo(line[0], line[1]); else context.lineTo(line[i], line[i + 1]);
    context.stroke();
    context.globalAlpha = 1;
  }

  text(text: string, x: number, y: number, anchor: "start" | "middle" | "end", fill: Colour, most?: number): void {
    const { context } = this;
    if (most !== undefined) this.clip(x, y - 8, most, 16);
    context.fillStyle = fill;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.fillText(text, x, y);
    if (most !== undefined) this.unclip();
  }

  clip(x: number, y: number, width: number, height: number): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
  }

  unclip(): void {
    this.context.restore();
  }
}

const number = (value: number): string => String(Math.round(value * 100) / 100);

/** Text of an element or of an attribute. What XML cannot hold becomes a replacement character. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu, "\ufffd").replace(/[&<>"']/g, (c) => entities[c]);
}

/** Widths of text are unknown here: a letter takes 6 pixels on average. */
export const LETTER = 6;

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  private opacity(opacity: number): string {
    return opacity < 1 ? ` opacity="${number(opacity)}"` : "";
  }

  rect(x: number, y: number, width: number, height: number, fill: Colour, opacity = 1): void {
    this.parts.push(`<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" fill="${escaped(fill)}"${this.opacity(opacity)}/>`);
  }

  /** Many rectangles of one colour: x, y, width, height, .. */
  rects(rects: number[], fill: Colour): void {
    const parts: string[] = [];
    for (let i = 0; i < rects.length; i += 4) parts.push(`M${number(rects[i])} ${number(rects[i + 1])}h${number(rects[i + 2])}v${number(rects[i + 3])}h${number(-rects[i + 2])}z`);
    if (parts.length > 0) this.parts.push(`<path fill="${escaped(fill)}" d="${parts.join("")}"/>`);
  }

  frame(x: number, y: number, width: number, height: number, stroke: Colour, lineWidth: number): void {
    this.parts.push(`<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" fill="none" stroke="${escaped(stroke)}" stroke-width="${number(lineWidth)}"/>`);
  }

  lines(lines: number[][], stroke: Colour, lineWidth: number, opacity = 1): void {
    const path = lines.map((line) => line.map((v, i) => (i === 0 ? "M" : i === 2 ? "L" : " ") + number(v)).join("")).join("");
    if (path !== "") this.parts.push(`<path fill="none" stroke="${escaped(stroke)}" stroke-width="${number(lineWidth)}"${this.opacity(opacity)} d="${path}"/>`);
  }

  text(text: string, x: number, y: number, anchor: "start" | "middle" | "end", fill: Colour, most?: number): void {
    const letters = [...text];
    const room = most === undefined ? letters.length : Math.floor(most / LETTER);
    const shown = letters.length > room ? `${letters.slice(0, Math.max(0, room - 1)).join("")}…` : text;
    this.parts.push(`<text x="${number(x)}" y="${number(y + 4)}" text-anchor="${anchor}" fill="${escaped(fill)}">${escaped(shown)}</text>`);
  }

  clip(x: number, y: number, width: number, height: number): void {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"/></clipPath><g clip-path="url(#${id})">`);
  }

  unclip(): void {
    this.parts.push("</g>");
  }

  /** The whole file. */
  file(width: number, height: number, background: Colour): string {
    const size = `width="${number(width)}" height="${number(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${number(width)} ${number(height)}" font-family="system-ui, sans-serif" font-size="11">`
      + `<rect ${size} fill="${escaped(background)}"/>${this.parts.join("\n")}</svg>\n`;
  }
}
