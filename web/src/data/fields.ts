// Looks up what a field is: unit, definition and origin come from the program that made the numbers.
import { fields, type FieldMeaning } from '../schema';

export interface FieldRef {
  struct: string;
  field: string;
}

const UNKNOWN: FieldMeaning = { unit: '', text: '', origin: '' };
const table: Record<string, Record<string, FieldMeaning>> = fields;

const own = <T>(object: Record<string, T> | undefined, key: string): T | undefined =>
  object && Object.hasOwn(object, key) ? object[key] : undefined;

export const describe = (of: FieldRef | undefined): FieldMeaning =>
  of ? (own(own(table, of.struct), of.field) ?? UNKNOWN) : UNKNOWN;

const ORIGINS: Record<string, string> = {
  measured: 'measured',
  estimated: 'estimated',
  'by name': 'told from a kernel’s name',
  recorded: 'recorded by the traced program',
  given: 'given',
};

export const originText = (origin: string): string => own(ORIGINS, origin) ?? '';

/// The field's definition as one hint.
export function hintOf(of: FieldRef | undefined): string {
  const { text, origin } = describe(of);
  const from = originText(origin);
  return [text && `${text}.`, from && `Origin: ${from}.`].filter(Boolean).join(' ');
}

const UNIT_ENDS = /_(ns|ms|mb|bytes|per_s|per_second)$/;

/// A heading for a field that has none: floor_ns is "Floor".
export function titleOf(of: FieldRef): string {
  const words = of.field.replace(UNIT_ENDS, (_, unit: string) => (unit.startsWith('per') ? ' per s' : ''));
  const text = words.replaceAll('_', ' ').trim() || of.field;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
