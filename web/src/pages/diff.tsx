// What changed from one profile to another.
import { Empty } from '../components/note';
import type { PageProps } from './page';
import { Pending } from './pending';

export function DiffPage({ report, route }: PageProps) {
  const entry = report.diffs[Number(route.path[1])];
  if (!entry) return <Empty title="No such comparison" />;
  return <Pending />;
}
