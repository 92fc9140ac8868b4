// The place and way in which the shown sweeps were measured.
import { Name } from '../../components/name';
import { finite, format, formatDate } from '../../format';
import { clip } from '../../text';
import type { Entry } from './select';

type Fact = readonly [string, string | null | undefined];

function factsOf({ sweep, path, runs }: Entry): Fact[] {
  const { context: c, options: o } = sweep;
  const versions = new Set(runs.flatMap((run) => (run.backend_version ? [`${run.backend} ${run.backend_version}`] : [])));
  const joined = (...parts: (string | null | undefined | false)[]) => parts.filter(Boolean).join(', ');
  const some = (value: unknown, unit: string, more = '') => (finite(value) === null ? '' : `${format(value, unit)}${more}`);
  return [
    ['Measured', formatDate(c.date)],
    ['CPU', joined(c.cpu, some(c.cores, 'count', ' cores'), some(c.frequency_mhz, 'MHz'), some(c.memory_mb, 'MB', ' of memory'), c.governor && `governor ${c.governor}`)],
    ['GPU', c.gpu && joined(c.gpu.name, c.gpu.driver && `driver ${c.gpu.driver}`, some(c.gpu.memory_mb, 'MB'), some(c.gpu.power_limit_w, 'W', ' limit'), some(c.gpu.max_sm_mhz, 'MHz', ' at most'))],
    ['Host', joined(c.host, c.kernel)],
    ['hone', joined(c.hone_version, c.hone_commit && `commit ${c.hone_commit}`)],
    ['Backends', [...versions].join(', ')],
    ['Latency', o['includes_transfers'] === true ? 'includes copies to the device and back' : o['device'] === 'cuda' ? 'inputs and outputs lie on the device' : 'from inputs in host memory to outputs in host memory'],
    ['Command', Array.isArray(c.command_line) ? c.command_line.join(' ') : null],
    ['File', path],
  ];
}

function notesOf({ runs }: Entry): [string, string][] {
  const found = new Map<string, Set<string>>();
  for (const run of runs) for (const note of run.notes) found.set(note, (found.get(note) ?? new Set()).add(`${run.backend} ${run.precision}`));
  return [...found].map(([note, names]) => [note, [...names].join(', ')]);
}

export function Context({ entries }: { entries: Entry[] }) {
  return (
    <section>
      <h2>How it was measured</h2>
      <div class="pair">
        {entries.map((entry) => (
          <div key={entry.id}>
            <dl class="facts">
              {factsOf(entry).filter(([, value]) => value).map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}><Name text={value} longest={400} code={name === 'Command' || name === 'File'} /></dd>])}
            </dl>
            {notesOf(entry).length > 0 && <details class="said"><summary>Said by the backends</summary>
              <ul>{notesOf(entry).map(([note, names]) => <li key={note}><bdi>{clip(names, 120)}</bdi>: <bdi>{clip(note, 300)}</bdi></li>)}</ul>
            </details>}
          </div>
        ))}
      </div>
    </section>
  );
}
