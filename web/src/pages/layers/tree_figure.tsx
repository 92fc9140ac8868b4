// Where the time goes in the model's own terms: blocks within blocks, each as large as its time.
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from 'echarts';
import { useCallback, useMemo } from 'preact/hooks';
import { Chart, type ChartPick } from '../../components/chart';
import type { Look } from '../../components/chart_look';
import { tip } from '../../components/chart_tip';
import type { Column } from '../../components/table';
import { Tabs } from '../../components/tabs';
import { format } from '../../format';
import { setQuery } from '../../route';
import { clip, plural } from '../../text';
import { find, treeOf, type Block } from './blocks';
import { colourOf } from './colours';
import { kindName, type LayerRow } from './model';
import { placeAll, type Placed } from './tree_layout';

const MODES = [{ id: 'block', label: 'Blocks' }, { id: 'kind', label: 'Kinds' }];

const COLUMNS: Column<Placed>[] = [
  { key: 'name', title: 'Block or layer', value: ({ block }) => block.name },
  { key: 'within', title: 'Within', value: ({ block }) => block.path.slice(0, -1).join('.') },
  { key: 'layers', title: 'Layers', unit: 'count', value: ({ block }) => block.layers },
  { key: 'time', title: 'Mean time', of: { struct: 'TimeSummary', field: 'mean_ns' }, value: ({ block }) => block.time, bar: true },
];

function tooltip({ block }: Placed, total: number): HTMLElement {
  const lines: [string, string][] = [['mean time', format(block.time, 'ns')], ['of all layers', format(total > 0 ? block.time / total : null, 'share')]];
  if (block.row) lines.push(['kind', kindName(block.row.kind)]);
  else lines.push(['layers', String(block.layers)]);
  return tip(block.name, lines);
}

/// Without the blocks that it is drawn in.
function shortName({ name, path, row }: Block): string {
  const blocks = path.slice(0, -1).join('.');
  return row && blocks ? name.replaceAll(`${blocks}.`, '') : name;
}

/// Among all kinds in a block, the one with most time gives the colour.
function mainKind(block: Block): string {
  if (block.row) return block.row.kind;
  return mainKind(block.children.reduce((a, b) => (b.time > a.time ? b : a)));
}

export function treeOption(items: Placed[], kinds: string[], selected: string | null, total: number, of: Look) {
  let layout: { size: string; boxes: ReturnType<typeof placeAll> } | null = null;
  const renderItem = (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
    const [width, height] = [api.getWidth(), api.getHeight()];
    if (layout?.size !== `${width}x${height}`) layout = { size: `${width}x${height}`, boxes: placeAll(items, width, height) };
    const box = layout.boxes[params.dataIndex];
    const item = items[params.dataIndex];
    if (!box || !item || box.width < 1 || box.height < 1) return undefined;
    const colour = colourOf(mainKind(item.block), kinds, of);
    const chosen = item.block.row !== undefined && item.block.row.key === selected;
    const room = box.width > 34 && box.height > 15;
    const letters = Math.floor((box.width - 8) / 6.6);
    const time = format(item.block.time, 'ns');
    const long = clip(shortName(item.block), 90);
    const text = letters > long.length + time.length + 2 ? `${long}  ${time}` : clip(long, Math.max(2, letters));
    return {
      type: 'rect' as const,
      shape: { ...box, r: 2 },
      style: { fill: item.block.children.length && !item.inner ? of.muted : colour, fillOpacity: item.block.children.length && !item.inner ? 0.1 : 0.28, stroke: chosen ? of.text : of.surface, lineWidth: chosen ? 2.5 : 1 },
      textContent: room ? { type: 'text' as const, style: { text, fill: of.text, fontSize: 11, fontWeight: item.inner ? 400 : 600, fontFamily: of.font } } : undefined,
      textConfig: { position: 'insideTopLeft' as const, distance: 4 },
    };
  };
  return {
    tooltip: { trigger: 'item', formatter: (params: { dataIndex: number }) => (items[params.dataIndex] ? tooltip(items[params.dataIndex]!, total) : '') },
    series: [{ type: 'custom', name: 'Blocks', coordinateSystem: 'none', renderItem, data: items.map((item) => ({ value: item.block.time, block: item.block })) }],
  };
}

interface TreeFigureProps {
  rows: LayerRow[];
  kinds: string[];
  selected: string | null;
  by: 'block' | 'kind';
  /// Names from the root to the block that is shown.
  at: string[];
}

const AT = '~';
export const atOf = (query: string | null): string[] => (query ? query.split(AT) : []);

function Crumbs({ path }: { path: string[] }) {
  if (!path.length) return null;
  const to = (n: number) => setQuery({ block: path.slice(0, n).join(AT) });
  return (
    <span class="crumbs">
      <button type="button" class="quiet" onClick={() => to(0)}>All layers</button>
      {path.map((name, i) => <button key={i} type="button" class="quiet" aria-current={i + 1 === path.length} onClick={() => to(i + 1)}>{clip(name, 30)}</button>)}
    </span>
  );
}

export function TreeFigure({ rows, kinds, selected, by, at }: TreeFigureProps) {
  const root = useMemo(() => treeOf(rows, by), [rows, by]);
  const where = at.join(AT);
  const block = useMemo(() => find(root, where ? where.split(AT) : []), [root, where]);
  const items = useMemo(() => block.children.filter((one) => one.time > 0).sort((a, b) => b.time - a.time).flatMap((outer, i): Placed[] => {
    const inner = outer.children.filter((one) => one.time > 0).sort((a, b) => b.time - a.time);
    return [{ block: outer, inner: false, group: i }, ...inner.map((one) => ({ block: one, inner: true, group: i }))];
  }), [block]);
  const option = useCallback((of: Look) => treeOption(items, kinds, selected, root.time, of), [items, kinds, selected, root]);
  const data = useMemo(() => ({ columns: COLUMNS, rows: items }), [items]);
  const pick = useCallback(({ data: item }: ChartPick) => {
    const { block: picked } = item as { block: Block };
    setQuery(picked.row ? { sel: picked.row.key } : { block: picked.path.join(AT) });
  }, []);
  if (root.time <= 0) return null;
  return (
    <Chart title={by === 'kind' ? 'Time by kind' : 'Time by block'} option={option} data={data} onPick={pick} height={360}
      description={`${block.name}: ${plural(block.layers, 'layer')} as rectangles, each as large as its mean time. Choosing one goes into it.`}
      tools={<>
        <Tabs label="Blocks by" choices={MODES} value={by} onChange={(id) => setQuery({ by: id === 'kind' ? 'kind' : null, block: null })} />
        <Crumbs path={block.path} />
      </>} />
  );
}
