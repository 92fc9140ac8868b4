// The name of a function without what surrounds it: "void a::(anonymous namespace)::f<4>(int*)" is "f".
import { clean } from '../../text';

const OPEN = '<({[';
const CLOSE = '>)}]';

/// The text outside of all brackets.
function outside(text: string): string {
  let depth = 0;
  let kept = '';
  for (const char of text) {
    if (OPEN.includes(char)) depth++;
    else if (CLOSE.includes(char)) depth = Math.max(0, depth - 1);
    else if (depth === 0) kept += char;
  }
  return kept.trim();
}

/// Names of templates that say nothing: their first argument does.
const BLANK = /^(Kernel2?|device_kernel)$/;

/// Names that are not those of C++ functions, like "[CUDA memset]" or "conv1 + relu", stay as they are.
export function shortName(value: unknown): string {
  const text = clean(value);
  if (!/[<(]/.test(text) || /^[<[(](?!anonymous)/.test(text)) return text;
  const words = outside(text.replaceAll('(anonymous namespace)::', '')).split(' ');
  const name = words.at(-1)?.split('::').findLast(Boolean) ?? text;
  return BLANK.test(name) ? (/<([^<>(),]+)/.exec(text)?.[1]?.split('::').findLast(Boolean) ?? name) : name;
}

/// With the arguments of its template, in which its instances differ: "f<4, D<int>>".
export function instanceName(value: unknown): string {
  const short = shortName(value);
  const text = clean(value).replaceAll('(anonymous namespace)::', '').replace(/\b\w+::/g, '');
  const begin = text.indexOf(`${short}<`) + short.length;
  if (begin < short.length) return short;
  let depth = 0;
  for (let end = begin; end < text.length; end++) {
    if (text[end] === '<') depth++;
    if (text[end] === '>' && --depth === 0) return `${short}${text.slice(begin, end + 1)}`;
  }
  return short;
}
