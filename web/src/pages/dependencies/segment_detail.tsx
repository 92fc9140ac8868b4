// One segment of the path, and the way to it in the timeline.
import { Drawer, Fact, Facts } from '../../components/drawer';
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import type { Profile } from '../../data/document';
import { finite } from '../../format';
import { link } from '../../route';
import { kindName } from './kinds';
import type { PathModel, Segment } from './path_model';

const SEGMENT = { struct: 'FunctionTime', field: 'critical_path_ns' };

/// The part of the timeline with the segment, and its length before and after.
export function timelineOf(profile: Profile, path: PathModel, { start, end }: Segment): string | null {
  const origin = finite(profile.timeline?.origin_ns);
  if (origin === null) return null;
  const [from, length] = [path.start + start - origin, Math.max(end - start, 1)];
  return link(['profile', profile.id, 'timeline'], { from: String(Math.max(0, from - length)), to: String(from + 2 * length) });
}

interface SegmentDetailProps {
  profile: Profile;
  path: PathModel;
  segment: Segment;
  onClose: () => void;
}

export function SegmentDetail({ profile, path, segment, onClose }: SegmentDetailProps) {
  const one = path.functions[segment.function];
  const timeline = timelineOf(profile, path, segment);
  const figure = (field: string, value: unknown) => <Figure value={value} of={{ struct: 'FunctionTime', field }} />;
  return (
    <Drawer title={<Name text={segment.name} longest={120} />} label="The selected segment" onClose={onClose}>
      <div class="figures">
        <Figure label="Length" value={segment.end - segment.start} of={SEGMENT} hint="This segment alone." />
        <Figure label="Start" value={segment.start} of={{ struct: 'TimelineSegment', field: 'start_ns' }} hint="From the begin of the path." />
      </div>
      <Facts>
        <Fact name="Kind">{kindName(segment.kind)}</Fact>
        <Fact name="Segment">{`${segment.index + 1} of ${path.segments.length}`}</Fact>
        {segment.thread >= 0 && <Fact name="Thread">{`number ${segment.thread} of the trace`}</Fact>}
      </Facts>
      {one && <>
        <h3>All of this function</h3>
        <Facts>
          <Fact name="On the path">{figure('critical_path_ns', one.critical_path_ns)}</Fact>
          <Fact name="Share">{figure('share', one.share)}</Fact>
          <Fact name="Calls">{figure('calls', one.calls)}</Fact>
          <Fact name="Waiting">{figure('waiting_ns', one.waiting_ns)}</Fact>
          <Fact name="Blame">{figure('blame_ns', one.blame_ns)}</Fact>
        </Facts>
      </>}
      {timeline && <p><a href={timeline}>In the timeline</a></p>}
    </Drawer>
  );
}
