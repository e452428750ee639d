/** Every component in every state, dark and light side by side by the button: for those who change the page. Its data is made up. */
import { render, type JSX } from "preact";
import { useState } from "preact/hooks";
import { seconds } from "./format";
import { BoxPlot, Histogram } from "./explorer";
import { Efficiency } from "./overview";
import { Bar, Choice, Legend, Lines, PathText, Section, Table } from "./parts";
import { CompareView, ScalingView } from "./sets";
import type { FactorText } from "./types";

const factors: FactorText[] = [
  { depth: 0, key: "parallel_efficiency", name: "Parallel efficiency", formula: "avg U / T", advice: "" },
  { depth: 1, key: "load_balance", name: "Load balance", formula: "avg U / max U", advice: "" },
  { depth: 1, key: "communication_efficiency", name: "Communication efficiency", formula: "max U / T", advice: "" },
];
const pop = { parallel_efficiency: 0.52, load_balance: 0.71, communication_efficiency: 0.93 };
const spread = { values: Float64Array.from([0.1, 0.5, 0.52, 0.55, 0.6, 1.4]), reduced: false, largestAt: 5 };
const run = (ranks: number, pe: number) => ({ file: `run-${ranks}`, ranks, threads: ranks, wall_time_s: 8 / ranks, useful_s: 8, pop: { ...pop, parallel_efficiency: pe }, computational_scalability: 1, global_efficiency: pe });

function Design(): JSX.Element {
  const [choice, setChoice] = useState("a");
  const rows = [{ name: "<img onerror=alert(1)>", s: 1.2345 }, { name: "main/solve/MPI_Recv", s: 1.2e-5 }];
  return (
    <main>
      <p class="tools left"><Choice label="Theme" value={document.documentElement.dataset.theme ?? "light"} options={[["light", "light"], ["dark", "dark"]]} onChange={(v) => { document.documentElement.dataset.theme = v; setChoice(choice === "a" ? "b" : "a"); }} /></p>
      <Section title="Section" note="with a note"><p class="empty">Nothing to show.</p><ul class="warnings"><li>A warning.</li></ul></Section>
      <Section title="Table"><Table name="design" rows={rows} selected={(r) => r.s > 1} columns={[{ title: "call path", cell: (r) => <PathText path={r.name} />, value: (r) => r.name }, { title: "time", cell: (r) => seconds(r.s), value: (r) => r.s, number: true }]} /></Section>
      <Section title="Bars"><Legend items={["useful", "mpi_p2p", "mpi_collective", "mpi_other", "openmp", "late", "late2"].map((c) => ({ class: c, text: c }))} />
        <Bar parts={["useful", "mpi_p2p", "mpi_collective", "mpi_other", "openmp", "late"].map((c) => ({ share: 1 / 6, class: c, title: c }))} /></Section>
      <Section title="Efficiency"><Efficiency factors={factors} pop={pop} /></Section>
      <Section title="Choice"><Choice label="Choice" value={choice} options={[["a", "pressed"], ["b", "not pressed"]]} onChange={setChoice} /> <button type="button">button</button> <button type="button" class="quiet">quiet</button></Section>
      <Section title="Spread"><BoxPlot spread={spread} unit="sec" name="box" /><Histogram spread={spread} unit="sec" /></Section>
      <Section title="Lines"><Lines name="lines" label="Two lines" series={[{ class: "s0", values: [1, 2, 1.5, 4], text: "first" }, { class: "s1", values: [2, 2, 3, 3], text: "second" }]} xText={(i) => String(i)} yText={seconds} marks={[{ at: 3, text: "outlier" }]} /></Section>
      <ScalingView scaling={{ runs: [run(1, 1), run(2, 0.9), run(4, 0.6)] }} factors={factors} />
      <CompareView comparison={{ verdict: "slower", ratio: 1.2, ratio_low: 1.1, ratio_high: 1.3, significance: "runs", a_s: 1, b_s: 1.2, parts: { useful: 0.15, balance: 0.07, transfer: -0.02 }, callpaths: [] }} names={["A", "B"]} factors={factors} />
    </main>
  );
}

const root = document.getElementById("app");
if (root) { root.textContent = ""; render(<Design />, root); }
