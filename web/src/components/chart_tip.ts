// The text for the point under the pointer: elements, never HTML, since names come from anywhere.
import { clip } from '../text';

export function tip(title: unknown, lines: readonly (readonly [string, unknown])[], notes: unknown[] = []): HTMLElement {
  const box = document.createElement('div');
  const add = (parent: HTMLElement, tag: string, text: unknown) => {
    const element = document.createElement(tag);
    element.textContent = clip(text, 120);
    parent.append(element);
  };
  add(box, 'strong', title);
  const list = document.createElement('dl');
  for (const [name, value] of lines) {
    add(list, 'dt', name);
    add(list, 'dd', value);
  }
  box.append(list);
  for (const note of notes) add(box, 'p', note);
  return box;
}
