// Layers: the cost of each one, how far it is from the device's peak, and its place in the model.
import { useCallback, useMemo } from 'preact/hooks';
import { Empty } from '../../components/note';
import { Table } from '../../components/table';
import { dict } from '../../data/safe';
import { setQuery } from '../../route';
import type { LayerAnalysis, LayerThreadTable } from '../../schema';
import type { ViewProps } from '../props';
import { columnsOf } from './columns';
import { LayerDetail, stepLink } from './detail';
import { LatencyFigure } from './latency_figure';
import { KindLegend } from './legend';
import { kindsOf, rowsOf } from './model';
import { RoofFigure } from './roof_figure';
import { Sums } from './sums';
import { ThreadsTable } from './threads_table';
import { atOf, TreeFigure } from './tree_figure';

export function LayersView({ profile, analysis, route }: ViewProps) {
  const layers = useMemo(() => dict<LayerAnalysis>(analysis.layers), [analysis]);
  const rows = useMemo(() => rowsOf(layers), [layers]);
  const kinds = useMemo(() => kindsOf(rows), [rows]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const close = useCallback(() => setQuery({ sel: null }), []);
  const sel = route.query.get('sel');
  const selected = rows.find((row) => row.key === sel);
  const threads = <ThreadsTable table={dict<LayerThreadTable>(layers.threads)} />;
  if (!rows.length) {
    return (
      <>
        <Empty title="No layers">
          <p>Nothing in this trace says which layer of the model a kernel belongs to. Runs of hone’s own engine do, and so do frameworks that are profiled with ranges around layers.</p>
        </Empty>
        <Sums layers={layers} />
        {threads}
      </>
    );
  }
  return (
    <>
      <Sums layers={layers} />
      <div class="group"><LatencyFigure rows={rows} selected={sel} log={route.query.get('scale') === 'log'} /></div>
      <div class="pair group">
        <TreeFigure rows={rows} kinds={kinds} selected={sel} by={route.query.get('by') === 'kind' ? 'kind' : 'block'} at={atOf(route.query.get('block'))} />
        <RoofFigure rows={rows} kinds={kinds} selected={sel} />
      </div>
      <KindLegend kinds={kinds} />
      <section>
        <h2>All layers</h2>
        <Table caption="Layers" columns={columns} rows={rows} rowKey={(row) => row.key} selected={sel} onSelect={(key) => setQuery({ sel: key })} />
      </section>
      {threads}
      {selected && <LayerDetail row={selected} timeline={stepLink(profile, analysis)} onClose={close} />}
    </>
  );
}
