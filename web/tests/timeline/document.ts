// Builds timeline documents for tests: events as objects in, header and columns out.

import type { ColumnType, PathSegment, TimelineDocument, TrackKind } from '../../src/timeline/header';

export interface TestEvent {
  start: number;
  duration: number;
  name: string;
  depth?: number;
  detail?: number;
  link?: number;
  flags?: number;
  merged?: number;
}

export interface TestTrack {
  group?: string;
  name?: string;
  kind?: TrackKind;
  events?: TestEvent[];
  samples?: [number, number][];
  unit?: string;
}

const kHigh = 2 ** 32;
const kBytes: Record<ColumnType, number> = { u8: 1, u16: 2, u32: 4, i32: 4, f32: 4, f64: 8 };

class Blob {
  readonly columns: { name: string; type: ColumnType; offset: number; count: number }[] = [];
  private readonly parts: { offset: number; type: ColumnType; values: number[] }[] = [];
  private size = 0;

  add(name: string, type: ColumnType, values: number[]): void {
    this.columns.push({ name, type, offset: this.size, count: values.length });
    this.parts.push({ offset: this.size, type, values });
    this.size = Math.ceil((this.size + values.length * kBytes[type]) / 8) * 8;
  }

  buffer(): ArrayBuffer {
    const buffer = new ArrayBuffer(this.size);
    for (const { offset, type, values } of this.parts) {
      const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };
      new arrays[type](buffer, offset, values.length).set(values);
    }
    return buffer;
  }
}

function differences(times: number[]): number[] {
  return times.map((time, i) => time - (i ? times[i - 1]! : 0));
}

function addTime(blob: Blob, name: string, values: number[]): void {
  blob.add(`${name}_lo`, 'u32', values.map((v) => v % kHigh));
  blob.add(`${name}_hi`, 'u16', values.map((v) => Math.floor(v / kHigh)));
}

/** Track ids are 10, 11, 12…: never the positions. */
export function build(tracks: TestTrack[], duration = 1000, path: PathSegment[] = []): TimelineDocument {
  const events = tracks.flatMap((track) => track.events ?? []);
  const strings = [...new Set(events.map((event) => event.name))];
  const blob = new Blob();
  addTime(blob, 'start', tracks.flatMap((track) => differences((track.events ?? []).map((event) => event.start))));
  addTime(blob, 'duration', events.map((event) => event.duration));
  blob.add('name', 'u32', events.map((event) => strings.indexOf(event.name)));
  blob.add('depth', 'u16', events.map((event) => event.depth ?? 0));
  blob.add('detail', 'u32', events.map((event) => event.detail ?? 0));
  blob.add('link', 'i32', events.map((event) => event.link ?? -1));
  blob.add('flags', 'u8', events.map((event) => event.flags ?? 0));
  blob.add('merged', 'u32', events.map((event) => event.merged ?? 0));
  addTime(blob, 'time', tracks.flatMap((track) => differences((track.samples ?? []).map(([time]) => time))));
  blob.add('value', 'f64', tracks.flatMap((track) => (track.samples ?? []).map(([, value]) => value)));
  let first = 0;
  let sample = 0;
  return {
    header: {
      origin_ns: 0, duration_ns: duration, complete: true, resolution_ns: 1, strings, details: [{ grid: [1, 2, 3] }], path,
      tracks: tracks.map((track, i) => {
        const count = track.events?.length ?? 0;
        const depth = 1 + Math.max(0, ...(track.events ?? []).map((event) => event.depth ?? 0));
        const kind = track.kind ?? (track.samples ? 'counter' : 'kernels');
        first += count;
        return { id: 10 + i, group: track.group ?? 'GPU 0', name: track.name ?? `stream ${i}`, kind, first: first - count, count, depth };
      }),
      counters: tracks.flatMap((track, i) => {
        if (!track.samples) return [];
        sample += track.samples.length;
        return [{ track: 10 + i, unit: track.unit ?? 'W', first: sample - track.samples.length, count: track.samples.length }];
      }),
      columns: blob.columns,
    },
    blob: blob.buffer(),
  };
}
