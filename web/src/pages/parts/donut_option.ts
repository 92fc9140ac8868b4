// Parts of a whole as a ring; each part has a number that its line of the legend repeats.
import type { Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { format } from '../../format';
import { clip } from '../../text';

export interface Slice {
  name: string;
  value: number;
  /// Which colour of the palette; else by its place.
  colour?: number;
  /// How many parts it stands for.
  stands?: number;
}

const TOP = 10;
/// A part smaller than this has no room for its number.
const NUMBERED = 0.035;

const positive = (slice: Slice) => Number.isFinite(slice.value) && slice.value > 0;

/// The ten largest, and the rest as one.
export function topOf(all: Slice[]): Slice[] {
  const slices = all.filter(positive).sort((a, b) => b.value - a.value);
  const rest = slices.slice(TOP);
  if (rest.length < 2) return slices;
  const value = rest.reduce((sum, slice) => sum + slice.value, 0);
  return [...slices.slice(0, TOP), { name: `${rest.length} others`, value, stands: rest.length }];
}

const colourOf = (slice: Slice, i: number, of: Look) =>
  slice.stands ? of.line : of.series[(slice.colour ?? i) % of.series.length];

export interface DonutLook {
  narrow: boolean;
  /// True if there is room for long names.
  wide: boolean;
  /// Parts count the same thing more than once, so that there is no whole.
  overlap: boolean;
}

function layout(narrow: boolean, lines: number) {
  if (!narrow) return { center: ['23%', '50%'], radius: [60, 100], legend: { left: '46%', top: 'middle' }, height: 320 };
  return { center: ['50%', 110], radius: [58, 96], legend: { left: 4, top: 222 }, height: 232 + lines * 22 };
}

export const heightOf = (narrow: boolean, slices: Slice[]) => layout(narrow, slices.length).height;

export function donutOption(slices: Slice[], unit: string, { narrow, wide, overlap }: DonutLook, of: Look) {
  const total = slices.reduce((sum, { value }) => sum + value, 0);
  const share = (i: number) => format(slices[i]!.value / total, 'share');
  const said = (i: number) => (overlap ? format(slices[i]!.value, unit) : share(i));
  const { center, radius, legend } = layout(narrow, slices.length);
  const data = slices.map((slice, i) => ({
    name: String(i), value: slice.value,
    itemStyle: { color: colourOf(slice, i, of), borderColor: of.surface, borderWidth: 1.5 },
    label: { show: slice.value / total > NUMBERED, position: 'inner', formatter: String(i + 1), fontSize: 11, fontWeight: 600, color: slice.stands ? of.text : of.surface },
  }));
  const say = ({ dataIndex }: { dataIndex: number }) =>
    tip(slices[dataIndex]!.name, [['', format(slices[dataIndex]!.value, unit)], ...(overlap ? [] : [['share', share(dataIndex)] as const])]);
  const line = (name: string) => `{n|${Number(name) + 1}} {s|${said(Number(name))}}  ${clip(slices[Number(name)]?.name, wide ? 64 : 20)}`;
  const rich = { n: { width: 14, align: 'right', color: of.muted }, s: { width: overlap ? 56 : 42, align: 'right', color: of.text, fontWeight: 500 } };
  return {
    tooltip: { trigger: 'item', formatter: say },
    legend: {
      ...legend, orient: 'vertical', selectedMode: false, itemWidth: 10, itemHeight: 10, itemGap: 8, formatter: line,
      data: data.map(({ name }) => name), textStyle: { color: of.text, fontFamily: of.font, fontSize: 12, rich },
    },
    series: [
      { type: 'pie', name: 'parts', center, radius, data, labelLine: { show: false }, emphasis: { scaleSize: 4 } },
      { type: 'pie', center, radius: [0, 1], silent: true, tooltip: { show: false }, itemStyle: { color: 'transparent' },
        data: [{ name: 'total', value: 1 }], labelLine: { show: false },
        label: { position: 'center', formatter: overlap ? '' : format(total, unit), fontSize: 15, fontWeight: 600, color: of.text } },
    ],
  };
}
