/** The page: reads its data, shows the view that the address names. */
import { render, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { About } from "./about";
import { Blocks } from "./blocks";
import { RootCauses } from "./causes";
import { Explorer } from "./explorer";
import { Fingerprints, nameOf } from "./fingerprint";
import { seconds, visible } from "./format";
import { Failure, Help } from "./help";
import { Matrix } from "./matrix";
import { Overview } from "./overview";
import { readPage, type PageData, type Result } from "./result";
import { CompareView, ScalingView } from "./sets";
import { formatState, lasting, parseState, withKeys, type Navigation, type State, type View } from "./state";
import { Timeline } from "./timeline";
import { GuidelinesView, SweepView } from "./variants";

const TITLES: Record<View, string> = {
  overview: "Overview", explorer: "Explorer", timeline: "Timeline", causes: "Root causes", matrix: "Who waits for whom", scaling: "Scaling", compare: "Compare", fingerprint: "Fingerprints", sweep: "Variants", guidelines: "Guidelines", about: "About",
};

function viewsOf(data: PageData): View[] {
  const views: View[] = data.results.length > 0 ? ["overview", "explorer", "timeline", "causes", "matrix"] : [];
  if (data.scaling) views.push("scaling");
  if (data.comparison) views.push("compare");
  if (data.fingerprints.length > 0) views.push("fingerprint");
  if (data.sweeps.length > 0) views.push("sweep");
  if (data.guidelines.length > 0) views.push("guidelines");
  return data.results.length > 0 ? [...views, "about"] : views;
}

/** Of a result, or of what bench has left alone. */
function titleOf(data: PageData, result: Result | undefined): string {
  if (result) return visible(result.profile.json.result.meta.program ?? result.name);
  if (data.fingerprints.length === 0) return data.sweeps.length > 0 ? "Variants of MPI operations" : "Guidelines of MPI collectives";
  return data.fingerprints.length === 1 ? nameOf(data.fingerprints[0]) : `${data.fingerprints.length} fingerprints`;
}

function factsOf(result: Result): string {
  const { meta, locations, metrics } = result.profile.json.result;
  const nodes = new Set(locations.map((l) => l.node)).size;
  const ranks = new Set(locations.map((l) => l.rank)).size;
  const threads = locations.length > ranks ? `, ${locations.length} threads` : "";
  const facts = [`${ranks} rank${ranks === 1 ? "" : "s"}${threads} on ${nodes} node${nodes === 1 ? "" : "s"}`, `wall time ${seconds(meta.wall_time_s ?? metrics.time?.total)}`, meta.mpi].filter((f) => f);
  return visible(facts.join(" · "));
}

function Header(props: { data: PageData; result: Result | undefined; nav: Navigation }): JSX.Element {
  const { data, result, nav } = props;
  return (
    <header>
      <div class="title">
        <h1>{titleOf(data, result)}</h1>
        <p>{result ? factsOf(result) : "latecomer bench"}</p>
        {data.results.length > 1 && (
          <label class="results">result <select value={nav.state.result} onChange={(e) => { location.hash = formatState({ ...nav.state, result: Number(e.currentTarget.value), keys: lasting(nav.state) }); }}>
            {data.results.map((r, k) => <option value={k}>{visible(r.name)}</option>)}
          </select></label>
        )}
        <button type="button" class="quiet theme" onClick={() => {
          const root = document.documentElement;
          const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
          root.dataset.theme = dark ? "light" : "dark";
        }}>dark / light</button>
      </div>
      <nav aria-label="Views">
        {viewsOf(data).map((view) => <a href={nav.link(view)} aria-current={view === shownView(data, nav.state) ? "page" : "false"}>{TITLES[view]}</a>)}
      </nav>
    </header>
  );
}

/** The view of the address where the page has it, else the first. */
function shownView(data: PageData, state: State): View {
  const views = viewsOf(data);
  return views.includes(state.view) ? state.view : views[0];
}

function CurrentView(props: { data: PageData; result: Result | undefined; nav: Navigation }): JSX.Element {
  const { data, result, nav } = props;
  const view = shownView(data, nav.state);
  if (view === "sweep") return <SweepView all={data.sweeps} />;
  if (view === "guidelines") return <GuidelinesView all={data.guidelines} />;
  if (view === "fingerprint" || !result) return <Fingerprints all={data.fingerprints} results={data.results} comparison={data.benchComparison} nav={nav} />;
  switch (view) {
    case "explorer": return <Explorer result={result} nav={nav} />;
    case "timeline": return <Timeline result={result} nav={nav} />;
    case "causes": return <RootCauses result={result} mean={data.meanModels} nav={nav} />;
    case "matrix": return <Matrix result={result} nav={nav} />;
    case "about": return <About result={result} creator={data.page.creator} nav={nav} />;
    case "scaling": if (data.scaling) return <ScalingView scaling={data.scaling} factors={result.profile.factors} />; break;
    case "compare": if (data.comparison) return <CompareView comparison={data.comparison} names={[data.results[0].name, data.results[data.results.length - 1].name]} factors={result.profile.factors} />; break;
    default:
  }
  return <Overview result={result} fingerprints={data.fingerprints} nav={nav} />;
}

function App(props: { data: PageData }): JSX.Element {
  const { data } = props;
  const [state, setState] = useState<State>(parseState(location.hash));
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const read = (): void => setState(parseState(location.hash));
    const onKey = (e: KeyboardEvent): void => {
      const typing = e.target instanceof HTMLInputElement && e.target.type === "search";
      if (e.key === "Escape") setHelp(false);
      if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
      const view = viewsOf(data)[Number(e.key) - 1];
      const field = document.querySelector<HTMLInputElement>("input[type=search]");
      if (e.key === "?") setHelp((h) => !h);
      else if (e.key === "/" && field) { e.preventDefault(); field.focus(); }
      else if (view) { const now = parseState(location.hash); location.hash = formatState({ ...now, view, keys: lasting(now) }); }
    };
    addEventListener("popstate", read);
    addEventListener("hashchange", read);
    addEventListener("keydown", onKey);
    return () => { removeEventListener("popstate", read); removeEventListener("hashchange", read); removeEventListener("keydown", onKey); };
  }, [data]);
  const nav: Navigation = {
    state,
    set: (keys, replace) => {
      const next = withKeys(parseState(location.hash), keys);
      if (replace) history.replaceState(null, "", formatState(next));
      else history.pushState(null, "", formatState(next));
      setState(next);
    },
    link: (view, keys) => formatState(withKeys({ view, result: state.result, keys: lasting(state) }, keys ?? {})),
  };
  const result = data.results[Math.min(state.result, data.results.length - 1)] as Result | undefined;
  document.title = `${titleOf(data, result)}: ${TITLES[shownView(data, state)]} – Latecomer`;
  return (
    <>
      <Header data={data} result={result} nav={nav} />
      <main key={`${state.view} ${state.result}`}><CurrentView data={data} result={result} nav={nav} /></main>
      <footer><span>{visible(data.page.creator)}; <kbd>?</kbd> for the keys; everything on this page is in this file</span></footer>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

async function start(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) return;
  try {
    const data = await readPage(new Blocks(document));
    root.textContent = "";
    render(<App data={data} />, root);
    document.documentElement.dataset.ready = "1";
  } catch (error) {
    root.textContent = "";
    render(<Failure error={error} />, root);
    document.documentElement.dataset.ready = "failed";
  }
}

void start();
