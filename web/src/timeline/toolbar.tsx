// The bar above the timeline: search, tools, zoom.

import type { RefObject } from 'preact';
import { Menu } from '../components/menu';
import { exportCsv } from './export';
import { useModel } from './hooks';
import type { Model } from './model';
import type { ColorBy } from './palette';
import { SearchBox } from './searchbox';

interface Props {
  model: Model;
  searchInput: RefObject<HTMLInputElement>;
  onPicture: () => void;
  onHelp: () => void;
}

function Toggle(props: { on: boolean; title: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="tl-button" aria-pressed={props.on} title={props.title} onClick={props.onClick}>
      {props.text}
    </button>
  );
}

export function Toolbar({ model, searchInput, onPicture, onHelp }: Props) {
  useModel(model);
  const hasPath = model.whole.timeline.path.length > 0;
  const set = (change: () => void) => () => {
    change();
    model.changed();
  };
  return (
    <div class="tl-toolbar" role="toolbar" aria-label="Timeline tools">
      <SearchBox model={model} input={searchInput} />
      <Toggle on={model.measuring} title="Measure between two points (m, or drag with shift)" text="Measure"
        onClick={set(() => { model.measuring = !model.measuring; })} />
      {hasPath && (
        <Toggle on={model.showPath} title="Highlight the critical path (c)" text="Critical path"
          onClick={set(() => { model.showPath = !model.showPath; })} />
      )}
      <label class="tl-choice">
        <span>Colour by</span>
        <select value={model.colorBy} title="Meaning of the colours of events"
          onChange={(event) => set(() => { model.colorBy = event.currentTarget.value as ColorBy; })()}>
          <option value="name">name</option>
          <option value="category">category</option>
        </select>
      </label>
      <span class="tl-buttons">
        <button type="button" class="tl-button tl-zoom" title="Zoom out (- or s)" aria-label="Zoom out" onClick={() => model.zoom(1.6)}>−</button>
        <button type="button" class="tl-button tl-zoom" title="Zoom in (+ or w)" aria-label="Zoom in" onClick={() => model.zoom(1 / 1.6)}>+</button>
        <button type="button" class="tl-button" title="Fit the selection, or everything (f)" onClick={() => model.fitSelection()}>Fit</button>
        <button type="button" class="tl-button" title="The whole trace (0)"
          onClick={() => model.glideTo({ from: 0, to: model.duration })}>All</button>
        <Menu label="Export" actions={[{ label: 'PNG', run: onPicture }, { label: 'CSV', run: () => exportCsv(model) }]} />
        <button type="button" class="tl-button" title="Keys and gestures (?)" aria-label="Help" onClick={onHelp}>?</button>
      </span>
    </div>
  );
}
