// Untrustworthy and failed runs, with every reason, and what backends say about their numbers.
import { Note } from '../../components/note';
import { clip, plural } from '../../text';
import { rowsOf, stateOf, type Line, type Row } from './lines';

/// The number that can be read at a glance.
const FEW = 3;

/// Runs by reason: most often one cause hits many.
function byReason(rows: Row[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { line, run } of rows) {
    const name = `${line.name}, batch ${run.batch}`;
    const reasons = run.failure ? [run.failure] : run.verdict.reasons.length ? run.verdict.reasons : ['no reason was given'];
    for (const reason of reasons) found.set(reason, [...(found.get(reason) ?? []), name]);
  }
  return [...found];
}

function Reasons({ rows }: { rows: Row[] }) {
  return (
    <ul>
      {byReason(rows).map(([reason, names]) => <li key={reason}><bdi>{names.join('; ')}</bdi>: <bdi>{clip(reason, 400)}</bdi></li>)}
    </ul>
  );
}

export function Verdicts({ lines }: { lines: Line[] }) {
  const rows = rowsOf(lines);
  const of = (state: string) => rows.filter(({ run }) => stateOf(run) === state);
  const [valid, invalid, failed] = [of('valid'), of('invalid'), of('failed')];
  return (
    <>
      <p class="counts">
        <span class="verdict valid">{valid.length} valid</span>{' · '}
        <span class={invalid.length ? 'verdict invalid' : 'muted'}>{invalid.length} invalid</span>{' · '}
        <span class={failed.length ? 'verdict failed' : 'muted'}>{failed.length} failed</span>
      </p>
      {failed.length > 0 && <Note severity="loss" title={`${plural(failed.length, 'run')} failed and ${failed.length === 1 ? 'is' : 'are'} not drawn`}><Reasons rows={failed} /></Note>}
      {invalid.length > 0 && <Note severity="doubt">
        <details open={invalid.length <= FEW}><summary>{plural(invalid.length, 'run')} INVALID, drawn hollow</summary><Reasons rows={invalid} /></details>
      </Note>}
    </>
  );
}
