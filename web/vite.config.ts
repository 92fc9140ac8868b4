// How the page is built: one file, byte for byte the same from the same sources.
import { defineConfig } from 'vite';
import { serveDocument } from './tools/serve_document.ts';
import { singleFile } from './tools/single_file.ts';

export default defineConfig({
  plugins: [singleFile('report.html'), serveDocument()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    chunkSizeWarningLimit: 1500,
  },
  test: { include: ['tests/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 120_000, expect: { poll: { timeout: 15_000 } } },
} as Parameters<typeof defineConfig>[0]);
