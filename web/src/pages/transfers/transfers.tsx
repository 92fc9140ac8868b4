// Transfers: copies between host and devices, and whether they overlap kernels.
import { useCallback, useMemo } from 'preact/hooks';
import { Figure } from '../../components/figure';
import { Empty } from '../../components/note';
import { Table } from '../../components/table';
import { listOf, partOf } from '../../data/lists';
import { finite } from '../../format';
import { go } from '../../route';
import type { DeviceTransfers, Overlap, Step, TransferAnalysis } from '../../schema';
import { clip } from '../../text';
import { directionsOf, TRAFFIC } from '../overview/idle';
import { Donut } from '../parts/donut';
import { placeOf } from '../parts/place';
import { Stacked } from '../parts/stacked';
import type { Bar, Part } from '../parts/stacked_option';
import type { ViewProps } from '../props';
import '../views.css';

const FIELDS = ['link_only_ns', 'both_ns', 'compute_only_ns', 'other_ns', 'idle_ns'] as const;
const PARTS: Part[] = [
  { key: 'link_only_ns', label: 'copies only', colour: 1 },
  { key: 'both_ns', label: 'copies and kernels', colour: 2 },
  { key: 'compute_only_ns', label: 'kernels only', colour: 0 },
  { key: 'other_ns', label: 'within the device only', colour: 4 },
  { key: 'idle_ns', label: 'idle', colour: 6 },
];

const of = (field: keyof Overlap) => ({ struct: 'Overlap', field });
const LENGTH = of('length_ns');
const barOf = (overlap: Overlap): Bar => ({ name: clip(overlap.step, 80), length: finite(overlap.length_ns), values: FIELDS.map((field) => finite(overlap[field])) });

function Device({ transfers, view }: { transfers: DeviceTransfers; view: ViewProps }) {
  const total = partOf<Overlap>(transfers.total);
  const bars = useMemo(() => listOf<Overlap>(transfers.steps).map(barOf), [transfers]);
  const steps = useMemo(() => listOf<Step>(view.analysis.steps?.steps), [view.analysis]);
  const name = `GPU ${clip(transfers.device, 8)}`;
  const { profile } = view;
  const pick = useCallback((index: number) => {
    const step = steps[index]?.name === bars[index]?.name ? steps[index] : undefined;
    const place = placeOf(profile, step?.start_ns, step?.end_ns);
    if (place) go(['profile', profile.id, 'timeline'], place);
  }, [profile, steps, bars]);
  const directions = directionsOf(transfers);
  const slices = useMemo(() => PARTS.map(({ label, colour }, i) => ({ name: label, colour, value: bars[0]?.values[i] ?? 0 })), [bars]);
  return (
    <section>
      <h2>{name}</h2>
      <div class="figures">
        <Figure label="Hideable" value={finite(transfers.hideable_ns)} of={{ struct: 'DeviceTransfers', field: 'hideable_ns' }} />
        <Figure label="Copies ran" value={finite(total.link_ns)} of={of('link_ns')} />
        <Figure label="Kernels ran" value={finite(total.compute_ns)} of={of('compute_ns')} />
        <Figure label="Both ran" value={finite(total.both_ns)} of={of('both_ns')} />
        <Figure label="All steps" value={finite(total.length_ns)} of={of('length_ns')} />
      </div>
      {directions.length > 0
        ? <Table caption={`Copies of ${name} by direction`} columns={TRAFFIC} rows={directions} rowKey={({ name: direction }) => direction} />
        : <p class="muted">Nothing was copied between the host and this GPU.</p>}
      {bars.length === 1 && <div class="group"><Donut title={`Time of ${name}`} description="Time in which copies, kernels, both or neither ran." slices={slices} of={LENGTH} part="What ran" inOrder wide /></div>}
      {bars.length > 1 && (
        <div class="group">
          <Stacked title={`Steps of ${name}`} description="Time of each step in which copies, kernels, both or neither ran. Enter shows the step in the timeline."
            parts={PARTS} bars={bars} pageKey="steps" query={view.route.query} onPick={pick} />
        </div>
      )}
    </section>
  );
}

export function Transfers(view: ViewProps) {
  const devices = listOf<DeviceTransfers>(partOf<TransferAnalysis>(view.analysis.transfers).devices);
  if (!devices.length) {
    return <Empty title="No transfers were recorded"><p>No GPU did anything in this trace, so nothing was copied to one or from one.</p></Empty>;
  }
  return <>{devices.map((transfers, i) => <Device key={i} transfers={transfers} view={view} />)}</>;
}
