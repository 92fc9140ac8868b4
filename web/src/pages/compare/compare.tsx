// Compare: one model on several systems, precisions and batches.
import { useMemo } from 'preact/hooks';
import { Name } from '../../components/name';
import { Empty, Note } from '../../components/note';
import { Select } from '../../components/select';
import type { Report } from '../../data/document';
import { formatDate } from '../../format';
import { setQuery, type Route } from '../../route';
import { plural } from '../../text';
import { AccuracyFigure } from './accuracy_figure';
import { BatchFigure } from './batch_figure';
import { Context } from './context';
import { Legend } from './legend';
import { letterOf, linesOf, ranked, rowsOf, type Line } from './lines';
import { LATENCY, MEMORY, SIZE, SPREADS, THROUGHPUT, type Metric } from './metrics';
import { RunsTable } from './runs_table';
import { ALL, choose, entriesOf, modelsOf, shortModel, type Choice } from './select';
import { SpeedupTable } from './speedup_table';
import { Verdicts } from './verdicts';

function Choices({ choice }: { choice: Choice }) {
  const machines = [...choice.machines.map(({ key, label }) => ({ id: key, label })), ...(choice.machines.length > 1 ? [{ id: ALL, label: 'All machines' }] : [])];
  const sweeps = [
    { id: '', label: 'The one with most valid runs' },
    ...choice.sweeps.map((entry) => ({ id: entry.id, label: `${formatDate(entry.sweep.context.date)}, ${plural(entry.runs.length, 'run')}` })),
    { id: ALL, label: 'All sweeps' },
  ];
  return (
    <div class="choices">
      {machines.length > 1 && <Select label="Machine" choices={machines} value={choice.machine} onChange={(machine) => setQuery({ machine, sweep: null, hide: null })} />}
      {choice.sweeps.length > 1 && <Select label="Sweep" choices={sweeps} value={choice.sweep} onChange={(sweep) => setQuery({ sweep, hide: null })} />}
    </div>
  );
}

function Machines({ choice }: { choice: Choice }) {
  const shown = [...new Map(choice.shown.map(({ machine }) => [machine.key, machine])).values()];
  if (shown.length < 2) return <p class="muted"><Name text={shown[0]?.label} /></p>;
  return (
    <Note severity="doubt" title={`Measured on ${shown.length} machines`}>
      <p>Compare only lines of the same letter: {shown.map(({ label, key }, i) => <span key={key}>{i ? '; ' : ''}<b>{letterOf(i)}</b> <Name text={label} /></span>)}.</p>
    </Note>
  );
}

const known = (metrics: Metric[], lines: Line[]): Metric[] =>
  metrics.filter((metric) => rowsOf(lines).some(({ run }) => metric.value(run) !== null));

function Figures({ lines }: { lines: Line[] }) {
  const memory = known(MEMORY, lines);
  const size = known(SIZE, lines);
  return (
    <>
      <div class="pair group">
        <BatchFigure lines={lines} metrics={[LATENCY]} spreads={SPREADS} />
        <BatchFigure lines={lines} metrics={[THROUGHPUT]} />
      </div>
      <div class="group"><AccuracyFigure lines={lines} /></div>
      <div class="pair group">
        {memory.length > 0 && <BatchFigure lines={lines} metrics={memory} bars />}
        {size.length > 0 && <BatchFigure lines={lines} metrics={size} bars />}
      </div>
    </>
  );
}

export function ComparePage({ report, route }: { report: Report; route: Route }) {
  const models = useMemo(() => modelsOf(report), [report]);
  const model = route.path[1] ?? models[0] ?? '';
  const entries = useMemo(() => entriesOf(report, model), [report, model]);
  const query = route.query.toString();
  const { choice, all } = useMemo(() => {
    const chosen = choose(entries, new URLSearchParams(query));
    const backends = ranked(report.sweeps.flatMap(({ sweep }) => sweep.runs.map((run) => run.backend)));
    return { choice: chosen, all: linesOf(chosen.shown, backends) };
  }, [entries, query, report]);
  const hide = route.query.get('hide') ?? '';
  const hidden = useMemo(() => new Set(hide.split('~').flatMap((i) => all[Number(i || NaN)]?.key ?? [])), [hide, all]);
  const lines = useMemo(() => all.filter(({ key }) => !hidden.has(key)), [all, hidden]);

  if (!entries.length) return <Empty title="Not measured"><p>No sweep of this report measured this model.</p></Empty>;
  const toggle = (key: string) => {
    const next = all.flatMap((line, i) => (hidden.has(line.key) !== (line.key === key) ? [String(i)] : []));
    setQuery({ hide: next.join('~') });
  };
  return (
    <article>
      <header class="title"><h1><Name text={shortModel(model, models)} longest={120} /></h1></header>
      <Choices choice={choice} />
      <Machines choice={choice} />
      <Verdicts lines={all} />
      <Legend lines={all} hidden={hidden} onToggle={toggle} />
      {lines.length > 0 ? <Figures lines={lines} /> : <p class="muted">All lines are left out.</p>}
      <SpeedupTable lines={all} query={route.query} />
      <RunsTable lines={all} selected={route.query.get('sel')} />
      <Context entries={choice.shown} />
    </article>
  );
}
