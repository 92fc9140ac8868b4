// The views of a profile, in the order of the navigation.
import { DependenciesView } from './dependencies/dependencies';
import { EngineView } from './engine/engine';
import { Kernels } from './kernels/kernels';
import { LayersView } from './layers/layers';
import { Memory } from './memory/memory';
import { Operators } from './operators/operators';
import { Overview } from './overview/overview';
import { TimelineViewPage } from './timeline';
import type { View } from './props';
import { Transfers } from './transfers/transfers';

export const views: View[] = [
  { id: 'overview', label: 'Overview', component: Overview },
  { id: 'layers', label: 'Layers', component: LayersView },
  { id: 'engine', label: 'Engine', component: EngineView },
  { id: 'kernels', label: 'Kernels', component: Kernels },
  { id: 'operators', label: 'Operators', component: Operators },
  { id: 'timeline', label: 'Timeline', component: TimelineViewPage },
  { id: 'dependencies', label: 'Dependencies', component: DependenciesView },
  { id: 'memory', label: 'Memory', component: Memory },
  { id: 'transfers', label: 'Transfers', component: Transfers },
];
