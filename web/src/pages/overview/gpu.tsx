// Each GPU: what it is, how busy it was, and what its counters say.
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import { listOf, partOf } from '../../data/lists';
import { finite } from '../../format';
import type { CounterMean, DeviceUsage, GpuUsage } from '../../schema';
import { clip } from '../../text';
import { Share } from './share';

const of = (field: keyof DeviceUsage) => ({ struct: 'DeviceUsage', field });
const counter = (field: keyof CounterMean) => ({ struct: 'CounterMean', field });

const COUNTERS: Column<CounterMean>[] = [
  { key: 'name', title: 'Counter', of: counter('name'), value: ({ name }) => name },
  { key: 'unit', of: counter('unit'), value: ({ unit }) => unit },
  { key: 'mean', of: counter('mean'), value: ({ mean }) => mean },
  { key: 'min', of: counter('min'), value: ({ min }) => min },
  { key: 'max', of: counter('max'), value: ({ max }) => max },
  { key: 'samples', of: counter('samples'), value: ({ samples }) => samples },
];

function Device({ usage }: { usage: DeviceUsage }) {
  const counters = listOf<CounterMean>(usage.counters);
  return (
    <section>
      <h2>GPU {clip(usage.device, 8)} · <Name text={usage.name} longest={60} /></h2>
      <div class="figures">
        <Share label="Utilization" field="utilization" figure={usage.utilization} />
        <Share label="SM efficiency" field="sm_efficiency" figure={usage.sm_efficiency} />
        <Share label="SMs active" field="measured_sms_active" figure={usage.measured_sms_active} />
        <Share label="Occupancy" field="occupancy" figure={usage.occupancy} />
        <Share label="Warps active" field="measured_warps_active" figure={usage.measured_warps_active} />
        <Share label="Tensor Core kernels" field="tensor_cores" figure={usage.tensor_cores} />
        <Share label="Tensor Cores active" field="measured_tensor_active" figure={usage.measured_tensor_active} />
        <Share label="Engine active" field="measured_gr_active" figure={usage.measured_gr_active} />
      </div>
      <div class="figures small">
        <Figure label="Kernels" value={finite(usage.kernels)} of={of('kernels')} />
        <Figure label="Kernel time" value={finite(usage.kernel_time_ns)} of={of('kernel_time_ns')} />
        <Figure label="Busy with kernels" value={finite(usage.busy_ns)} of={of('busy_ns')} />
        <Figure label="Memory" value={finite(usage.memory_bytes)} of={of('memory_bytes')} />
        <div class="labelled"><span class="label">Compute capability</span><span><Name text={usage.compute_capability} longest={16} /></span></div>
        <Figure label="SMs" value={finite(usage.multiprocessors)} of={of('multiprocessors')} />
      </div>
      {counters.length > 0 && <Table caption={`Counters of GPU ${clip(usage.device, 8)}`} columns={COUNTERS} rows={counters} rowKey={(row) => String(counters.indexOf(row))} />}
    </section>
  );
}

export function GpuSummary({ gpu }: { gpu: GpuUsage }) {
  const devices = listOf<DeviceUsage>(partOf<GpuUsage>(gpu).devices);
  return <>{devices.map((usage, i) => <Device key={i} usage={usage} />)}</>;
}
