// Causes of each GPU's waits while it did nothing.
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import { axis, type Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import { Figure } from '../../components/figure';
import { Tabs } from '../../components/tabs';
import type { Column } from '../../components/table';
import { dict, dicts, known, text } from '../../data/safe';
import { finite, format, formatTick } from '../../format';
import { setQuery } from '../../route';
import type { DeviceIdle, IdleRow, IdleTime } from '../../schema';
import { clip } from '../../text';
import { causeName } from './kinds';

type Row = Partial<IdleRow>;
const field = (name: keyof IdleRow) => ({ struct: 'IdleRow', field: name });
const COLUMNS: Column<Row>[] = [
  { key: 'cause', of: field('cause'), value: (row) => causeName(text(row.cause)) },
  { key: 'name', of: field('name'), value: (row) => row.name, code: true },
  { key: 'time', title: 'Idle time', of: field('time_ns'), value: (row) => row.time_ns ?? null, bar: true },
  { key: 'share', of: field('share'), value: (row) => row.share ?? null },
  { key: 'gaps', of: field('gaps'), value: (row) => row.gaps ?? null },
];
const MOST = 16;

const labelOf = (row: Row): string => (/^<.*>$/s.test(text(row.name)) || !text(row.name) ? causeName(text(row.cause)) : clip(row.name, 100));

function idleOption(rows: Row[], of: Look) {
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const row = rows[dataIndex]!;
        return tip(row.name, [['waited for', causeName(text(row.cause))], ['idle time', format(row.time_ns, 'ns')], ['share', format(row.share, 'share')], ['gaps', format(row.gaps, 'count')]]);
      },
    },
    grid: { top: 8, bottom: 8, right: 76 },
    xAxis: axis(of, { type: 'value', axisLabel: { formatter: (value: number) => formatTick(value, 'ns') } }),
    yAxis: axis(of, { type: 'category', inverse: true, data: rows.map(labelOf), splitLine: { show: false }, axisLabel: { width: Math.min(280, innerWidth * 0.3), overflow: 'truncate', color: of.text, interval: 0 } }),
    series: [{
      type: 'bar', name: 'Idle time', barMaxWidth: 16, itemStyle: { color: of.series[0] }, data: rows.map((row) => known(row.time_ns) ?? 0),
      label: { show: true, position: 'right', color: of.muted, fontSize: 11, formatter: ({ dataIndex }: { dataIndex: number }) => `${format(rows[dataIndex]!.gaps, 'count')} gaps` },
    }],
  };
}

function Device({ device }: { device: Partial<DeviceIdle> }) {
  const rows = useMemo(() => dicts<IdleRow>(device.causes), [device]);
  const drawn = useMemo(() => rows.filter((row) => known(row.time_ns)).slice(0, MOST), [rows]);
  const option = useCallback((of: Look) => idleOption(drawn, of), [drawn]);
  const data = useMemo(() => ({ columns: COLUMNS, rows }), [rows]);
  const figure = (name: keyof DeviceIdle, label: string) => <Figure label={label} value={device[name]} of={{ struct: 'DeviceIdle', field: name }} />;
  return (
    <>
      <div class="figures">{figure('busy_ns', 'Busy')}{figure('idle_ns', 'Idle')}{figure('gaps', 'Gaps')}{figure('longest_gap_ns', 'Longest gap')}</div>
      {drawn.length > 0 && <Chart title={`What GPU ${finite(device.device) ?? '?'} waited for`} option={option} data={data} height={50 + 28 * drawn.length}
        description={`Idle time by cause, the longest first${rows.length > drawn.length ? `; ${rows.length - drawn.length} more are in the table` : ''}.`} />}
    </>
  );
}

export function Idle({ idle, query }: { idle: unknown; query: string | null }) {
  const devices = dicts<DeviceIdle>(dict<IdleTime>(idle).devices);
  const at = Math.max(0, devices.findIndex((_, i) => String(i) === query));
  const device = devices[at];
  if (!device) return null;
  return (
    <section>
      <h2>Idle time of the device</h2>
      {devices.length > 1 && <Tabs label="Device" choices={devices.map((one, i) => ({ id: String(i), label: `GPU ${finite(one.device) ?? '?'}` }))} value={String(at)} onChange={(id) => setQuery({ gpu: id === '0' ? null : id })} />}
      <Device key={at} device={device} />
    </section>
  );
}
