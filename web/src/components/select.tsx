// A choice of many.
import { clip } from '../text';
import type { Choice } from './tabs';

interface SelectProps {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (id: string) => void;
}

export function Select({ label, choices, value, onChange }: SelectProps) {
  return (
    <label class="select">
      <span class="label">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id} selected={choice.id === value}>{clip(choice.label, 90)}</option>
        ))}
      </select>
    </label>
  );
}
