// Categories of a step's time: their names, colours and rank.
import { clip } from '../../text';

interface Category {
  label: string;
  hint: string;
  colour: number;
}

const KNOWN: Record<string, Category> = {
  kernel: { label: 'Kernel', hint: 'A kernel ran that is not communication.', colour: 0 },
  memcpy: { label: 'Memcpy', hint: 'A copy ran and no kernel.', colour: 1 },
  memset: { label: 'Memset', hint: 'A set ran, and none of the above.', colour: 3 },
  communication: { label: 'Communication', hint: 'Only communication between devices ran.', colour: 7 },
  runtime: { label: 'Runtime', hint: 'The device did nothing; the host was in a call of the CUDA API.', colour: 4 },
  data_loading: { label: 'Data loading', hint: 'The host waited for input data, and none of the above.', colour: 5 },
  cpu: { label: 'CPU', hint: 'The host was in an operator or a range, and none of the above.', colour: 2 },
  other: { label: 'Other', hint: 'Nothing that was recorded.', colour: 6 },
};

export const categoryOf = (key: string, place: number): Category =>
  Object.hasOwn(KNOWN, key) ? KNOWN[key]! : { label: clip(key, 40), hint: '', colour: place };
