// Dependencies: figures are those of the document, sliders say no more than is known, and no document breaks them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathOf } from '../src/pages/dependencies/path_model';
import { hit, rectsOf, ticksOf } from '../src/pages/dependencies/strip_rects';
import { leversOf, outcomeOf, parseLevers, wallOf, writeLevers } from '../src/pages/dependencies/what_if';
import { Viewer, type Opened } from './browser';
import { withDamage, withHostileNames } from './hostile';
import { analysisOf } from './views';
import { NOTHINGS, numbers, profile, readTable, reportOf, settle } from './answers';

let viewer: Viewer;
beforeAll(async () => void (viewer = await Viewer.start()));
afterAll(() => viewer.stop());
const quiet = ({ errors, requests }: Opened) => expect({ errors, requests }).toEqual({ errors: [], requests: [] });

const change = (name: string, factor: number, wall_ns: number) => ({ change: 'faster', name, factor, wall_ns, gain_ns: 1000 - wall_ns, share: 0, at_most: false });
const whatIf = { wall_ns: 1000, changes: [change('a', 0, 700), change('a', 2, 800), change('b', 0, 900), { ...change('x', 0, 500), change: 'no_wait' }] };
const functions = pathOf({ functions: [{ name: 'a', kind: 'kernel', critical_path_ns: 400 }, { name: 'b', kind: 'copy', critical_path_ns: 150 }] as never }).functions;

function longPath(n: number) {
  const rows = Array.from({ length: n }, (_, i) => [5000 + i * 100, 5000 + (i + 1) * 100, i % 3, 0, i]);
  const named = ['kernel', 'call', 'launch_latency'].map((kind, i) => ({ kind, name: `f${i}`, calls: n, critical_path_ns: 100 * n, share: 1 / 3, waiting_ns: 0, device_waiting_ns: 0, queue_delay_ns: 0, blame_ns: 0 }));
  return { start_ns: 5000, end_ns: 5000 + n * 100, wall_ns: n * 100, waiting_ns: 0, profiler_overhead_ns: 0, functions: named, segments: { columns: ['start_ns', 'end_ns', 'function', 'thread', 'event'], rows, left_out: 17 }, clock: [], doubts: [] };
}

describe('what if', () => {
  const levers = leversOf(whatIf as never, functions);
  const [a, b] = levers as [typeof levers[0], typeof levers[0]];

  it('gives what was worked out exactly', () => {
    expect([1, 0.5, 0].map((left) => wallOf(a, left))).toEqual([1000, 800, 700].map((wall) => ({ wall, exact: true })));
  });
  it('is straight between points', () => {
    expect(wallOf(a, 0.75)).toEqual({ wall: 900, exact: false });
    expect(wallOf(a, 0.25)).toEqual({ wall: 750, exact: false });
    expect(wallOf(b, 0.5)).toEqual({ wall: 950, exact: false });
  });
  it('bounds what several changes gain', () => {
    expect(outcomeOf(levers, new Map([[a.key, 0], [b.key, 0.5]]), 1000)).toEqual({ atMost: 700, atLeast: 1000 - 400 - 75, changed: 2, exact: false });
    expect(outcomeOf(levers, new Map(), 1000)).toEqual({ atMost: 1000, atLeast: 1000, changed: 0, exact: true });
  });
  it('keeps levers in the address', () => expect(writeLevers(parseLevers('0:50~1:100~x~2:0~3:900'))).toBe('0:50~1:100'));
  it('has levers only for what gets faster', () => expect(levers.map(({ name }) => name)).toEqual(['a', 'b']));
});

describe('the path', () => {
  const path = pathOf(longPath(20_000) as never);

  it('joins what is narrower than a pixel', () => {
    const rects = rectsOf(path, { from: 0, to: path.wall }, 1000, null);
    expect(rects.length).toBeLessThanOrEqual(3 * 1001);
    for (const lane of [0, 1, 2]) expect(Math.max(...rects.filter((one) => one.lane === lane).map(({ right }) => right))).toBeGreaterThan(999);
  });
  it('finds the segment at a place', () => {
    expect(hit(path, { from: 0, to: 1000 }, 1000, 250, 0)!.index).toBe(2);
    expect(hit(path, { from: 0, to: 1000 }, 1000, 305, 0)!.index).toBe(3);
    expect(hit(path, { from: 0, to: 1000 }, 1000, 150, 2)!.index).toBe(1);
  });
  it('has round ticks', () => expect(ticksOf({ from: 130, to: 1010 }, 5)).toEqual([200, 400, 600, 800, 1000]));
});

describe('Dependencies', () => {
  const analysis = analysisOf('known_path');
  const { critical_path: cp, what_if: then } = analysis.dependencies;

  it('shows the figures of the document', async () => {
    const opened = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/dependencies');
    const table = await readTable(opened.page, 'Functions on the critical path');
    const of = (field: string) => cp.functions.map((one: any) => one[field]);
    expect(numbers(table.column('On the path'))).toEqual(of('critical_path_ns'));
    expect(numbers(table.column('Waiting'))).toEqual(of('waiting_ns'));
    expect(numbers(table.column('Blame'))).toEqual(of('blame_ns'));
    expect(numbers((await readTable(opened.page, 'What if')).column('Gain')).sort((x, y) => y - x)).toEqual(then.changes.map((one: any) => one.gain_ns));
    expect(numbers((await readTable(opened.page, 'Clocks')).column('Launches'))).toEqual([cp.clock[0].launches]);
    const idle = opened.page.locator('figure', { hasText: 'What GPU 0 waited for' });
    await idle.getByRole('button', { name: 'As table' }).click();
    await expect.poll(async () => numbers((await readTable(opened.page, 'What GPU 0 waited for')).column('Idle time'))).toEqual(analysis.idle.devices[0].causes.map((one: any) => one.time_ns));
    quiet(opened);
  });

  it('tells what the program would take, by link and by key', async () => {
    const { page } = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/dependencies?faster=0:100');
    const wall = async () => Number(await page.locator('.outcome b').getAttribute('data-value'));
    const name = then.changes.find((one: any) => one.change === 'faster').name;
    const exact = (factor: number) => then.changes.find((one: any) => one.name === name && one.factor === factor).wall_ns;
    expect(await wall()).toBe(exact(0));
    for (let i = 0; i < 10; ++i) await page.locator('#lever-0').press('ArrowLeft');
    await page.waitForURL(/faster=0%3A50/);
    await expect.poll(wall).toBe(exact(2));
    expect(page.url()).toContain('faster=0%3A50');
    await page.getByRole('button', { name: 'As it is' }).click();
    await expect.poll(wall).toBe(then.wall_ns);
  });

  it('goes from a segment to the timeline', async () => {
    const origin = cp.start_ns - 1e6;
    const more = { timeline: { origin_ns: origin, duration_ns: 1e9, strings: [], details: [], tracks: [], path: [], columns: [] } };
    const { page } = await viewer.open(reportOf([profile(analysis, 'p', more)]), '#/profile/p/dependencies');
    const canvas = page.locator('.strip canvas');
    await canvas.press('ArrowRight');
    await canvas.press('ArrowRight');
    const [start, end] = cp.segments.rows[1];
    const window = async () => {
      const query = new URLSearchParams((await page.locator('.drawer a').getAttribute('href'))!.split('?')[1]);
      return ['from', 'to'].map((key) => Number(query.get(key)));
    };
    await expect.poll(window).toEqual([start - origin - (end - start), start - origin + 2 * (end - start)]);
    await expect.poll(() => page.url()).toContain('seg=1');
  });

  it('draws 20 000 segments at once, and says how many are left out', async () => {
    const opened = await viewer.open(reportOf([profile({ dependencies: { critical_path: longPath(20_000) } })]), '#/profile/p/dependencies');
    const canvas = opened.page.locator('.strip canvas');
    await expect.poll(() => opened.page.locator('.strip').innerText()).toContain('20000 segments; 17 shorter ones');
    const spent = await opened.page.evaluate(async () => {
      const target = document.querySelector('.strip canvas')!;
      const begin = performance.now();
      for (let i = 0; i < 20; ++i) {
        target.dispatchEvent(new KeyboardEvent('keydown', { key: i < 10 ? '+' : '-', bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      return (performance.now() - begin) / 20;
    });
    expect(spent).toBeLessThan(100);
    await canvas.press('+');
    await opened.page.waitForURL(/window=/);
    quiet(opened);
  });

  it.each([[1280, false], [390, true]])('fits %s px', async (width, dark) => {
    const { page } = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/dependencies?seg=3', { width, dark });
    await page.waitForSelector('.canvas svg');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });
});

describe('bad dependencies', () => {
  async function visit(analysis: unknown): Promise<void> {
    const opened = await viewer.open(reportOf([profile(analysis)]), '#/profile/p/dependencies?seg=1&sel=0&faster=0:30~1:70&window=5~x&gpu=9');
    await settle(opened.page);
    expect(await opened.page.getByText('This part cannot be shown').count()).toBe(0);
    expect(await opened.page.evaluate(() => (window as any).harmed)).toBeUndefined();
    quiet(opened);
  }

  it.each(NOTHINGS)('%s', (_, value) => visit({ dependencies: value, idle: value }));
  it('with hostile names', () => visit(withHostileNames(analysisOf('known_path'))));
  it.each([1, 2, 3, 4])('with damage %s', (seed) => {
    const { dependencies, idle } = analysisOf('known_path');
    return visit({ dependencies: withDamage(dependencies, seed, 8, undefined, 4), idle: withDamage(idle, seed, 6, undefined, 4) });
  });
});
