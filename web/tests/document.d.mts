// Types of document.mjs.
export interface TestDocument {
  sweeps: { id: string; path: string; sweep: any }[];
  profiles: any[];
  diffs: any[];
  problems: { path: string; text: string }[];
  [part: string]: unknown;
}
export function sweepsUnder(folder: string): TestDocument['sweeps'];
export function profileOf(name: string): any;
export function documentOf(): TestDocument;
export function pageWith(report: unknown): string;
