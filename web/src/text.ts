// Text from traces is anybody's: any length, any characters. This is how it is made fit to be shown.

const LONGEST = 160;

/// Controls of terminals and of writing direction, which could make a name look like another one.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function clean(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replace(CONTROLS, '\ufffd');
}

export function clip(value: unknown, longest = LONGEST): string {
  const text = clean(value);
  if (text.length <= longest) return text;
  const kept = Math.floor((longest - 1) * 0.7);
  return `${text.slice(0, kept)}…${text.slice(text.length - (longest - 1 - kept))}`;
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
