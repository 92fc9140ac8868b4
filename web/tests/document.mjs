// Puts documents of real data together, and into the built page; used by tests and while developing.
//
// usage: node tests/document.mjs [-o FILE]     writes the page with the default document
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const results = join(here, '../../tests/bench/data');
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

export function sweepsUnder(folder) {
  const root = join(results, folder);
  const names = readdirSync(root).filter((name) => name.endsWith('.json')).sort();
  return names.map((name) => {
    const path = relative(results, join(root, name));
    return { id: path.replace(/[^\w-]/g, '-'), path, sweep: read(join(root, name)) };
  });
}

export function profileOf(name) {
  const analysis = read(join(here, 'data', `${name}.json`));
  return { id: name, name, path: `${name}.trace.sqlite`, analysis, timeline: null, engine: null };
}

export function documentOf() {
  const engine = read(join(here, 'data/inspect-resnet18.json'));
  const folders = readdirSync(results, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return {
    schema: 'hone.report',
    version: 1,
    generated: '2026-11-22T08:00:00Z',
    hone: '0.1.0/a9071ec',
    sweeps: folders.map((entry) => entry.name).sort().flatMap(sweepsUnder),
    profiles: [
      { ...profileOf('resnet18-hone-fp32-b1'), engine },
      profileOf('resnet50-hone-fp16-b1'),
      profileOf('known_path'),
    ],
    diffs: [],
    problems: [{ path: 'runs/half.trace.sqlite', text: 'not a trace: the file breaks off after 4096 bytes' }],
  };
}

export function pageWith(report) {
  const page = readFileSync(join(here, '../dist/report.html'), 'utf8');
  const text = JSON.stringify(report).replaceAll('<', '\\u003c');
  const end = page.lastIndexOf('</body>');
  return `${page.slice(0, end)}<script type="application/json" id="hone-report">${text}</script>\n${page.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('-o');
  writeFileSync(at > 0 ? process.argv[at + 1] : 'page.html', pageWith(documentOf()));
}
