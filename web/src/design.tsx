/** Every component in every state, dark and light side by side by the button: for those who change the page. Its data is made up. */
import { render, type JSX } from "preact";
import { useState } from "preact/hooks";
import { seconds } from "./format";
import { About } from "./about";
import { RootCauses } from "./causes";
import { BoxPlot, Explorer, Histogram } from "./explorer";
import { Sheet } from "./fingerprint";
import { AllCompared, FingerprintCompare } from "./fingerprint_compare";
import { Failure, Help } from "./help";
import { FACTORS, madeUpResult, POP } from "./made_up";
import { Matrix } from "./matrix";
import { Efficiency, IterationField, Overview } from "./overview";
import { Bar, Choice, Legend, Lines, PathText, Section, Table } from "./parts";
import { CompareView, ScalingView } from "./sets";
import { withKeys, type Navigation, type State, type View } from "./state";
import { Timeline } from "./timeline";
import type { BenchComparison, Fingerprint } from "./types";
import { GuidelinesView, SweepView } from "./variants";

const spread = { values: Float64Array.from([0.1, 0.5, 0.52, 0.55, 0.6, 1.4]), reduced: false, largestAt: 5 };
const run = (ranks: number, pe: number) => ({ file: `run-${ranks}`, ranks, threads: ranks, wall_time_s: 8 / ranks, useful_s: 8, pop: { ...POP, parallel_efficiency: pe }, computational_scalability: 1, global_efficiency: pe });
const fingerprint: Fingerprint = {
  format: "latecomer-fingerprint", operation: "MPI_Bcast", bytes: 8, ranks: 2, runs_ns: [900, 120, 110, 400, 115, 118], category: ["first", "good", "good", "outlier", "good", "good"], min_ns: 110, max_ns: 900, mean_ns: 294, median_ns: 119,
  median_ci_ns: [110, 130], quantiles_ns: { "1": 110, "50": 119, "99": 880 }, categories: { first: { count: 1, share: 1 / 6, median_ns: 900 }, good: { count: 4, share: 4 / 6, median_ns: 117 }, outlier: { count: 1, share: 1 / 6, median_ns: 400 } },
  modes: [{ location_ns: 117, weight: 1 }], change_points: [3], box: { low_ns: 110, q1_ns: 112, median_ns: 119, q3_ns: 300, high_ns: 400, outside: 1 }, ecdf: { ns: [110, 115, 118, 120, 400, 900], share: [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1] },
  histogram: { all: { edges_ns: [100, 500, 900], counts: [5, 1] }, zoom: { edges_ns: [110, 115, 120], counts: [1, 3] } }, per_rank: [{ median_ns: 100, q95_ns: 200, last_share: 0.5 }],
  counters: { involuntary_switches: { total: 2, values: [1, 0, 0, 1, 0, 0], pearson: { all: 0.9, good: null }, spearman: { all: 0.8, good: null },
    per_rank: [{ pearson: { all: 0.9 }, spearman: { all: 0.8 } }, { pearson: { all: 0.1 }, spearman: { all: 0.2 } }], ranks_together: { pearson: { all: 0.6 }, spearman: { all: 0.5 } } } }, interference: { run_delay_share: 0.031, run_delay_share_of: [0.031, 0], steal_share: 0.002, other_share: null, windows: { at: [0, 3], run_delay_ns: [0, 400] } }, warnings: ["oversubscribed"], mpi: { name: "Open MPI" },
  warmup: { end: null, raw_end: 3 }, patterns: { period: 10, autocorrelation: 0.4, outliers: 6, outlier_clusters: 2, largest_cluster: 4, clusters_by_chance: 5.8, clusters_p: 0.0001 },
  cumulative: { cumulative_minimum: { at: [0, 1, 2, 5], ns: [900, 120, 110, 110], delta: [0, -6.5, -0.1, 0] }, cumulative_median: { at: [0, 1, 2, 5], ns: [900, 510, 120, 117], delta: [0, -3.3, -3.3, 0] } },
  samples: { n: 20, lost: 1, repetitions: 2, callpaths: [{ function: "MPI_Bcast", file: "libmpi.so", share: 1, self_share: 0.2, error: 0, of_category: { good: 1 }, depth: 0 }, { function: "progress", file: "libmpi.so", share: 0.8, self_share: 0.8, error: 0.09, of_category: { good: 0.8 }, depth: 1 }], functions: [] },
};
const compared: BenchComparison = {
  verdict: "not comparable", sources: ["A", "B"], only_in_a: [{ operation: "MPI_Scan", bytes: 8 }], metadata: [{ key: "mpi.parameters.algorithm", a: "ring", b: "tree" }],
  pairs: [{ operation: "MPI_Bcast", bytes: 8, verdict: "shifted", verdict_within: "shifted", why: null, launches: [3, 3], launches_guessed: false,
    quantiles: [{ percent: 5, a_ns: 110, b_ns: 112, shift: 0.02, low: -0.01, high: 0.05 }, { percent: 50, a_ns: 119, b_ns: 130, shift: 0.09, low: 0.05, high: 0.12 }, { percent: 95, a_ns: 880, b_ns: 700, shift: -0.2, low: null, high: null }] }],
};

const full = madeUpResult(true);
const bare = madeUpResult(false);
const sweep = {
  rounds: 4, rounds_wanted: 6, seed: 7, complete: false, failed: [{ variant: "tree", why: "rank 1 ended with signal 11" }],
  jobs: [{ operation: "MPI_Bcast", bytes: 8, variants: [{ name: "ring", median_ns: 110, launch_medians_ns: [108, 110, 115, 111] }, { name: "pipeline", median_ns: 150, launch_medians_ns: [140, 150, 152, 160] }] }],
};
const guidelines = {
  rounds: 4, rounds_wanted: 4, complete: true, without_mock_up: ["MPI_Barrier"], left_out: [{ operation: "MPI_Scan", why: "not measured" }],
  comparisons: [{ operation: "MPI_Gather", mock_up: "MPI_Allgather", bytes: 8, median_ns: 900, mock_up_median_ns: 600, excess_ns: 300, ratio: 1.5, ratio_ci: [1.3, 1.7] as [number, number], violated: true }, { operation: "MPI_Scan", mock_up: "MPI_Exscan + reduce", bytes: 8, median_ns: 500, mock_up_median_ns: 700, ratio: 0.71, ratio_ci: [0.6, 0.8] as [number, number], holds: true }],
};

/** A view as it is in the page, with a state of its own instead of the address. */
function InView(props: { view: View; keys?: Record<string, string>; children: (nav: Navigation) => JSX.Element }): JSX.Element {
  const [state, setState] = useState<State>({ view: props.view, result: 0, keys: props.keys ?? {} });
  return props.children({ state, set: (keys) => setState((now) => withKeys(now, keys)), link: () => "#" });
}

/** All views of a result with everything, and of one with little. */
function Views(): JSX.Element {
  return (
    <>
      <InView view="overview">{(nav) => <Overview result={full} fingerprints={[fingerprint]} nav={nav} />}</InView>
      <InView view="explorer" keys={{ path: "1", metric: "mpi" }}>{(nav) => <Explorer result={full} nav={nav} />}</InView>
      <InView view="timeline" keys={{ window: "0" }}>{(nav) => <Timeline result={full} nav={nav} />}</InView>
      <InView view="causes">{(nav) => <RootCauses result={full} mean={null} nav={nav} />}</InView>
      <InView view="matrix">{(nav) => <Matrix result={full} nav={nav} />}</InView>
      <InView view="about">{(nav) => <About result={full} creator="made up" nav={nav} />}</InView>
      <h2>The same without findings, analysis and trace</h2>
      <InView view="overview">{(nav) => <Overview result={bare} fingerprints={[]} nav={nav} />}</InView>
      <InView view="timeline">{(nav) => <Timeline result={bare} nav={nav} />}</InView>
      <InView view="causes">{(nav) => <RootCauses result={bare} mean={null} nav={nav} />}</InView>
      <InView view="matrix">{(nav) => <Matrix result={bare} nav={nav} />}</InView>
    </>
  );
}

function Design(): JSX.Element {
  const [choice, setChoice] = useState("a");
  const [help, setHelp] = useState(false);
  const rows = [{ name: "<img onerror=alert(1)>", s: 1.2345 }, { name: "main/solve/MPI_Recv", s: 1.2e-5 }];
  return (
    <main>
      <h1>Components</h1>
      <p class="tools left"><Choice label="Theme" value={document.documentElement.dataset.theme ?? "light"} options={[["light", "light"], ["dark", "dark"]]} onChange={(v) => { document.documentElement.dataset.theme = v; setChoice(choice === "a" ? "b" : "a"); }} /></p>
      <Section title="Section" note="with a note"><p class="empty">Nothing to show.</p><ul class="warnings"><li>A warning.</li></ul></Section>
      <Section title="Table"><Table name="design" rows={rows} selected={(r) => r.s > 1} columns={[{ title: "call path", cell: (r) => <PathText path={r.name} />, value: (r) => r.name }, { title: "time", cell: (r) => seconds(r.s), value: (r) => r.s, number: true }]} /></Section>
      <Section title="Bars"><Legend items={["useful", "mpi_p2p", "mpi_collective", "mpi_other", "openmp", "late", "late2"].map((c) => ({ class: c, text: c }))} />
        <Bar parts={["useful", "mpi_p2p", "mpi_collective", "mpi_other", "openmp", "late"].map((c) => ({ share: 1 / 6, class: c, title: c }))} /></Section>
      <Section title="Efficiency"><Efficiency factors={FACTORS} pop={POP} /></Section>
      <Section title="Choice"><Choice label="Choice" value={choice} options={[["a", "pressed"], ["b", "not pressed"]]} onChange={setChoice} /> <button type="button">button</button> <button type="button" class="quiet">quiet</button></Section>
      <Section title="Spread"><BoxPlot spread={spread} unit="sec" name="box" /><Histogram spread={spread} unit="sec" /></Section>
      <Section title="Lines"><Lines name="lines" label="Two lines" series={[{ class: "s0", values: [1, 2, 1.5, 4], text: "first" }, { class: "s1", values: [2, 2, 3, 3], text: "second" }]} xText={(i) => String(i)} unit="sec" marks={[{ at: 3, text: "outlier" }]} /></Section>
      <Section title="Iterations by rank"><IterationField byRank={{ ranks: 1, block: 1, elapsed_s: [[1, 1.1, 2, null], [1, 1, 1, 1.2]], waiting_s: [[0, 0.1, 0, null], [0.1, 0, 1, 0]] }} what="waiting_s" /></Section>
      <Section title="A table with pages"><Table name="pages" rows={[1, 2, 3, 4, 5]} most={2} columns={[{ title: "line", cell: (r) => r, value: (r) => r, number: true }]} /></Section>
      <Sheet f={fingerprint} nav={{ state: { view: "fingerprint", result: 0, keys: {} }, set: () => undefined, link: () => "#" }} />
      <AllCompared comparison={compared} all={[]} nav={{ state: { view: "fingerprint", result: 0, keys: {} }, set: () => undefined, link: () => "#" }} />
      <FingerprintCompare comparison={compared} pair={compared.pairs![0]} all={[{ ...fingerprint, source: "A" }, { ...fingerprint, source: "B" }]} />
      <ScalingView scaling={{ runs: [run(1, 1), run(2, 0.9), run(4, 0.6)] }} factors={FACTORS} />
      <CompareView comparison={{ verdict: "slower", ratio: 1.2, ratio_low: 1.1, ratio_high: 1.3, significance: "runs", a_s: 1, b_s: 1.2, parts: { useful: 0.15, balance: 0.07, transfer: -0.02 }, callpaths: [] }} names={["A", "B"]} factors={FACTORS} />
      <SweepView all={[sweep]} />
      <GuidelinesView all={[guidelines]} />
      <Views />
      <Section title="An error"><Failure error={new Error("this page holds no data of Latecomer")} /></Section>
      <p class="tools left"><button type="button" onClick={() => setHelp(true)}>help</button></p>
      {help && <Help close={() => setHelp(false)} />}
    </main>
  );
}

const root = document.getElementById("app");
if (root) { root.textContent = ""; render(<Design />, root); }
