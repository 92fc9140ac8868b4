// The lines of all charts of the page, each with its look; a click leaves it out.
import { DASHES, look } from '../../components/chart_look';
import { useTheme } from '../../theme';
import { colourOf, symbolOf, type Line } from './lines';

const SHAPES: Record<string, string> = {
  circle: 'M13 8a3 3 0 1 0 0.01 0z', rect: 'M10 8h6v6h-6z', triangle: 'M13 7l4 7h-8z', diamond: 'M13 6l4 5-4 5-4-5z', pin: 'M13 15l-3-5a3 3 0 1 1 6 0z', arrow: 'M13 6l4 9-4-3-4 3z',
};

interface LegendProps {
  lines: Line[];
  hidden: Set<string>;
  onToggle: (key: string) => void;
}

export function Legend({ lines, hidden, onToggle }: LegendProps) {
  useTheme();
  const of = look();
  return (
    <div class="chips" role="group" aria-label="Lines that are shown">
      {lines.map((line) => {
        const dash = DASHES[line.pattern % DASHES.length];
        return (
          <button type="button" key={line.key} aria-pressed={!hidden.has(line.key)} onClick={() => onToggle(line.key)}>
            <svg width="26" height="22" viewBox="0 0 26 22" aria-hidden="true" fill={colourOf(line, of)} stroke={colourOf(line, of)}>
              <path d="M0 11H26" stroke-width="1.75" stroke-dasharray={Array.isArray(dash) ? dash.join(' ') : undefined} />
              <path d={SHAPES[symbolOf(line)]} stroke="none" />
            </svg>
            <bdi>{line.name}</bdi>
          </button>
        );
      })}
    </div>
  );
}
