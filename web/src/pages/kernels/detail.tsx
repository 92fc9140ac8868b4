// The selected activity: its whole name, and how it was launched.
import { Name } from '../../components/name';
import { finite, format } from '../../format';
import { setQuery } from '../../route';
import type { Row } from './groups';

const sizes = (value: unknown): string | null =>
  Array.isArray(value) ? value.map((one) => format(finite(one), 'count')).join(' × ') : null;

export function Detail({ row }: { row: Row }) {
  const [grid, block] = [sizes(row.activity.grid), sizes(row.activity.block)];
  return (
    <div class="detail" onKeyDown={(event) => event.key === 'Escape' && setQuery({ sel: null })}>
      <dl class="facts">
        <dt>Name</dt><dd><Name text={row.name} longest={2000} code /></dd>
        {grid && <><dt>Grid</dt><dd>{grid} blocks</dd></>}
        {block && <><dt>Block</dt><dd>{block} threads</dd></>}
        <dt>Standard deviation</dt><dd>{format(row.activity.sd_ns, 'ns')}</dd>
      </dl>
      <button type="button" class="quiet" onClick={() => setQuery({ sel: null })}>Close</button>
    </div>
  );
}
