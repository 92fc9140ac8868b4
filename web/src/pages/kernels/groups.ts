// Rows of a table of activities: one for each, or added up by short name or by kind.
import { finite } from '../../format';
import type { Activity } from '../../schema';
import { clean } from '../../text';
import { shortName } from '../parts/short_name';

export interface Row {
  key: string;
  name: string;
  activity: Partial<Activity>;
  /// Names that the row stands for.
  names: number;
  /// The part of its time in kernels that use Tensor Cores.
  tensor_ns: number;
}

export type Grouping = 'name' | 'base' | 'kind';

const sum = (all: Partial<Activity>[], field: 'calls' | 'total_ns' | 'share'): number =>
  all.reduce((total, one) => total + (finite(one[field]) ?? 0), 0);
const known = (all: Partial<Activity>[], field: 'min_ns' | 'max_ns'): number[] => all.flatMap((one) => finite(one[field]) ?? []);

export const tensorTime = (all: Partial<Activity>[]): number => sum(all.filter((one) => one.tensor_cores === true), 'total_ns');

/// Launches of one kernel may be listed by their grid: then the row's place distinguishes two of a name.
function singles(activities: Activity[]): Row[] {
  const seen = new Set<string>();
  return activities.map((activity, i) => {
    const name = clean(activity.name);
    const key = seen.has(name) ? `${name} ${i}` : name;
    seen.add(name);
    return { key, name, activity, names: 1, tensor_ns: tensorTime([activity]) };
  });
}

/// Figures that do not follow from sums, like a median, are left out.
function together(name: string, all: Activity[]): Row {
  const [calls, total] = [sum(all, 'calls'), sum(all, 'total_ns')];
  const kinds = new Set(all.map(({ kind }) => clean(kind)));
  const least = known(all, 'min_ns');
  const most = known(all, 'max_ns');
  const activity: Partial<Activity> = {
    kind: kinds.size === 1 ? [...kinds][0] : 'several', name, calls, total_ns: total, share: sum(all, 'share'), average_ns: calls ? total / calls : null,
    min_ns: least.length ? Math.min(...least) : null, max_ns: most.length ? Math.max(...most) : null,
  };
  return { key: name, name, activity, names: all.length, tensor_ns: tensorTime(all) };
}

export function groupsOf(activities: Activity[], by: Grouping): Row[] {
  if (by === 'name') return singles(activities);
  const groups = new Map<string, Activity[]>();
  for (const activity of activities) {
    const name = by === 'kind' ? clean(activity.kind) : shortName(activity.name);
    const group = groups.get(name);
    if (group) group.push(activity);
    else groups.set(name, [activity]);
  }
  return [...groups].map(([name, all]) => together(name, all)).sort((a, b) => (b.activity.total_ns ?? 0) - (a.activity.total_ns ?? 0));
}
