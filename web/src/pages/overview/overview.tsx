// Overview: how long a step takes, what of, how busy the GPU is, and what could be faster.
import { Figure } from '../../components/figure';
import { Empty } from '../../components/note';
import { listOf, partOf } from '../../data/lists';
import { finite, format, formatRange } from '../../format';
import type { Step, StepBreakdown, TimeSummary, Trend } from '../../schema';
import type { ViewProps } from '../props';
import { AdviceSection } from './advice';
import { Budget } from './budget';
import { Execution } from './execution';
import { GpuSummary } from './gpu';
import { Waiting } from './idle';
import '../views.css';

const time = (field: keyof TimeSummary) => ({ struct: 'TimeSummary', field });

function TrendFigure({ trend }: { trend: Trend }) {
  const said = trend.certain ? (trend.slope! > 0 ? 'steps grow longer' : 'steps grow shorter') : 'no trend beyond noise';
  return (
    <div class="labelled">
      <Figure label="Trend, from step to step" value={finite(trend.slope)} of={{ struct: 'Trend', field: 'slope' }} />
      <span class="label">{said}, {formatRange(trend.low, trend.high, 'ns')}</span>
    </div>
  );
}

function StepFigures({ steps }: { steps: Partial<StepBreakdown> }) {
  const step = partOf<TimeSummary>(steps.step);
  const trend = partOf<Trend>(steps.trend_ns);
  if (!finite(step.n)) return null;
  const single = step.n === 1;
  return (
    <div class="figures">
      <div class="labelled">
        <Figure label={steps.announced === false ? 'Whole trace' : single ? 'Step' : 'Step, median'} value={finite(step.median_ns)} of={time('median_ns')} />
        {!single && <span class="label">95 %: {formatRange(step.median_low_ns, step.median_high_ns, 'ns')}</span>}
      </div>
      {!single && <Figure label="Step, mean" value={finite(step.mean_ns)} of={time('mean_ns')} />}
      {!single && (
        <div class="labelled">
          <Figure label="Shortest" value={finite(step.min_ns)} of={time('min_ns')} />
          <span class="label">longest {format(step.max_ns, 'ns')}</span>
        </div>
      )}
      {steps.announced !== false && <Figure label="Steps" value={finite(step.n)} of={time('n')} />}
      {finite(trend.slope) !== null && <TrendFigure trend={trend as Trend} />}
    </div>
  );
}

export function Overview(view: ViewProps) {
  const { analysis } = view;
  const steps = partOf<StepBreakdown>(analysis.steps);
  const nothing = !listOf<Step>(steps.steps).length && !listOf(analysis.gpu?.devices).length && !listOf(analysis.advice?.advice).length;
  if (nothing) return <Empty title="The trace holds no work"><p>No step, kernel or operator was recorded in it.</p></Empty>;
  return (
    <>
      <StepFigures steps={steps} />
      <GpuSummary gpu={analysis.gpu} />
      <Execution steps={steps} view={view} />
      <AdviceSection view={view} />
      <Budget view={view} />
      <Waiting view={view} />
    </>
  );
}
