// A chart with a title, a description for those who do not see it, keys to walk through its points, its data
// as a table, and an export.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useTheme } from '../theme';
import { savePng, saveSvg } from './chart_export';
import { baseOption, look, type Look } from './chart_look';
import { walk, type ChartPick, type Spot } from './chart_walk';
import { keepZoom } from './chart_zoom';
import { downloadCsv } from './download';
import { init, type ECharts, type EChartsCoreOption } from './echarts';
import { Menu } from './menu';
import { Table } from './table';
import { csvHead, type Column } from './table_model';

export type { ChartPick } from './chart_walk';

export interface ChartData<Row> {
  columns: Column<Row>[];
  rows: Row[];
}

export interface ChartProps<Row> {
  title: string;
  /// The content of the chart, in a sentence.
  description: string;
  /// Laid over what all charts share. Has to be the same function as long as the data is (useCallback).
  option: (of: Look) => EChartsCoreOption;
  /// The same data, for the table and for CSV. Has to be the same object as long as the points are (useMemo).
  data: ChartData<Row>;
  height?: number;
  onPick?: (pick: ChartPick) => void;
  /// Choices that belong to this chart.
  tools?: ComponentChildren;
}

export function Chart<Row>({ title, description, option, data, height = 300, onPick, tools }: ChartProps<Row>) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const spot = useRef<Spot | null>(null);
  const [asTable, setAsTable] = useState(false);
  const [said, setSaid] = useState('');
  const theme = useTheme();

  useEffect(() => {
    if (asTable || !host.current) return;
    const made = init(host.current, undefined, { renderer: 'svg' });
    chart.current = made;
    const sized = new ResizeObserver(() => made.resize());
    sized.observe(host.current);
    return () => {
      sized.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, [asTable]);

  useEffect(() => {
    const of = look();
    const own = keepZoom(chart.current, option(of)) as Record<string, any>;
    const base = baseOption(of);
    chart.current?.setOption({ ...base, ...own, tooltip: { ...base.tooltip, ...own['tooltip'] }, grid: { ...base.grid, ...own['grid'] } }, true);
  }, [option, theme, asTable]);

  // Where a reader is outlasts a selection or a theme, not the points themselves.
  useEffect(() => {
    spot.current = null;
  }, [data]);

  useEffect(() => {
    chart.current?.off('click');
    if (onPick) chart.current?.on('click', (event) => onPick(event as unknown as ChartPick));
  }, [onPick, asTable]);

  const key = (event: KeyboardEvent) => {
    if (!chart.current) return;
    if (event.key === 'Enter' && spot.current && onPick) return onPick(spot.current.pick);
    const next = walk(chart.current, spot.current, event.key);
    if (next === undefined) return;
    event.preventDefault();
    spot.current = next;
    setSaid(host.current?.querySelector('.chart-tip')?.textContent ?? '');
  };

  const exports = [
    { label: 'PNG', run: () => host.current && void savePng(host.current, title) },
    { label: 'SVG', run: () => host.current && saveSvg(host.current, title) },
    { label: 'CSV', run: () => downloadCsv(title, csvHead(data.columns), data.rows.map((row) => data.columns.map((column) => column.value(row)))) },
  ];
  return (
    <figure class="chart">
      <figcaption class="tools">
        <h3>{title}</h3>
        <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>As table</button>
        {!asTable && <Menu label="Export" actions={exports} />}
      </figcaption>
      {tools && <div class="tools">{tools}</div>}
      {asTable
        ? <Table caption={title} columns={data.columns} rows={data.rows} rowKey={(row) => String(data.rows.indexOf(row))} />
        : <div ref={host} class="canvas" role="img" tabIndex={0} onKeyDown={key} style={{ height: `${height}px` }}
            aria-label={`${title}. ${description} Arrow keys go through the points.`} />}
      <span class="unseen" aria-live="polite">{said}</span>
    </figure>
  );
}
