/** The JSON of `latecomer show --json` (docs/result-format.md), as far as the page uses it; what may be missing is optional. */
export interface Factors {
  parallel_efficiency?: number;
  load_balance?: number;
  communication_efficiency?: number;
  serialisation_efficiency?: number;
  transfer_efficiency?: number;
  [other: string]: unknown;
}

/** Means over blocks of iterations; one list for every so many ranks. */
export interface ByRank {
  ranks: number;
  block: number;
  elapsed_s: (number | null)[][];
  waiting_s: (number | null)[][];
}

/** What a profile knows of pairs of ranks: [from, to, waiting_s, messages, bytes] */
export interface PairsJson {
  rows: [number, number, number, number, number][];
  left_out: { pairs: number; waiting_s: number; messages: number; bytes: number };
}

/** How long the tasks take at least on so many threads. */
export interface TaskCurve {
  critical_path_s?: number;
  task_critical_path_s?: number;
  task_work_s?: number;
  task_curve?: { threads: number; at_least_s: number }[];
}

export interface Phase extends TaskCurve {
  name?: string;
  found_by?: string;
  callpath?: string;
  count?: number;
  kept?: number;
  warm_up?: number;
  start_s?: number;
  elapsed_s?: number;
  factors?: Factors;
  each?: { block?: number; elapsed_s?: number[] };
  by_rank?: ByRank;
  outliers?: { from: number; to: number; times_median: number; excess_s: number; rank: number | null }[];
}

export interface Pop extends Factors, TaskCurve {
  dialect?: string;
  elapsed_s?: number;
  mpi?: Factors;
  omp?: Factors;
  dialects?: Record<string, Factors>;
  phases?: Phase[];
  iterations?: Phase[];
}

export interface Finding {
  kind: string;
  severity_s: number | null;
  share: number | null;
  certainty: string;
  callpath: string | null;
  ranks: number[];
  n_ranks: number;
  thread?: number;
  between?: string[];
  because: { callpath?: string; rank?: number; ranks?: number[] } | null;
  gain_s: number | null;
  gain_low_s: number | null;
  gain_high_s: number | null;
  gain_by?: string;
  gain_estimated?: string;
  evidence: { metric: string; callpath: string | null } | null;
  text: string;
  advice: string;
}

export interface Late {
  rank: number;
  thread: number | null;
  callpath: string;
  waiting_callpath: string;
  seconds: number;
  share: number;
}

/** What a call path means for the run time, of analyses (docs/definitions/wait-states.md, section 5). */
export interface Impact {
  callpath: string;
  impact_s: number;
  share: number;
  own_s: number;
  intra_s: number;
  inter_s: number;
  ratio: number;
  min_s: number;
  mean_s: number;
  max_s: number;
  max_minus_mean_s: number;
  path_s: number;
  path_minus_mean_s: number;
}

export interface Location {
  rank: number;
  thread: number;
  node: string;
  name: string;
  unknown?: boolean;
}

export interface Meta {
  program?: string;
  command?: string[];
  ranks?: number;
  threads?: number[];
  wall_time_s?: number;
  mpi?: string;
  complete?: boolean;
  ending?: string;
  oversubscribed?: boolean;
  hosts?: string[];
  topologies?: Topology[];
  [other: string]: unknown;
}

export interface ResultJson {
  meta: Meta;
  pop?: Pop;
  findings: Finding[];
  late?: Late[];
  impact?: Impact[];
  locations: Location[];
  metrics: Record<string, { unit: string; kind: string; total: number | null; locations?: (number | null)[] }>;
}

export interface Metric {
  parent: number;
  kind: "inclusive" | "exclusive" | "minimum" | "maximum" | "derived";
  name: string;
  display: string;
  unit: string;
  descr: string;
  /** One of those whose sum is the waiting. */
  waiting?: boolean;
}

export interface FactorText {
  depth: number;
  key: string;
  name: string;
  formula: string;
  advice: string;
}

/** [parent, name, MPI, source file or library, line] */
export type PathRow = [number, string, 0 | 1, string, number];

export interface FileJson {
  file: string;
  result: ResultJson;
  /** By the second delay-cost model; only where an analysis took part. */
  findings_waitfirst?: Finding[];
  metrics: Metric[];
  paths: PathRow[];
  factors: (FactorText | null)[];
  /** Where many threads did not live through the interval: what the factors count. */
  factors_note?: string;
  /** Where more threads compute than there are cores, though not more of those that are measured. */
  crowded?: { threads: number; cores: number };
}

export interface PageJson {
  format: string;
  creator: string;
  results: { name: string; why_no_timeline: string; analysis: boolean; timeline: boolean }[];
  fingerprints?: number;
  sweeps?: number;
  guidelines?: number;
}

export interface ChainLink {
  rank: number;
  thread: number;
  callpath: string;
  start_s: number;
  waiting_s: number;
  cost_s?: number;
  kind: string;
}

export interface RootCause {
  rank: number;
  thread: number;
  callpath: string;
  cost_s: number;
  short_term_s: number;
  long_term_s: number;
  wait_states: number;
  from_s: number;
  to_s: number;
  chain_cost_s?: number;
  chain: ChainLink[];
}

/** One of the severest wait states; its parts where it has a cause. */
export interface Severe {
  rank: number;
  thread: number;
  start_s: number;
  waiting_s: number;
  direct_s?: number;
  indirect_s?: number;
  direct_s_waitfirst?: number;
  indirect_s_waitfirst?: number;
}

export interface Segment {
  rank: number;
  thread: number;
  from_s: number;
  to_s: number;
}

export interface Pair {
  short_term: number;
  long_term: number;
}

export interface Costs {
  short_term: number;
  long_term: number;
  direct: number;
  indirect: number;
  propagating: number;
  terminal: number;
}

/** Both delay-cost models of an analysis; ranks with their threads together. */
export interface DelayModels {
  /** Of how many analyses it is the mean. */
  analyses?: number;
  tree?: { metric: string; display: string; depth: number; proportional: number; waitfirst: number }[];
  runs?: { file: string; time_s: number; delay_costs_s: { proportional: number; waitfirst: number } }[];
  sums?: Record<keyof Costs, { proportional: number; waitfirst: number }>;
  callpaths?: { callpath: string; proportional: Pair; waitfirst: Pair }[];
  locations?: { rank: number; thread: number; proportional: Pair; waitfirst: Pair }[];
  ranks?: { rank: number; proportional: Costs; waitfirst: Costs }[];
  pareto?: Record<string, { proportional: number[]; waitfirst: number[] }>;
}

export interface Scaling {
  why?: string;
  runs?: {
    file: string;
    ranks: number;
    threads: number;
    wall_time_s: number;
    useful_s: number;
    pop: Factors;
    computational_scalability: number;
    global_efficiency: number;
  }[];
}

export interface Comparison {
  why?: string | null;
  verdict?: string;
  ratio?: number;
  ratio_low?: number | null;
  ratio_high?: number | null;
  significance?: string;
  threshold?: number;
  a_s?: number;
  b_s?: number;
  pop?: { a?: Factors; b?: Factors };
  parts?: Record<string, number>;
  callpaths?: {
    path: string;
    path_a?: string;
    a_s: number;
    b_s: number;
    delta_s: number;
    low_s: number | null;
    high_s: number | null;
  }[];
}

/** What `latecomer bench` writes (OP-BYTES.fingerprint.json); what may be missing is optional. */
export interface Fingerprint {
  format: string;
  operation: string;
  bytes: number;
  ranks: number;
  mpi?: Record<string, unknown>;
  machine?: Record<string, unknown>;
  config?: Record<string, unknown>;
  runs_ns: number[];
  category?: string[];
  quantiles_ns?: Record<string, number>;
  min_ns: number;
  max_ns: number;
  mean_ns: number;
  median_ns: number;
  median_ci_ns?: [number, number];
  effective_repetitions?: number;
  /** The operand that it came from. */
  source?: string;
  warmup?: { end?: number | null; raw_end?: number | null; fall?: number };
  patterns?: { period: number | null; autocorrelation: number | null; outliers: number; outlier_clusters: number; largest_cluster: number; clusters_by_chance: number; clusters_p: number };
  /** The metrics by which phases are found, as curves (docs/definitions/micro-benchmark.md, section 2). */
  cumulative?: Record<string, CurveJson>;
  categories?: Record<string, { count: number; share: number; median_ns: number | null }>;
  modes?: { location_ns: number; share?: number; weight?: number; dwell?: { stays: number; longest: number; mean: number } }[];
  change_points?: number[];
  box?: { low_ns: number; q1_ns: number; median_ns?: number; q3_ns: number; high_ns: number; outside: number };
  ecdf?: { ns: number[]; share: number[] };
  histogram?: { all?: HistogramJson; zoom?: HistogramJson };
  counters?: Record<string, unknown>;
  /** Repetitions with counters, whose run times do not count. */
  counted?: { every?: number; at?: number[]; runs_ns?: number[]; category?: string[]; perturbation?: number | null; ci?: [number | null, number | null] | null };
  /** Where the operation spends its time. */
  samples?: { n?: number; lost?: number; repetitions?: number; functions?: SampledJson[]; callpaths?: SampledJson[] };
  correlations?: Record<string, unknown>;
  ranks_ns?: unknown;
  [other: string]: unknown;
}

export interface HistogramJson {
  edges_ns: number[];
  counts: number[];
  categories?: Record<string, number[]>;
}

/** A function, or a call path that ends in it; shares of the time of the operation. */
export interface SampledJson {
  function: string;
  file: string;
  share: number;
  self_share: number;
  /** Standard error of the share. */
  error: number;
  of_category: Record<string, number>;
  depth?: number;
}

export interface CurveJson {
  at: number[];
  ns: number[];
  /** In medians of all run times. */
  delta: number[];
}

export interface BenchPair {
  operation: string;
  bytes: number;
  verdict: string;
  verdict_within: string;
  why: string | null;
  /** Of the median; null: not comparable. */
  shift?: number | null;
  /** B takes longer at some quantiles and less at others. */
  crosses?: boolean;
  quantiles: { percent: number; a_ns: number; b_ns: number; shift: number; low: number | null; high: number | null }[];
  launches: [number, number];
  launches_guessed: boolean;
  /** All launches of one side came first. */
  one_after_other?: boolean;
}

/** An operation and size that only one side has. */
export interface BenchAlone {
  operation: string;
  bytes: number;
}

/** `latecomer bench compare --json` of the first and the last result. */
export interface BenchComparison {
  why?: string;
  verdict?: string;
  pairs?: BenchPair[];
  only_in_a?: BenchAlone[];
  only_in_b?: BenchAlone[];
  metadata?: { key: string; a: unknown; b: unknown }[];
  /** The two operands. */
  sources?: [string, string];
}

/** A Cartesian grid: members by position, the last dimension fastest; -1: not known. */
export interface Topology {
  dims: number[];
  periodic: number[];
  members: number[];
}

/** What the measuring itself did, over all launches. */
export type Audit = Record<string, { median: number; largest: number; n: number } | null>;

export interface Variant {
  name: string;
  settings?: Record<string, string>;
  places?: [number, number];
  median_ns?: number;
  ratio?: number;
  ratio_ci?: [number | null, number | null];
  launch_medians_ns?: number[];
}

/** sweep.json of `latecomer bench sweep`. */
export interface Sweep {
  rounds?: number;
  rounds_wanted?: number;
  seed?: number;
  complete?: boolean;
  jobs?: { operation: string; bytes?: number; variants?: Variant[] }[];
  failed?: { variant: string; why: string }[];
  audit?: Audit;
}

export interface GuidelineComparison {
  operation: string;
  mock_up: string;
  bytes?: number;
  median_ns?: number;
  mock_up_median_ns?: number;
  excess_ns?: number;
  ratio?: number;
  ratio_ci?: [number | null, number | null];
  violated?: boolean;
  holds?: boolean;
}

/** guidelines.json of `latecomer bench guidelines`. */
export interface Guidelines {
  rounds?: number;
  rounds_wanted?: number;
  complete?: boolean;
  comparisons?: GuidelineComparison[];
  left_out?: { operation: string; why: string }[];
  without_mock_up?: string[];
  audit?: Audit;
}

export interface BesideUse {
  callpath: string;
  operation: string;
  bytes?: number;
  in_place?: boolean;
  members?: number;
  ranks?: string;
  communicators?: number;
  calls?: number;
  program_ns?: number;
  waiting_ns?: number | null;
  comm?: string;
  alone_bytes?: number | null;
  alone_ranks?: number | null;
  with?: string | null;
  alone_median_ns?: number | null;
  alone_ci_ns?: [number, number] | null;
  arrival_ns?: number | null;
}

/** beside.json of `latecomer bench --of`. */
export interface Beside {
  ranks?: number;
  left_out?: number;
  callpaths?: BesideUse[];
}
