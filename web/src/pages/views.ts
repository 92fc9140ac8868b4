// The views of a profile, in the order of the navigation.
import type { ComponentType } from 'preact';
import type { Profile, Report } from '../data/document';
import type { Source } from '../data/source';
import type { Route } from '../route';
import type { Analysis } from '../schema';
import { DependenciesView } from './dependencies/dependencies';
import { EngineView } from './layers/engine';
import { LayersView } from './layers/layers';
import { Pending } from './pending';

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
  { id: 'overview', label: 'Overview', component: Pending },
  { id: 'layers', label: 'Layers', component: LayersView },
  { id: 'engine', label: 'Engine', component: EngineView },
  { id: 'kernels', label: 'Kernels', component: Pending },
  { id: 'operators', label: 'Operators', component: Pending },
  { id: 'timeline', label: 'Timeline', component: Pending },
  { id: 'dependencies', label: 'Dependencies', component: DependenciesView },
  { id: 'memory', label: 'Memory', component: Pending },
  { id: 'transfers', label: 'Transfers', component: Pending },
];
