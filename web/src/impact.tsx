/** What each call path means for the run time: its own time and what imbalance in it costs, and its times per rank beside that on the
 *  critical path. */
import type { JSX } from "preact";
import { percent, seconds } from "./format";
import { Bar, Legend, PathText, Section, Table, type Column } from "./parts";
import type { Result } from "./result";
import type { Impact } from "./types";

function column(title: string, key: keyof Impact, hint: string): Column<Impact> {
  return { title, hint, cell: (i) => seconds(Number(i[key])), value: (i) => Number(i[key]), number: true };
}

function share(title: string, key: keyof Impact, hint: string): Column<Impact> {
  return { title, hint, cell: (i) => percent(Number(i[key])), value: (i) => Number(i[key]), number: true };
}

const PATH: Column<Impact> = { title: "call path", cell: (i) => <PathText path={i.callpath} />, value: (i) => i.callpath };

/** Bars are in the scale of the largest impact. */
function parts(impact: Impact, most: number, all: string): JSX.Element {
  return (
    <Bar parts={[
      { share: impact.own_s / most, class: "meter", title: "own time" },
      { share: impact.intra_s / most, class: "late", title: `imbalance among its ${all}` },
      { share: impact.inter_s / most, class: "late2", title: `other ${all}` },
    ]} />
  );
}

export function PerformanceImpact(props: { result: Result }): JSX.Element | null {
  const { locations, impact: rows = [] } = (props.result.analysis ?? props.result.profile).json.result;
  if (rows.length === 0) return null;
  const [one, all] = locations.some((l) => l.thread > 0) ? ["thread", "threads"] : ["rank", "ranks"];
  const most = rows[0].impact_s || 1;
  return (
    <>
      <Section title="Performance impact" note={`own time of all ${all}, and the waiting that imbalance of the code costs them`}>
        <Table<Impact> name="performance-impact" rows={rows} most={15} columns={[
          PATH, column("impact", "impact_s", "own time and imbalance costs"), share("share", "share", "of the impact of all call paths"),
          { title: "of the largest", cell: (i) => parts(i, most, all), value: () => "" },
          column("own time", "own_s", `of all ${all}`), column("among", "intra_s", `waiting of ${all} that run the code`), column("others", "inter_s", `waiting of ${all} that never run it`),
          share("ratio", "ratio", "imbalance costs in the impact: 0 in balanced code"),
        ]} />
        <Legend items={[{ class: "meter", text: "own time" }, { class: "late", text: `imbalance costs among the ${all} that run it` }, { class: "late2", text: `of other ${all}` }]} />
      </Section>
      <Section title={`Own time per ${one}, and on the critical path`} note={`max − mean: imbalance as a profile shows it; path − mean: what it costs, also where it moves between ${all}`}>
        <Table<Impact> name="critical-path-times" rows={rows} most={15} columns={[
          PATH, column("min", "min_s", `of all ${all}`), column("mean", "mean_s", `of all ${all}`), column("max", "max_s", `of all ${all}`),
          column("max − mean", "max_minus_mean_s", "imbalance of the sums over the run"), column("on path", "path_s", "time on the critical path"),
          column("path − mean", "path_minus_mean_s", "below 0: the code is mostly off the critical path"),
        ]} />
      </Section>
    </>
  );
}
