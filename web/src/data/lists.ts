// Reads parts of an analysis that may be missing or of another type than they should be.
import { isDict } from './read';

export const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? (value.filter(isDict) as T[]) : []);
export const partOf = <T>(value: unknown): Partial<T> => (isDict(value) ? (value as Partial<T>) : {});
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/// The entries of a map from names to structs, in the order of the document.
export const entriesOf = <T>(value: unknown): [string, T][] =>
  isDict(value) ? (Object.entries(value).filter(([, entry]) => isDict(entry)) as [string, T][]) : [];
