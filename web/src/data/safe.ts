// Reads parts of a document that may be missing or of another type than the schema says.
import { finite } from '../format';
import { isDict } from './read';

export const dict = <T extends object>(value: unknown): Partial<T> => (isDict(value) ? (value as Partial<T>) : {});
export const dicts = <T extends object>(value: unknown): Partial<T>[] => (Array.isArray(value) ? (value.filter(isDict) as Partial<T>[]) : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
export const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

/// A figure of which 0 means that it is not known.
export function known(value: unknown): number | null {
  const number = finite(value);
  return number !== null && number > 0 ? number : null;
}

/// A list of texts that is written as JSON; text that is none stands for itself.
export function listed(value: unknown): string[] {
  const whole = text(value);
  if (!whole) return [];
  try {
    const parsed: unknown = JSON.parse(whole);
    if (Array.isArray(parsed)) return parsed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  } catch {
    // Not JSON: shown as it is.
  }
  return [whole];
}

/// Divides where both are known.
export function ratio(value: unknown, by: unknown): number | null {
  const [a, b] = [finite(value), known(by)];
  return a === null || b === null ? null : a / b;
}
