// Both sides, how long an iteration of each takes, and whether that is a difference at all.
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Note } from '../../components/note';
import { Value } from '../../components/value';
import { hintOf } from '../../data/fields';
import { dict, texts } from '../../data/safe';
import type { Report } from '../../data/document';
import { finite, format, formatRange, parts } from '../../format';
import { link } from '../../route';
import type { Estimate, TraceDiff } from '../../schema';

export function rangeOf({ mean_ns, half_width_ns }: Partial<Estimate>): readonly [number, number] | null {
  const [mean, half] = [finite(mean_ns), finite(half_width_ns)];
  return mean === null || half === null ? null : [Math.max(0, mean - half), mean + half];
}

function Side({ letter, id, report, time }: { letter: string; id: string; report: Report; time: Partial<Estimate> }) {
  const profile = report.profiles.find((one) => one.id === id);
  const name = <Name text={profile?.name ?? id} longest={80} />;
  const range = rangeOf(time);
  return (
    <div class="side">
      <h2><b class="letter">{letter}</b> {profile ? <a href={link(['profile', id, 'overview'])}>{name}</a> : name}</h2>
      <Figure label="Mean iteration" value={time.mean_ns} of={{ struct: 'Estimate', field: 'mean_ns' }} />
      <span class="interval" tabIndex={0} data-hint={hintOf({ struct: 'Estimate', field: 'half_width_ns' })}>{range ? formatRange(...range, 'ns') : 'no interval'}</span>
    </div>
  );
}

const SPEEDUP = { struct: 'TraceDiff', field: 'speedup' };

function Speedup({ diff }: { diff: Partial<TraceDiff> }) {
  const [low, high] = [finite(diff.speedup_interval?.[0]), finite(diff.speedup_interval?.[1])];
  const known = low !== null && high !== null;
  const same = known && low <= 1 && high >= 1;
  const interval = known ? `[${format(low, 'ratio')}, ${format(high, 'ratio')}]` : 'no interval: too few runs';
  const hint = known ? '' : 'There is no interval, so nothing says whether this is more than noise.';
  return (
    <div class="side">
      <span class="label">Speedup</span>
      {same
        ? <span class="figure verdict-large" tabIndex={0} data-hint={`The interval holds 1, so nothing tells the two apart. Their quotient is ${format(diff.speedup, 'ratio')}.`}>no difference</span>
        : <span class="figure verdict-large" tabIndex={0} data-value={finite(diff.speedup) ?? undefined} data-hint={[hint, hintOf(SPEEDUP)].filter(Boolean).join(' ')}><Value {...parts(diff.speedup, 'ratio')} /></span>}
      <span class="interval" tabIndex={0} data-hint={hintOf({ struct: 'TraceDiff', field: 'speedup_interval' })}>{interval}</span>
      <span class="muted">{same ? 'the interval holds 1' : (finite(diff.speedup) ?? 1) >= 1 ? 'B is faster' : 'A is faster'}, {diff.speedup_undisturbed ? 'not recorded' : 'while recorded'}</span>
    </div>
  );
}

export function Head({ a, b, diff, report }: { a: string; b: string; diff: Partial<TraceDiff>; report: Report }) {
  const [timeA, timeB] = [dict<Estimate>(diff.iteration_a), dict<Estimate>(diff.iteration_b)];
  return (
    <>
      <div class="sides">
        <Side letter="A" id={a} report={report} time={timeA} />
        <Side letter="B" id={b} report={report} time={timeB} />
        <Speedup diff={diff} />
      </div>
      {texts(diff.notes).map((note, i) => <Note key={i}><p><Name text={note} longest={400} /></p></Note>)}
    </>
  );
}
