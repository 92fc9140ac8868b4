// One row of a table.
import { parts } from '../format';
import { Name } from './name';
import { unitOf, type Column } from './table_model';
import { Value } from './value';

interface CellProps<Row> {
  row: Row;
  column: Column<Row>;
  numeric: boolean;
  /// Largest value of the column; a bar is drawn against it.
  largest: number;
}

function Cell<Row>({ row, column, numeric, largest }: CellProps<Row>) {
  const value = column.value(row);
  const shown = column.show ? column.show(row) : numeric ? <Value {...parts(value, unitOf(column))} /> : <Name text={value} code={column.code} />;
  const share = column.bar && typeof value === 'number' && largest > 0 ? Math.min(1, Math.max(0, value / largest)) : 0;
  return (
    <td class={numeric ? 'number' : undefined} data-value={typeof value === 'number' ? value : undefined}>
      {column.bar ? <span class="barred"><span class="bar" style={{ width: `${share * 100}%` }} />{shown}</span> : shown}
    </td>
  );
}

interface RowProps<Row> {
  row: Row;
  columns: Column<Row>[];
  numeric: boolean[];
  largest: number[];
  index: number;
  active: boolean;
  selected: boolean;
  onPick?: () => void;
}

export function TableRow<Row>({ row, columns, numeric, largest, index, active, selected, onPick }: RowProps<Row>) {
  return (
    <tr data-index={index} aria-rowindex={index + 2} aria-selected={onPick ? selected : undefined}
      tabIndex={onPick ? (active ? 0 : -1) : undefined} onClick={onPick} class={onPick ? 'pickable' : undefined}>
      {columns.map((column, i) => (
        <Cell key={column.key} row={row} column={column} numeric={numeric[i]!} largest={largest[i]!} />
      ))}
    </tr>
  );
}
