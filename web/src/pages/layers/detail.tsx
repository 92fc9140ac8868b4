// All that is known of one layer.
import type { ComponentChildren } from 'preact';
import { Drawer, Fact, Facts } from '../../components/drawer';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import type { Profile } from '../../data/document';
import { dict, dicts } from '../../data/safe';
import { finite, formatRange } from '../../format';
import { link } from '../../route';
import type { Analysis, LayerKernel, Step, StepBreakdown } from '../../schema';
import { kindName, type LayerRow } from './model';
import { Rivals } from './rivals';

const KERNELS: Column<Partial<LayerKernel>>[] = [
  { key: 'name', of: { struct: 'LayerKernel', field: 'name' }, value: (kernel) => kernel.name, code: true },
  { key: 'calls', title: 'Calls by iteration', of: { struct: 'LayerKernel', field: 'calls' }, value: (kernel) => kernel.calls },
];
const TIMES = [['mean_ns', 'Mean'], ['sd_ns', 'sd'], ['min_ns', 'Min'], ['p25_ns', 'p25'], ['p75_ns', 'p75'], ['max_ns', 'Max'], ['n', 'Iterations']] as const;

/// The first step, which runs every layer once.
export function stepLink(profile: Profile, analysis: Analysis): string | null {
  const [step] = dicts<Step>(dict<StepBreakdown>(analysis.steps).steps);
  const [origin, from, to] = [finite(profile.timeline?.origin_ns), finite(step?.start_ns), finite(step?.end_ns)];
  if (origin === null || from === null || to === null) return null;
  return link(['profile', profile.id, 'timeline'], { from: String(from - origin), to: String(to - origin) });
}

function Texts({ all }: { all: string[] }) {
  if (!all.length) return <span class="muted">–</span>;
  return <ul>{all.slice(0, 60).map((one, i) => <li key={i}><Name text={one} code /></li>)}{all.length > 60 && <li class="muted">and {all.length - 60} more</li>}</ul>;
}

function Times({ row }: { row: LayerRow }) {
  return (
    <Facts>
      {TIMES.map(([field, title]) => <Fact key={field} name={title}><Figure value={row.time[field]} of={{ struct: 'TimeSummary', field }} /></Fact>)}
    </Facts>
  );
}

interface DetailProps {
  row: LayerRow;
  timeline: string | null;
  onClose: () => void;
  /// How it hangs together with others, where the page knows.
  children?: ComponentChildren;
}

export function LayerDetail({ row, timeline, onClose, children }: DetailProps) {
  const layer = (field: string) => ({ struct: 'Layer', field });
  return (
    <Drawer title={<Name text={row.name} longest={120} />} label="The selected layer" onClose={onClose}>
      <div class="figures">
        <Figure label="Median" value={row.time.median_ns} of={{ struct: 'TimeSummary', field: 'median_ns' }} hint={`95 % confidence interval: ${formatRange(row.time.median_low_ns, row.time.median_high_ns, 'ns')}.`} />
        <Figure label="Headroom" value={row.headroom} of={layer('over_floor')} />
      </div>
      <Facts>
        <Fact name="95 % of the median">{formatRange(row.time.median_low_ns, row.time.median_high_ns, 'ns')}</Fact>
        <Fact name="Kind"><Name text={kindName(row.kind)} /></Fact>
        <Fact name="Tactic"><Name text={row.tactic} code /></Fact>
        <Fact name="Floor"><Figure value={row.floor} of={layer('floor_ns')} /></Fact>
        <Fact name="Work"><Figure value={row.flops} of={layer('flops')} /></Fact>
        <Fact name="Bytes"><Figure value={row.bytes} of={layer('bytes')} /></Fact>
        <Fact name="FLOP/s"><Figure value={row.flopsPerSecond} of={layer('flops_per_second')} /></Fact>
        <Fact name="Bytes/s"><Figure value={row.bytesPerSecond} of={layer('bytes_per_second')} /></Fact>
        <Fact name="Inputs"><Texts all={row.inputs} /></Fact>
        <Fact name="Outputs"><Texts all={row.outputs} /></Fact>
        <Fact name="Nodes"><Texts all={row.sources} /></Fact>
      </Facts>
      {children}
      <Rivals row={row} />
      <h3>Times</h3>
      <Times row={row} />
      {row.kernels.length > 0 && <Table caption="Kernels of the layer" columns={KERNELS} rows={row.kernels} rowKey={(kernel) => String(row.kernels.indexOf(kernel))} />}
      {timeline && <p><a href={timeline}>The first step in the timeline</a></p>}
    </Drawer>
  );
}
