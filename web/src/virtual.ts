/** Of a long list only the lines in sight are drawn: the virtualizer of TanStack, joined to Preact. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

export function useVirtualizer(box: RefObject<HTMLElement | null>, count: number, height: number): Virtualizer<HTMLElement, HTMLElement> {
  const [, drawAgain] = useReducer((n: number) => n + 1, 0);
  const options = {
    count, getScrollElement: () => box.current, estimateSize: () => height, overscan: 5, initialRect: { width: 0, height: 480 },
    observeElementRect, observeElementOffset, scrollToFn: elementScroll, onChange: () => drawAgain(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
