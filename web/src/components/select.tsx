// A choice of many.
import { clip } from '../text';
import type { Choice } from './tabs';

interface SelectProps {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (id: string) => void;
  /// True if its surroundings already say what it is.
  quiet?: boolean;
}

export function Select({ label, choices, value, onChange, quiet }: SelectProps) {
  return (
    <label class="select">
      <span class={quiet ? 'unseen' : 'label'}>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id} selected={choice.id === value}>{clip(choice.label, 90)}</option>
        ))}
      </select>
    </label>
  );
}
