// One match: its layers and what each side runs for them.
import { Drawer, Fact, Facts } from '../../components/drawer';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import type { Profile } from '../../data/document';
import { dict, dicts, text } from '../../data/safe';
import { format, formatRange } from '../../format';
import { link } from '../../route';
import type { Analysis, Estimate, Layer, LayerAnalysis } from '../../schema';
import { rangeOf } from './head';
import { nameOf, type Match } from './model';
import { signed } from './waterfall';

const MOST = 60;

function Layers({ names, profile }: { names: string[]; profile: Profile | null }) {
  const all = dicts<Layer>(dict<LayerAnalysis>(dict<Analysis>(profile?.analysis).layers).layers).map(({ name }) => text(name));
  if (!names.length) return <p class="muted">none</p>;
  return (
    <ul>
      {names.slice(0, MOST).map((name, i) => {
        const at = all.indexOf(name);
        return <li key={i}>{profile && at >= 0 ? <a href={link(['profile', profile.id, 'layers'], { sel: String(at) })}><Name text={name} /></a> : <Name text={name} />}</li>;
      })}
    </ul>
  );
}

interface SideProps {
  letter: string;
  names: string[];
  kernels: string[];
  time: Partial<Estimate>;
  profile: Profile | null;
}

function Side({ letter, names, kernels, time, profile }: SideProps) {
  const range = rangeOf(time);
  return (
    <section>
      <h3><b class="letter">{letter}</b> {profile && <Name text={profile.name} longest={60} />}</h3>
      <Facts>
        <Fact name="Mean time"><Figure value={time.mean_ns} of={{ struct: 'Estimate', field: 'mean_ns' }} /></Fact>
        <Fact name="95 % interval">{range ? formatRange(...range, 'ns') : format(null, '')}</Fact>
        <Fact name="Layers"><Layers names={names} profile={profile} /></Fact>
        <Fact name="Kernels">{kernels.length ? <ul>{kernels.slice(0, MOST).map((name, i) => <li key={i}><Name text={name} code /></li>)}</ul> : <span class="muted">none recorded</span>}</Fact>
      </Facts>
    </section>
  );
}

interface MatchDetailProps {
  match: Match;
  a: Profile | null;
  b: Profile | null;
  onClose: () => void;
}

export function MatchDetail({ match, a, b, onClose }: MatchDetailProps) {
  return (
    <Drawer title={<Name text={nameOf(match)} longest={120} />} label="The selected match" onClose={onClose}>
      <p>{match.change === null ? 'The change is not known.' : <><b>{signed(match.change)}</b> from A to B, {match.certain ? 'which is certain: the intervals lie apart.' : 'which is within the noise.'}</>}</p>
      {match.reasons.length > 0 && <ul aria-label="Differences">{match.reasons.slice(0, MOST).map((reason, i) => <li key={i}><Name text={reason} longest={300} /></li>)}</ul>}
      <Side letter="A" names={match.a} kernels={match.kernelsA} time={match.timeA} profile={a} />
      <Side letter="B" names={match.b} kernels={match.kernelsB} time={match.timeB} profile={b} />
    </Drawer>
  );
}
