// The time of the program if operations got faster: exact at the points that were worked out, straight lines
// between them.
import { dicts, text } from '../../data/safe';
import { finite } from '../../format';
import type { WhatIf, WhatIfs } from '../../schema';
import type { PathFunction } from './path_model';

/// An operation whose speed can be chosen.
export interface Lever {
  key: string;
  name: string;
  /// Share of its time that is left, from 0 to 1, and the wall time then; the largest share first.
  points: { left: number; wall: number }[];
  /// Its time on the path.
  onPath: number;
}

/// A factor of 0 stands for an operation that takes no time.
const leftOf = (factor: number): number => (factor === 0 ? 0 : 1 / factor);

export function leversOf(whatIf: Partial<WhatIfs>, functions: PathFunction[]): Lever[] {
  const wall = finite(whatIf.wall_ns);
  if (wall === null || wall <= 0) return [];
  const levers = new Map<string, Lever>();
  for (const change of dicts<WhatIf>(whatIf.changes)) {
    const [factor, then] = [finite(change.factor), finite(change.wall_ns)];
    const name = text(change.name);
    if (change.change !== 'faster' || factor === null || then === null || (factor !== 0 && factor <= 1) || factor < 0) continue;
    const onPath = functions.filter((one) => one.name === name).reduce((all, one) => all + (finite(one.critical_path_ns) ?? 0), 0);
    const lever = levers.get(name) ?? { key: String(levers.size), name, points: [{ left: 1, wall }], onPath };
    lever.points.push({ left: leftOf(factor), wall: then });
    levers.set(name, lever);
  }
  for (const { points } of levers.values()) points.sort((a, b) => b.left - a.left);
  return [...levers.values()];
}

export interface Told {
  wall: number;
  /// True if it is one of the points that were worked out.
  exact: boolean;
}

/// Beyond the last point nothing more is gained.
export function wallOf({ points }: Lever, left: number): Told {
  const exact = points.find((point) => point.left === left);
  if (exact) return { wall: exact.wall, exact: true };
  const after = points.findIndex((point) => point.left < left);
  if (after < 1) return { wall: points[points.length - 1]!.wall, exact: false };
  const [a, b] = [points[after - 1]!, points[after]!];
  return { wall: a.wall + ((a.left - left) / (a.left - b.left)) * (b.wall - a.wall), exact: false };
}

export interface Outcome {
  /// The most that the changes leave of the wall time, and the least.
  atMost: number;
  atLeast: number;
  changed: number;
  exact: boolean;
}

/// Several changes at once gain no less than the best one of them. They gain no more than their operations
/// lose on the path as it is, since the rest of it stays.
export function outcomeOf(levers: Lever[], left: ReadonlyMap<string, number>, wall: number): Outcome {
  const pulled = levers.filter(({ key }) => (left.get(key) ?? 1) < 1);
  const told = pulled.map((lever) => wallOf(lever, left.get(lever.key)!));
  const atMost = told.reduce((least, one) => Math.min(least, one.wall), wall);
  if (pulled.length < 2) return { atMost, atLeast: atMost, changed: pulled.length, exact: told.every(({ exact }) => exact) };
  const gone = pulled.reduce((all, { key, onPath }) => all + (1 - left.get(key)!) * onPath, 0);
  return { atMost, atLeast: Math.max(0, Math.min(atMost, wall - gone)), changed: pulled.length, exact: false };
}

/// "2×", or that it takes no time.
export const speedText = (left: number): string => (left <= 0 ? 'no time' : `${(1 / left).toFixed(left > 0.5 ? 2 : 1)}×`);

/// In the address: the number of the lever and the percent of its time that are taken away.
export function parseLevers(query: string | null): Map<string, number> {
  const all = (query ?? '').split('~').map((part) => part.split(':'));
  return new Map(all.flatMap(([key = '', percent = '']) => {
    const away = Number(percent);
    return key && away > 0 && away <= 100 ? [[key, 1 - away / 100] as const] : [];
  }));
}

export const writeLevers = (left: ReadonlyMap<string, number>): string =>
  [...left].filter(([, share]) => share < 1).map(([key, share]) => `${key}:${Math.round((1 - share) * 100)}`).join('~');
