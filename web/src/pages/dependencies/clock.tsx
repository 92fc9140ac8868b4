// How far the clocks of device and host could be brought together.
import { Name } from '../../components/name';
import { Note, severityOf } from '../../components/note';
import { Table, type Column } from '../../components/table';
import { dicts, known } from '../../data/safe';
import type { CriticalPath, DeviceClock, Doubt } from '../../schema';

const TITLES: Partial<Record<keyof DeviceClock, string>> = { device: 'GPU', offset_ns: 'Moved by', violations_before: 'Contradictions before', violations_left: 'Left', largest_left_ns: 'Largest left' };
const FIELDS: (keyof DeviceClock)[] = ['device', 'offset_ns', 'launches', 'waits', 'violations_before', 'violations_left', 'largest_left_ns'];
const COLUMNS: Column<Partial<DeviceClock>>[] = FIELDS.map((field) => ({ key: field, title: TITLES[field], of: { struct: 'DeviceClock', field }, value: (row) => row[field] ?? null }));

export function Doubts({ path }: { path: Partial<CriticalPath> }) {
  return <>{dicts<Doubt>(path.doubts).map((doubt, i) => <Note key={i} severity={severityOf(doubt.severity)}><p><Name text={doubt.text} longest={400} /></p></Note>)}</>;
}

export function Clock({ path }: { path: Partial<CriticalPath> }) {
  const rows = dicts<DeviceClock>(path.clock);
  if (!rows.length) return null;
  const broken = rows.some((row) => known(row.violations_left));
  return (
    <section>
      <h2>Clocks</h2>
      <p class="muted">The device’s clock was moved against the host’s until no operation begins before its launch and no wait ends before what it waits for.</p>
      {broken && <Note severity="doubt" title="Contradictions remain"><p>Times of the device and of the host do not fit each other everywhere, so waiting and launch latencies may be off by as much as the largest one.</p></Note>}
      <Table caption="Clocks" columns={COLUMNS} rows={rows} rowKey={(row) => String(rows.indexOf(row))} />
    </section>
  );
}
