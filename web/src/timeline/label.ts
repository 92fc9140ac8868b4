// Text inside boxes: cut to fit without asking the canvas to measure or clip anything per frame.

const kLongest = 120;  // characters of a name that are ever drawn in a box

export class Labels {
  private readonly advances = new Map<string, number>();
  private readonly widths = new Map<string, Float32Array>();
  private ellipsis = 0;

  constructor(private readonly measure: (text: string) => number) {
    this.ellipsis = measure('…');
  }

  private advance(character: string): number {
    const known = this.advances.get(character);
    if (known !== undefined) return known;
    const width = this.measure(character);
    this.advances.set(character, width);
    return width;
  }

  /** Width of the first 0, 1, 2… characters. */
  private prefixes(text: string): Float32Array {
    const known = this.widths.get(text);
    if (known) return known;
    const length = Math.min(text.length, kLongest);
    const widths = new Float32Array(length + 1);
    for (let i = 0; i < length; i++) widths[i + 1] = widths[i]! + this.advance(text[i]!);
    this.widths.set(text, widths);
    return widths;
  }

  /** The text, or its beginning and an ellipsis, or nothing where not even two characters fit. */
  fit(text: string, width: number): string {
    const widths = this.prefixes(text);
    const whole = widths.length - 1;
    if (widths[whole]! <= width && whole === text.length) return text;
    let low = 0;
    let high = whole;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (widths[middle]! + this.ellipsis <= width) low = middle;
      else high = middle - 1;
    }
    return low < 2 ? '' : `${text.slice(0, low)}…`;
  }
}
