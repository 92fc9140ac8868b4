// ONNX Runtime (npm's onnxruntime-node) as a backend of hone bench: answers the worker protocol, version 1,
// that docs/BENCHMARK.md describes. Started by the script `worker` beside it.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import * as ort from 'onnxruntime-node';

const PROTOCOL = 1;

// Element types of the protocol: ONNX Runtime's name and the array that holds the values.
const TYPES = {
  float32: ['float32', Float32Array],
  float64: ['float64', Float64Array],
  float16: ['float16', Uint16Array],
  int8: ['int8', Int8Array],
  int16: ['int16', Int16Array],
  int32: ['int32', Int32Array],
  int64: ['int64', BigInt64Array],
  uint8: ['uint8', Uint8Array],
  uint16: ['uint16', Uint16Array],
  uint32: ['uint32', Uint32Array],
  uint64: ['uint64', BigUint64Array],
  bool: ['bool', Uint8Array],
};

class WorkerError extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

let session = null;
let sets = [];
let nextSet = 0;

function readSet(input, index) {
  const type = TYPES[input.dtype];
  if (!type) throw new WorkerError('environment', `ONNX Runtime for Node.js has no tensors of ${input.dtype}`);
  const [name, ArrayType] = type;
  const count = input.shape.reduce((product, dimension) => product * dimension, 1);
  const values = new ArrayType(count);
  const bytes = new Uint8Array(values.buffer);
  const file = fs.openSync(input.file, 'r');
  const read = fs.readSync(file, bytes, 0, bytes.length, input.offsets[index]);
  fs.closeSync(file);
  if (read !== bytes.length) throw new WorkerError('bad input', `${input.file}: set ${index} lies outside the file`);
  return new ort.Tensor(name, values, input.shape);
}

async function load(request) {
  // Inputs and outputs are host memory, so `includes_transfers` changes nothing.
  if ((request.device ?? 'cpu') !== 'cpu') {
    throw new WorkerError('environment', `this peer runs ONNX Runtime on the CPU, not on ${request.device}`);
  }
  if (request.precision !== 'fp32') {
    throw new WorkerError('environment', `this peer runs ONNX Runtime in fp32 only, not in ${request.precision}`);
  }
  if (!request.onnx) throw new WorkerError('bad input', 'there is no ONNX file of this model');
  sets = request.inputs[0].offsets.map((_, index) =>
    Object.fromEntries(request.inputs.map((input) => [input.name, readSet(input, index)])));
  const start = performance.now();
  session = await ort.InferenceSession.create(request.onnx, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    intraOpNumThreads: request.threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  return { load_ms: performance.now() - start, notes: [] };
}

function loaded() {
  if (!session) throw new WorkerError('bad input', 'no model is loaded');
  return session;
}

async function runBlock(request) {
  const model = loaded();
  const latencies = [];
  const start = performance.now();
  do {
    const inputs = sets[nextSet];
    nextSet = (nextSet + 1) % sets.length;
    const before = performance.now();
    await model.run(inputs);
    latencies.push(performance.now() - before);
  } while (latencies.length < request.runs && performance.now() - start < 1e3 * request.seconds);
  return { latencies_ms: latencies, wall_ms: performance.now() - start };
}

async function accuracy(request) {
  const model = loaded();
  const outputs = [];
  for (const set of request.sets) {
    const results = await model.run(sets[set]);
    outputs.push(model.outputNames.map((name, index) => {
      const { type, data, dims } = results[name];
      const file = path.join(request.folder, `output_${set}_${index}.bin`);
      fs.writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      return { name, dtype: type, shape: dims, file };
    }));
  }
  return { outputs };
}

function version() {
  return createRequire(import.meta.url)('onnxruntime-node/package.json').version;
}

async function answer(request) {
  switch (request.type) {
    case 'hello': return { protocol: PROTOCOL, backend: 'onnxruntime', version: version() };
    case 'load': return load(request);
    case 'warmup':
    case 'sample': return runBlock(request);
    case 'accuracy': return accuracy(request);
    // ONNX Runtime does not say; the parent reads the memory of the process.
    case 'memory': return { weights: 0, activations: 0 };
    default: throw new WorkerError('bad input', `unknown request '${request.type}'`);
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.type === 'quit') break;
  let reply;
  try {
    reply = { id: request.id, type: request.type, ...(await answer(request)) };
  } catch (error) {
    reply = { id: request.id, type: 'error', kind: error.kind ?? 'environment', message: String(error.message) };
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
}
process.exit(0);
