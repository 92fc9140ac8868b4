// A choice of a few, side by side; arrow keys move through it.
import { useRef } from 'preact/hooks';

export interface Choice {
  id: string;
  label: string;
}

interface TabsProps {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (id: string) => void;
}

export function Tabs({ label, choices, value, onChange }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = choices.findIndex((choice) => choice.id === value);
    const next = (at + step + choices.length) % choices.length;
    onChange(choices[next]!.id);
    (list.current?.children[next] as HTMLElement).focus();
  };
  return (
    <div class="tabs" role="radiogroup" aria-label={label} ref={list} onKeyDown={move}>
      {choices.map((choice) => (
        <button type="button" role="radio" key={choice.id} aria-checked={choice.id === value}
          tabIndex={choice.id === value ? 0 : -1} onClick={() => onChange(choice.id)}>
          {choice.label}
        </button>
      ))}
    </div>
  );
}
