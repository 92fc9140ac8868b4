// Columns of tables of activities: kernels, calls of the API, ranges.
import { Mark } from '../../components/figure';
import { Name } from '../../components/name';
import type { Column } from '../../components/table';
import type { Activity, Volume } from '../../schema';
import { shortName } from '../parts/short_name';
import type { Grouping, Row } from './groups';

const of = (field: keyof Activity) => ({ struct: 'Activity', field });
const timeOf = (field: 'total_ns' | 'average_ns' | 'median_ns' | 'min_ns' | 'max_ns'): Column<Row> =>
  ({ key: field, of: of(field), value: ({ activity }) => activity[field] });

const NAME: Column<Row> = { key: 'name', of: of('name'), value: ({ name }) => name, show: ({ name }) => <Name text={name} longest={64} code /> };
/// The whole name is sorted, searched and exported; a selected row shows it.
const SHORT: Column<Row> = { ...NAME, show: ({ name }) => <span title={name.slice(0, 2000)}><Name text={shortName(name)} longest={42} code /></span> };
const CALLS: Column<Row> = { key: 'calls', of: of('calls'), value: ({ activity }) => activity.calls };
const SHARE: Column<Row> = { key: 'share', of: of('share'), bar: true, value: ({ activity }) => activity.share };
const KIND: Column<Row> = { key: 'kind', of: of('kind'), value: ({ activity }) => activity.kind };
const TENSOR: Column<Row> = {
  key: 'tensor', title: 'Tensor Cores', of: of('tensor_cores'), unit: '', hint: 'Told from a kernel’s instructions, or from its name where marked so.',
  value: ({ activity }) => (activity.kind !== 'kernel' ? null : activity.tensor_cores === true ? 'yes' : 'no'),
  show: ({ activity }) => (activity.kind !== 'kernel' ? '–' : (
    <span>{activity.tensor_cores === true ? 'yes' : 'no'}{activity.tensor_cores_by !== 'instructions' && <Mark origin="by name" />}</span>
  )),
};
const TENSOR_TIME: Column<Row> = {
  key: 'tensor', title: 'Tensor Core time', of: of('tensor_cores'), unit: 'ns', hint: 'Time in kernels that use Tensor Cores.',
  value: ({ tensor_ns }) => tensor_ns,
};
const NAMES: Column<Row> = { key: 'names', title: 'Names', unit: 'count', hint: 'How many names it stands for.', value: ({ names }) => names };
const LAUNCH: Column<Row>[] = [
  { key: 'blocks', title: 'Blocks per SM', of: of('blocks_per_sm'), unit: '', value: ({ activity }) => activity.blocks_per_sm },
  { key: 'occupancy', of: of('occupancy'), value: ({ activity }) => activity.occupancy },
];
const TIMES = [timeOf('total_ns'), timeOf('average_ns'), timeOf('median_ns'), timeOf('min_ns'), timeOf('max_ns')];
const SUMS = [timeOf('total_ns'), timeOf('average_ns'), timeOf('min_ns'), timeOf('max_ns')];

export function activityColumns(by: Grouping): Column<Row>[] {
  if (by === 'name') return [SHORT, TENSOR, CALLS, SHARE, ...TIMES, ...LAUNCH, KIND];
  return [{ ...NAME, title: by === 'kind' ? 'Kind' : 'Base name' }, CALLS, SHARE, ...SUMS, TENSOR_TIME, NAMES];
}

export const CALL_COLUMNS: Column<Row>[] = [NAME, CALLS, SHARE, ...TIMES];

const volume = (field: keyof Volume) => ({ struct: 'Volume', field });
export const VOLUME_COLUMNS: Column<Volume>[] = [
  { key: 'kind', of: volume('kind'), value: ({ kind }) => kind },
  { key: 'direction', of: volume('direction'), value: ({ direction }) => direction },
  { key: 'count', of: volume('count'), value: ({ count }) => count },
  { key: 'bytes', title: 'Size', of: volume('bytes'), bar: true, value: ({ bytes }) => bytes },
  { key: 'busy', of: volume('busy_ns'), value: ({ busy_ns }) => busy_ns },
  { key: 'rate', title: 'Rate', of: volume('bytes_per_second'), value: (row) => row.bytes_per_second },
  { key: 'average', title: 'Mean size', of: volume('average_bytes'), value: (row) => row.average_bytes },
  { key: 'median', title: 'Median size', of: volume('median_bytes'), value: (row) => row.median_bytes },
  { key: 'min', title: 'Smallest', of: volume('min_bytes'), value: (row) => row.min_bytes },
  { key: 'max', title: 'Largest', of: volume('max_bytes'), value: (row) => row.max_bytes },
];
