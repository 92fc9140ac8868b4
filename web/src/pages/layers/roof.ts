// The ceilings of the roofline, as far as floors show them: a floor is the larger of work by the device's
// rate of arithmetic and bytes by its rate of memory, so no layer's quotient exceeds a rate, and the largest
// one is it wherever some layer is bound by it.
import type { LayerRow } from './model';

export interface Roof {
  flopsPerSecond: number;
  bytesPerSecond: number;
  /// Intensity at which both meet.
  ridge: number;
}

export const ROOF_HINT = 'Estimated: the largest work by floor, and the largest bytes by floor, of all layers. '
  + 'A rate that binds no layer lies above the line that is drawn for it; rates of several precisions show as the highest.';

export function roofOf(rows: LayerRow[]): Roof | null {
  const fastest = (of: (row: LayerRow) => number | null) =>
    rows.reduce((most, row) => (row.floor && of(row) ? Math.max(most, (of(row)! / row.floor) * 1e9) : most), 0);
  const [flopsPerSecond, bytesPerSecond] = [fastest((row) => row.flops), fastest((row) => row.bytes)];
  if (!(flopsPerSecond > 0 && bytesPerSecond > 0 && Number.isFinite(flopsPerSecond / bytesPerSecond))) return null;
  return { flopsPerSecond, bytesPerSecond, ridge: flopsPerSecond / bytesPerSecond };
}
