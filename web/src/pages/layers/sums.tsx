// The way in which the times of layers add up to those of the device and the host.
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Note } from '../../components/note';
import { describe, hintOf } from '../../data/fields';
import { dict, texts } from '../../data/safe';
import { finite, format, formatRange } from '../../format';
import type { LayerAnalysis, TimeSummary, Trend } from '../../schema';

const SUMS = [['layer_sum', 'Layers'], ['other_device', 'Other work of the device'], ['device_busy', 'Device busy'], ['host', 'Host'], ['iteration', 'Iteration']] as const;

function Sum({ field, label, time, longest }: { field: string; label: string; time: Partial<TimeSummary>; longest: number }) {
  const { origin } = describe({ struct: 'LayerAnalysis', field });
  const median = finite(time.median_ns);
  return (
    <div class="sum">
      <Figure label={label} value={time.median_ns} of={{ struct: 'LayerAnalysis', field }} hint={`Median of ${format(time.n, 'count')} iterations.${origin ? '' : ' Origin: measured.'}`} />
      <span class="interval" data-hint={hintOf({ struct: 'TimeSummary', field: 'median_low_ns' })}>{formatRange(time.median_low_ns, time.median_high_ns, 'ns')}</span>
      <span class="meter" aria-hidden="true"><i style={{ width: `${longest > 0 && median ? Math.min(100, (median / longest) * 100) : 0}%` }} /></span>
    </div>
  );
}

function TrendNote({ trend }: { trend: Partial<Trend> }) {
  if (trend.certain !== true) return null;
  const range = formatRange(trend.low, trend.high, 'ns');
  return <Note severity="doubt" title="Iterations drift"><p>Each takes {format(trend.slope, 'ns')} more than the one before (95 %: {range}), so medians stand for no steady state.</p></Note>;
}

export function Sums({ layers }: { layers: Partial<LayerAnalysis> }) {
  const times = SUMS.map(([field, label]) => ({ field, label, time: dict<TimeSummary>(layers[field]) }));
  const longest = Math.max(0, ...times.map(({ time }) => finite(time.median_ns) ?? 0));
  return (
    <section>
      <h2>An iteration</h2>
      <div class="sums">{times.map((one) => <Sum key={one.field} {...one} longest={longest} />)}</div>
      <TrendNote trend={dict<Trend>(layers.iteration_trend_ns)} />
      {texts(layers.notes).map((note, i) => <Note key={i}><p><Name text={note} longest={400} /></p></Note>)}
    </section>
  );
}
