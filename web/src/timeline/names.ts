// Names of events made fit to show: hostile characters replaced, C++ signatures shortened for boxes.

const kLongest = 4000;
// Control characters, and the marks that reorder text around them.
const kUnsafe = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function clean(name: unknown): string {
  if (typeof name !== 'string') return '(no name)';
  const cut = name.length > kLongest ? `${name.slice(0, kLongest)}…` : name;
  const text = cut.replace(kUnsafe, '\ufffd');
  return text.trim() === '' ? '(no name)' : text;
}

function withoutBrackets(text: string): string {
  let depth = 0;
  let kept = '';
  for (const c of text) {
    if (c === '<' || c === '(') depth++;
    if (depth === 0) kept += c;
    if ((c === '>' || c === ')') && depth > 0) depth--;
  }
  return kept;
}

/** "void at::native::copy_kernel<float>(float*)" becomes "copy_kernel"; names that are no signature stay. */
export function short(name: string): string {
  const text = clean(name);
  const signature = text.startsWith('void ') || /[<(].*[>)]\s*(const)?$/.test(text) && text.includes('::');
  if (!signature) return text;
  const bare = withoutBrackets(text.replace(/\(anonymous namespace\)::/g, '').replace(/^void /, '')).trim();
  const parts = bare.split('::').filter((part) => part !== '');
  return parts.at(-1)?.trim() || text;
}

/** Cleaned and short names by string index, made when first asked for. */
export class Names {
  private readonly full: (string | undefined)[] = [];
  private readonly brief: (string | undefined)[] = [];

  constructor(private readonly strings: readonly unknown[]) {}

  get count(): number {
    return this.strings.length;
  }

  of(index: number): string {
    return (this.full[index] ??= clean(this.strings[index]));
  }

  short(index: number): string {
    return (this.brief[index] ??= short(this.of(index)));
  }
}
