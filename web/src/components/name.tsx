// Text from a trace, clipped, cleaned and kept apart from the direction of the text around it.
import { clean, clip } from '../text';

export function Name({ text, longest, code }: { text: unknown; longest?: number; code?: boolean }) {
  const whole = clip(text, 2000);
  const shown = clip(text, longest);
  return <bdi class={code ? 'name code' : 'name'} title={shown === clean(text) ? undefined : whole}>{shown || '–'}</bdi>;
}
