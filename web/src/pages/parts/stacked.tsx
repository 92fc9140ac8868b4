// Steps as stacked bars; of very many a part at a time, which the address names.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart, type ChartPick } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import { Select } from '../../components/select';
import type { Column } from '../../components/table';
import { setQuery } from '../../route';
import { useNarrow } from './narrow';
import { stackedOption, type Bar, type Part } from './stacked_option';

const AT_ONCE = 200;

interface StackedProps {
  title: string;
  description: string;
  parts: Part[];
  bars: Bar[];
  /// The key in the address that holds which of many steps are shown, and its value.
  pageKey: string;
  query: URLSearchParams;
  onPick?: (index: number) => void;
}

function pagesOf(count: number): { id: string; label: string }[] {
  const pages = Math.ceil(count / AT_ONCE);
  return Array.from({ length: pages }, (_, i) => ({
    id: i ? String(i + 1) : '', label: `${i * AT_ONCE + 1}–${Math.min(count, (i + 1) * AT_ONCE)} of ${count}`,
  }));
}

function columnsOf(parts: Part[]): Column<Bar>[] {
  return [
    { key: 'step', title: 'Step', value: ({ name }) => name },
    { key: 'length', title: 'Length', unit: 'ns', value: ({ length }) => length },
    ...parts.map(({ key, label }, i): Column<Bar> => ({ key, title: label, unit: 'ns', value: ({ values }) => values[i] })),
  ];
}

export function Stacked({ title, description, parts, bars, pageKey, query, onPick }: StackedProps) {
  const narrow = useNarrow();
  const pages = pagesOf(bars.length);
  const page = Math.max(0, pages.findIndex(({ id }) => id === (query.get(pageKey) ?? '')));
  const shown = useMemo(() => bars.slice(page * AT_ONCE, (page + 1) * AT_ONCE), [bars, page]);
  const option = useCallback((of: Look) => stackedOption(parts, shown, narrow, of), [parts, shown, narrow]);
  // The callbacks depend on the page as well: it draws other points.
  const data = useMemo(() => ({ columns: columnsOf(parts), rows: bars }), [parts, bars, page]);
  const pick = useCallback(({ dataIndex }: ChartPick) => onPick?.(page * AT_ONCE + dataIndex), [onPick, page]);
  return (
    <Chart title={title} description={description} option={option} data={data} height={320} onPick={onPick && pick}
      tools={pages.length > 1 && <Select label="Steps" choices={pages} value={pages[page]!.id} onChange={(id) => setQuery({ [pageKey]: id })} />} />
  );
}
