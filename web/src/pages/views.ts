// The views of a profile, in the order of the navigation.
import type { ComponentType } from 'preact';
import type { Profile, Report } from '../data/document';
import type { Source } from '../data/source';
import type { Route } from '../route';
import type { Analysis } from '../schema';
import { DependenciesView } from './dependencies/dependencies';
import { Kernels } from './kernels/kernels';
import { EngineView } from './layers/engine';
import { LayersView } from './layers/layers';
import { Memory } from './memory/memory';
import { Operators } from './operators/operators';
import { Overview } from './overview/overview';
import { TimelineViewPage } from './timeline';
import { Transfers } from './transfers/transfers';

export interface ViewProps {
  profile: Profile;
  analysis: Analysis;
  report: Report;
  source: Source;
  route: Route;
}

export interface View {
  id: string;
  label: string;
  component: ComponentType<ViewProps>;
}

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
