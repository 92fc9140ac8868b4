// Details of the item under the pointer, next to the pointer. Moved with each frame, without drawing
// components again.

import type { Model } from './model';
import { clean } from './names';
import { duration, quantity } from './units';

const kOffset = 14;

function textOf(model: Model): [string, string] | null {
  const { hover, data } = model;
  if (!hover) return null;
  if (hover.event >= 0) return [data.nameOf(hover.event), duration(data.timeline.durations[hover.event]!)];
  if (hover.sample < 0 || !hover.track.counter) return null;
  return [clean(hover.track.name), quantity(hover.track.counter.values[hover.sample]!, hover.track.counter.unit)];
}

export function moveTooltip(tip: HTMLElement, model: Model): void {
  const text = model.pointer ? textOf(model) : null;
  tip.hidden = text === null;
  if (!text || !model.pointer) return;
  const [name, value] = text;
  tip.firstElementChild!.textContent = name.length > 300 ? `${name.slice(0, 300)}…` : name;
  tip.lastElementChild!.textContent = value;
  const { x, y } = model.pointer;
  const left = Math.max(4, Math.min(x + kOffset, model.size.width - tip.offsetWidth - 6));
  const below = y + kOffset + tip.offsetHeight < model.size.height;
  tip.style.transform = `translate(${left}px, ${below ? y + kOffset : y - tip.offsetHeight - 8}px)`;
}
