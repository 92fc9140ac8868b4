// Pipeline: a run of hone detect, stage by stage: what each takes, what bounds the whole and what would lift it.
import { Figure } from '../../components/figure';
import { Name } from '../../components/name';
import { Empty } from '../../components/note';
import { Table } from '../../components/table';
import type { Column } from '../../components/table_model';
import { link } from '../../route';
import { clean, plural } from '../../text';
import type { PageProps } from '../props';
import '../views.css';
import { modelOf, type Model, type Stage, type Transfer } from './model';

const record = (field: string) => ({ struct: 'Pipeline', field });
const stageField = (field: string) => ({ struct: 'PipelineStage', field });
const transferField = (field: string) => ({ struct: 'PipelineTransfer', field });

const STAGES: Column<Stage>[] = [
  { key: 'name', of: stageField('name'), title: 'Stage', value: ({ name, bounds }) => `${name}${bounds ? ' (bounds)' : ''}` },
  { key: 'p50_ms', of: stageField('p50_ms'), value: ({ p50_ms }) => p50_ms, bar: true },
  { key: 'p95_ms', of: stageField('p95_ms'), value: ({ p95_ms }) => p95_ms },
  { key: 'rate', of: stageField('rate'), value: ({ rate }) => rate },
  { key: 'utilisation', of: stageField('utilisation'), value: ({ utilisation }) => utilisation, bar: true },
  { key: 'waits_input', of: stageField('waits_input'), value: ({ waits_input }) => waits_input },
  { key: 'waits_output', of: stageField('waits_output'), value: ({ waits_output }) => waits_output },
];

const TRANSFERS: Column<Transfer>[] = [
  { key: 'what', of: transferField('what'), title: 'What', value: ({ what }) => what },
  { key: 'direction', of: transferField('direction'), title: 'Direction', value: ({ direction }) => direction },
  { key: 'copies_a_frame', of: transferField('copies_a_frame'), value: ({ copies_a_frame }) => copies_a_frame },
  { key: 'bytes_a_frame', of: transferField('bytes_a_frame'), value: ({ bytes_a_frame }) => bytes_a_frame, bar: true },
  { key: 'bytes', of: transferField('bytes'), value: ({ bytes }) => bytes },
];

/// "The stage infer bounds the pipeline: 21.3 frames a second at most, of which 95 % were reached."
function sentenceOf({ bounded_by, bound, end_to_end_fps }: Model): string {
  if (!bounded_by || bound === null || bound <= 0) return 'Nothing was found to bound the pipeline.';
  const who = bounded_by === 'processor' ? 'The processor' : `The stage ${bounded_by}`;
  const reached = end_to_end_fps === null ? '' : `, of which ${Math.round((100 * end_to_end_fps) / bound)} % were reached`;
  return `${who} bounds the pipeline: ${bound.toFixed(1)} frames a second at most${reached}.`;
}

function Shown({ model, profile }: { model: Model; profile: string | null }) {
  const { losses } = model;
  return (
    <article>
      <header class="title">
        <h1>Pipeline</h1>
        <p><Name text={model.model} longest={120} /> on {model.backend}{model.device && ` (${model.device})`}, {model.precision}, {model.size}</p>
      </header>
      <div class="figures">
        <Figure label="End to end" value={model.end_to_end_fps} of={record('end_to_end_fps')} />
        <Figure label="Inference" value={model.inference_fps} of={record('inference_fps')} />
        <Figure label="Bound" value={model.bound} of={record('bound')} />
        <Figure label="Frames" value={model.frames} of={record('frames')} />
        <Figure label="Start-up" value={model.startup_seconds} of={record('startup_seconds')} />
        <Figure label="Processor time of a frame" value={model.cpu_seconds_a_frame} of={record('cpu_seconds_a_frame')} />
      </div>
      <section>
        <h2>What bounds it</h2>
        <p>{sentenceOf(model)}</p>
        {model.advice && <p>What would lift it: <Name text={model.advice} longest={300} />.</p>}
      </section>
      <section><h2>Stages</h2><Table caption="Stages" columns={STAGES} rows={model.stages} rowKey={({ key }) => key} /></section>
      {model.transfers.length > 0 && <section><h2>Transfers</h2><Table caption="Transfers" columns={TRANSFERS} rows={model.transfers} rowKey={({ key }) => key} /></section>}
      {losses.length > 0 && <section><h2>Losses</h2><ul>{losses.map(({ text, count }) => <li key={text}>{plural(count, 'frame or packet', 'frames or packets')}: {text}</li>)}</ul></section>}
      {profile !== null && <p><a href={link(['profile', profile, 'timeline'])}>The stages over time</a></p>}
    </article>
  );
}

export function PipelinePage({ report, route }: PageProps) {
  const entry = report.pipelines.find(({ id }) => id === route.path[1]) ?? (route.path[1] === undefined ? report.pipelines[0] : undefined);
  if (!entry) {
    return (
      <Empty title={report.pipelines.length ? 'No such pipeline' : 'No pipeline was measured'}>
        <p><code>hone detect MODEL VIDEO --stats p.json</code> or <code>hone profile detect MODEL VIDEO</code> measures one, and <code>hone report</code> shows it.</p>
        <p><a href={link([])}>To the start</a></p>
      </Empty>
    );
  }
  const profile = report.profiles.find(({ path }) => path === entry.path)?.id ?? null;
  return <Shown model={modelOf(entry.pipeline)} profile={profile === null ? null : clean(profile)} />;
}
