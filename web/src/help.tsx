/** What the page says beside its views: its keys, and why it shows nothing. */
import type { JSX } from "preact";

export function Help(props: { close: () => void }): JSX.Element {
  const keys: [string, string][] = [["?", "this help"], ["1 – 9", "views, from left to right"], ["/", "search"], ["arrows", "in the call tree: up, down, fold, unfold; in the timeline: move"], ["+  −  0", "timeline: zoom in, out, all"], ["n  p", "timeline: next, previous wait"], ["↑  ↓  Enter", "timeline: choose a row, open or close a group"], ["Esc", "close"]];
  return (
    <div class="help" role="dialog" aria-modal="true" aria-label="Keyboard">
      <h2>Keyboard</h2>
      <dl>{keys.map(([key, text]) => <div><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
      <button type="button" autofocus onClick={props.close}>close</button>
    </div>
  );
}

export function Failure(props: { error: unknown }): JSX.Element {
  const { error } = props;
  return <p>This page cannot be shown: {error instanceof Error ? error.message : String(error)}</p>;
}
