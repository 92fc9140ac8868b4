// Colours of events: by name (a hash picks one of sixteen) or by category. The hues are those of
// M. Okabe and K. Ito, "Color Universal Design" (2008), told apart by all common kinds of colour vision.

import { kNoTrack, type Timeline } from './decode';
import type { TrackKind } from './header';
import type { Names } from './names';
import { mix, pack, type Rgb } from './rgb';

export type ColorBy = 'name' | 'category';

const kBlue: Rgb = [0, 114, 178];
const kSky: Rgb = [86, 180, 233];
const kGreen: Rgb = [0, 158, 115];
const kYellow: Rgb = [240, 228, 66];
const kOrange: Rgb = [230, 159, 0];
const kVermilion: Rgb = [213, 94, 0];
const kPurple: Rgb = [204, 121, 167];
const kGrey: Rgb = [148, 152, 158];
const kHues = [kSky, kGreen, kOrange, kPurple, kBlue, kYellow, kVermilion];

/** A category, what its kernels are called, and its colour. The first that matches a name wins. */
const kKernels: [string, RegExp, Rgb][] = [
  ['memory copy or fill', /memcpy|memset|\bcopy|fill_?kernel/i, kOrange],
  ['communication', /nccl|allreduce|all_gather|reduce_scatter|sendrecv/i, kVermilion],
  ['convolution', /conv|wgrad|dgrad|fprop|winograd|implicit/i, kSky],
  ['matrix product', /gemm|gemv|matmul|cutlass|cublas|mma|attention|flash/i, kBlue],
  ['normalization', /norm/i, kPurple],
  ['reduction', /reduc|softmax|pool|argmax|sum/i, kYellow],
  ['element by element', /elementwise|relu|gelu|add|mul|bias|activation|pointwise/i, kGreen],
];

const kTracks: Partial<Record<TrackKind, [string, Rgb]>> = {
  api: ['API call', kGrey],
  ranges: ['range', kGreen],
  operators: ['operator', kSky],
  steps: ['step', kBlue],
  python: ['Python', kYellow],
  sync: ['waiting', kVermilion],
  overhead: ['overhead', kPurple],
};

const kOther: [string, Rgb] = ['other', kGrey];

export function categoryOf(name: string, kind: TrackKind): [string, Rgb] {
  if (kind !== 'kernels') return kTracks[kind] ?? kOther;
  const found = kKernels.find(([, pattern]) => pattern.test(name));
  return found ? [found[0], found[2]] : kOther;
}

function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

/** The kind of track where each name is first seen. */
function kindsOf(timeline: Timeline, count: number): Uint8Array {
  const tracks = new Uint8Array(count).fill(255);
  const kinds = timeline.tracks.map((track) => track.kind);
  const order = [...new Set(kinds)];
  for (let i = 0; i < timeline.count; i++) {
    const name = timeline.names[i]!;
    if (timeline.trackOf[i]! !== kNoTrack && tracks[name]! === 255) tracks[name] = order.indexOf(kinds[timeline.trackOf[i]!]!);
  }
  return tracks;
}

export interface Colors {
  /** Packed fill by name index. */
  fill: Uint32Array;
  legend: [string, Rgb][];
}

const kTint = { light: [0.62, 0.42], dark: [0.62, 0.46] } as const;

export function colorNames(timeline: Timeline, names: Names, by: ColorBy, background: Rgb, dark: boolean): Colors {
  const fill = new Uint32Array(names.count);
  const tints = dark ? kTint.dark : kTint.light;
  const legend = new Map<string, Rgb>();
  const kinds = by === 'category' ? kindsOf(timeline, names.count) : null;
  const order = [...new Set(timeline.tracks.map((track) => track.kind))];
  for (let i = 0; i < fill.length; i++) {
    if (!kinds) {
      const h = hash(names.of(i));
      fill[i] = pack(mix(kHues[h % kHues.length]!, background, tints[(h >>> 8) & 1]!));
    } else if (kinds[i]! !== 255) {
      const [label, hue] = categoryOf(names.of(i), order[kinds[i]!]!);
      const color = mix(hue, background, tints[order[kinds[i]!]! === 'kernels' ? 0 : 1]);
      legend.set(label, color);
      fill[i] = pack(color);
    }
  }
  return { fill, legend: [...legend] };
}
