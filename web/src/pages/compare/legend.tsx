// The lines of all charts of the page, each with its look; a click leaves it out.
import { DASHES, look } from '../../components/chart_look';
import { useTheme } from '../../theme';
import { colourOf, symbolOf, type Line } from './lines';

const SHAPES: Record<string, string> = { circle: 'M5 0a5 5 0 1 0 .01 0z', rect: 'M.5.5h9v9h-9z', triangle: 'M5 0L10 9H0Z', diamond: 'M5-.5L10 5 5 10.5 0 5z' };

/// The symbol in a square of 10.
const shapeOf = (line: Line) => SHAPES[symbolOf(line)] ?? symbolOf(line).replace('path://', '');

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
              <path d={shapeOf(line)} stroke="none" transform="translate(8.5 6.5) scale(0.9)" />
            </svg>
            <bdi>{line.name}</bdi>
          </button>
        );
      })}
    </div>
  );
}
