// Causes of the GPUs' waits while they did nothing, and their copies.
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import { entriesOf, listOf, partOf } from '../../data/lists';
import { finite } from '../../format';
import { link } from '../../route';
import type { DeviceIdle, DeviceTransfers, IdleRow, Traffic } from '../../schema';
import { clip } from '../../text';
import { shortName } from '../parts/short_name';
import type { ViewProps } from '../props';

const CAUSES: Record<string, string> = {
  launch_latency: 'launch latency',
  queue_gap: 'gap between operations of a queue',
  host_call: 'call of the CUDA API',
  host_other: 'host, nothing recorded',
  host_function: 'host function in a stream',
  profiler: 'the profiler itself',
  other_device: 'another device',
  before_first: 'before the first operation',
  after_last: 'after the last operation',
  unknown: 'not known',
};
const causeOf = (cause: unknown): string => (typeof cause === 'string' && Object.hasOwn(CAUSES, cause) ? CAUSES[cause]! : clip(cause, 60).replaceAll('_', ' '));

const idle = (field: keyof IdleRow) => ({ struct: 'IdleRow', field });
const IDLE: Column<IdleRow>[] = [
  { key: 'cause', of: idle('cause'), value: ({ cause }) => causeOf(cause) },
  { key: 'name', of: idle('name'), value: ({ name }) => name, show: ({ name }) => <Name text={shortName(name)} longest={60} code /> },
  { key: 'time', of: idle('time_ns'), value: (row) => row.time_ns, bar: true },
  { key: 'share', of: idle('share'), value: ({ share }) => share },
  { key: 'gaps', of: idle('gaps'), value: ({ gaps }) => gaps },
];

export interface Direction {
  name: string;
  traffic: Traffic;
}

const traffic = (field: keyof Traffic) => ({ struct: 'Traffic', field });
export const TRAFFIC: Column<Direction>[] = [
  { key: 'direction', title: 'Direction', of: { struct: 'Volume', field: 'direction' }, value: ({ name }) => name },
  { key: 'copies', of: traffic('copies'), value: (row) => row.traffic.copies },
  { key: 'bytes', title: 'Size', of: traffic('bytes'), value: (row) => row.traffic.bytes },
  { key: 'busy', of: traffic('busy_ns'), value: (row) => row.traffic.busy_ns },
  { key: 'rate', title: 'Rate', of: traffic('bytes_per_second'), value: (row) => row.traffic.bytes_per_second },
];

export const directionsOf = (device: DeviceTransfers): Direction[] =>
  entriesOf<Traffic>(partOf<DeviceTransfers['total']>(device.total).directions).map(([name, one]) => ({ name, traffic: one }));

function Idle({ device, several }: { device: DeviceIdle; several: boolean }) {
  const causes = listOf<IdleRow>(device.causes);
  const of = (field: keyof DeviceIdle) => ({ struct: 'DeviceIdle', field });
  return (
    <div>
      <h3>Idle time{several && ` of GPU ${clip(device.device, 8)}`}</h3>
      <div class="figures small">
        <Figure label="Idle" value={finite(device.idle_ns)} of={of('idle_ns')} />
        <Figure label="Busy" value={finite(device.busy_ns)} of={of('busy_ns')} />
        <Figure label="Gaps" value={finite(device.gaps)} of={of('gaps')} />
        <Figure label="Longest gap" value={finite(device.longest_gap_ns)} of={of('longest_gap_ns')} />
      </div>
      <Table caption={`Idle time of GPU ${clip(device.device, 8)} by cause`} columns={IDLE} rows={causes} rowKey={(row) => String(causes.indexOf(row))} />
    </div>
  );
}

export function Waiting({ view }: { view: ViewProps }) {
  const idling = listOf<DeviceIdle>(view.analysis.idle?.devices);
  const copying = listOf<DeviceTransfers>(view.analysis.transfers?.devices).filter((device) => directionsOf(device).length);
  if (!idling.length && !copying.length) return null;
  return (
    <section>
      <h2>What the device waits for</h2>
      {idling.map((device, i) => <Idle key={i} device={device} several={idling.length > 1} />)}
      {copying.map((device, i) => (
        <div class="group" key={i}>
          <h3>Copies{copying.length > 1 && ` of GPU ${clip(device.device, 8)}`}, all steps</h3>
          <Table caption={`Copies of GPU ${clip(device.device, 8)}`} columns={TRAFFIC} rows={directionsOf(device)} rowKey={({ name }) => name} />
          <p class="muted below"><a href={link(['profile', view.profile.id, 'transfers'])}>What they overlap with</a></p>
        </div>
      ))}
    </section>
  );
}
