import type { Definition } from "definitions";

export function namesIn(text: string): string[];
export function sectionsOf(page: string, markdown: string): Definition[];
export function definitions(directory: string): Definition[];
