// The page is one small file, lets nothing else run, and is the same each time it is built.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../dist/report.html', import.meta.url), 'utf8');
const between = (open: string, close: string) => page.slice(page.indexOf(open) + open.length, page.indexOf(close, page.indexOf(open)));
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

it('is small', () => expect(page.length).toBeLessThan(1_500_000));

it('allows its own script and style and no others', () => {
  const policy = between('Content-Security-Policy" content="', '">');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`script-src ${hash(between('<script type="module">', '</script>'))};`);
  expect(policy).toContain(`style-src ${hash(between('<style>', '</style>'))};`);
});

it('ends its body once, where the document goes', () => expect(page.split('</body>')).toHaveLength(2));

it('is what its sources give, byte for byte', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'hone-build-'));
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  await build({ root: new URL('..', import.meta.url).pathname, mode: 'production', logLevel: 'error', build: { outDir } });
  process.env['NODE_ENV'] = before;
  const again = readFileSync(join(outDir, 'report.html'), 'utf8');
  rmSync(outDir, { recursive: true });
  expect(again === page, 'dist/report.html is old: npm run build').toBe(true);
});
