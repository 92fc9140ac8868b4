// The engine as a graph: steps from top to bottom, each below all that it reads from, coloured by their time.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { savePng, saveSvg } from '../../components/chart_export';
import { look } from '../../components/chart_look';
import { Menu, type Action } from '../../components/menu';
import { setQuery } from '../../route';
import { useTheme } from '../../theme';
import type { LayerRow } from '../layers/model';
import { HeatLegend, heatOf } from './heat';
import { layoutOf, type Columns } from './layout';
import { heightOf, StepBox, WIDTH } from './step_box';
import { stepTo } from './walk';
import { Wires } from './wires';
import { fitting, limited, usePan, ZOOM_STEP } from './zoom';

interface GraphProps {
  rows: LayerRow[];
  readers: number[][];
  columns: Columns;
  longest: number;
  selected: LayerRow | undefined;
  open: Set<string>;
  onToggle: (key: string) => void;
  /// Exports of the data.
  actions: Action[];
}

/// Pages up to this width have the panel below what they show.
const NARROW = 860;
/// By key.
const ZOOMS: Record<string, number> = { '+': ZOOM_STEP, '=': ZOOM_STEP, '-': 1 / ZOOM_STEP };

export function Graph({ rows, readers, columns, longest, selected, open, onToggle, actions }: GraphProps) {
  useTheme();
  const of = look();
  const host = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const [at, setAt] = useState(selected?.index ?? 0);
  const [over, setOver] = useState<number | null>(null);
  const folds = [...open].join('~');
  const layout = useMemo(() => layoutOf(columns, WIDTH, rows.map((row) => heightOf(row, row.sources.length > 1 && open.has(row.key)))), [columns, rows, folds]);
  const now = Math.min(at, rows.length - 1);

  const show = useCallback((step: number, smooth: boolean) => {
    const [box, place] = [host.current, layout.boxes[step]];
    if (!box || !place) return;
    const left = (place.x + place.width / 2) * zoom - box.clientWidth / 2;
    box.scrollTo({ left, top: (place.y + place.height / 2) * zoom - box.clientHeight / 2, behavior: smooth ? 'smooth' : 'auto' });
  }, [layout, zoom]);

  // Where a link leads, and where the panel next to the graph does not cover it.
  const chosen = selected?.index;
  useLayoutEffect(() => {
    if (chosen !== undefined) setAt(chosen);
    show(chosen ?? now, false);
    if (chosen !== undefined && innerWidth <= NARROW) host.current?.scrollIntoView({ block: 'start' });
  }, [chosen]);

  const zoomTo = useCallback((next: number, x?: number, y?: number) => {
    const box = host.current;
    const to = limited(next);
    setZoom(to);
    if (!box) return;
    const [cx, cy] = [x ?? box.clientWidth / 2, y ?? box.clientHeight / 2];
    const [gx, gy] = [(box.scrollLeft + cx) / zoom, (box.scrollTop + cy) / zoom];
    requestAnimationFrame(() => box.scrollTo({ left: gx * to - cx, top: gy * to - cy }));
  }, [zoom]);
  usePan(host, useCallback((by: number, x: number, y: number) => zoomTo(zoom * by, x, y), [zoom, zoomTo]));

  const focus = useRef(false);
  useEffect(() => {
    if (!focus.current) return;
    focus.current = false;
    host.current?.querySelector<SVGGElement>(`[data-step="${now}"]`)?.focus({ preventScroll: true });
    show(now, true);
  }, [at]);
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = Object.hasOwn(ZOOMS, event.key) ? ZOOMS[event.key] : undefined;
    const next = by ? null : stepTo(event.key, now, rows, readers, layout);
    if (!by && next === null) return;
    event.preventDefault();
    if (by) return zoomTo(zoom * by);
    focus.current = true;
    setAt(next!);
  };
  const fit = () => {
    const box = host.current;
    if (box) setZoom(fitting(layout.width, layout.height, { width: box.clientWidth, height: box.clientHeight }));
  };
  const pictures = [
    { label: 'PNG', run: () => host.current && void savePng(host.current, 'Engine') },
    { label: 'SVG', run: () => host.current && saveSvg(host.current, 'Engine') },
  ];
  const [width, height] = [layout.width * zoom, layout.height * zoom];
  return (
    <figure class="chart graph">
      <figcaption class="tools">
        <h3>Graph of the engine</h3>
        <button type="button" class="quiet" onClick={() => zoomTo(zoom / ZOOM_STEP)} aria-label="Smaller">−</button>
        <button type="button" class="quiet zoom" onClick={() => zoomTo(1)} aria-label={`Drawn at ${Math.round(zoom * 100)} %, back to 100 %`}>{Math.round(zoom * 100)} %</button>
        <button type="button" class="quiet" onClick={() => zoomTo(zoom * ZOOM_STEP)} aria-label="Larger">+</button>
        <button type="button" class="quiet" onClick={fit}>Whole</button>
        <Menu label="Export" actions={[...pictures, ...actions]} />
      </figcaption>
      <HeatLegend longest={longest} />
      <div ref={host} class="canvas pan" role="group" aria-label="Graph of the engine. Arrow keys lead along its lines, Enter opens a layer, plus and minus zoom." onKeyDown={key}>
        <svg width={width} height={height} viewBox={`0 0 ${layout.width} ${layout.height}`}>
          <Wires layout={layout} of={of} marked={[...new Set([over, selected?.index])].filter((one): one is number => one !== null && one !== undefined)} rows={rows} readers={readers} />
          {rows.map((row) => (
            <StepBox key={row.key} row={row} box={layout.boxes[row.index]!} heat={heatOf(row, longest)} of={of}
              selected={row === selected} reachable={row.index === now} open={row.sources.length > 1 && open.has(row.key)}
              onPick={() => { setAt(row.index); setQuery({ sel: row === selected ? null : row.key }); }} onToggle={() => onToggle(row.key)}
              onHover={(is) => setOver(is ? row.index : null)} />
          ))}
        </svg>
      </div>
    </figure>
  );
}
