// The program itself, on real data of this repository: recorded traces, results of benchmarks, and a fresh profile.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const hone = process.env['HONE'] ?? join(root, 'build/release/bin/hone');

export const golden = join(root, 'tests/trace/data');
export const results = join(root, 'tests/bench/data');

/// A folder of runs, gone with the object.
export class Runs {
  readonly folder = mkdtempSync(join(tmpdir(), 'hone-runs-'));

  constructor() {
    if (!existsSync(hone)) throw new Error(`${hone} is missing: build it, or say in HONE where it is.`);
  }

  addRecorded(): void {
    for (const name of readdirSync(golden).filter((one) => one.endsWith('.sqlite.gz')))
      writeFileSync(join(this.folder, name.replace('.sqlite.gz', '.trace.sqlite')), gunzipSync(readFileSync(join(golden, name))));
  }

  /// A profile of the digits network on this machine's CPU.
  addProfile(): void {
    execFileSync(hone, ['profile', join(root, 'models/digits/digits.onnx'), '--backends', 'hone', '-o', this.folder], { stdio: 'pipe' });
  }

  report(...more: string[]): string {
    const page = join(this.folder, 'report.html');
    execFileSync(hone, ['report', this.folder, ...more, '-o', page], { stdio: 'pipe' });
    return readFileSync(page, 'utf8');
  }

  async view(): Promise<{ url: string; stop: () => Promise<number | null> }> {
    const server = spawn(hone, ['view', this.folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await firstLine(server);
    const ended = new Promise<number | null>((done) => server.on('exit', done));
    return { url: /http:\S+/.exec(line)![0], stop: () => (server.kill('SIGINT'), ended) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

const firstLine = (server: ChildProcess): Promise<string> =>
  new Promise((done, fail) => {
    server.stdout!.on('data', (data: Buffer) => done(data.toString()));
    server.on('exit', (code) => fail(new Error(`hone view ended with ${code}`)));
  });

/// The document in a page that the program wrote.
export function documentIn(page: string): any {
  const begin = page.lastIndexOf('id="hone-report">') + 'id="hone-report">'.length;
  return JSON.parse(page.slice(begin, page.indexOf('</script>', begin)));
}
