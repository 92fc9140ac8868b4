// A ring of parts with a legend: the ten largest and the rest, or all in the order given.
import type { ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { Chart } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import type { Column } from '../../components/table';
import { describe, type FieldRef } from '../../data/fields';
import { donutOption, heightOf, topOf, type Slice } from './donut_option';
import { useNarrow } from './narrow';

interface DonutProps {
  title: string;
  description: string;
  slices: Slice[];
  /// The unit of the parts.
  of: FieldRef;
  /// Says what a part is, over its column.
  part: string;
  inOrder?: boolean;
  wide?: boolean;
  overlap?: boolean;
  tools?: ComponentChildren;
}

export function Donut({ title, description, slices, of, part, inOrder, wide = false, overlap = false, tools }: DonutProps) {
  const narrow = useNarrow();
  const shown = useMemo(() => (inOrder ? slices.filter(({ value }) => value > 0) : topOf(slices)), [slices, inOrder]);
  const option = useCallback((look: Look) => donutOption(shown, describe(of).unit, { narrow, wide: wide && !narrow, overlap }, look), [shown, of, narrow, wide, overlap]);
  const data = useMemo(() => {
    const columns: Column<Slice>[] = [
      { key: 'name', title: part, value: ({ name }) => name },
      { key: 'value', of, value: ({ value }) => value, bar: true },
    ];
    return { columns, rows: slices };
  }, [slices, of, part]);
  if (!shown.length) return null;
  return <Chart title={title} description={description} option={option} data={data} height={heightOf(narrow, shown)} tools={tools} />;
}
