// Partition: a model split between backends, with its blocks, what each border costs, and other ways to run it.
import { useMemo } from 'preact/hooks';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Empty, Note } from '../../components/note';
import { Table } from '../../components/table';
import type { Column } from '../../components/table_model';
import { Tabs } from '../../components/tabs';
import { finite } from '../../format';
import { link, setQuery } from '../../route';
import type { PartitionPlan, PartitionWhatIf } from '../../schema';
import { clean, plural } from '../../text';
import type { PageProps } from '../props';
import '../views.css';
import { PartitionGraph } from './graph';
import { type Block, type Border, endOf, modelOf, type Model, type Node } from './model';

const FORMS = [{ id: 'blocks', label: 'Blocks' }, { id: 'nodes', label: 'Nodes' }];
const record = (field: string) => ({ struct: 'Partition', field });
const planField = (field: keyof PartitionPlan & string) => ({ struct: 'PartitionPlan', field });
const whatIfField = (field: keyof PartitionWhatIf & string) => ({ struct: 'PartitionWhatIf', field });

const PLANS: Column<Partial<PartitionPlan>>[] = [
  { key: 'name', title: 'Plan', value: ({ name, chosen }) => `${clean(name)}${chosen === true ? ' (chosen)' : ''}` },
  ...(['blocks', 'borders', 'border_mb', 'nodes_ms', 'borders_ms', 'launches_ms', 'predicted_ms', 'measured_ms', 'samples'] as const)
    .map((field): Column<Partial<PartitionPlan>> => ({ key: field, of: planField(field), value: (plan) => finite(plan[field]) })),
  { key: 'refusal', of: planField('refusal'), title: 'Why not', value: ({ refusal }) => clean(refusal) },
];

const blockField = (field: string) => ({ struct: 'PartitionBlock', field });
const BLOCKS: Column<Block>[] = [
  { key: 'index', title: 'Block', value: ({ index }) => index },
  { key: 'backend', of: blockField('backend'), value: ({ backend }) => backend },
  { key: 'nodes', title: 'Nodes', unit: 'count', value: ({ nodes }) => nodes.length },
  { key: 'counted', of: blockField('counted'), value: ({ counted }) => counted },
  { key: 'nodes_ms', of: blockField('nodes_ms'), value: ({ nodes_ms }) => nodes_ms, bar: true },
  { key: 'launch_ms', of: blockField('launch_ms'), value: ({ launch_ms }) => launch_ms },
  { key: 'measured_ms', of: blockField('measured_ms'), value: ({ measured_ms }) => measured_ms },
];

const borderField = (field: string) => ({ struct: 'PartitionBorder', field });
const BORDERS: Column<Border>[] = [
  { key: 'from', of: borderField('from'), value: ({ from }) => endOf(from) },
  { key: 'to', of: borderField('to'), value: ({ to }) => endOf(to) },
  { key: 'value', title: 'Value', value: ({ name }) => name, code: true },
  { key: 'type', title: 'Type', value: ({ type }) => type },
  { key: 'bytes', of: { struct: 'PartitionValue', field: 'bytes' }, value: ({ bytes }) => bytes },
  { key: 'copies', of: borderField('copies'), value: ({ copies }) => copies },
  { key: 'synchronisations', of: borderField('synchronisations'), value: ({ synchronisations }) => synchronisations },
  { key: 'time_ms', of: borderField('time_ms'), value: ({ time_ms }) => time_ms, bar: true },
];

const WHAT_IF: Column<Partial<PartitionWhatIf>>[] = (['min_block_size', 'blocks', 'first_blocks', 'predicted_ms'] as const)
  .map((field) => ({ key: field, of: whatIfField(field), value: (row) => finite(row[field]) }));

/// A column of times and one of reasons for each backend.
function nodeColumns({ backends }: Model): Column<Node>[] {
  return [
    { key: 'name', title: 'Node', value: ({ name }) => name, code: true },
    { key: 'op', title: 'Operator', value: ({ op }) => op },
    { key: 'block', title: 'Block', value: ({ block }) => block },
    ...backends.flatMap((backend, i): Column<Node>[] => [
      { key: `time-${i}`, title: `On ${clean(backend)}`, unit: 'ns', hint: 'Time on this backend.', value: ({ times_us }) => (times_us[i] == null ? null : times_us[i]! * 1e3) },
      { key: `refusal-${i}`, title: `Not on ${clean(backend)}`, value: ({ refusals }) => refusals[i] ?? '' },
    ]),
  ];
}

function Sentences({ title, texts }: { title: string; texts: string[] }) {
  if (!texts.length) return null;
  return <section><h2>{title}</h2><ul>{texts.map((text, i) => <li key={i}><Name text={text} longest={600} /></li>)}</ul></section>;
}

function Shown({ model, route }: { model: Model; route: PageProps['route'] }) {
  const nodes = route.query.get('form') === 'nodes';
  const at = Number(route.query.get('block') ?? NaN);
  const selected = model.blocks[at] ? at : null;
  const columns = useMemo(() => nodeColumns(model), [model]);
  const inside = selected === null ? model.nodes : model.nodes.filter((node) => node.block === selected);
  const around = selected === null ? model.borders : model.borders.filter(({ from, to }) => from === selected || to === selected);
  const of = selected === null ? '' : ` of block ${selected}`;
  const { whole, statistics } = model;
  return (
    <article>
      <header class="title"><h1>Partition</h1><p><Name text={model.model} longest={120} /> on {model.backends.map((name) => clean(name)).join(', ')}</p></header>
      <p class="muted"><Name text={`Times: ${clean(whole.times)}. Search: ${clean(whole.algorithm)}.`} longest={700} /></p>
      <div class="figures">
        <Figure label="Predicted" value={finite(whole.predicted_ms)} of={record('predicted_ms')} />
        <Figure label="Measured" value={finite(whole.measured_ms)} of={record('measured_ms')} />
        <Figure label="No partition below" value={finite(whole.bound_ms)} of={record('bound_ms')} />
        <Figure label="Coverage" value={finite(statistics.coverage)} of={{ struct: 'PartitionStatistics', field: 'coverage' }} />
      </div>
      {whole.measured !== true && <Note severity="doubt">Times of nodes are estimates.</Note>}
      <section>
        <h2>Graph</h2>
        <div class="tools"><span class="count"><Tabs label="Form" choices={FORMS} value={nodes ? 'nodes' : 'blocks'} onChange={(id) => setQuery({ form: id === 'nodes' ? id : null })} /></span></div>
        <PartitionGraph model={model} nodes={nodes} selected={selected} onPick={(block) => setQuery({ block: block === null ? null : String(block) })} />
        <Table caption="Blocks" columns={BLOCKS} rows={model.blocks} rowKey={({ index }) => String(index)} selected={selected === null ? null : String(selected)} onSelect={(key) => setQuery({ block: key })} />
      </section>
      <section><h2>Borders{of}</h2><Table caption="Borders" columns={BORDERS} rows={around} rowKey={({ key }) => key} /></section>
      <section><h2>Ways to run it</h2><Table caption="Ways to run it" columns={PLANS} rows={model.plans} rowKey={({ name }) => clean(name)} /></section>
      {model.whatIf.length > 1 && <section><h2>Least sizes of blocks</h2><Table caption="Greedy partitions by the least size of a block" columns={WHAT_IF} rows={model.whatIf} rowKey={({ min_block_size }) => String(min_block_size)} /></section>}
      <Sentences title="Recommendations" texts={model.recommendations} />
      <Sentences title="Notes" texts={model.notes} />
      <section><h2>Nodes{of}</h2><p class="muted">{plural(inside.length, 'node')}</p><Table caption="Nodes" columns={columns} rows={inside} rowKey={({ index }) => String(index)} /></section>
    </article>
  );
}

export function PartitionPage({ report, route }: PageProps) {
  const entry = report.partitions.find(({ id }) => id === route.path[1]) ?? (route.path[1] === undefined ? report.partitions[0] : undefined);
  const model = useMemo(() => modelOf(entry?.partition), [entry]);
  if (!entry) {
    return (
      <Empty title={report.partitions.length ? 'No such partition' : 'Nothing was split'}>
        <p><code>hone partition MODEL --backends hone,torch -o p.json</code> splits a model between backends, and <code>hone report p.json</code> shows it.</p>
        <p><a href={link([])}>To the start</a></p>
      </Empty>
    );
  }
  return <Shown model={model} route={route} />;
}
