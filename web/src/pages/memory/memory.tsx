// Memory: how much was in use over time on each device, and who held it at the peak.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import { Figure } from '../../components/figure';
import { Empty } from '../../components/note';
import { Table, type Column } from '../../components/table';
import { Tabs } from '../../components/tabs';
import { listOf, partOf } from '../../data/lists';
import { finite } from '../../format';
import { setQuery } from '../../route';
import type { DeviceMemory, DeviceUsage, MemoryOwner, MemoryPoint, MemoryTimeline } from '../../schema';
import { clip } from '../../text';
import { hrefOf } from '../parts/place';
import type { ViewProps } from '../props';
import '../views.css';
import { curveOf, curveOption, type Curve } from './curve';

const of = (field: keyof DeviceMemory) => ({ struct: 'DeviceMemory', field });
const owner = (field: keyof MemoryOwner) => ({ struct: 'MemoryOwner', field });
const OWNERS: Column<MemoryOwner>[] = [
  { key: 'name', title: 'Held by', of: owner('name'), value: ({ name }) => name, code: true },
  { key: 'bytes', title: 'Size', of: owner('bytes'), value: ({ bytes }) => bytes, bar: true },
  { key: 'allocations', of: owner('allocations'), value: ({ allocations }) => allocations },
];
type Point = Curve['points'][number];
const POINTS: Column<Point>[] = [
  { key: 'time', title: 'Time', of: { struct: 'MemoryPoint', field: 'time_ns' }, value: ({ time }) => time },
  { key: 'allocated', title: 'Allocated', of: { struct: 'MemoryPoint', field: 'allocated_bytes' }, value: ({ allocated }) => allocated },
  { key: 'reserved', title: 'Reserved', of: { struct: 'MemoryPoint', field: 'reserved_bytes' }, value: ({ reserved }) => reserved },
];

const nameOf = ({ device }: DeviceMemory, host: string): string => (device === -1 ? host : `GPU ${clip(device, 8)}`);

/// The window around the peak that the timeline shows, as a part of the whole window.
const AROUND_PEAK = 0.02;

function Figures({ memory, capacity }: { memory: DeviceMemory; capacity: number | null }) {
  return (
    <>
      <div class="figures">
        <Figure label="Peak in use" value={finite(memory.peak_bytes)} of={of('peak_bytes')} />
        {finite(memory.reserved_peak_bytes) !== null && <Figure label="Peak reserved" value={memory.reserved_peak_bytes} of={of('reserved_peak_bytes')} />}
        {capacity !== null && <Figure label="Memory of the GPU" value={capacity} of={{ struct: 'DeviceUsage', field: 'memory_bytes' }} />}
        <Figure label="Held at the end" value={finite(memory.live_at_end_bytes)} of={of('live_at_end_bytes')} />
      </div>
      <div class="figures small">
        <Figure label="Allocations" value={finite(memory.allocations)} of={of('allocations')} />
        <Figure label="Frees" value={finite(memory.frees)} of={of('frees')} />
        <Figure label="Frees of older memory" value={finite(memory.unknown_frees)} of={of('unknown_frees')} />
        <Figure label="Older memory at the peak" value={finite(memory.older_at_peak_bytes)} of={of('older_at_peak_bytes')} />
      </div>
    </>
  );
}

function Device({ memory, timeline, view }: { memory: DeviceMemory; timeline: Partial<MemoryTimeline>; view: ViewProps }) {
  const [start, end] = [finite(timeline.start_ns) ?? 0, finite(timeline.end_ns) ?? 0];
  const curve = useMemo(() => curveOf(memory, listOf<MemoryPoint>(memory.curve), start, end), [memory, start, end]);
  const option = useCallback((look: Look) => curveOption(curve, look), [curve]);
  const data = useMemo(() => ({ columns: POINTS, rows: curve.points }), [curve]);
  const owners = listOf<MemoryOwner>(memory.at_peak);
  const usage = listOf<DeviceUsage>(view.analysis.gpu?.devices).find(({ device }) => device === memory.device);
  const around = (end - start) * AROUND_PEAK;
  const peak = finite(memory.peak_time_ns);
  const href = peak === null ? null : hrefOf(view.profile, peak - around, peak + around);
  const totals = memory.totals_by_allocator ? 'Totals are what the allocator told.' : 'Totals are sums of the allocations that were seen.';
  const joined = memory.addressed === false ? ' Allocations and frees cannot be joined, as addresses were not recorded.' : '';
  return (
    <>
      <Figures memory={memory} capacity={finite(usage?.memory_bytes)} />
      <Chart title={`${nameOf(memory, 'Host')} memory`} description="Bytes in use and bytes that the allocator held against the time." option={option} data={data} height={340} />
      <p class="muted below">{totals}{joined} {href && <a href={href}>The peak in the timeline</a>}</p>
      <section>
        <h2>Who held memory at the peak</h2>
        <Table caption={`Held at the peak of ${nameOf(memory, 'the host')}`} columns={OWNERS} rows={owners} rowKey={(row) => String(owners.indexOf(row))} />
      </section>
    </>
  );
}

export function Memory(view: ViewProps) {
  const timeline = partOf<MemoryTimeline>(view.analysis.memory);
  const all = listOf<DeviceMemory>(timeline.devices);
  const chosen = Number(view.route.query.get('device') ?? NaN);
  const memory = all[chosen] ?? all[0];
  if (!memory) {
    return (
      <Empty title="No memory was recorded">
        <p><code>hone profile --profile-memory</code> records the allocations of PyTorch’s backends. Programs that use CUDA’s allocator tell of theirs by themselves, and so do traces of PyTorch’s profiler with <code>profile_memory=True</code>.</p>
      </Empty>
    );
  }
  return (
    <>
      {all.length > 1 && (
        <div class="choices">
          <Tabs label="Device" value={String(all.indexOf(memory))} onChange={(id) => setQuery({ device: id })}
            choices={all.map((one, i) => ({ id: String(i), label: nameOf(one, 'Host') }))} />
        </div>
      )}
      <Device key={String(all.indexOf(memory))} memory={memory} timeline={timeline} view={view} />
    </>
  );
}
