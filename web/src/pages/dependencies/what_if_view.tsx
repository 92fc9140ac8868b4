// The possible gains: the changes that were worked out, and sliders between them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Mark } from '../../components/figure';
import { Name } from '../../components/name';
import { Table, type Column } from '../../components/table';
import { Value } from '../../components/value';
import { dicts, text } from '../../data/safe';
import { finite, format, formatRange, formatTick, parts } from '../../format';
import { setQuery } from '../../route';
import type { WhatIf, WhatIfs } from '../../schema';
import type { PathFunction } from './path_model';
import { leversOf, outcomeOf, parseLevers, speedText, wallOf, writeLevers, type Lever } from './what_if';

type Row = Partial<WhatIf>;

function changeText({ change, factor }: Row): string {
  if (change === 'overlap_copies') return 'copies overlap with kernels';
  if (change === 'no_wait') return 'does not wait';
  if (change !== 'faster') return text(change) || 'unknown';
  return factor === 0 ? 'takes no time' : `${formatTick(finite(factor) ?? NaN, 'ratio')} faster`;
}

const field = (name: keyof WhatIf) => ({ struct: 'WhatIf', field: name });
const COLUMNS: Column<Row>[] = [
  { key: 'what', title: 'What', of: field('name'), value: (row) => text(row.name) || 'all copies', code: true },
  { key: 'change', of: field('change'), value: changeText },
  { key: 'gain', of: field('gain_ns'), value: (row) => row.gain_ns ?? null, bar: true, show: (row) => <>{row.at_most === true && <span class="muted">at most </span>}<Value {...parts(row.gain_ns, 'ns')} /></> },
  { key: 'share', of: field('share'), value: (row) => row.share ?? null },
  { key: 'wall', title: 'Wall time then', of: field('wall_ns'), value: (row) => row.wall_ns ?? null },
  { key: 'at_most', title: 'Certainty', of: field('at_most'), value: (row) => (row.at_most === true ? 'at most this' : 'this') },
];

interface SliderProps {
  lever: Lever;
  left: number;
  onMove: (left: number) => void;
  onRest: (left: number) => void;
}

const leftAt = (input: HTMLInputElement): number => 1 - Number(input.value) / 100;

function Slider({ lever, left, onMove, onRest }: SliderProps) {
  const id = `lever-${lever.key}`;
  return (
    <li>
      <label for={id}><Name text={lever.name} longest={90} code /></label>
      <input id={id} type="range" min="0" max="100" step="5" list="lever-points" value={Math.round((1 - left) * 100)}
        aria-valuetext={left < 1 ? `${speedText(left)} as fast` : 'as it is'}
        onInput={(event) => onMove(leftAt(event.currentTarget))} onChange={(event) => onRest(leftAt(event.currentTarget))} />
      <output for={id}>{left < 1 ? speedText(left) : '1×'}</output>
      <span class="interval">alone: <Value {...parts(wallOf(lever, left).wall, 'ns')} /></span>
    </li>
  );
}

const COMBINED = 'Several changes at once gain at least what the best of them gains alone, and at most what their operations lose on this path: the rest of it stays as long as it is.';
const BETWEEN = 'Wall times are worked out for 1×, 2× and no time; between them this is a straight line in the time of the operation, so it is an estimate, and the truth lies at or below it.';

function Sliders({ levers, wall, query }: { levers: Lever[]; wall: number; query: string | null }) {
  const [left, setLeft] = useState(() => parseLevers(query));
  const written = useRef(query);
  // A value that comes back from the address after it was written here may already be older than the sliders.
  useEffect(() => {
    if (query === written.current) return;
    written.current = query;
    setLeft(parseLevers(query));
  }, [query]);
  const { atMost, atLeast, changed, exact } = outcomeOf(levers, left, wall);
  const move = (key: string, share: number) => setLeft((now) => new Map([...now, [key, share]]));
  const keep = (key: string, share: number) => {
    written.current = writeLevers(new Map([...left, [key, share]])) || null;
    setQuery({ faster: written.current });
  };
  return (
    <div class="levers">
      <h3>How many times faster?</h3>
      <datalist id="lever-points"><option value="0" /><option value="50" /><option value="100" /></datalist>
      <ul>{levers.map((lever) => <Slider key={lever.key} lever={lever} left={left.get(lever.key) ?? 1} onMove={(share) => move(lever.key, share)} onRest={(share) => keep(lever.key, share)} />)}</ul>
      <p class="outcome" aria-live="polite">
        <span class="label">Wall time then</span>
        <b data-value={atMost} data-least={atLeast}>{atLeast < atMost ? formatRange(atLeast, atMost, 'ns') : format(atMost, 'ns')}</b><Mark origin={changed ? 'estimated' : 'measured'} />
        {' '}of {format(wall, 'ns')}; gain {atLeast < atMost ? `${format(wall - atMost, 'ns')}, and at most ${format(wall - atLeast, 'ns')}` : format(wall - atMost, 'ns')}
      </p>
      {changed > 1 && <p class="muted">{COMBINED}</p>}
      {changed === 1 && !exact && <p class="muted">{BETWEEN}</p>}
      {changed > 0 && <button type="button" class="quiet" onClick={() => setQuery({ faster: null })}>As it is</button>}
    </div>
  );
}

export function WhatIfView({ whatIf, functions, query }: { whatIf: Partial<WhatIfs>; functions: PathFunction[]; query: string | null }) {
  const rows = useMemo(() => dicts<WhatIf>(whatIf.changes), [whatIf]);
  const levers = useMemo(() => leversOf(whatIf, functions), [whatIf, functions]);
  if (!rows.length) return null;
  return (
    <section>
      <h2>What if</h2>
      {levers.length > 0 && <Sliders levers={levers} wall={finite(whatIf.wall_ns)!} query={query} />}
      <Table caption="What if" columns={COLUMNS} rows={rows} rowKey={(row) => String(rows.indexOf(row))} sort={{ key: 'gain', descending: true }} />
    </section>
  );
}
