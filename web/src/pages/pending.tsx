// Stands where this page has no view yet.
import { Empty } from '../components/note';

export function Pending() {
  return <Empty title="Not in this page"><p>This page was built without this view.</p></Empty>;
}
