// Opens pages in a browser and notes what a report must never do: complain, or ask the network.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { pageWith } from './document.mjs';

const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export interface Opened {
  page: Page;
  /// Errors of the console and of scripts.
  errors: string[];
  /// Addresses asked for besides the page itself.
  requests: string[];
}

export interface View {
  width?: number;
  height?: number;
  dark?: boolean;
}

export class Viewer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'hone-web-'));
  private files = 0;
  private shown: Page | null = null;

  private constructor(private readonly browser: Browser) {}

  static async start(): Promise<Viewer> {
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
    return new Viewer(await chromium.launch({ executablePath, args: ARGS }));
  }

  /// Closes the page before.
  async open(document: unknown, hash = '#/', view: View = {}): Promise<Opened> {
    const file = join(this.folder, `page-${this.files++}.html`);
    writeFileSync(file, typeof document === 'string' ? document : pageWith(document));
    return this.visit(pathToFileURL(file).href, hash, view);
  }

  async visit(url: string, hash = '#/', view: View = {}): Promise<Opened> {
    const viewport = { width: view.width ?? 1280, height: view.height ?? 900 };
    await this.shown?.close();
    const page = (this.shown = await this.browser.newPage({ viewport, colorScheme: view.dark ? 'dark' : 'light' }));
    page.setDefaultTimeout(15_000);
    const [errors, requests]: [string[], string[]] = [[], []];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('request', (request) => !/^(data|blob):/.test(request.url()) && request.url().split('#')[0] !== url && requests.push(request.url()));
    await page.goto(url + hash);
    await page.waitForSelector('main:not([aria-busy])');
    return { page, errors, requests };
  }

  async stop(): Promise<void> {
    await this.browser.close();
    rmSync(this.folder, { recursive: true });
  }
}
