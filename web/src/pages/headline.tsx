// A model's headline: the sentence, and the time of both systems as bars.
import './headline.css';
import { Name } from '../components/name';
import type { Report } from '../data/document';
import { link } from '../route';
import { shortModel } from './compare/select';
import { headlineOf, shownInterval } from './headline_text';

export function Headlines({ report, models }: { report: Report; models: string[] }) {
  return <>{models.map((model) => {
    const told = headlineOf(report, model);
    if (!told) return null;
    const interval = shownInterval(told);
    const longest = Math.max(1, told.share, interval?.[1] ?? 0);
    const width = (share: number) => `${(100 * share) / longest}%`;
    return (
      <section class="headline" key={model}>
        <p class="said"><a href={link(['compare', model])}><Name text={shortModel(model, models)} longest={60} /></a>: {told.sentence}</p>
        <dl>
          <dt><Name text={told.over} longest={30} /></dt><dd><span class="bar" style={{ width: width(1) }} /></dd>
          <dt><Name text={told.label} longest={30} /></dt>
          <dd><span class="bar own" style={{ width: width(told.share) }}>
            {interval && <span class="whisker" style={{ left: `${(100 * interval[0]) / told.share}%`, width: `${(100 * (interval[1] - interval[0])) / told.share}%` }} />}
          </span></dd>
        </dl>
        <p class={told.valid ? 'muted' : ''}>Time of a run, shorter is better; <Name text={told.verdict} longest={200} />.</p>
        {told.method.map((line) => <p class="muted" key={line}><Name text={line} longest={200} /></p>)}
      </section>
    );
  })}</>;
}
