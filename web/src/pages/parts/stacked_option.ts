// One bar a step, stacked of its parts, always in the same order.
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { finite, format, formatTick } from '../../format';
import { clip } from '../../text';

export interface Part {
  key: string;
  label: string;
  /// Which colour of the palette.
  colour: number;
}

export interface Bar {
  name: string;
  length: number | null;
  /// By the parts' order.
  values: (number | null)[];
}

const DENSE = 60;

/// "ProfilerStep#2" is 2 on an axis that is named ProfilerStep, if all steps are called so.
export function labelsOf(bars: Bar[]): { name: string; labels: string[] } {
  const split = bars.map(({ name }) => /^(.{1,40})#(\d+)$/s.exec(name));
  const prefix = split[0]?.[1];
  if (prefix !== undefined && split.every((found) => found?.[1] === prefix)) {
    return { name: clip(prefix, 40), labels: split.map((found) => found![2]!) };
  }
  return { name: 'step', labels: bars.map(({ name }) => clip(name, 18)) };
}

function say(parts: Part[], bar: Bar): HTMLElement {
  const lines = parts.map(({ label }, i): [string, string] => {
    const value = finite(bar.values[i]);
    const share = value !== null && bar.length ? ` · ${format(value / bar.length, 'share')}` : '';
    return [label, format(value, 'ns') + share];
  });
  return tip(bar.name, [['length', format(bar.length, 'ns')], ...lines]);
}

/// In a narrow window the legend takes more than one line.
export function stackedOption(parts: Part[], bars: Bar[], narrow: boolean, of: Look) {
  const { name, labels } = labelsOf(bars);
  const dense = bars.length > DENSE;
  const series = parts.map(({ label, colour }, i) => ({
    type: 'bar', name: label, stack: 'step', barMaxWidth: 64, barCategoryGap: dense ? 0 : '30%',
    itemStyle: { color: of.series[colour % of.series.length], borderColor: of.surface, borderWidth: dense ? 0 : 0.75 },
    data: bars.map(({ values }) => finite(values[i]) ?? 0),
  }));
  const shown = (params: { dataIndex: number }[]) => say(parts, bars[params[0]?.dataIndex ?? 0]!);
  return {
    tooltip: { trigger: 'axis', axisPointer: { type: 'shadow', shadowStyle: { color: of.line, opacity: 0.35 } }, formatter: shown },
    legend: { top: 0, left: 4, selectedMode: false, itemWidth: 10, itemHeight: 10, itemGap: 14, textStyle: { color: of.text, fontFamily: of.font } },
    grid: { top: narrow && parts.length > 4 ? 88 : 48, bottom: 28 },
    xAxis: axis(of, { type: 'category', data: labels, name, nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: of.muted }, splitLine: { show: false } }),
    yAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    series,
  };
}
