// The search field with its count, its arrows and the list of names found.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useModel } from './hooks';
import type { Model } from './model';
import { duration } from './units';

const kPatience = 120;  // ms after the last key before searching
const kListed = 200;    // names in the list

function place(model: Model): string {
  const { found, at } = model.search;
  if (!found) return '';
  const count = found.events.length.toLocaleString('en');
  if (found.events.length === 0) return 'none';
  return at >= 0 ? `${(at + 1).toLocaleString('en')} of ${count}` : count;
}

function NameList({ model }: { model: Model }) {
  const { names, only } = model.search;
  return (
    <ul class="tl-names" aria-label="Names found">
      {names.slice(0, kListed).map(({ name, count, total }) => (
        <li key={name}>
          <button type="button" aria-pressed={only === name} title={model.data.names.of(name)} onClick={() => model.search.pick(name)}>
            <bdi>{model.data.names.short(name)}</bdi>
            <span title="Events of this name in the trace">{count.toLocaleString('en')} ×</span>
            <span title="Sum of their durations">{duration(total)}</span>
          </button>
        </li>
      ))}
      {names.length > kListed && <li class="tl-more">and {(names.length - kListed).toLocaleString('en')} more names: type more to narrow</li>}
    </ul>
  );
}

export function SearchBox({ model, input }: { model: Model; input: RefObject<HTMLInputElement> }) {
  useModel(model);
  const [open, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => model.search.set(text), kPatience);
    setOpen(text.trim() !== '');
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      clearTimeout(timer.current);
      const text = input.current?.value ?? '';
      if (text !== model.search.query) model.search.set(text);
      model.search.step(event.shiftKey ? -1 : 1);
      setOpen(false);
    }
    if (event.key !== 'Escape') return;
    event.preventDefault();
    if (open) return setOpen(false);
    if (input.current) input.current.value = '';
    clearTimeout(timer.current);
    model.search.set('');
    input.current?.blur();
  };
  const leave = (event: FocusEvent) => {
    if (!box.current?.contains(event.relatedTarget as Node | null)) setOpen(false);
  };
  const { found, names } = model.search;
  return (
    <div class="tl-search" ref={box} onFocusOut={leave}>
      <input ref={input} type="search" placeholder="Search names ( / )" aria-label="Search events by name" spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)} onKeyDown={key}
        onFocus={() => setOpen((input.current?.value ?? '').trim() !== '')} />
      <output class="tl-count" aria-live="polite">{place(model)}</output>
      <button type="button" class="tl-button" disabled={!found?.events.length} aria-label="Previous match" title="Previous match (shift+enter, N)"
        onClick={() => model.search.step(-1)}>↑</button>
      <button type="button" class="tl-button" disabled={!found?.events.length} aria-label="Next match" title="Next match (enter, n)"
        onClick={() => model.search.step(1)}>↓</button>
      {open && names.length > 0 && <NameList model={model} />}
    </div>
  );
}
