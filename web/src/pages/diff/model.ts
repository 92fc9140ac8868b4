// A comparison of two profiles in the shape that the page draws, whatever the document holds.
import { dict, dicts, text, texts } from '../../data/safe';
import { finite } from '../../format';
import type { Estimate, KernelExchange, Layer, LayerAnalysis, MatchedLayers, Profile, TraceDiff, WaterfallBar } from '../../schema';

export interface Match {
  /// Its place in the document.
  key: string;
  a: string[];
  b: string[];
  kernelsA: string[];
  kernelsB: string[];
  timeA: Partial<Estimate>;
  timeB: Partial<Estimate>;
  change: number | null;
  certain: boolean;
  reasons: string[];
}

export function matchesOf(diff: Partial<TraceDiff>): Match[] {
  return dicts<MatchedLayers>(diff.layers).map((one, i) => ({
    key: String(i), a: texts(one.a), b: texts(one.b), kernelsA: texts(one.kernels_a), kernelsB: texts(one.kernels_b),
    timeA: dict<Estimate>(one.time_a), timeB: dict<Estimate>(one.time_b), change: finite(one.change_ns), certain: one.certain === true, reasons: texts(one.reasons),
  }));
}

export interface Exchange {
  a: string[];
  b: string[];
  layers: number | null;
  timeA: number | null;
  timeB: number | null;
  change: number | null;
}

export function exchangesOf(diff: Partial<TraceDiff>): Exchange[] {
  return dicts<KernelExchange>(diff.kernels).map((one) => ({
    a: texts(one.a), b: texts(one.b), layers: finite(one.layers), timeA: finite(one.time_a_ns), timeB: finite(one.time_b_ns), change: finite(one.change_ns),
  }));
}

export const nameOf = ({ a, b }: Match): string => (a.length ? a : b).join(' + ');

export interface Bar {
  name: string;
  from: number;
  to: number;
  total: boolean;
}

/// From A's iteration to B's: every change begins where the one before it ended.
export function barsOf(diff: Partial<TraceDiff>): Bar[] {
  const [a, b] = [finite(dict<Estimate>(diff.iteration_a).mean_ns), finite(dict<Estimate>(diff.iteration_b).mean_ns)];
  if (!a || !b) return [];
  let at = a;
  const changes = dicts<WaterfallBar>(diff.waterfall).map((bar) => {
    const from = at;
    at += finite(bar.change_ns) ?? 0;
    return { name: text(bar.name), from, to: at, total: false };
  });
  return [{ name: 'A', from: 0, to: a, total: true }, ...changes, { name: 'B', from: 0, to: b, total: true }];
}

/// The part that the changes leave unexplained, where that is more than rounding.
export function gapOf(bars: Bar[]): number {
  const [last, b] = bars.slice(-2);
  if (!last || !b) return 0;
  const gap = b.to - (bars.length > 2 ? last.to : bars[0]!.to);
  return Math.abs(gap) > 1 + 1e-9 * Math.abs(b.to) ? gap : 0;
}

const layersOf = (profile: Profile | null): string[] =>
  dicts<Layer>(dict<LayerAnalysis>(dict<NonNullable<Profile['analysis']>>(profile?.analysis).layers).layers).map(({ name }) => text(name));

/// Matches in the order in which A runs; those that A lacks come where B runs them, after the rest.
export function inRunOrder(matches: Match[], a: Profile | null, b: Profile | null): Match[] {
  const firstOf = (names: string[]) => {
    const first = new Map<string, number>();
    names.forEach((name, i) => { if (!first.has(name)) first.set(name, i); });
    return first;
  };
  const [inA, inB] = [firstOf(layersOf(a)), firstOf(layersOf(b))];
  const least = (names: string[], first: Map<string, number>) => names.reduce((all, name) => Math.min(all, first.get(name) ?? Infinity), Infinity);
  const place = (match: Match) => {
    const at = least(match.a, inA);
    return Number.isFinite(at) ? at : inA.size + Math.min(least(match.b, inB), inB.size);
  };
  return matches.map((match) => ({ match, at: place(match) })).sort((x, y) => x.at - y.at).map(({ match }) => match);
}

export interface Sum {
  match: Match;
  at: number;
  /// Changes until here, added up.
  sum: number;
}

export function sumsOf(ordered: Match[]): Sum[] {
  let sum = 0;
  return ordered.map((match, i) => ({ match, at: i + 1, sum: (sum += match.change ?? 0) }));
}
