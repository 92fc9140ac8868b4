// The critical path as lanes, one for each kind of time: it hops from lane to lane and is never on two.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { look } from '../../components/chart_look';
import { download, downloadCsv } from '../../components/download';
import { Menu } from '../../components/menu';
import { Table, type Column } from '../../components/table';
import { csvHead } from '../../components/table_model';
import { format } from '../../format';
import { clip, plural } from '../../text';
import { useTheme } from '../../theme';
import { colourOf, kindName } from './kinds';
import type { PathModel, Segment } from './path_model';
import { heightOf, LANE, paint, svgOf, type Scene } from './strip_paint';
import { hit } from './strip_rects';
import { fitted, useStripWindow, zoomed } from './strip_window';

const COLUMNS: Column<Segment>[] = [
  { key: 'start', title: 'Start', unit: 'ns', hint: 'From the begin of the path.', value: ({ start }) => start },
  { key: 'length', title: 'Length', unit: 'ns', value: ({ start, end }) => end - start },
  { key: 'kind', title: 'Kind', value: ({ kind }) => kindName(kind) },
  { key: 'name', title: 'Function', value: ({ name }) => name, code: true },
];
const TITLE = 'Critical path';

interface StripProps {
  path: PathModel;
  query: string | null;
  wanted: number | null;
  selected: Segment | null;
  onSelect: (segment: Segment | null) => void;
}

function Legend({ path }: { path: PathModel }) {
  const of = look();
  return (
    <ul class="lanes">
      {path.kinds.map((kind) => (
        <li key={kind} style={{ height: `${LANE}px` }}><i style={{ background: colourOf(kind, of) }} />{clip(kindName(kind), 20)}</li>
      ))}
    </ul>
  );
}

export function Strip({ path, query, wanted, selected, onSelect }: StripProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<number | null>(null);
  const [width, setWidth] = useState(0);
  const [brush, setBrush] = useState<Scene['brush']>(null);
  const [asTable, setAsTable] = useState(false);
  const [window, setWindow] = useStripWindow(query, path.wall);
  const theme = useTheme();
  const scene: Scene = useMemo(() => ({ path, window, width, wanted, selected, brush }), [path, window, width, wanted, selected, brush]);

  useEffect(() => {
    if (!canvas.current) return;
    const sized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    sized.observe(canvas.current);
    return () => sized.disconnect();
  }, [asTable]);

  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current || width < 1) return;
    const frame = requestAnimationFrame(() => {
      canvas.current!.width = width * devicePixelRatio;
      canvas.current!.height = heightOf(path) * devicePixelRatio;
      context.scale(devicePixelRatio, devicePixelRatio);
      paint(context, scene, look());
    });
    return () => cancelAnimationFrame(frame);
  }, [scene, theme, asTable]);

  const timeAt = (x: number) => window.from + (x / width) * (window.to - window.from);
  const zoom = (factor: number, around = (window.from + window.to) / 2) => setWindow(zoomed(window, factor, around, path.wall));
  const pan = (share: number) => {
    const by = (window.to - window.from) * share;
    setWindow(fitted({ from: window.from + by, to: window.to + by }, path.wall));
  };
  const show = (segment: Segment | undefined) => {
    if (!segment) return;
    onSelect(segment);
    const half = (window.to - window.from) / 2;
    if (segment.end < window.from || segment.start > window.to) setWindow(fitted({ from: segment.start - half, to: segment.start + half }, path.wall));
  };

  const wheel = (event: WheelEvent) => {
    if (event.ctrlKey) zoom(Math.exp(event.deltaY * 0.004), timeAt(event.offsetX));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / width);
    else return;
    event.preventDefault();
  };
  const release = (event: PointerEvent) => {
    const from = drag.current;
    drag.current = null;
    setBrush(null);
    if (from === null) return;
    const [left, right] = [Math.min(from, event.offsetX), Math.max(from, event.offsetX)];
    if (right - left > 4) setWindow(fitted({ from: timeAt(left), to: timeAt(right) }, path.wall));
    else onSelect(hit(path, window, width, event.offsetX, Math.floor(event.offsetY / LANE)));
  };
  const key = (event: KeyboardEvent) => {
    const { segments } = path;
    const keys: Record<string, () => void> = {
      '+': () => zoom(0.5, selected?.start), '=': () => zoom(0.5, selected?.start), '-': () => zoom(2, selected?.start),
      ArrowRight: () => (event.shiftKey ? pan(0.2) : show(segments[selected ? selected.index + 1 : 0])),
      ArrowLeft: () => (event.shiftKey ? pan(-0.2) : show(segments[selected ? selected.index - 1 : segments.length - 1])),
      Home: () => setWindow({ from: 0, to: path.wall }),
    };
    if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]!();
  };

  const save = (type: 'png' | 'svg') => {
    const svg = new Blob([svgOf(scene, look())], { type: 'image/svg+xml' });
    if (type === 'svg') return download(`${TITLE}.svg`, svg);
    canvas.current?.toBlob((blob) => blob && download(`${TITLE}.png`, blob), 'image/png');
  };
  const csv = () => downloadCsv(TITLE, csvHead(COLUMNS), path.segments.map((segment) => COLUMNS.map((column) => column.value(segment))));
  return (
    <figure class="chart strip">
      <figcaption class="tools">
        <h3>{TITLE}</h3>
        <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>As table</button>
        {!asTable && <>
          <button type="button" class="quiet" onClick={() => zoom(0.5)}>Zoom in</button>
          <button type="button" class="quiet" onClick={() => zoom(2)}>Zoom out</button>
          <button type="button" class="quiet" onClick={() => setWindow({ from: 0, to: path.wall })}>Whole path</button>
          <Menu label="Export" actions={[{ label: 'PNG', run: () => save('png') }, { label: 'SVG', run: () => save('svg') }, { label: 'CSV', run: csv }]} />
        </>}
      </figcaption>
      {asTable
        ? <Table caption={TITLE} columns={COLUMNS} rows={path.segments} rowKey={({ index }) => String(index)} selected={selected ? String(selected.index) : null}
            onSelect={(index) => onSelect(index === null ? null : (path.segments[Number(index)] ?? null))} />
        : <div class="canvas">
            <Legend path={path} />
            <canvas ref={canvas} role="img" tabIndex={0} style={{ height: `${heightOf(path)}px` }} onKeyDown={key} onWheel={wheel}
              onPointerDown={(event) => { drag.current = event.offsetX; event.currentTarget.setPointerCapture(event.pointerId); }}
              onPointerMove={(event) => drag.current !== null && setBrush([drag.current, event.offsetX])}
              onPointerUp={release} onPointerCancel={() => { drag.current = null; setBrush(null); }}
              aria-label={`${plural(path.segments.length, 'segment')} of the critical path in ${plural(path.kinds.length, 'lane')}, from ${format(window.from, 'ns')} to ${format(window.to, 'ns')}. Arrow keys go from segment to segment, plus and minus zoom, Shift with arrows moves.`} />
          </div>}
      <p class="said">
        {plural(path.segments.length, 'segment')}{path.leftOut > 0 ? `; ${path.leftOut} shorter ones are not in the document` : ', none left out'}. Drag to zoom in; Ctrl and the wheel zoom too.
      </p>
    </figure>
  );
}
