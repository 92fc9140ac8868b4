// The tactics that an engine looked at for a layer: what each took when the choice was made, or why it does not
// run the layer.
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import { known, text } from '../../data/safe';
import type { LayerRival } from '../../schema';
import { plural } from '../../text';
import type { LayerRow } from './model';

type Rival = Partial<LayerRival>;

const COLUMNS: Column<Rival>[] = [
  { key: 'tactic', of: { struct: 'LayerRival', field: 'tactic' }, value: (rival) => rival.tactic, code: true },
  { key: 'time', of: { struct: 'LayerRival', field: 'time_ns' }, value: (rival) => known(rival.time_ns), bar: true },
  { key: 'chosen', of: { struct: 'LayerRival', field: 'chosen' }, value: (rival) => (rival.chosen === true ? 'chosen' : '') },
  { key: 'layout', of: { struct: 'LayerRival', field: 'layout' }, value: (rival) => rival.layout },
];
const MOST = 60;

const byTime = (a: Rival, b: Rival) => (known(a.time_ns) ?? Infinity) - (known(b.time_ns) ?? Infinity) || 0;

function Refusals({ all }: { all: Rival[] }) {
  if (!all.length) return null;
  return (
    <>
      <h3>Tactics that do not run it</h3>
      <dl class="facts refusals">
        {all.slice(0, MOST).flatMap((rival, i) => [
          <dt key={`t${i}`}><Name text={rival.tactic} longest={60} code />{text(rival.layout) && <small><Name text={rival.layout} longest={30} /></small>}</dt>,
          <dd key={`r${i}`}><Name text={rival.refusal} longest={400} /></dd>,
        ])}
      </dl>
      {all.length > MOST && <p class="muted">and {all.length - MOST} more</p>}
    </>
  );
}

export function Rivals({ row }: { row: LayerRow }) {
  if (!row.rivals.length) return null;
  const refused = row.rivals.filter((rival) => text(rival.refusal));
  const ran = row.rivals.filter((rival) => !text(rival.refusal)).sort(byTime);
  return (
    <>
      {ran.length > 0 && <>
        <h3>{plural(ran.length, 'tactic')} that can run it</h3>
        <p class="muted below">Times are those of the search that chose, inside the whole network; they are no part of this trace.</p>
        <Table caption="Tactics of the layer" columns={COLUMNS} rows={ran} rowKey={(rival) => String(ran.indexOf(rival))} />
      </>}
      <Refusals all={refused} />
    </>
  );
}
