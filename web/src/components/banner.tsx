// Missing and doubtful data, above every page: files that could not be read, losses and doubts of traces.
import type { Profile, Report } from '../data/document';
import type { Route } from '../route';
import { clip, plural } from '../text';
import { severityOf, type Severity } from './note';

interface Trouble {
  severity: Severity;
  where: string;
  text: string;
}

const ORDER: Severity[] = ['problem', 'loss', 'doubt', 'note'];
const COUNTED: Record<Severity, (n: number) => string> = {
  problem: (n) => `${plural(n, 'file')} not read`,
  loss: (n) => plural(n, 'loss', 'losses'),
  doubt: (n) => plural(n, 'doubt'),
  note: (n) => plural(n, 'note'),
};

function doubtsOf(profile: Profile): Trouble[] {
  return (profile.analysis?.doubts ?? []).map((doubt) => {
    const times = Number(doubt.count) > 1 ? ` (${doubt.count} times)` : '';
    const about = doubt.about ? `${doubt.about}: ` : '';
    return { severity: severityOf(doubt.severity), where: profile.name, text: `${about}${doubt.text}${times}` };
  });
}

/// The troubles of a page: for a page of one profile only its own doubts; files that could not be read
/// everywhere.
export function troublesOf(report: Report, route: Route): Trouble[] {
  const [page, id] = route.path;
  const files = report.problems.map(({ path, text }): Trouble => ({ severity: 'problem', where: path, text }));
  const partial = report.sweeps.filter(({ sweep }) => !sweep.complete)
    .map(({ path }): Trouble => ({ severity: 'doubt', where: path, text: 'the sweep was interrupted or still runs; it holds what was measured until then' }));
  const profiles = page === 'profile' ? report.profiles.filter((one) => one.id === id) : page === 'compare' ? [] : report.profiles;
  const all = [...files, ...(page === 'profile' ? [] : partial), ...profiles.flatMap(doubtsOf)];
  return all.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

export function Banner({ report, route }: { report: Report; route: Route }) {
  const troubles = troublesOf(report, route);
  const worst = troubles[0]?.severity;
  if (!worst) return null;
  const counts = ORDER.map((severity) => [severity, troubles.filter((one) => one.severity === severity).length] as const);
  const summary = counts.filter(([, n]) => n).map(([severity, n]) => COUNTED[severity](n)).join(' · ');
  return (
    <details class={`banner ${worst}`}>
      <summary>{summary}</summary>
      <ul>
        {troubles.slice(0, 200).map((one, i) => (
          <li key={i}><b class={`severity ${one.severity}`}>{one.severity}</b> <bdi class="where">{clip(one.where, 80)}</bdi> <bdi>{clip(one.text, 400)}</bdi></li>
        ))}
        {troubles.length > 200 && <li>and {troubles.length - 200} more</li>}
      </ul>
    </details>
  );
}
