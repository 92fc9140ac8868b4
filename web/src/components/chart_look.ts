// How charts look: colours come from the style sheet, so that both themes have one source.

export interface Look {
  text: string;
  muted: string;
  line: string;
  surface: string;
  accent: string;
  font: string;
  /// Distinct also to the colour-blind; never the only difference between two series.
  series: string[];
}

export const SYMBOLS = [
  'circle', 'rect', 'triangle', 'diamond', 'path://M0 0H10L5 9Z', 'path://M3 0h4v3h3v4H7v3H3V7H0V3h3z',
  'path://M0 0H10L6 5L10 10H0L4 5Z',
];
const OUTLINES: Record<string, string> = { circle: 'M5 0a5 5 0 1 0 .01 0z', rect: 'M.5.5h9v9h-9z', triangle: 'M5 0L10 9H0Z', diamond: 'M5-.5L10 5 5 10.5 0 5z' };

/// A symbol as a path in a square of 10, for legends.
export const outlineOf = (symbol: string): string => OUTLINES[symbol] ?? symbol.replace('path://', '');
export const DASHES: (string | number[])[] = ['solid', [6, 3], [2, 3], [8, 3, 2, 3], [12, 4]];

export function look(): Look {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: of('--text'),
    muted: of('--muted'),
    line: of('--line'),
    surface: of('--surface'),
    accent: of('--accent'),
    font: getComputedStyle(document.body).fontFamily,
    series: Array.from({ length: 8 }, (_, i) => of(`--series-${i}`)),
  };
}

/// Options of every chart; a chart's own option is laid over them.
export function baseOption(of: Look) {
  return {
    animation: false,
    textStyle: { fontFamily: of.font, color: of.text, fontSize: 12 },
    tooltip: {
      className: 'chart-tip',
      confine: true,
      backgroundColor: of.surface,
      borderColor: of.line,
      borderWidth: 1,
      padding: [8, 10],
      textStyle: { color: of.text, fontSize: 12, fontFamily: of.font },
      extraCssText: 'box-shadow: 0 4px 16px rgb(0 0 0 / 0.12); border-radius: 6px;',
      transitionDuration: 0,
    },
    grid: { left: 8, right: 16, top: 28, bottom: 8, containLabel: true },
  };
}

/// Axes share their look; `more` says type, name and labels.
export function axis(of: Look, more: Record<string, unknown>) {
  return {
    nameLocation: 'end',
    nameTextStyle: { color: of.muted, align: 'left', padding: [0, 0, 0, -28] },
    axisLine: { show: false, lineStyle: { color: of.line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: of.line } },
    minorSplitLine: { show: false },
    ...more,
    axisLabel: { color: of.muted, hideOverlap: true, ...(more['axisLabel'] as object | undefined) },
  };
}
