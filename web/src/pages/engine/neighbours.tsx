// Which layers a layer reads from, and which read from it, as links that select them.
import { Fact, Facts } from '../../components/drawer';
import { Name } from '../../components/name';
import { setQuery } from '../../route';
import type { LayerRow } from '../layers/model';

const MOST = 40;

function Links({ all, rows }: { all: number[]; rows: LayerRow[] }) {
  if (!all.length) return <span class="muted">none</span>;
  return (
    <ul>
      {all.slice(0, MOST).map((one) => (
        <li key={one}><button type="button" class="plain link" onClick={() => setQuery({ sel: rows[one]!.key })}>{one + 1} · <Name text={rows[one]!.name} longest={70} /></button></li>
      ))}
      {all.length > MOST && <li class="muted">and {all.length - MOST} more</li>}
    </ul>
  );
}

export function Neighbours({ row, rows, readers }: { row: LayerRow; rows: LayerRow[]; readers: number[][] }) {
  return (
    <Facts>
      <Fact name="Reads from"><Links all={row.reads} rows={rows} /></Fact>
      <Fact name="Read by"><Links all={readers[row.index]!} rows={rows} /></Fact>
    </Facts>
  );
}
