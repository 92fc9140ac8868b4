// The start: everything that the document holds, and where it came from.
import { Name } from '../components/name';
import { Empty } from '../components/note';
import { formatDate } from '../format';
import { link } from '../route';
import { plural } from '../text';
import { machineOf, modelsOf, shortModel } from './compare/select';
import { Headlines } from './headline';
import type { PageProps } from './props';
import { views } from './views';

export function HomePage({ report }: PageProps) {
  const models = modelsOf(report);
  if (!models.length && !report.profiles.length && !report.diffs.length && !report.partitions.length && !report.pipelines.length) {
    return (
      <Empty title="Nothing was found">
        <p><code>hone report</code> looks for results of <code>hone bench</code> and traces of <code>hone profile</code> in the folders it is given.</p>
      </Empty>
    );
  }
  return (
    <article>
      <header class="title"><h1>Report</h1><p>{formatDate(report.generated)}</p></header>
      <Headlines report={report} models={models} />
      {models.length > 0 && <section>
        <h2>Compared</h2>
        <ul class="cards">
          {models.map((model) => {
            const entries = report.sweeps.filter(({ sweep }) => sweep.runs.some((run) => run.model === model));
            const machines = [...new Set(entries.map(({ sweep }) => machineOf(sweep).label))];
            const runs = entries.flatMap(({ sweep }) => sweep.runs.filter((run) => run.model === model));
            return (
              <li key={model}><a href={link(['compare', model])}>
                <b><Name text={shortModel(model, models)} longest={60} /></b>
                <span>{plural(runs.length, 'run')} in {plural(entries.length, 'sweep')}</span>
                {machines.map((machine) => <span key={machine}><Name text={machine} longest={60} /></span>)}
              </a></li>
            );
          })}
        </ul>
      </section>}
      {report.profiles.length > 0 && <section>
        <h2>Profiled</h2>
        <ul class="cards">
          {report.profiles.map((profile) => (
            <li key={profile.id}><a href={link(['profile', profile.id, views[0]!.id])}>
              <b><Name text={profile.name} longest={60} /></b><span><Name text={profile.path} longest={60} /></span>
            </a></li>
          ))}
        </ul>
      </section>}
      {report.partitions.length > 0 && <section>
        <h2>Split</h2>
        <ul class="cards">
          {report.partitions.map(({ id, path }) => (
            <li key={id}><a href={link(['partition', id])}><b><Name text={id} longest={60} /></b><span><Name text={path} longest={60} /></span></a></li>
          ))}
        </ul>
      </section>}
      {report.pipelines.length > 0 && <section>
        <h2>Pipelines</h2>
        <ul class="cards">
          {report.pipelines.map(({ id, path }) => (
            <li key={id}><a href={link(['pipeline', id])}><b><Name text={id} longest={60} /></b><span><Name text={path} longest={60} /></span></a></li>
          ))}
        </ul>
      </section>}
    </article>
  );
}
