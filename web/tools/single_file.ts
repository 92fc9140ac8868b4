// Vite plugin: folds script and style into one page and lets the page run nothing else.
import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/// Text that ends the element it stands in would let the rest of it be read as HTML.
const scriptText = (code: string) => code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '\\x3C!--');

// ECharts places text in SVG with style attributes, so attributes are let through; elements are not.
const policy = (script: string, style: string) =>
  [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "style-src-attr 'unsafe-inline'",
    'img-src data: blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

export function singleFile(name: string): Plugin {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      let page = '';
      let script = '';
      let style = '';
      for (const [file, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (file.endsWith('.css')) style += String(part.source);
        else if (file.endsWith('.html')) page = String(part.source);
        else this.error(`${file} cannot be part of a single file`);
        delete bundle[file];
      }
      script = scriptText(script.trim());
      style = style.trim();
      const head =
        `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">\n` +
        `<style>${style}</style>\n<script type="module">${script}</script>\n`;
      const source = page
        .replace(/<script type="module"[^>]*><\/script>\s*/g, '')
        .replace(/<link rel="(?:stylesheet|modulepreload)"[^>]*>\s*/g, '')
        .replace('</head>', () => `${head}</head>`);
      this.emitFile({ type: 'asset', fileName: name, source });
    },
  };
}
