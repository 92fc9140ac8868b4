// Runs that may be compared: what bench::comparable() says, for the page.
import type { Run } from '../../schema';

/// Older files lack some of the fields.
export type Setup = Pick<Run, 'model' | 'backend' | 'precision' | 'batch'> &
  Partial<Pick<Run, 'device' | 'threads' | 'includes_transfers' | 'cold_l2' | 'busy_threads'>>;

export interface MayDiffer {
  model?: boolean;
  /// Backend and precision.
  system?: boolean;
  batch?: boolean;
}

/// Equal for setups that are comparable. Transfers count for nothing on the CPU, where nothing is transferred.
export function comparableKey(setup: Setup, mayDiffer: MayDiffer): string {
  const device = setup.device ?? 'cpu';
  return JSON.stringify([
    mayDiffer.model ? null : setup.model,
    mayDiffer.system ? null : [setup.backend, setup.precision],
    mayDiffer.batch ? null : setup.batch,
    device, setup.threads ?? 1, device !== 'cpu' && setup.includes_transfers === true, setup.cold_l2 === true, setup.busy_threads ?? 0,
  ]);
}

/// Returns true if the latencies of both may be compared.
export const comparable = (a: Setup, b: Setup, mayDiffer: MayDiffer): boolean => comparableKey(a, mayDiffer) === comparableKey(b, mayDiffer);
