// Blocks, or single nodes, as a graph from top to bottom, coloured by their backend; lines that cross from block to
// block say what crosses.
import { useMemo, useRef } from 'preact/hooks';
import { savePng, saveSvg } from '../../components/chart_export';
import { look } from '../../components/chart_look';
import { Menu } from '../../components/menu';
import { Note } from '../../components/note';
import { format } from '../../format';
import { clip, plural } from '../../text';
import { useTheme } from '../../theme';
import { columnsOf, layoutOf } from '../engine/layout';
import { type Crossing, crossingsOf, type Model } from './model';

const WIDTH = 220;
const HEIGHT = 48;
/// More boxes than a page can draw.
const MOST_BOXES = 2000;
const FILL = 0.28;

interface BoxOf {
  title: string;
  line: string;
  backend: string;
  block: number;
  reads: number[];
  time: string;
}

const blockBoxes = ({ blocks }: Model): BoxOf[] =>
  blocks.map((block) => ({
    title: `block ${block.index} · ${block.backend}`,
    line: plural(block.nodes.length, 'node'),
    backend: block.backend,
    block: block.index,
    reads: block.reads,
    time: format(block.nodes_ms, 'ms'),
  }));

function nodeBoxes({ nodes, blocks, backends }: Model): BoxOf[] {
  return nodes.map((node) => {
    const backend = blocks[node.block]?.backend ?? '';
    const us = node.times_us[backends.indexOf(backend)] ?? null;
    return {
      title: node.name || node.op,
      line: `${node.op} · block ${node.block}`,
      backend,
      block: node.block,
      reads: node.reads,
      time: format(us === null ? null : us * 1e3, 'ns'),
    };
  });
}

const crossingText = ({ from, to, values, bytes, time_ms }: Crossing): string =>
  `from block ${from} to block ${to}: ${plural(values, 'value')}, ${format(bytes, 'bytes')}, ${format(time_ms, 'ms')}`;

interface GraphProps {
  model: Model;
  nodes: boolean;
  selected: number | null;
  onPick: (block: number | null) => void;
}

export function PartitionGraph({ model, nodes, selected, onPick }: GraphProps) {
  useTheme();
  const of = look();
  const host = useRef<HTMLDivElement>(null);
  const boxes = useMemo(() => (nodes ? nodeBoxes(model) : blockBoxes(model)), [model, nodes]);
  const crossings = useMemo(() => crossingsOf(model.borders), [model]);
  const layout = useMemo(() => {
    const columns = boxes.length > MOST_BOXES ? null : columnsOf(boxes.map((box) => box.reads), WIDTH);
    return columns && layoutOf(columns, WIDTH, boxes.map(() => HEIGHT));
  }, [boxes]);
  if (!boxes.length) return <Note>There is nothing to draw.</Note>;
  if (!layout) return <Note>The graph is too large to be drawn; the tables have all of it.</Note>;
  const hue = (backend: string) => of.series[Math.max(0, model.backends.indexOf(backend)) % of.series.length]!;
  const name = nodes ? 'Nodes of the partition' : 'Blocks of the partition';
  const pictures = [
    { label: 'PNG', run: () => host.current && void savePng(host.current, name) },
    { label: 'SVG', run: () => host.current && saveSvg(host.current, name) },
  ];
  const crosses = (from: number, to: number) => boxes[from]!.block !== boxes[to]!.block;
  return (
    <figure class="chart graph">
      <figcaption class="tools"><h3>{name}</h3><Menu label="Export" actions={pictures} /></figcaption>
      <ul class="keys" aria-label="Colours: what runs a block">
        {model.backends.map((backend) => (
          <li key={backend}><svg width="26" height="14" aria-hidden="true"><rect x="0.5" y="0.5" width="25" height="13" rx="3" fill={hue(backend)} fill-opacity={FILL} stroke={hue(backend)} /></svg> {clip(backend, 40)}</li>
        ))}
      </ul>
      <div ref={host} class="canvas pan" role="group" aria-label={`${name}. Enter chooses a block.`} tabIndex={0}>
        <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`} font-family={of.font} font-size="12">
          <g fill="none">
            {boxes.flatMap((box, to) => box.reads.map((from) => (
              <path key={`${from} ${to}`} d={layout.route(from, to)} class={crosses(from, to) ? 'border' : undefined} stroke={crosses(from, to) ? of.accent : of.muted}
                stroke-opacity={crosses(from, to) ? 1 : 0.6} stroke-width={crosses(from, to) ? 2 : 1.2} />
            )))}
          </g>
          {boxes.map((box, i) => {
            const place = layout.boxes[i]!;
            const chosen = selected === box.block;
            const pick = () => onPick(chosen ? null : box.block);
            const arriving = nodes ? [] : crossings.filter((crossing) => crossing.to === i).map(crossingText);
            return (
              <g key={i} transform={`translate(${place.x} ${place.y})`} class="box" role="button" tabindex={0} aria-pressed={chosen} onClick={pick}
                onKeyDown={(event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); pick(); } }}
                aria-label={[clip(box.title, 120), clip(box.line, 120), box.time, ...arriving].join(', ')}>
                <title>{[clip(box.title, 400), clip(box.line, 200), ...arriving].join('\n')}</title>
                <rect width={WIDTH} height={HEIGHT} rx="5" fill={of.surface} />
                <rect width={WIDTH} height={HEIGHT} rx="5" fill={hue(box.backend)} fill-opacity={FILL} stroke={chosen ? of.accent : hue(box.backend)} stroke-width={chosen ? 2.5 : 1} />
                <text x="10" y="19" fill={of.text} font-weight="600" unicode-bidi="isolate">{clip(box.title, 28)}</text>
                <text x="10" y="37" fill={of.text} font-size="11" unicode-bidi="isolate">{clip(box.line, 20)}</text>
                <text x={WIDTH - 10} y="37" fill={of.text} text-anchor="end">{box.time}</text>
              </g>
            );
          })}
        </svg>
      </div>
    </figure>
  );
}
