// Zooming along the x axis of a chart, which outlasts what else changes in it.
import type { Look } from './chart_look';
import type { ECharts } from './echarts';

interface Zoom {
  start?: number;
  end?: number;
}

/// A slider below the chart, and the wheel with Ctrl inside of it, so that the page still scrolls.
export function zoomAlong(of: Look) {
  return [
    { type: 'inside', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false },
    {
      type: 'slider', xAxisIndex: 0, height: 18, bottom: 6, showDetail: false, brushSelect: false, borderColor: of.line,
      fillerColor: `${of.accent}22`, handleStyle: { color: of.surface, borderColor: of.muted }, moveHandleSize: 0,
      dataBackground: { lineStyle: { color: of.line }, areaStyle: { color: of.line } },
      selectedDataBackground: { lineStyle: { color: of.muted }, areaStyle: { color: of.muted } },
    },
  ];
}

/// The option with the zoom that the chart has now.
export function keepZoom(chart: ECharts | null, option: Record<string, unknown>): Record<string, unknown> {
  const before = (chart?.getOption() as { dataZoom?: Zoom[] } | undefined)?.dataZoom;
  const wanted = option['dataZoom'];
  if (!Array.isArray(before) || !Array.isArray(wanted)) return option;
  const dataZoom = wanted.map((zoom: object, i) => ({ ...zoom, start: before[i]?.start ?? 0, end: before[i]?.end ?? 100 }));
  return { ...option, dataZoom };
}
