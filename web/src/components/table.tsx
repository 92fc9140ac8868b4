// A table that sorts, searches, exports, and draws only the rows in sight when there are many.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { describe } from '../data/fields';
import { plural } from '../text';
import { downloadCsv } from './download';
import { Mark } from './figure';
import { Menu } from './menu';
import { csvHead, headOf, hintFor, isNumeric, matching, sorted, unitOf, type Column, type Sort } from './table_model';
import { TableRow } from './table_row';
import { useWindow } from './table_window';

export type { Column } from './table_model';

export interface TableProps<Row> {
  /// Names the table for readers of the screen, and its CSV file.
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  sort?: Sort;
  selected?: string | null;
  onSelect?: (key: string | null) => void;
}

const FEW = 8;

function largestOf<Row>(column: Column<Row>, rows: Row[]): number {
  if (!column.bar) return 0;
  if (unitOf(column) === 'share') return 1;
  return rows.reduce((most, row) => Math.max(most, Number(column.value(row)) || 0), 0);
}

function Head<Row>({ column, numeric, sort, onSort }: { column: Column<Row>; numeric: boolean; sort: Sort | null; onSort: () => void }) {
  const order = sort?.key === column.key ? (sort.descending ? 'descending' : 'ascending') : undefined;
  return (
    <th scope="col" class={numeric ? 'number' : undefined} aria-sort={order}>
      <button type="button" data-hint={hintFor(column) || undefined} onClick={onSort}>
        {headOf(column)}<Mark origin={describe(column.of).origin} />
        <span class="order" aria-hidden="true">{order === 'ascending' ? '↑' : order ? '↓' : ''}</span>
      </button>
    </th>
  );
}

export function Table<Row>({ caption, columns, rows, rowKey, sort: first, selected, onSelect }: TableProps<Row>) {
  const [sort, setSort] = useState<Sort | null>(first ?? null);
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(0);
  const box = useRef<HTMLDivElement>(null);

  const numeric = useMemo(() => columns.map((column) => isNumeric(column, rows)), [columns, rows]);
  const largest = useMemo(() => columns.map((column) => largestOf(column, rows)), [columns, rows]);
  const shown = useMemo(() => {
    const column = columns.find((one) => one.key === sort?.key);
    return sorted(matching(rows, columns, search), column, sort?.descending ?? false);
  }, [columns, rows, sort, search]);
  const view = useWindow(box, shown.length);

  // A selection from a link is brought into sight once.
  useEffect(() => {
    const at = selected ? shown.findIndex((row) => rowKey(row) === selected) : -1;
    if (at < 0) return;
    setActive(at);
    view.reveal(at);
  }, [selected]);

  const sortBy = (i: number) => {
    const { key } = columns[i]!;
    setSort(sort?.key === key ? { key, descending: !sort.descending } : { key, descending: numeric[i]! });
  };
  const pick = (i: number) => {
    const key = rowKey(shown[i]!);
    setActive(i);
    onSelect?.(key === selected ? null : key);
  };
  const key = (event: KeyboardEvent) => {
    if (!onSelect || !(event.target instanceof HTMLTableRowElement)) return;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(shown.length - 1, to));
      setActive(next);
      view.reveal(next);
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`tr[data-index="${next}"]`)?.focus());
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      pick(active);
    } else if (event.key === 'Escape') onSelect(null);
  };

  const exported = () => downloadCsv(caption, csvHead(columns), shown.map((row) => columns.map((column) => column.value(row))));
  const counted = shown.length === rows.length ? plural(rows.length, 'row') : `${shown.length} of ${plural(rows.length, 'row')}`;
  return (
    <div class="table">
      <div class="tools">
        {rows.length > FEW && (
          <input type="search" placeholder="Filter" aria-label={`Filter ${caption}`} value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Escape' && setSearch('')} />
        )}
        <span class="count" aria-live="polite">{counted}</span>
        <Menu label="Export" actions={[{ label: 'CSV', run: exported }]} />
      </div>
      <div class={view.windowed ? 'scroll windowed' : 'scroll'} ref={box} onScroll={view.onScroll} tabIndex={view.windowed && !onSelect ? 0 : undefined}>
        <table aria-rowcount={shown.length + 1} onKeyDown={key}>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>{columns.map((column, i) => <Head key={column.key} column={column} numeric={numeric[i]!} sort={sort} onSort={() => sortBy(i)} />)}</tr>
          </thead>
          <tbody>
            {view.above > 0 && <tr class="spacer" aria-hidden="true"><td style={{ height: `${view.above}px` }} colSpan={columns.length} /></tr>}
            {shown.slice(view.first, view.last).map((row, i) => (
              <TableRow key={rowKey(row)} row={row} columns={columns} numeric={numeric} largest={largest} index={view.first + i}
                active={view.first + i === active} selected={rowKey(row) === selected}
                onPick={onSelect ? () => pick(view.first + i) : undefined} />
            ))}
            {view.below > 0 && <tr class="spacer" aria-hidden="true"><td style={{ height: `${view.below}px` }} colSpan={columns.length} /></tr>}
          </tbody>
        </table>
        {!shown.length && <p class="nothing">{rows.length ? 'Nothing matches.' : 'Nothing to show.'}</p>}
      </div>
    </div>
  );
}
