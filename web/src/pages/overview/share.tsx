// A share whose origin and coverage differ from trace to trace.
import { Mark } from '../../components/figure';
import { Value } from '../../components/value';
import { describe, originText } from '../../data/fields';
import { partOf } from '../../data/lists';
import { finite, format, parts } from '../../format';
import type { DeviceUsage, ShareFigure } from '../../schema';

interface ShareProps {
  label: string;
  field: keyof DeviceUsage;
  figure: ShareFigure | null | undefined;
}

/// Nothing where the trace does not hold it.
export function Share({ label, field, figure }: ShareProps) {
  const { value, origin, coverage } = partOf<ShareFigure>(figure);
  if (finite(value) === null) return null;
  const from = typeof origin === 'string' ? origin : '';
  const covered = finite(coverage);
  const known = covered === null ? '' : `Known for ${format(covered, 'share')} of kernel time.`;
  const hint = [`${describe({ struct: 'DeviceUsage', field }).text}.`, originText(from) && `Origin: ${originText(from)}.`, known];
  return (
    <div class="labelled">
      <span class="label">{label}</span>
      <span class="figure" tabIndex={0} data-hint={hint.filter(Boolean).join(' ')} data-value={value!}>
        <Value {...parts(value, 'share')} /><Mark origin={from} />
      </span>
      {covered !== null && covered < 0.9995 && <span class="label">of {format(covered, 'share')} of kernel time</span>}
    </div>
  );
}
