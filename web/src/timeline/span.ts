// Arithmetic of the visible window: zoom, pan, fit. Pure; all times in ns since the origin.

import type { Span } from './header';

export const kShortest = 20;  // ns: deeper than this no clock of a trace resolves anything

/** Keeps a window inside [0, duration], not shorter than kShortest, with its length where possible. */
export function clampSpan(span: Span, duration: number): Span {
  const whole = Math.max(duration, kShortest);
  if (!Number.isFinite(span.from) || !Number.isFinite(span.to) || span.to <= span.from) return { from: 0, to: whole };
  const length = Math.min(Math.max(span.to - span.from, kShortest), whole);
  const centre = (span.from + span.to) / 2;
  const from = Math.min(Math.max(centre - length / 2, 0), whole - length);
  return { from, to: from + length };
}

/** Makes the window `factor` times as long, keeping time `at` where it is on the screen. */
export function zoomAt(span: Span, factor: number, at: number, duration: number): Span {
  const whole = Math.max(duration, kShortest);
  const length = span.to - span.from;
  const wanted = Math.min(Math.max(length * factor, kShortest), whole);
  const real = wanted / length;
  return clampSpan({ from: at - (at - span.from) * real, to: at + (span.to - at) * real }, duration);
}

export function panBy(span: Span, delta: number, duration: number): Span {
  return clampSpan({ from: span.from + delta, to: span.to + delta }, duration);
}

/** A window in which [start, end] takes most of the width. */
export function fitSpan(start: number, end: number, duration: number): Span {
  const margin = Math.max((end - start) * 0.15, kShortest / 4);
  return clampSpan({ from: start - margin, to: end + margin }, duration);
}

/** The smallest move that brings [start, end] into view; zooms out only when it does not fit. */
export function reveal(span: Span, start: number, end: number, duration: number): Span {
  const length = span.to - span.from;
  if (start >= span.from && end <= span.to) return span;
  if (start < span.to && end > span.from && end - start > length / 2) return span;
  if (end - start > length * 0.8) return fitSpan(start, end, duration);
  const centre = (start + end) / 2;
  return clampSpan({ from: centre - length / 2, to: centre + length / 2 }, duration);
}

/** The window moved to a whole number of pixels, so that panning never changes which events share a pixel. */
export function snapSpan(span: Span, pixels: number): Span {
  const step = (span.to - span.from) / pixels;
  const from = Math.round(span.from / step) * step;
  return { from, to: from + step * pixels };
}

/** The stretch to load for a window: a power of two long and aligned, so that small moves load nothing. */
export function loadSpan(span: Span, duration: number): Span {
  const length = 2 ** Math.ceil(Math.log2(Math.max(span.to - span.from, kShortest)));
  const from = Math.max(0, Math.floor(span.from / length) * length - length / 2);
  return { from, to: Math.min(Math.ceil(duration), from + 3 * length) };
}
