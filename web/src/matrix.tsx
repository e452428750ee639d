/** Who waits for whom, who sends to whom: a field of ranks by ranks. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { count, inUnit, percent, seconds, shortPath, visible } from "./format";
import { Cells, gridRows } from "./explorer";
import { rankRows } from "./overview";
import { Choice, Figure, PathText, Section, Table } from "./parts";
import { topologiesOf, type Result } from "./result";
import type { Navigation } from "./state";
import type { PairSums, TimelineData } from "./timeline_data";
import type { Topology } from "./types";

type Sum = "waiting" | "messages" | "bytes";
const UNITS: Record<Sum, string> = { waiting: "sec", messages: "occ", bytes: "bytes" };
const ROWS: Record<Sum, string> = { waiting: "waits", messages: "sends", bytes: "sends" };

/** Ranks beside those whose lines are most alike (cosine), from the heaviest on. */
export function clusterOrder(pairs: PairSums[], sum: Sum, n: number): number[] {
  const vectors = Array.from({ length: n }, () => new Float64Array(2 * n));
  for (const p of pairs) {
    vectors[p.from][p.to] += p[sum];
    vectors[p.to][n + p.from] += p[sum];
  }
  const norms = vectors.map((v) => Math.sqrt(v.reduce((s, x) => s + x * x, 0)) || 1);
  const left = new Set(Array.from({ length: n }, (_, i) => i));
  const order: number[] = [];
  let at = norms.indexOf(Math.max(...norms));
  while (left.size > 0) {
    left.delete(at);
    order.push(at);
    let best = -1;
    let next = -1;
    for (const other of left) {
      const alike = vectors[at].reduce((s, x, i) => s + x * vectors[other][i], 0) / (norms[at] * norms[other]);
      if (alike > best) { best = alike; next = other; }
    }
    at = next;
  }
  return order;
}

/** Pairs of ranks, of a trace or of a profile; `from` and `to` count from 0. */
interface Pairs {
  list: PairSums[];
  n: number;
  rankOf: (at: number) => number;
  left: { pairs: number; waiting_s: number; messages: number; bytes: number };
  source: string;
  topologies: Topology[];
}

function pairsOf(result: Result): Pairs | null {
  const data = result.timeline;
  if (data) {
    const processes = processOf(data);
    const ranks: number[] = [];
    data.head.locations.forEach(([rank], l) => (ranks[processes[l]] ??= rank));
    return { list: data.pairs, n: data.head.matrices.ranks, rankOf: (at) => ranks[at] ?? at, left: data.head.matrices.left_out, source: "exact, from the trace", topologies: topologiesOf(result) };
  }
  if (!result.pairs) return null;
  const list = result.pairs.rows.map(([from, to, waiting, messages, bytes]) => ({ from, to, waiting, messages, bytes }));
  const n = result.profile.json.result.locations.reduce((most, l) => Math.max(most, l.rank + 1), 0);
  return { list: list.filter((p) => p.from < n && p.to < n), n, rankOf: (at) => at, left: result.pairs.left_out, source: "measured during the run", topologies: topologiesOf(result) };
}

const processes = new WeakMap<TimelineData, number[]>();
function processOf(data: TimelineData): number[] {
  let list = processes.get(data);
  if (!list) {
    let process = -1;
    list = data.head.locations.map(([, thread], l) => (l === 0 || thread === 0 || data.head.locations[l - 1][0] !== data.head.locations[l][0] ? ++process : process));
    processes.set(data, list);
  }
  return list;
}

function Field(props: { data: Pairs; sum: Sum; order: number[] }): JSX.Element {
  const { data, sum, order } = props;
  const n = order.length;
  const size = Math.max(2, Math.min(40, 520 / n));
  const position = new Map(order.map((rank, i) => [rank, i]));
  const pairs = data.list.filter((p) => p[sum] > 0 && position.has(p.from) && position.has(p.to));
  const most = Math.max(...pairs.map((p) => p[sum]), 1e-300);
  const every = Math.max(1, Math.ceil(16 / size));
  return (
    <Figure name={`matrix-${sum}`} width={60 + n * size + 10} height={40 + n * size + 10} label={`${n} by ${n} ranks, ${pairs.length} pairs`} class="matrix">
      <rect class="track" x="60" y="40" width={n * size} height={n * size} />
      {pairs.map((p) => (
        <rect class={sum === "waiting" ? "heat" : "heat2"} x={60 + (position.get(p.to) ?? 0) * size} y={40 + (position.get(p.from) ?? 0) * size} width={Math.max(1, size - 1)} height={Math.max(1, size - 1)} fill-opacity={0.08 + 0.92 * (p[sum] / most)}>
          <title>{`rank ${data.rankOf(p.from)} ${sum === "waiting" ? "waits for" : "sends to"} rank ${data.rankOf(p.to)}: ${inUnit(p[sum], UNITS[sum])}`}</title>
        </rect>
      ))}
      {order.map((rank, i) => i % every === 0 && [
        <text class="tick" x="54" y={40 + (i + 0.5) * size + 4} text-anchor="end">{data.rankOf(rank)}</text>,
        <text class="tick" x={60 + (i + 0.5) * size} y="34" text-anchor="middle">{data.rankOf(rank)}</text>,
      ])}
      <text class="tick" x="4" y={40 + (n * size) / 2} transform={`rotate(-90 10 ${40 + (n * size) / 2})`} text-anchor="middle">{ROWS[sum]}</text>
      <text class="tick" x={60 + (n * size) / 2} y="14" text-anchor="middle">{sum === "waiting" ? "for" : "to"} rank</text>
    </Figure>
  );
}

/** Neighbours on the grid: what goes along each dimension, and how uneven it is. */
function Grid(props: { data: Pairs; topology: Topology }): JSX.Element {
  const { dims, members } = props.topology;
  const at = new Map(members.map((process, i) => [process, i]));
  const coordinates = (i: number): number[] => dims.map((_, d) => Math.floor(i / dims.slice(d + 1).reduce((a, b) => a * b, 1)) % dims[d]);
  const sums = dims.map(() => ({ messages: 0, bytes: 0, waiting: 0, most: 0 }));
  const other = { messages: 0, bytes: 0, waiting: 0, most: 0 };
  for (const p of props.data.list) {
    const [a, b] = [at.get(p.from), at.get(p.to)];
    let into = other;
    if (a !== undefined && b !== undefined) {
      const [x, y] = [coordinates(a), coordinates(b)];
      const differing = dims.map((_, d) => d).filter((d) => x[d] !== y[d]);
      const d = differing[0];
      if (differing.length === 1 && (Math.abs(x[d] - y[d]) === 1 || (props.topology.periodic[d] && Math.abs(x[d] - y[d]) === dims[d] - 1))) into = sums[d];
    }
    into.messages += p.messages; into.bytes += p.bytes; into.waiting += p.waiting; into.most = Math.max(into.most, p.waiting);
  }
  const rows = [...sums.map((s, d) => ({ name: `dimension ${d} (${dims[d]}${props.topology.periodic[d] ? ", periodic" : ""})`, ...s })), { name: "not neighbours", ...other }];
  return (
    <Section title="On the Cartesian grid" note={dims.join(" × ")}>
      <Table name="grid" rows={rows} columns={[
        { title: "between neighbours along", cell: (r) => r.name, value: (r) => r.name },
        { title: "messages", cell: (r) => count(r.messages), value: (r) => r.messages, number: true },
        { title: "bytes", cell: (r) => inUnit(r.bytes, "bytes"), value: (r) => r.bytes, number: true },
        { title: "waiting", cell: (r) => seconds(r.waiting), value: (r) => r.waiting, number: true },
        { title: "most of one pair", cell: (r) => seconds(r.most), value: (r) => r.most, number: true },
      ]} />
    </Section>
  );
}

function Exact(props: { data: Pairs; nav: Navigation }): JSX.Element {
  const { data, nav } = props;
  const sum = (["waiting", "messages", "bytes"] as Sum[]).find((s) => s === nav.state.keys.sum) ?? "waiting";
  const clustered = nav.state.keys.order === "cluster";
  const { n, left } = data;
  const order = useMemo(() => (clustered && n <= 512 ? clusterOrder(data.list, sum, n) : Array.from({ length: n }, (_, i) => i)), [data, sum, clustered, n]);
  const list = data.list.filter((p) => p[sum] > 0).sort((a, b) => b[sum] - a[sum]);
  return (
    <div>
      <p class="tools left">
        <Choice label="What" value={sum} options={[["waiting", "waiting"], ["messages", "messages"], ["bytes", "bytes"]]} onChange={(v) => nav.set({ sum: v })} />
        <Choice label="Order" value={clustered ? "cluster" : "rank"} options={[["rank", "by rank"], ["cluster", "by likeness"]]} onChange={(v) => nav.set({ order: v })} />
        <span class="dim">{data.source}{sum !== "waiting" && "; point-to-point messages"}{left.pairs > 0 && `; ${count(left.pairs)} light pairs are left out (${seconds(left.waiting_s)}, ${count(left.messages)} messages, ${inUnit(left.bytes, "bytes")})`}</span>
      </p>
      <div class="two">
        <Field data={data} sum={sum} order={order} />
        <Table<PairSums> name={`pairs-${sum}`} rows={list} most={20} columns={[
          { title: ROWS[sum], cell: (p) => `rank ${data.rankOf(p.from)}`, value: (p) => data.rankOf(p.from) },
          { title: sum === "waiting" ? "for" : "to", cell: (p) => `rank ${data.rankOf(p.to)}`, value: (p) => data.rankOf(p.to) },
          { title: sum, cell: (p) => inUnit(p[sum], UNITS[sum]), value: (p) => p[sum], number: true },
        ]} />
      </div>
      {data.topologies.map((topology) => <Grid data={data} topology={topology} />)}
    </div>
  );
}

/** Work and waiting by place on the grid: how uneven they are, and along which dimension. */
function GridBalance(props: { result: Result; topology: Topology }): JSX.Element | null {
  const { result, topology } = props;
  const { dims, members } = topology;
  const rows = rankRows(result);
  if (rows.length !== result.profile.json.result.locations.filter((l) => l.thread === 0).length || members.some((m) => m < 0 || m >= rows.length)) return null;
  const sums: [string, number[]][] = [["outside MPI", rows.map((r) => Math.max(0, r.time - Math.max(r.mpi, r.waiting)))], ["waiting", rows.map((r) => r.waiting)]];
  const mean = (list: number[]): number => list.reduce((a, b) => a + b, 0) / Math.max(1, list.length);
  const along = (values: number[], d: number): number => {
    const inner = dims.slice(d + 1).reduce((a, b) => a * b, 1);
    const planes = Array.from({ length: dims[d] }, (_, k) => mean(members.filter((_m, i) => Math.floor(i / inner) % dims[d] === k).map((m) => values[m])));
    return Math.max(...planes) / Math.max(mean(planes), 1e-300) - 1;
  };
  const all = (values: number[]): number => Math.max(...members.map((m) => values[m])) / Math.max(mean(members.map((m) => values[m])), 1e-300) - 1;
  const lines = [...dims.map((n, d) => ({ name: `planes along dimension ${d} (${n})`, of: sums.map(([, v]) => along(v, d)) })), { name: "single ranks", of: sums.map(([, v]) => all(v)) }];
  const labels = rows.map((r) => `rank ${r.name}`);
  return (
    <Section title="Imbalance on the grid" note="the most above the mean">
      <Table name="grid-imbalance" rows={lines} columns={[{ title: "of", cell: (l) => l.name, value: (l) => l.name }, ...sums.map(([what], i) => ({ title: what, cell: (l: (typeof lines)[number]) => percent(l.of[i]), value: (l: (typeof lines)[number]) => l.of[i], number: true }))]} />
      <div class="two">{sums.map(([what, values]) => <div><h3>{what}</h3><Cells values={values} rows={gridRows(topology)} labels={labels} unit="sec" name={`grid-${what === "waiting" ? "waiting" : "work"}`} /></div>)}</div>
    </Section>
  );
}

const shortened = (text: string): string => (text.length > 44 ? `…${text.slice(-43)}` : text);

/** Of a profile: who was late, by where the others waited. */
function FromProfile(props: { result: Result; alone: boolean }): JSX.Element {
  const blame = props.result.blame;
  if (!blame || blame.rows.length === 0) return <p class="empty">{props.alone ? "This result says nothing of who waits for whom." : ""}</p>;
  const column = (name: string): number => blame.columns.indexOf(name);
  const [waiting, rank, late, value] = [column("waiting_callpath"), column("late_rank"), column("late_callpath"), column("seconds")];
  const rows = blame.rows.map((r) => ({ waiting: r[waiting] ?? "", rank: Number(r[rank]), late: r[late] ?? "", seconds: Number(r[value]) })).sort((a, b) => b.seconds - a.seconds);
  const ranks = [...new Set(rows.map((r) => r.rank))].sort((a, b) => a - b);
  const places = [...new Set(rows.map((r) => r.waiting))].slice(0, 12);
  const cells = new Map<string, number>();
  for (const r of rows) cells.set(`${r.waiting}\n${r.rank}`, (cells.get(`${r.waiting}\n${r.rank}`) ?? 0) + r.seconds);
  const most = Math.max(...cells.values(), 1e-300);
  const size = Math.max(3, Math.min(28, 360 / ranks.length));
  return (
    <div>
      {props.alone && <p class="dim">This result knows who was late and where the others waited, not every pair of ranks.</p>}
      <Section title="Where others waited, by who was late">
        <Figure name="late-matrix" width={310 + ranks.length * size} height={30 + places.length * 22} label="Seconds of waiting by call path and late rank" class="matrix">
          {ranks.map((r, i) => (i % Math.max(1, Math.ceil(18 / size)) === 0 ? <text class="tick" x={300 + (i + 0.5) * size} y="14" text-anchor="middle">{r}</text> : null))}
          {places.map((p, y) => [
            <text class="tick" x="292" y={36 + y * 22} text-anchor="end">{shortened(shortPath(p))}</text>,
            ...ranks.map((r, x) => <rect class="heat" x={300 + x * size} y={22 + y * 22} width={size - 1} height="20" fill-opacity={0.05 + 0.95 * ((cells.get(`${p}\n${r}`) ?? 0) / most)}><title>{`${visible(p)} waits for rank ${r}: ${seconds(cells.get(`${p}\n${r}`) ?? 0)}`}</title></rect>),
          ])}
        </Figure>
      </Section>
      <Table name="blame" rows={rows} most={30} columns={[
        { title: "seconds", cell: (r) => seconds(r.seconds), value: (r) => r.seconds, number: true },
        { title: "late rank", cell: (r) => r.rank, value: (r) => r.rank, number: true },
        { title: "was in", cell: (r) => <PathText path={r.late} />, value: (r) => r.late },
        { title: "others waited in", cell: (r) => <PathText path={r.waiting} />, value: (r) => r.waiting },
      ]} />
    </div>
  );
}

export function Matrix(props: { result: Result; nav: Navigation }): JSX.Element {
  const { result, nav } = props;
  const pairs = useMemo(() => pairsOf(result), [result]);
  return (
    <Section title="Who waits for whom">
      {pairs && <Exact data={pairs} nav={nav} />}
      {topologiesOf(result).map((topology) => <GridBalance result={result} topology={topology} />)}
      {(!pairs || !result.timeline) && <FromProfile result={result} alone={!pairs} />}
    </Section>
  );
}
