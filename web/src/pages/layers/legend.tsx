// Which colour and which mark is which kind of layer.
import { look, outlineOf } from '../../components/chart_look';
import { Name } from '../../components/name';
import { useTheme } from '../../theme';
import { colourOf, symbolOf } from './colours';
import { kindName } from './model';

const MOST = 12;

export function KindLegend({ kinds }: { kinds: string[] }) {
  useTheme();
  const of = look();
  return (
    <ul class="keys" aria-label="Kinds of layers">
      {kinds.slice(0, MOST).map((kind) => (
        <li key={kind}><svg width="10" height="10" aria-hidden="true"><path d={outlineOf(symbolOf(kind, kinds))} fill={colourOf(kind, kinds, of)} /></svg> <Name text={kindName(kind)} longest={40} /></li>
      ))}
      {kinds.length > MOST && <li class="muted">and {kinds.length - MOST} more</li>}
    </ul>
  );
}
