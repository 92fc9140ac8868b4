// The changes from one profile to another.
import { useCallback, useMemo } from 'preact/hooks';
import { Empty } from '../components/note';
import { Tabs } from '../components/tabs';
import type { Profile, ReportDiff } from '../data/document';
import { dict } from '../data/safe';
import { go, link, setQuery } from '../route';
import type { TraceDiff } from '../schema';
import { ExchangeTable } from './diff/exchanges';
import { Head } from './diff/head';
import { Iterations } from './diff/iterations';
import { MatchDetail } from './diff/match_detail';
import { MatchTable } from './diff/matches';
import { exchangesOf, inRunOrder, matchesOf } from './diff/model';
import { Running } from './diff/running';
import { Waterfall } from './diff/waterfall';
import type { PageProps } from './props';
import { useProfile } from './profile';

const VIEWS = [{ id: 'changes', label: 'From A to B' }, { id: 'layers', label: 'Layers' }, { id: 'kernels', label: 'Kernels' }, { id: 'iterations', label: 'Iterations' }];

function Nothing({ report }: { report: PageProps['report'] }) {
  return (
    <Empty title={report.diffs.length ? 'No such comparison' : 'Nothing to compare'}>
      <p>Profiles of the same model are compared with each other when a report holds several: <code>hone profile MODEL --precisions fp32,bf16 -o DIR</code> records some, and <code>hone report DIR</code> finds them. <code>hone diff A B</code> compares any two.</p>
      {report.diffs.length > 0 && <p><a href={link(['diff', '0'])}>To the first comparison</a></p>}
      <p><a href={link([])}>To the start</a></p>
    </Empty>
  );
}

interface ComparedProps {
  entry: ReportDiff;
  a: Profile | null;
  b: Profile | null;
  props: PageProps;
}

function Compared({ entry, a, b, props: { report, route } }: ComparedProps) {
  const diff = useMemo(() => dict<TraceDiff>(entry.diff), [entry]);
  const matches = useMemo(() => matchesOf(diff), [diff]);
  const exchanges = useMemo(() => exchangesOf(diff), [diff]);
  const ordered = useMemo(() => inRunOrder(matches, a, b), [matches, a, b]);
  const close = useCallback(() => setQuery({ sel: null }), []);
  const view = VIEWS.find(({ id }) => id === route.path[2])?.id ?? 'changes';
  const sel = route.query.get('sel');
  const match = matches.find(({ key }) => key === sel);
  return (
    <article>
      <header class="title"><h1>Difference</h1></header>
      <Head a={entry.a} b={entry.b} diff={diff} report={report} />
      <Tabs label="View" choices={VIEWS} value={view} onChange={(id) => go(['diff', route.path[1]!, id])} />
      {view === 'changes' && <Waterfall diff={diff} />}
      {(view === 'changes' || view === 'layers') && matches.length > 0 && <Running ordered={ordered} selected={sel} />}
      {view === 'layers' && (matches.length > 0
        ? <MatchTable matches={matches} selected={sel} />
        : <Empty title="No layers to compare"><p>One of the two has no layers. What changed is told by the parts of an iteration instead.</p></Empty>)}
      {view === 'kernels' && <ExchangeTable exchanges={exchanges} />}
      {view === 'iterations' && <Iterations diff={diff} a={a} b={b} />}
      {match && <MatchDetail match={match} a={a} b={b} onClose={close} />}
    </article>
  );
}

/// Profiles of a served page arrive later.
function Loaded({ entry, ...props }: PageProps & { entry: ReportDiff }) {
  const [a, b] = [useProfile(props, entry.a), useProfile(props, entry.b)];
  const profile = (state: typeof a) => (state && 'profile' in state ? state.profile : null);
  return <Compared entry={entry} a={profile(a)} b={profile(b)} props={props} />;
}

export function DiffPage(props: PageProps) {
  const entry = props.report.diffs[Number(props.route.path[1] ?? 0)];
  if (!entry) return <Nothing report={props.report} />;
  return <Loaded {...props} entry={entry} />;
}
