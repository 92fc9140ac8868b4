// Numbers as they are shown.
import { describe, expect, it } from 'vitest';
import { csvOf } from '../src/components/download';
import { format, formatRange, formatTick, significant } from '../src/format';
import { clean, clip } from '../src/text';

const plain = (text: string) => text.replaceAll('\u202f', ' ');

describe('format', () => {
  it.each([
    [0, 'ns', '0 ns'], [1, 'ns', '1 ns'], [75801, 'ns', '75.80 µs'], [20364879, 'ns', '20.36 ms'],
    [1303450, 'ns', '1.303 ms'], [999.97, 'ns', '1.000 µs'], [12e9, 'ns', '12.00 s'], [0.5, 'ns', '0.5000 ns'],
    [-2500, 'ns', '-2.500 µs'], [2.586418, 'ms', '2.586 ms'], [0.2367, 'ms', '236.7 µs'], [5586.14, 'ms', '5.586 s'],
    [90, 's', '90.00 s'], [46804384, 'bytes', '46.80 MB'], [512, 'bytes', '512 B'], [1318.06, 'MB', '1.318 GB'],
    [3635522560, 'flop', '3.636 GFLOP'], [1.8108e11, 'flop/s', '181.1 GFLOP/s'], [7139637024, 'bytes/s', '7.140 GB/s'],
    [0.43596, 'share', '43.6 %'], [0.0001, 'share', '<0.1 %'], [0, 'share', '0.0 %'], [1, 'share', '100.0 %'],
    [1.4868, 'ratio', '1.49×'], [14.4, 'ratio', '14.4×'], [1234567, 'count', '1 234 567'], [2442.7, '1/s', '2 443/s'],
    [225.015, 'W', '225.0 W'], [1980, 'MHz', '1 980 MHz'], [0.0019563, '', '0.001956'], [1.0504e-6, '', '1.050·10⁻⁶'],
  ])('%s %s is %s', (value, unit, shown) => expect(plain(format(value, unit))).toBe(shown));

  it.each([null, undefined, NaN, Infinity, -1e308, '12', {}, []])('%s is no number that can be shown', (value) => {
    expect(format(value, 'ns')).toBe('–');
  });

  it('keeps the unit of a range once where both ends share it', () => {
    expect(plain(formatRange(1.087, 1.6157, 'ratio'))).toBe('1.09–1.62×');
    expect(plain(formatRange(950, 1100, 'ns'))).toBe('950 ns–1.100 µs');
    expect(formatRange(null, 2, 'ratio')).toBe('–');
  });

  it('drops zeros from ticks only', () => {
    expect(plain(formatTick(5, 'ms'))).toBe('5 ms');
    expect(plain(formatTick(2.5, 'ms'))).toBe('2.5 ms');
    expect(plain(formatTick(10000, '1/s'))).toBe('10 000/s');
    expect(plain(formatTick(100, 'ns'))).toBe('100 ns');
  });

  it('never drops digits of the whole part', () => expect(plain(significant(1234567, 3))).toBe('1 234 567'));
});

describe('text', () => {
  it('shows what would turn or hide the text around it', () => expect(clean('a\u202eb\u0000c')).toBe('a\ufffdb\ufffdc'));
  it('clips in the middle', () => expect(clip('x'.repeat(10_000), 20)).toHaveLength(20));
  it('says what is no text', () => expect([clean(null), clean(3), clean({ a: 1 })]).toEqual(['', '3', '{"a":1}']));
});

describe('csv', () => {
  it('quotes, and keeps formulas from running', () => {
    expect(csvOf(['a', 'b'], [['x,"y"', 1.5], ['=1+1', null], ['-n', -2]])).toBe('a,b\n"x,""y""",1.5\n\'=1+1,\n\'-n,-2\n');
  });
});
