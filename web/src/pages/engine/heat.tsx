// The duration of steps as a colour: one hue that grows stronger, so that lightness is enough to read it, and
// its legend.
import { look, type Look } from '../../components/chart_look';
import { finite, format } from '../../format';
import { useTheme } from '../../theme';
import type { LayerRow } from '../layers/model';

/// The strongest still lets the text on it be read in both themes.
const STRONGEST = 0.6;
const STEPS = [0, 0.25, 0.5, 0.75, 1];

export const longestOf = (rows: LayerRow[]): number => rows.reduce((longest, row) => Math.max(longest, finite(row.time.median_ns) ?? 0), 0);

/// 0 to 1; null where the time is not known.
export function heatOf(row: LayerRow, longest: number): number | null {
  const median = finite(row.time.median_ns);
  if (median === null || median < 0) return null;
  return longest > 0 ? Math.min(1, median / longest) : 0;
}

export const hueOf = (of: Look): string => of.series[1]!;
export const opacityOf = (heat: number): number => STRONGEST * heat;

export function HeatLegend({ longest }: { longest: number }) {
  useTheme();
  const of = look();
  return (
    <ul class="keys heat-keys" aria-label="Colours: median time of a layer">
      {STEPS.map((step) => (
        <li key={step}>
          <svg width="26" height="14" aria-hidden="true">
            <rect x="0.5" y="0.5" width="25" height="13" rx="3" fill={of.surface} stroke={of.line} />
            <rect x="0.5" y="0.5" width="25" height="13" rx="3" fill={hueOf(of)} fill-opacity={opacityOf(step)} />
          </svg> {format(longest * step, 'ns')}
        </li>
      ))}
      <li><svg width="26" height="14" aria-hidden="true"><rect x="1" y="1" width="24" height="12" rx="6" fill="none" stroke={of.muted} stroke-dasharray="3 2" /></svg> inserted by the engine</li>
    </ul>
  );
}
