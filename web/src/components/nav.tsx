// Navigation: sweeps by model, profiles with their views, comparisons of two.
import { useEffect, useState } from 'preact/hooks';
import type { Report } from '../data/document';
import { formatDate } from '../format';
import { modelsOf, shortModel } from '../pages/compare/select';
import { views } from '../pages/views';
import { link, type Route } from '../route';
import { clip } from '../text';
import { toggleTheme, useTheme } from '../theme';

function Item({ path, here, children }: { path: string[]; here: boolean; children: string }) {
  return (
    <li>
      <a href={link(path)} aria-current={here ? 'page' : undefined} title={children.length > 40 ? clip(children, 400) : undefined}><bdi>{clip(children, 60)}</bdi></a>
    </li>
  );
}

function Sweeps({ report, route }: { report: Report; route: Route }) {
  const models = modelsOf(report);
  if (!models.length) return null;
  const here = route.path[0] === 'compare' ? (route.path[1] ?? models[0]) : null;
  return (
    <section>
      <h2>Compare</h2>
      <ul>{models.map((model) => <Item key={model} path={['compare', model]} here={model === here}>{shortModel(model, models)}</Item>)}</ul>
    </section>
  );
}

function Profiles({ report, route }: { report: Report; route: Route }) {
  const [page, id, view = views[0]!.id] = route.path;
  if (!report.profiles.length) return null;
  return (
    <section>
      <h2>Profiles</h2>
      <ul>
        {report.profiles.map((profile) => {
          const open = page === 'profile' && id === profile.id;
          return [
            <Item key={profile.id} path={['profile', profile.id, views[0]!.id]} here={false}>{profile.name}</Item>,
            open && <li key="views"><ul class="views">
              {views.map((one) => <Item key={one.id} path={['profile', profile.id, one.id]} here={one.id === view}>{one.label}</Item>)}
            </ul></li>,
          ];
        })}
      </ul>
    </section>
  );
}

function Diffs({ report, route }: { report: Report; route: Route }) {
  const nameOf = (id: string) => report.profiles.find((one) => one.id === id)?.name ?? id;
  if (!report.diffs.length) return null;
  return (
    <section>
      <h2>Differences</h2>
      <ul>
        {report.diffs.map(({ a, b }, i) => (
          <Item key={i} path={['diff', String(i)]} here={route.path[0] === 'diff' && route.path[1] === String(i)}>{`${nameOf(a)} → ${nameOf(b)}`}</Item>
        ))}
      </ul>
      {report.diffs_left_out > 0 && <p class="muted">{report.diffs.length} of {report.diffs.length + report.diffs_left_out} pairs, those of hone with another first. <code>hone diff A B</code> compares any two.</p>}
    </section>
  );
}

function Partitions({ report, route }: { report: Report; route: Route }) {
  if (!report.partitions.length) return null;
  return (
    <section>
      <h2>Partitions</h2>
      <ul>{report.partitions.map(({ id }) => <Item key={id} path={['partition', id]} here={route.path[0] === 'partition' && route.path[1] === id}>{id}</Item>)}</ul>
    </section>
  );
}

function Pipelines({ report, route }: { report: Report; route: Route }) {
  if (!report.pipelines.length) return null;
  return (
    <section>
      <h2>Pipelines</h2>
      <ul>{report.pipelines.map(({ id }) => <Item key={id} path={['pipeline', id]} here={route.path[0] === 'pipeline' && route.path[1] === id}>{id}</Item>)}</ul>
    </section>
  );
}

export function Nav({ report, route }: { report: Report; route: Route }) {
  const [open, setOpen] = useState(false);
  const theme = useTheme();
  const path = route.path.join('/');
  useEffect(() => setOpen(false), [path]);
  return (
    <header class={open ? 'nav open' : 'nav'} onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}>
      <div class="top">
        <a class="brand" href={link([])}>hone</a>
        {report.live && <span class="live">live</span>}
        <button type="button" class="quiet theme" onClick={toggleTheme} aria-label={`Use the ${theme === 'dark' ? 'light' : 'dark'} theme`}>
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
        <button type="button" class="quiet burger" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>Menu</button>
      </div>
      <nav id="places" aria-label="Pages">
        <Sweeps report={report} route={route} />
        <Profiles report={report} route={route} />
        <Diffs report={report} route={route} />
        <Partitions report={report} route={route} />
        <Pipelines report={report} route={route} />
        <footer>
          <p>{formatDate(report.generated)}<br />hone {clip(report.hone, 60)}</p>
          <p class="legend"><span><i class="mark">●</i> measured</span> <span><i class="mark">○</i> estimated</span> <span><i class="mark">◇</i> by name</span> <span><i class="mark">▪</i> recorded</span></p>
        </footer>
      </nav>
    </header>
  );
}
