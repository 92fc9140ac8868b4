// Memory over time: what was in use, and what the allocator held.
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { finite, format, formatTick } from '../../format';
import type { DeviceMemory, MemoryPoint } from '../../schema';

export interface Curve {
  /// Times are from the begin of the window.
  points: { time: number; allocated: number | null; reserved: number | null }[];
  end: number;
  peak: [number, number] | null;
}

export function curveOf(memory: DeviceMemory, points: MemoryPoint[], start: number, end: number): Curve {
  const [time, bytes] = [finite(memory.peak_time_ns), finite(memory.peak_bytes)];
  const known = points.filter((point) => finite(point.time_ns) !== null).sort((a, b) => a.time_ns - b.time_ns);
  return {
    points: known.map((point) => ({ time: point.time_ns - start, allocated: finite(point.allocated_bytes), reserved: finite(point.reserved_bytes) })),
    end: Math.max(end - start, 0),
    peak: time !== null && bytes !== null ? [time - start, bytes] : null,
  };
}

/// The last value holds until the window ends.
function lineOf(curve: Curve, field: 'allocated' | 'reserved'): (number | null)[][] {
  const line = curve.points.map((point) => [point.time, point[field]]);
  const last = curve.points.at(-1);
  return last && curve.end > last.time ? [...line, [curve.end, last[field]]] : line;
}

export const hasReserved = (curve: Curve) => curve.points.some(({ reserved }) => reserved !== null);

export function curveOption(curve: Curve, of: Look) {
  const line = (name: string, field: 'allocated' | 'reserved', color: string, type: string) => ({
    type: 'line', name, data: lineOf(curve, field), step: 'end', showSymbol: curve.points.length < 3, symbol: 'circle', symbolSize: 5,
    lineStyle: { width: 1.5, color, type }, itemStyle: { color }, areaStyle: field === 'allocated' ? { color, opacity: 0.12 } : undefined,
  });
  const peak = curve.peak && {
    type: 'scatter', name: 'peak', data: [curve.peak], symbol: 'diamond', symbolSize: 12, z: 5,
    itemStyle: { color: of.series[1], borderColor: of.surface, borderWidth: 1.5 },
    label: { show: true, position: 'top', distance: 8, color: of.text, formatter: `peak ${format(curve.peak[1], 'bytes')}` },
  };
  const say = (all: { seriesName: string; value: [number, number | null] }[]) =>
    tip(`at ${format(all[0]?.value[0], 'ns')}`, all.map(({ seriesName, value }) => [seriesName, format(value[1], 'bytes')] as const));
  return {
    tooltip: { trigger: 'axis', axisPointer: { type: 'line', lineStyle: { color: of.muted } }, formatter: say },
    legend: { top: 0, left: 4, selectedMode: false, itemGap: 16, textStyle: { color: of.text, fontFamily: of.font } },
    grid: { top: 48, bottom: 28 },
    xAxis: axis(of, { type: 'value', min: 0, max: curve.end || undefined, name: 'since the window began', nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: of.muted }, splitLine: { show: false }, axisLabel: { showMaxLabel: false, formatter: (value: number) => formatTick(value, 'ns') } }),
    yAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'bytes') } }),
    series: [
      line('allocated', 'allocated', of.series[0]!, 'solid'),
      ...(hasReserved(curve) ? [line('reserved', 'reserved', of.series[2]!, 'dashed')] : []),
      ...(peak ? [peak] : []),
    ],
  };
}
