// Where the host's time of an iteration goes: figures that reconcile, and what recording them cost.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import { Figure } from '../../components/figure';
import { Note } from '../../components/note';
import { Table, type Column } from '../../components/table';
import { Value } from '../../components/value';
import { describe } from '../../data/fields';
import { listOf, partOf, textsOf } from '../../data/lists';
import { finite, parts } from '../../format';
import type { LayerAnalysis, Step, TimeSummary } from '../../schema';
import { clip } from '../../text';
import type { ViewProps } from '../props';
import { budgetOption, budgetOf, type Piece } from './budget_chart';

interface Row {
  name: string;
  hint: string;
  time: Partial<TimeSummary>;
}

const LAYERS = (field: keyof LayerAnalysis) => ({ struct: 'LayerAnalysis', field });
const time = (field: keyof TimeSummary) => ({ struct: 'TimeSummary', field });
const COLUMNS: Column<Row>[] = [
  { key: 'name', title: 'Part', value: ({ name }) => name, show: ({ name, hint }) => <span tabIndex={0} data-hint={hint}>{name}</span> },
  ...(['mean_ns', 'median_ns', 'median_low_ns', 'median_high_ns', 'p25_ns', 'p75_ns', 'n'] as const).map((field): Column<Row> => ({ key: field, of: time(field), value: ({ time }) => time[field] })),
];
const PIECES: Column<Piece>[] = [
  { key: 'row', title: 'Bar', value: ({ row }) => row },
  { key: 'name', title: 'Part', value: ({ name }) => name },
  { key: 'value', title: 'Mean', of: time('mean_ns'), value: ({ value }) => value },
];

/// The verdicts of a trace whose medians do not show that recording cost anything.
const UNTOLD: Record<string, string> = { noise: 'no difference beyond noise', 'too few runs': 'too few runs to tell' };

/// Traces of earlier versions have no verdict; nothing is faster for being recorded.
function untold(ratio: number, verdict: string | undefined): string | null {
  if (verdict && Object.hasOwn(UNTOLD, verdict)) return UNTOLD[verdict]!;
  return verdict !== 'differs' && ratio < 1.0005 ? 'no difference that can be told' : null;
}

function Recording({ metadata, overhead }: { metadata: Record<string, string>; overhead: number | null }) {
  const of = (key: string) => finite(Number(metadata[key] ?? NaN));
  const [plain, recorded] = [of('latency_plain_ms'), of('latency_recorded_ms')];
  if (plain === null && recorded === null && !overhead) return null;
  const P50 = { struct: 'Times', field: 'p50' };
  const ratio = plain && recorded ? recorded / plain : null;
  const said = ratio && untold(ratio, metadata['recording_cost']);
  return (
    <div class="figures">
      <Figure label="Median, not recorded" value={plain} of={P50} hint="Latency of the same runs before recording began." />
      <Figure label="Median while recorded" value={recorded} of={P50} hint="Latency of the runs that this trace holds." />
      {ratio && (
        <div class="labelled">
          <span class="label">Recorded by not recorded</span>
          {said ?? <span class="figure" tabIndex={0} data-hint="What recording costs: above 1, the trace is slower than the program is without it." data-value={ratio}><Value {...parts(ratio, 'ratio')} /></span>}
        </div>
      )}
      {overhead !== null && <Figure label="Profiler’s own time" value={overhead} of={{ struct: 'Step', field: 'profiler_overhead_ns' }} hint="All steps together." />}
    </div>
  );
}

export function Budget({ view }: { view: ViewProps }) {
  const layers = partOf<LayerAnalysis>(view.analysis.layers);
  const pieces = useMemo(() => budgetOf(layers), [view.analysis]);
  const option = useCallback((of: Look) => budgetOption(pieces, of), [pieces]);
  const data = useMemo(() => ({ columns: PIECES, rows: pieces }), [pieces]);
  const rows = useMemo(() => {
    const row = (name: string, field: 'iteration' | 'device_busy' | 'layer_sum' | 'other_device'): Row => ({ name, hint: `${describe(LAYERS(field)).text}.`, time: partOf(layers[field]) });
    return [row('Iteration', 'iteration'), row('Device busy', 'device_busy'), row('Layers', 'layer_sum'), row('Other device work', 'other_device')];
  }, [view.analysis]);
  const steps = listOf<Step>(view.analysis.steps?.steps);
  const overhead = steps.length ? steps.reduce((sum, step) => sum + (finite(step.profiler_overhead_ns) ?? 0), 0) : null;
  if (!pieces.length) return null;
  return (
    <section>
      <h2>Latency budget</h2>
      <Chart title="An iteration" description="The mean iteration of the host, the part of it in which the device was busy, and the work of the device added up." option={option} data={data} height={pieces.some(({ row }) => row === 'Work added up') ? 210 : 160} />
      <p class="muted below">Means, so that the parts add up. Work that runs side by side on several streams is longer when added up than the time in which the device is busy.</p>
      <Recording metadata={view.profile.metadata} overhead={overhead} />
      {textsOf(layers.notes).map((note) => <Note key={note}>{clip(note, 400)}</Note>)}
      <Table caption="Latency budget" columns={COLUMNS} rows={rows} rowKey={({ name }) => name} />
    </section>
  );
}
