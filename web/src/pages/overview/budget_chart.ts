// An iteration as bars under each other: all of it, the device's part of it, and the work added up.
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { finite, format, formatTick } from '../../format';
import type { LayerAnalysis, TimeSummary } from '../../schema';

export interface Piece {
  row: string;
  name: string;
  value: number;
  /// Which colour of the palette; null is what is left.
  colour: number | null;
}

const mean = (time: TimeSummary | undefined): number => Math.max(0, finite(time?.mean_ns) ?? 0);

/// Nothing where no iteration was recorded.
export function budgetOf(layers: Partial<LayerAnalysis>): Piece[] {
  const [whole, busy, sum, other] = [mean(layers.iteration), mean(layers.device_busy), mean(layers.layer_sum), mean(layers.other_device)];
  if (!whole) return [];
  const top: Piece = { row: 'Iteration', name: 'all of it', value: whole, colour: 6 };
  const rest = (row: string, used: number, name: string): Piece => ({ row, name, value: Math.max(0, whole - used), colour: null });
  if (!busy) {
    return [top, { row: 'Steps', name: 'layers', value: sum, colour: 2 }, rest('Steps', sum, 'outside of layers')];
  }
  return [
    top,
    { row: 'Device', name: 'busy', value: busy, colour: 0 }, rest('Device', busy, 'rest'),
    { row: 'Work added up', name: 'layers', value: sum, colour: 2 },
    { row: 'Work added up', name: 'other device work', value: other, colour: 4 },
  ];
}

/// A part narrower than this has no room for its name.
const NAMED = 0.14;

export function budgetOption(pieces: Piece[], of: Look) {
  const rows = [...new Set(pieces.map(({ row }) => row))];
  const whole = pieces[0]?.value ?? 1;
  const longest = Math.max(...rows.map((row) => pieces.reduce((sum, piece) => sum + (piece.row === row ? piece.value : 0), 0)));
  const series = pieces.filter(({ value }) => value > 0).map((piece) => ({
    type: 'bar', name: piece.name, stack: 'budget', barMaxWidth: 30, data: [{ value: [piece.value, rows.indexOf(piece.row)], piece }],
    itemStyle: piece.colour === null
      ? { color: 'transparent', borderColor: of.muted, borderWidth: 1, borderType: 'dashed' }
      : { color: of.series[piece.colour], borderColor: of.surface, borderWidth: 0.75 },
    label: {
      show: piece.value / longest > NAMED, position: 'inside', fontSize: 12, overflow: 'truncate',
      color: piece.colour === null ? of.text : of.surface, formatter: `${piece.name}  ${format(piece.value, 'ns')}`,
    },
  }));
  const say = ({ data }: { data: { piece: Piece } }) =>
    tip(`${data.piece.row}: ${data.piece.name}`, [['mean', format(data.piece.value, 'ns')], ['of the iteration', format(data.piece.value / whole, 'share')]]);
  return {
    tooltip: { trigger: 'item', formatter: say },
    grid: { top: 10, bottom: 4, right: 24 },
    xAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    yAxis: axis(of, { type: 'category', data: rows, inverse: true, splitLine: { show: false }, axisLabel: { color: of.text } }),
    series,
  };
}
