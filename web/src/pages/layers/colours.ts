// One colour and one symbol for each kind of layer, the same in all figures of the page.
import { SYMBOLS, type Look } from '../../components/chart_look';

export const colourOf = (kind: string, kinds: string[], of: Look): string => of.series[kinds.indexOf(kind) % of.series.length] ?? of.muted;
export const symbolOf = (kind: string, kinds: string[]): string => SYMBOLS[Math.max(0, kinds.indexOf(kind)) % SYMBOLS.length]!;
