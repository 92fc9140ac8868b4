// A step's time by category, on the mean, and step by step.
import { useCallback, useMemo } from 'preact/hooks';
import { Note } from '../../components/note';
import { Table, type Column } from '../../components/table';
import { look } from '../../components/chart_look';
import { entriesOf, listOf, textsOf } from '../../data/lists';
import { finite } from '../../format';
import { go } from '../../route';
import type { CategoryCost, Step, StepBreakdown } from '../../schema';
import { clip, plural } from '../../text';
import { useTheme } from '../../theme';
import { Donut } from '../parts/donut';
import { placeOf } from '../parts/place';
import { Stacked } from '../parts/stacked';
import type { Bar, Part } from '../parts/stacked_option';
import type { ViewProps } from '../props';
import { categoryOf } from './categories';

interface Row {
  key: string;
  label: string;
  hint: string;
  colour: number | null;
  cost: Partial<CategoryCost>;
}

const MEAN = { struct: 'CategoryCost', field: 'mean_ns' };

function Swatch({ colour }: { colour: number }) {
  useTheme();
  const { series } = look();
  return <svg class="swatch" width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" fill={series[colour % series.length]} /></svg>;
}

const of = (field: keyof CategoryCost) => ({ struct: 'CategoryCost', field });
const COLUMNS: Column<Row>[] = [
  { key: 'category', title: 'Category', value: ({ label }) => label,
    show: ({ label, hint, colour }) => <span data-hint={hint || undefined} tabIndex={hint ? 0 : undefined}>{colour === null ? <b>{label}</b> : <><Swatch colour={colour} />{label}</>}</span> },
  { key: 'mean', title: 'Mean', of: of('mean_ns'), value: ({ cost }) => cost.mean_ns },
  { key: 'share', of: of('share'), bar: true, value: ({ cost }) => cost.share },
  ...(['median_ns', 'p25_ns', 'p75_ns', 'min_ns', 'max_ns', 'sd_ns'] as const).map((field): Column<Row> => ({ key: field, of: of(field), value: ({ cost }) => cost[field] })),
];

function rowsOf(steps: Partial<StepBreakdown>): Row[] {
  const step = steps.step;
  const rows = entriesOf<CategoryCost>(steps.categories)
    .map(([key, cost], i): Row => ({ key, ...categoryOf(key, i), cost }));
  if (!rows.length || !step) return rows;
  const whole: Row = { key: '', label: 'Step', hint: 'A step from begin to end; the categories add up to it.', colour: null, cost: { ...step, share: 1 } };
  return [whole, ...rows];
}

const barOf = (step: Step, keys: string[]): Bar => ({
  name: clip(step.name, 80),
  length: finite(step.end_ns) !== null && finite(step.start_ns) !== null ? step.end_ns - step.start_ns : null,
  values: keys.map((key) => finite((step.costs as Record<string, unknown> | undefined)?.[`${key}_ns`])),
});

export function Execution({ steps, view }: { steps: Partial<StepBreakdown>; view: ViewProps }) {
  const rows = useMemo(() => rowsOf(steps), [steps]);
  const all = useMemo(() => listOf<Step>(steps.steps), [steps]);
  const present = rows.filter(({ colour, cost }) => colour !== null && (finite(cost.max_ns) ?? 0) > 0);
  const parts: Part[] = useMemo(() => present.map(({ key, label, colour }) => ({ key, label, colour: colour! })), [steps]);
  const bars = useMemo(() => all.map((step) => barOf(step, parts.map(({ key }) => key))), [all, parts]);
  const slices = useMemo(() => present.map(({ label, colour, cost }) => ({ name: label, value: finite(cost.mean_ns) ?? 0, colour: colour! })), [steps]);
  const { profile } = view;
  const pick = useCallback((index: number) => {
    const place = placeOf(profile, all[index]?.start_ns, all[index]?.end_ns);
    if (place) go(['profile', profile.id, 'timeline'], place);
  }, [profile, all]);
  if (!rows.length) return null;
  const notes = textsOf(steps.notes);
  const ring = <Donut title="Mean step" description="Categories of the mean step." slices={slices} of={MEAN} part="Category" inOrder />;
  const chart = bars.length > 1 && (
    <Stacked title="Steps" description="What each step is spent on, one bar a step. Enter shows the step in the timeline."
      parts={parts} bars={bars} pageKey="steps" query={view.route.query} onPick={pick} />
  );
  return (
    <section>
      <h2>What steps are spent on</h2>
      {notes.map((note) => <Note key={note}>{clip(note, 400)}</Note>)}
      <Table caption="Execution summary" columns={COLUMNS} rows={rows} rowKey={({ key }) => key} />
      {bars.length > 24
        ? <><div class="group">{chart}</div><div class="group">{ring}</div></>
        : <div class="pair group">{ring}{chart}</div>}
      {chart && <p class="muted below">Mean of {plural(bars.length, 'step')}. Where several things go on at once, the first one in the order of the table has the time. A click on a step shows it in the timeline.</p>}
    </section>
  );
}
