// Ties Preact components to the model.

import { useEffect, useState } from 'preact/hooks';
import type { Model } from './model';

/** Draws the component again whenever the model says that something beside the canvas changed. */
export function useModel(model: Model): void {
  const [, setTurn] = useState(0);
  useEffect(() => model.subscribe(() => setTurn((turn) => turn + 1)), [model]);
}
