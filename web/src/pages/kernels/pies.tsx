// Which kernels the time goes to, and how much of it uses Tensor Cores.
import { useMemo } from 'preact/hooks';
import { finite } from '../../format';
import type { Activity } from '../../schema';
import { Donut } from '../parts/donut';
import { groupsOf, tensorTime } from './groups';

const TOTAL = { struct: 'Activity', field: 'total_ns' };

export function Pies({ kernels }: { kernels: Activity[] }) {
  const byName = useMemo(() => groupsOf(kernels, 'base').map(({ name, activity }) => ({ name, value: activity.total_ns ?? 0 })), [kernels]);
  const byUse = useMemo(() => {
    const uses = tensorTime(kernels);
    const all = kernels.reduce((sum, one) => sum + (finite(one.total_ns) ?? 0), 0);
    return [{ name: 'Tensor Cores, by name', value: uses, colour: 0 }, { name: 'other kernels', value: all - uses, colour: 6 }];
  }, [kernels]);
  return (
    <div class="pair">
      <Donut title="Kernel time" description="Time of all kernels by base name: the ten longest and the rest." slices={byName} of={TOTAL} part="Kernel" />
      <Donut title="Tensor Cores" description="Time of kernels that use Tensor Cores, told by their names, and of the others." slices={byUse} of={TOTAL} part="Kernels" inOrder />
    </div>
  );
}
