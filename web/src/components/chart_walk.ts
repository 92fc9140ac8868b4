// Arrow keys in a chart: left and right along a series, up and down from series to series, Esc out.
import type { ECharts } from './echarts';

export interface ChartPick {
  seriesName?: string;
  dataIndex: number;
  name: string;
  data: unknown;
}

export interface Spot {
  series: number;
  index: number;
  pick: ChartPick;
}

interface DrawnSeries {
  name?: string;
  data?: unknown[];
  silent?: boolean;
}

const STEPS: Record<string, readonly [number, number]> = {
  ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
};

/// Where the key leads; null is out of the chart, undefined means that the key is none of these.
export function walk(chart: ECharts, from: Spot | null, key: string): Spot | null | undefined {
  if (key === 'Escape') {
    chart.dispatchAction({ type: 'hideTip' });
    return null;
  }
  const step = Object.hasOwn(STEPS, key) ? STEPS[key] : undefined;
  if (!step) return undefined;
  const all = (chart.getOption() as { series?: DrawnSeries[] }).series ?? [];
  const open = all.map((series, i) => ({ series, i })).filter(({ series }) => !series.silent && series.data?.length);
  if (!open.length) return null;
  const at = from ? open.findIndex(({ i }) => i === from.series) : -1;
  const { series, i } = open[from ? (at + step[0] + open.length) % open.length : 0]!;
  const data = series.data!;
  const index = from ? (Math.min(from.index, data.length - 1) + step[1] + data.length) % data.length : 0;
  chart.dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: index });
  return { series: i, index, pick: { seriesName: series.name, dataIndex: index, name: '', data: data[index] } };
}
