// Finds the page that the address names.
import { Empty } from '../components/note';
import { link } from '../route';
import { clip } from '../text';
import { ComparePage } from './compare/compare';
import { DiffPage } from './diff';
import { HomePage } from './home';
import { PartitionPage } from './partition/partition';
import { PipelinePage } from './pipeline/pipeline';
import { ProfilePage } from './profile';
import type { PageProps } from './props';

export function Page(props: PageProps) {
  const [page] = props.route.path;
  if (page === undefined) return <HomePage {...props} />;
  if (page === 'compare') return <ComparePage {...props} />;
  if (page === 'profile') return <ProfilePage {...props} />;
  if (page === 'partition') return <PartitionPage {...props} />;
  if (page === 'pipeline') return <PipelinePage {...props} />;
  if (page === 'diff') return <DiffPage {...props} />;
  return <Empty title="No such page"><p>Nothing is called “{clip(page, 60)}”. <a href={link([])}>To the start</a></p></Empty>;
}
