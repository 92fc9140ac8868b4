// The timeline of a profile, with its window and its selection in the address.
import { useCallback, useMemo } from 'preact/hooks';
import type { Timeline } from '../data/document';
import { setQuery } from '../route';
import { TimelinePage, type TimelineDocument, type TimelineView, type TrackKind } from '../timeline';
import type { ViewProps } from './props';

/// Counters are tracks of the program's header, and a list of their own of the timeline.
/// A page that nobody serves has nothing finer than its own data.
function adapted({ header, blob }: Timeline, live: boolean): TimelineDocument {
  const counters = header.tracks.filter(({ kind }) => kind === 'counter');
  return {
    header: {
      ...header,
      complete: header.complete || !live,
      details: header.details as Record<string, unknown>[],
      tracks: header.tracks.map((track) =>
        track.kind === 'counter' ? { ...track, kind: 'counter', first: 0, count: 0 } : { ...track, kind: (track.kind === 'stream' ? 'kernels' : track.kind) as TrackKind }),
      counters: counters.map(({ id, unit, first, count }) => ({ track: id, unit, first, count })),
      path: header.path.map((segment) => ({ ...segment, name: header.strings[segment.name] ?? '' })),
      columns: header.columns as TimelineDocument['header']['columns'],
    },
    blob,
  };
}

const whole = (text: string | null): number | undefined => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined);

export function TimelineViewPage({ profile, report, source, route }: ViewProps) {
  const load = useCallback(async (window?: { from: number; to: number; pixels: number }) => adapted(await source.timeline(profile.id, window), report.live), [source, profile.id, report.live]);
  const [from, to] = ['from', 'to'].map((key) => whole(route.query.get(key)));
  const selection = route.query.get('event') ?? undefined;
  const view = useMemo<TimelineView>(() => ({ from, to, selection }), [from, to, selection]);
  const onView = useCallback((next: TimelineView) => {
    const text = (value?: number) => (value === undefined ? null : String(value));
    setQuery({ from: text(next.from), to: text(next.to), event: next.selection ?? null });
  }, []);
  return <TimelinePage load={load} view={view} onView={onView} />;
}
