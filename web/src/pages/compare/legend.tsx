// The lines of all charts of the page, each with its look; a click leaves it out.
import { DASHES, look, outlineOf } from '../../components/chart_look';
import { useTheme } from '../../theme';
import { colourOf, symbolOf, type Line } from './lines';

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
              <path d={outlineOf(symbolOf(line))} stroke="none" transform="translate(8.5 6.5) scale(0.9)" />
            </svg>
            <bdi>{line.name}</bdi>
          </button>
        );
      })}
    </div>
  );
}
