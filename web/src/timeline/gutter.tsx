// Names of groups and tracks next to (on narrow pages: above) their rows; each folds what it names.

import { useModel } from './hooks';
import type { PlacedGroup, PlacedTrack } from './layout';
import type { Model } from './model';
import { clean } from './names';

function GroupName({ model, group }: { model: Model; group: PlacedGroup }) {
  const name = clean(group.name);
  return (
    <button type="button" class="tl-group" style={{ top: `${group.y}px` }} aria-expanded={!group.folded}
      title={name} onClick={() => model.toggleGroup(group.name)}>
      <span class="tl-mark" aria-hidden="true">{group.folded ? '▸' : '▾'}</span>
      <bdi>{name}</bdi>
    </button>
  );
}

function TrackName({ model, track }: { model: Model; track: PlacedTrack }) {
  const name = clean(track.name);
  const place = { top: `${track.y}px`, height: `${track.height - model.place.metrics.gap}px` };
  if (!track.foldable) {
    return <div class="tl-track" style={place} title={name}><span class="tl-mark" /><bdi>{name}</bdi></div>;
  }
  return (
    <button type="button" class="tl-track" style={place} aria-expanded={!track.collapsed} title={name}
      onClick={() => model.toggleTrack(track.id)}>
      <span class="tl-mark" aria-hidden="true">{track.collapsed ? '▸' : '▾'}</span>
      <bdi>{name}</bdi>
    </button>
  );
}

export function Gutter({ model }: { model: Model }) {
  useModel(model);
  return (
    <>
      {model.place.groups.map((group) => (
        <div role="group" aria-label={clean(group.name)} key={group.name}>
          <GroupName model={model} group={group} />
          {group.tracks.map((track) => <TrackName key={track.id} model={model} track={track} />)}
        </div>
      ))}
    </>
  );
}
