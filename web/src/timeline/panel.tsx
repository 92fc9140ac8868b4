// Details of the selected event or the measured stretch, or how to begin.

import { useMemo } from 'preact/hooks';
import { factsOf, namesakes } from './facts';
import { useModel } from './hooks';
import type { Model } from './model';
import { clean } from './names';
import { css } from './rgb';
import type { Theme } from './theme';
import { bytes, duration, moment } from './units';

const kShown = 8;  // launched events with a link of their own

function Fact(props: { name: string; value: string; hint: string }) {
  return (
    <div class="tl-fact" tabIndex={0} data-hint={props.hint}>
      <dt>{props.name}</dt>
      <dd><bdi>{props.value}</bdi></dd>
    </div>
  );
}

function textOf(key: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number' && /bytes|size$/.test(key)) return bytes(value);
  if (typeof value === 'number' && /_ns$/.test(key)) return duration(value);
  if (typeof value === 'number') return value.toLocaleString('en', { maximumSignificantDigits: 6 });
  if (Array.isArray(value)) return value.map((part) => textOf('', part)).join(' × ').slice(0, 2000);
  if (typeof value === 'object') return clean(JSON.stringify(value));
  return clean(String(value));
}

function Details({ detail }: { detail: Record<string, unknown> }) {
  return (
    <dl class="tl-facts" aria-label="Details">
      {Object.entries(detail).slice(0, 60).map(([key, value]) => (
        <Fact key={key} name={clean(key).replace(/_ns$/, '').replaceAll('_', ' ')} value={textOf(key, value)} hint="Origin: recorded with the event." />
      ))}
    </dl>
  );
}

function EventLink({ model, event }: { model: Model; event: number }) {
  const { timeline } = model.data;
  return (
    <button type="button" class="tl-link" title={model.data.nameOf(event)} onClick={() => model.select(event, true)}>
      <bdi>{model.data.names.short(timeline.names[event]!)}</bdi>
      <span>{duration(timeline.durations[event]!)}</span>
    </button>
  );
}

function Relatives({ model, event }: { model: Model; event: number }) {
  const { launcher, launched, launchedCount } = model.facts ?? factsOf(model.data.timeline, event);
  const { starts, durations } = model.data.timeline;
  const sinceEnd = launcher < 0 ? 0 : starts[event]! - starts[launcher]! - durations[launcher]!;
  return (
    <div class="tl-relatives">
      {launcher >= 0 && (
        <>
          <h4>Launched by</h4>
          <EventLink model={model} event={launcher} />
          <p title="From the call to the start of this event">
            {duration(starts[event]! - starts[launcher]!)} after the call began, {duration(Math.abs(sinceEnd))} {sinceEnd < 0 ? 'before' : 'after'} it ended
          </p>
        </>
      )}
      {launchedCount > 0 && <h4>Launched</h4>}
      {launched.slice(0, kShown).map((other) => <EventLink key={other} model={model} event={other} />)}
      {launchedCount > kShown && <p>and {(launchedCount - kShown).toLocaleString('en')} more</p>}
    </div>
  );
}

function EventPanel({ model, event }: { model: Model; event: number }) {
  const { timeline } = model.data;
  const facts = model.facts!;
  const name = timeline.names[event]!;
  const same = useMemo(() => namesakes(timeline, name, model.span), [timeline, name, model.span]);
  return (
    <>
      <section class="tl-first">
        <h3><bdi>{model.data.nameOf(event)}</bdi></h3>
        <p class="tl-where"><bdi>{clean(facts.track.group)}</bdi> · <bdi>{clean(facts.track.name)}</bdi></p>
        <dl class="tl-facts">
          <Fact name="Start" value={moment(facts.start)} hint="Since the origin of the trace. Origin: measured." />
          <Fact name="Duration" value={duration(facts.duration)} hint={`${facts.duration.toLocaleString('en')} ns, from start to end. Origin: measured.`} />
          {facts.self !== null && <Fact name="Self time" value={duration(facts.self)} hint="Duration without what is nested directly inside. Origin: measured." />}
          {facts.merged > 0 && <Fact name="Stands for" value={`${facts.merged.toLocaleString('en')} events`} hint="Too close together for this resolution; zoom in to see them one by one" />}
        </dl>
      </section>
      {facts.detail && <section><h4>Details</h4><Details detail={facts.detail} /></section>}
      {(facts.launcher >= 0 || facts.launchedCount > 0) && <section><Relatives model={model} event={event} /></section>}
      <section>
        <h4>Same name in view</h4>
        <dl class="tl-facts">
          <Fact name="Count" value={same.count.toLocaleString('en')} hint="Events of this name that overlap the window." />
          <Fact name="Total" value={duration(same.total)} hint="Sum of their durations. Origin: measured." />
          <Fact name="Mean" value={same.count ? duration(same.total / same.count) : '–'} hint="Total divided by count. Origin: measured." />
        </dl>
      </section>
    </>
  );
}

function MeasurePanel({ model }: { model: Model }) {
  const { from, to } = model.measured!;
  return (
    <section>
      <h3>Measured</h3>
      <dl class="tl-facts">
        <Fact name="From" value={moment(from, 0.1)} hint="Since the origin of the trace" />
        <Fact name="To" value={moment(to, 0.1)} hint="Since the origin of the trace" />
        <Fact name="Between" value={duration(to - from)} hint={`${(to - from).toLocaleString('en')} ns`} />
      </dl>
    </section>
  );
}

function Legend({ model, theme }: { model: Model; theme: Theme }) {
  const { legend } = model.data.colorsFor(model.colorBy, theme);
  return (
    <ul class="tl-legend" aria-label="Colours">
      {legend.map(([label, color]) => <li key={label}><i style={{ background: css(color) }} />{label}</li>)}
    </ul>
  );
}

export function Panel({ model, theme }: { model: Model; theme: Theme | null }) {
  useModel(model);
  const event = model.selection;
  const legend = theme && model.colorBy === 'category';
  if (event < 0 && !model.measured) return legend ? <aside class="tl-strip"><Legend model={model} theme={theme} /></aside> : null;
  return (
    <aside class="tl-panel" aria-label="Selected event">
      <button type="button" class="tl-button tl-close" aria-label="Close" title="Close (Esc)"
        onClick={() => { model.measured = null; model.select(-1); }}>×</button>
      {model.measured && <MeasurePanel model={model} />}
      {event >= 0 && model.facts && <EventPanel model={model} event={event} />}
    </aside>
  );
}
