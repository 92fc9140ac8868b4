// Speedups over a baseline that the reader chooses; a difference below the noise reads "no difference".
import { Select } from '../../components/select';
import { Table, type Column } from '../../components/table';
import { Value } from '../../components/value';
import { hintOf } from '../../data/fields';
import { formatRange, parts } from '../../format';
import { setQuery } from '../../route';
import { batchesOf, stateOf, type Line } from './lines';
import { baselineId, baselinesOf, compare, ownBaseline, type Baseline } from './speedup';

const RATIO = { struct: 'Speedup', field: 'ratio' };
const WITHOUT = 'Fewer than three rounds were measured, or their samples are missing, or the sweep has too many runs, so there is no interval.';

function Speedup({ line, batch, over }: { line: Line; batch: number; over: Baseline }) {
  const run = line.runs.find((one) => one.batch === batch);
  if (!run) return <span class="muted">–</span>;
  if (run.failure) return <span class="verdict failed">failed</span>;
  const found = compare(line, run, over);
  if (found === 'baseline') return <span class="muted">baseline</span>;
  if (!found) return <span class="muted">–</span>;
  const hint = [hintOf(RATIO), !found.interval ? WITHOUT : found.interleaved ? '' : 'The two were not interleaved.'].filter(Boolean).join(' ');
  const invalid = stateOf(run) === 'invalid' ? <span class="verdict invalid"> invalid</span> : null;
  const interval = <span class="interval">{found.interval ? formatRange(...found.interval, 'ratio') : 'no interval'}</span>;
  return (
    <span class="speedup" tabIndex={0} data-hint={hint}>
      {found.differs === false ? <span>no difference</span> : <b><Value {...parts(found.ratio, 'ratio')} /></b>}
      {interval}{invalid}
    </span>
  );
}

function ratioOf(line: Line, batch: number, over: Baseline): number | null {
  const run = line.runs.find((one) => one.batch === batch);
  const found = run ? compare(line, run, over) : null;
  return found === null ? null : found === 'baseline' ? 1 : found.ratio;
}

function columnsOf(lines: Line[], over: Baseline): Column<Line>[] {
  const batches = batchesOf(lines).map((batch): Column<Line> => ({
    key: String(batch), title: `Batch ${batch}`, of: RATIO,
    value: (line) => ratioOf(line, batch, over),
    show: (line) => <Speedup line={line} batch={batch} over={over} />,
  }));
  return [{ key: 'line', title: 'Line', value: ({ name }) => name }, ...batches];
}

export function SpeedupTable({ lines, query }: { lines: Line[]; query: URLSearchParams }) {
  const all = baselinesOf(lines);
  const over = all.find((one) => baselineId(one) === query.get('baseline')) ?? ownBaseline(lines);
  if (!over || lines.length < 2) return null;
  return (
    <section>
      <h2>Speedup</h2>
      <div class="choices">
        <Select label="Baseline" choices={all.map((one) => ({ id: baselineId(one), label: baselineId(one) }))}
          value={baselineId(over)} onChange={(baseline) => setQuery({ baseline })} />
      </div>
      <Table caption={`Speedup over ${baselineId(over)}`} columns={columnsOf(lines, over)} rows={lines} rowKey={({ key }) => key} />
    </section>
  );
}
