// Pipeline: the stages, the bound and what would lift it, as in the file.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelOf } from '../src/pages/pipeline/model';
import { Viewer } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { expectShown, figureOf, rowsOf, tableOf } from './views';

const stage = (name: string, p50_ms: number, utilisation: number) =>
  ({ name, p50_ms, p95_ms: 2 * p50_ms, rate: 1000 / p50_ms, utilisation, waits_input: 0.25, waits_output: 0.125 });
const recorded = (): any => ({
  schema: 'hone.pipeline', version: 1, model: 'net.cfg', backend: 'hone', device: 'cpu', precision: 'fp32', input: 'in.mp4',
  input_width: 416, input_height: 256, batch: 1, frames: 300, dropped: 3, damaged: 0, corrupt: 0, skipped: 0, missing: 0,
  detections: 900, startup_seconds: 0.5, wall_seconds: 15, end_to_end_fps: 20, inference_fps: 21.5, cpu_seconds_a_frame: 0.09,
  processor_rate: 22.2, bound: 21.5, bounded_by: 'infer', advice: 'a lower --precision',
  stages: [stage('decode', 2, 0.04), stage('infer', 46, 0.93), stage('write', 5, 0.1)],
  transfers: [{ what: 'decoded frames', direction: 'to_device', copies: 300, bytes: 233280000, copies_a_frame: 1, bytes_a_frame: 777600 },
    { what: 'boxes', direction: 'to_host', copies: 150, bytes: 4800000, copies_a_frame: 0.5, bytes_a_frame: 16000 }],
});
const documentOf = (pipeline: unknown) => ({
  schema: 'hone.report', version: 1, generated: '', hone: '', sweeps: [], profiles: [], diffs: [], problems: [], partitions: [],
  pipelines: [{ id: 'p', path: 'p.json', pipeline }],
});

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const open = (pipeline: unknown, hash = '#/pipeline/p') => viewer.open(documentOf(pipeline), hash);

describe('the model of a pipeline', () => {
  it('counts what was lost, and marks the stage that bounds', () => {
    const model = modelOf(recorded());
    expect(model.losses).toEqual([{ text: 'dropped because the pipeline was behind', count: 3 }]);
    expect(model.stages.map(({ bounds }) => bounds)).toEqual([false, true, false]);
  });

  it('reads nothing from what is no pipeline', () => {
    expect(modelOf({}).stages).toEqual([]);
    expect(modelOf({ stages: [null, 3, {}] } as any).stages.length).toBe(1);
  });
});

describe('a pipeline', () => {
  it('has the figures and the stages of the file', async () => {
    const record = recorded();
    const { page } = await open(record);
    expect(await figureOf(page, 'End to end')).toBe(record.end_to_end_fps);
    expect(await figureOf(page, 'Inference')).toBe(record.inference_fps);
    const rows = await rowsOf(tableOf(page, 'Stages'));
    expect(rows.map((row) => row['Stage'])).toEqual(['decode', 'infer (bounds)', 'write']);
  });

  it('has the transfers of the file, and no table where there were none', async () => {
    const { page } = await open(recorded());
    const rows = await rowsOf(tableOf(page, 'Transfers'));
    expect(rows.map((row) => [row['What'], row['Direction'], row['Copies a frame']])).toEqual([['decoded frames', 'to the device', 1], ['boxes', 'to the host', 0.5]]);
    const { transfers: _, ...older } = recorded();
    const without = await open(older);
    expect(await without.page.locator('main').innerText()).not.toContain('Transfers');
  });

  it('says what bounds it and what would lift that', async () => {
    const { page } = await open(recorded());
    const text = await page.locator('main').innerText();
    expect(text).toContain('The stage infer bounds the pipeline: 21.5 frames a second at most, of which 93 % were reached.');
    expect(text).toContain('What would lift it: a lower --precision.');
    expect(text).toContain('3 frames or packets: dropped because the pipeline was behind');
  });

  it.each<[string, unknown]>([
    ['without anything', {}], ['with texts', { stages: 'x', model: [] }], ['with hostile names', withHostileNames(recorded())],
    ...[1, 2, 3, 4].map((seed): [string, unknown] => [`with damage ${seed}`, withDamage({ a: { b: { c: recorded() } } }, seed).a.b.c]),
  ])('survives a file %s', async (_, record) => expectShown(await open(record)));

  it('stands in the navigation and on the start page', async () => {
    const { page } = await open(recorded(), '#/');
    await page.getByRole('main').getByRole('link', { name: /p\.json/ }).click();
    await page.getByRole('heading', { name: 'Pipeline', exact: true }).waitFor();
    expect(await page.locator('nav [aria-current=page]').innerText()).toBe('p');
  });

  it('names the command where there is none', async () => {
    const { page } = await viewer.open({ ...documentOf({}), pipelines: [] }, '#/pipeline');
    expect(await page.locator('main').innerText()).toContain('hone profile detect MODEL VIDEO');
  });
});
