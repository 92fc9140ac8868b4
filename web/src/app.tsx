// The frame of every page: navigation, what is wrong with the data, and the page that the address names.
import { useEffect, useState } from 'preact/hooks';
import { Banner } from './components/banner';
import { Boundary } from './components/boundary';
import { HintLayer } from './components/hint';
import { Nav } from './components/nav';
import { Empty } from './components/note';
import type { Report } from './data/document';
import type { Source } from './data/source';
import { Page } from './pages/page';
import { useRoute } from './route';

type State = { report: Report } | { error: string } | null;

export function App({ source }: { source: Source }) {
  const [state, setState] = useState<State>(null);
  const route = useRoute();

  useEffect(() => {
    source.report().then(
      (report) => setState({ report }),
      (error: unknown) => setState({ error: error instanceof Error ? error.message : String(error) }),
    );
    return source.onChange((report) => setState({ report }));
  }, [source]);

  if (!state) return <main class="alone" aria-busy="true"><p class="muted">Loading…</p></main>;
  if ('error' in state) {
    return <main class="alone"><Empty title="There is nothing to show"><p>{state.error}</p></Empty></main>;
  }
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the page</a>
      <Nav report={state.report} route={route} />
      <main id="main" tabIndex={-1}>
        <Banner report={state.report} route={route} />
        <Boundary key={route.path.join('/')}>
          <Page report={state.report} source={source} route={route} />
        </Boundary>
      </main>
      <HintLayer />
    </div>
  );
}
