// Links from a time of the trace to the timeline.
import type { Profile } from '../../data/document';
import { finite } from '../../format';
import { link } from '../../route';

/// Its surroundings explain it: this part of its length is shown on each side.
const AROUND = 0.25;

/// Where the trace begins: times of analyses are absolute, those of the timeline count from here.
export function originOf(profile: Profile): number | null {
  return finite(profile.timeline?.origin_ns) ?? finite(profile.analysis?.summary?.start_ns);
}

export function placeOf(profile: Profile, start: unknown, end: unknown): { from: string; to: string } | null {
  const [origin, a, b] = [originOf(profile), finite(start), finite(end)];
  if (origin === null || a === null || b === null || b <= a) return null;
  const margin = (b - a) * AROUND;
  return { from: String(Math.max(0, Math.floor(a - origin - margin))), to: String(Math.ceil(b - origin + margin)) };
}

export function hrefOf(profile: Profile, start: unknown, end: unknown): string | null {
  const place = placeOf(profile, start, end);
  return place && link(['profile', profile.id, 'timeline'], place);
}
