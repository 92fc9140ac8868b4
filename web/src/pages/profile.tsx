// One profile: loads it where it is served, and shows the view that the address names.
import { useEffect, useState } from 'preact/hooks';
import { Name } from '../components/name';
import { Empty } from '../components/note';
import type { Profile } from '../data/document';
import { link } from '../route';
import { clip } from '../text';
import type { PageProps } from './props';
import { views } from './views';

type State = { profile: Profile } | { error: string } | null;

export function useProfile({ source, report }: PageProps, id: string): State {
  const [state, setState] = useState<State>(null);
  useEffect(() => {
    let current = true;
    source.profile(id).then(
      (profile) => current && setState({ profile }),
      (error: unknown) => current && setState({ error: error instanceof Error ? error.message : String(error) }),
    );
    return () => void (current = false);
  }, [source, report, id]);
  return state;
}

export function ProfilePage(props: PageProps) {
  const [, id = '', name = views[0]!.id] = props.route.path;
  const state = useProfile(props, id);
  const view = views.find((one) => one.id === name);
  if (!state) return <p class="muted">Loading…</p>;
  if ('error' in state) return <Empty title="No such profile"><p>{state.error} <a href={link([])}>To the start</a></p></Empty>;
  if (!view) return <Empty title="No such view"><p>A profile has no view “{clip(name, 60)}”.</p></Empty>;
  const { profile } = state;
  return (
    <article>
      <header class="title"><h1>{view.label}</h1><p><Name text={profile.name} /></p></header>
      {profile.analysis
        ? <view.component profile={profile} analysis={profile.analysis} report={props.report} source={props.source} route={props.route} />
        : <Empty title="Not analyzed"><p>The trace of this profile could not be analyzed.</p></Empty>}
    </article>
  );
}
