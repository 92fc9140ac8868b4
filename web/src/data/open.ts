// Opens the source that this page has.
import { EmbeddedSource } from './embedded';
import { ServedSource } from './served';
import type { Source } from './source';

export function openSource(): Source {
  const element = document.getElementById('hone-report');
  if (element) return new EmbeddedSource(element);
  if (location.protocol.startsWith('http')) return new ServedSource();
  return new EmbeddedSource(null);
}
