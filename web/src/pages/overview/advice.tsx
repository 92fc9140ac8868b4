// Suggestions to make it faster: the problem, why that is so and where to see it, what to do, and the gain at
// best.
import { useEffect, useRef } from 'preact/hooks';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { listOf, partOf } from '../../data/lists';
import { finite, format } from '../../format';
import { setQuery } from '../../route';
import type { Advice, AdviceList, Evidence, Unjudged } from '../../schema';
import { clip, plural } from '../../text';
import { hrefOf } from '../parts/place';
import type { ViewProps } from '../props';

function Fact({ view, evidence }: { view: ViewProps; evidence: Evidence }) {
  const href = hrefOf(view.profile, evidence.start_ns, evidence.end_ns);
  return <li><Name text={evidence.text} longest={240} />{href && <> <a href={href}>in the timeline</a></>}</li>;
}

function Card({ view, advice, selected }: { view: ViewProps; advice: Advice; selected: boolean }) {
  const box = useRef<HTMLLIElement>(null);
  useEffect(() => { if (selected) box.current?.scrollIntoView({ block: 'nearest' }); }, [selected]);
  const gain = finite(advice.gain_at_best_ns);
  const rule = clip(advice.rule, 60);
  return (
    <li ref={box} class={selected ? 'advice here' : 'advice'}>
      <div>
        <h3><button type="button" class="plain" aria-pressed={selected} onClick={() => setQuery({ sel: selected ? null : rule })}><Name text={advice.problem} longest={300} /></button></h3>
        <ul>{listOf<Evidence>(advice.evidence).slice(0, 50).map((evidence, i) => <Fact key={i} view={view} evidence={evidence} />)}</ul>
        <p><Name text={advice.action} longest={900} /></p>
        <p class="muted rule"><code>{rule}</code></p>
      </div>
      {gain !== null && (
        <div class="gain">
          <Figure label="Gain at best" value={gain} of={{ struct: 'Advice', field: 'gain_at_best_ns' }} />
          <p class="muted"><Name text={advice.gain_basis} longest={300} /></p>
        </div>
      )}
    </li>
  );
}

export function AdviceSection({ view }: { view: ViewProps }) {
  const list = partOf<AdviceList>(view.analysis.advice);
  const [all, unjudged] = [listOf<Advice>(list.advice), listOf<Unjudged>(list.unjudged)];
  const rules = finite(list.rules);
  if (!all.length && !unjudged.length && rules === null) return null;
  const [start, end] = [finite(list.start_ns), finite(list.end_ns)];
  const window = start !== null && end !== null && end > start ? `, in a window of ${format(end - start, 'ns')}` : '';
  return (
    <section>
      <h2>Advice</h2>
      <p class="muted">{plural(all.length, 'finding')}{rules !== null && ` of ${plural(rules, 'rule')}`}{window}.{all.length > 0 && ' Gains are bounds, and do not add up.'}</p>
      <ol class="advices">
        {all.map((advice, i) => <Card key={i} view={view} advice={advice} selected={view.route.query.get('sel') === clip(advice.rule, 60)} />)}
      </ol>
      {unjudged.length > 0 && (
        <details class="said">
          <summary>{plural(unjudged.length, 'rule')} could not be judged</summary>
          <ul>{unjudged.map((one, i) => <li key={i}><code>{clip(one.rule, 60)}</code>: <Name text={one.reason} longest={300} /></li>)}</ul>
        </details>
      )}
    </section>
  );
}
