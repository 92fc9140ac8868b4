// Properties of pages, and of views of a profile.
import type { ComponentType } from 'preact';
import type { Profile, Report } from '../data/document';
import type { Source } from '../data/source';
import type { Route } from '../route';
import type { Analysis } from '../schema';

export interface PageProps {
  report: Report;
  source: Source;
  route: Route;
}

export interface ViewProps extends PageProps {
  profile: Profile;
  analysis: Analysis;
}

export interface View {
  id: string;
  label: string;
  component: ComponentType<ViewProps>;
}
