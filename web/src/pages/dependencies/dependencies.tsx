// Dependencies: what the time from begin to end consists of, who waits for whom, and what would be gained.
import { useCallback, useMemo } from 'preact/hooks';
import { Figure } from '../../components/figure';
import { Empty } from '../../components/note';
import { dict } from '../../data/safe';
import { setQuery } from '../../route';
import type { CriticalPath, Dependencies, WhatIfs } from '../../schema';
import type { ViewProps } from '../props';
import { Clock, Doubts } from './clock';
import { FunctionTable, WaitingFigure } from './functions';
import { Idle } from './idle';
import { pathOf, type Segment } from './path_model';
import { SegmentDetail } from './segment_detail';
import { Strip } from './strip';
import { WhatIfView } from './what_if_view';

export function DependenciesView({ profile, analysis, route }: ViewProps) {
  const { path: raw, whatIf } = useMemo(() => {
    const dependencies = dict<Dependencies>(analysis.dependencies);
    return { path: dict<CriticalPath>(dependencies.critical_path), whatIf: dict<WhatIfs>(dependencies.what_if) };
  }, [analysis]);
  const path = useMemo(() => pathOf(raw), [raw]);
  const onSelect = useCallback((segment: Segment | null) => setQuery({ seg: segment ? String(segment.index) : null }), []);
  const close = useCallback(() => onSelect(null), []);
  const sel = route.query.get('sel');
  const wanted = path.functions.some(({ key }) => key === sel) ? Number(sel) : null;
  const segment = path.segments.find(({ index }) => String(index) === route.query.get('seg')) ?? null;
  const figure = (field: keyof CriticalPath, label: string) => <Figure label={label} value={raw[field]} of={{ struct: 'CriticalPath', field }} />;
  const idle = <Idle idle={analysis.idle} query={route.query.get('gpu')} />;
  if (!path.segments.length && !path.functions.length) {
    return <><Empty title="No critical path"><p>The trace holds no calls, ranges or operations that a path could lead through.</p></Empty><Doubts path={raw} />{idle}</>;
  }
  return (
    <>
      <div class="figures">{figure('wall_ns', 'Wall time')}{figure('waiting_ns', 'Waiting of host threads')}{figure('profiler_overhead_ns', 'Profiler on the path')}</div>
      <Doubts path={raw} />
      {path.segments.length > 0 && <Strip path={path} query={route.query.get('window')} wanted={wanted} selected={segment} onSelect={onSelect} />}
      <FunctionTable functions={path.functions} selected={sel} />
      <WaitingFigure functions={path.functions} />
      <WhatIfView whatIf={whatIf} functions={path.functions} query={route.query.get('faster')} />
      {idle}
      <Clock path={raw} />
      {segment && <SegmentDetail profile={profile} path={path} segment={segment} onClose={close} />}
    </>
  );
}
