// The timeline proper: the canvas, the names next to it, and the panels, tied to one model.

import { useEffect, useRef, useState } from 'preact/hooks';
import { exportPicture } from './export';
import { Gutter } from './gutter';
import { Help } from './help';
import { useModel } from './hooks';
import { Keys } from './keys';
import { Panel } from './panel';
import { Pointer } from './pointer';
import { Renderer } from './renderer';
import { watchTheme, type Theme } from './theme';
import { Toolbar } from './toolbar';
import { moveTooltip } from './tooltip';
import type { Model } from './model';
import { duration } from './units';

const kNarrowBelow = 640;

function Spoken({ model }: { model: Model }) {
  useModel(model);
  const { selection, facts, data } = model;
  const text = selection < 0 || !facts ? ''
    : `${data.nameOf(selection)}, ${duration(facts.duration)}, ${facts.track.name}`;
  return <div class="tl-spoken" aria-live="polite">{text}</div>;
}

export function Viewer({ model }: { model: Model }) {
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const names = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const inView = useRef<HTMLSpanElement>(null);
  const searchInput = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  const [theme, setTheme] = useState<Theme | null>(null);

  useEffect(() => {
    const follow = () => {
      names.current!.style.transform = `translateY(${-Math.round(model.scroll)}px)`;
      inView.current!.textContent = duration(model.span.to - model.span.from);
      moveTooltip(tip.current!, model);
    };
    const renderer = new Renderer(model, canvas.current!, root.current!, follow);
    setTheme(renderer.theme);
    const pointer = new Pointer(model, canvas.current!);
    const keys = new Keys(model, root.current!, canvas.current!, {
      search: () => {
        searchInput.current?.focus();
        searchInput.current?.select();
      },
      help: () => setHelp(true),
    });
    const resize = () => {
      const { width, height } = canvas.current!.getBoundingClientRect();
      const narrow = root.current!.clientWidth < kNarrowBelow;
      root.current!.classList.toggle('tl-narrow', narrow);
      model.resize({ width: Math.max(1, width), height: Math.max(1, height), ratio: devicePixelRatio || 1 }, narrow);
    };
    const observer = new ResizeObserver(resize);
    observer.observe(canvas.current!);
    resize();
    const unwatch = watchTheme(() => {
      renderer.refreshTheme();
      setTheme(renderer.theme);
    });
    return () => {
      observer.disconnect();
      unwatch();
      pointer.stop();
      keys.stop();
      renderer.stop();
    };
  }, [model]);

  return (
    <div class="tl" ref={root}>
      <Toolbar model={model} searchInput={searchInput} onHelp={() => setHelp(true)}
        onPicture={() => theme && exportPicture(model, canvas.current!, theme)} />
      <div class="tl-stage">
        <div class="tl-gutter">
          <div class="tl-corner"><span>GPU work</span><span class="tl-in-view" ref={inView} title="Time in view" /></div>
          <div class="tl-clip"><div ref={names}><Gutter model={model} /></div></div>
        </div>
        <div class="tl-plot">
          <canvas ref={canvas} tabIndex={0} role="application" aria-label="Timeline of events. Press ? for keys." />
          <div class="tl-tip" ref={tip} hidden><bdi /><span /></div>
        </div>
      </div>
      <Panel model={model} theme={theme} />
      <Spoken model={model} />
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}
