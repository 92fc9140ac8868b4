// Small files in the forms that Kineto has written over the years.
#pragma once

namespace hone::trace {

/// As PyTorch wrote in 2021: other categories, whole absolute microseconds, streams and threads as texts.
constexpr const char* k2021 = R"json({"schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "Tesla V100", "totalGlobalMem": 34084028416, "computeMajor": 7,
    "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "warpSize": 32,
    "sharedMemPerMultiprocessor": 98304, "numSms": 80}],
  "traceEvents": [
  {"ph": "X", "cat": "Operator", "name": "ProfilerStep#3", "pid": 25, "tid": "26", "ts": 1623142623460000,
   "dur": 900, "args": {"Device": 25, "External id": 9}},
  {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 25, "tid": "26", "ts": 1623142623460111, "dur": 250,
   "args": {"Device": 25, "External id": 2, "Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"],
            "Call stack": "a.py(3): f;b.py(4): g"}},
  {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 25, "tid": "26", "ts": 1623142623460120,
   "dur": 7, "args": {"cbid": 211, "correlation": 100, "external id": 2, "external ts": 1}},
  {"ph": "s", "id": 100, "pid": 25, "tid": 26, "ts": 1623142623460120, "cat": "async", "name": "launch"},
  {"ph": "X", "cat": "Kernel", "name": "sgemm", "pid": 0, "tid": "stream 7", "ts": 1623142623460200, "dur": 30,
   "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 100, "external id": 2,
            "registers per thread": 40, "shared memory": 1024, "grid": [4, 2, 1], "block": [128, 1, 1],
            "est. achieved occupancy %": 40}},
  {"ph": "X", "cat": "Runtime", "name": "cudaMemcpyAsync", "pid": 25, "tid": "26", "ts": 1623142623460400,
   "dur": 7, "args": {"cbid": 41, "correlation": 101, "external id": 101}},
  {"ph": "X", "cat": "Memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": "stream 7",
   "ts": 1623142623460500, "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 101,
   "bytes": 4096, "memory bandwidth (GB/s)": 0.4}},
  {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7",
   "ts": 1623142623460600, "dur": 1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 102,
   "bytes": 64}},
  {"ph": "i", "name": "[memory]", "s": "t", "pid": 25, "tid": 26, "ts": 1623142623460112,
   "args": {"Device Type": 1, "Device Id": 0, "Addr": 512, "Bytes": 64}},
  {"ph": "M", "name": "thread_name", "pid": 25, "tid": "26", "ts": 0, "args": {"name": "thread 26 (python)"}},
  {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
   "ts": 1623142623460000, "dur": 900}
]})json";

/// As in 2024 to 2026: nanoseconds behind the point, relative to a base, waits and their events, counters.
constexpr const char* k2026 = R"json({
  "schemaVersion": 1,
  "cupti_version": 26,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
  "baseTimeNanoseconds": 1711929600000000000,
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 4, "tid": 4, "ts": 1000.001,
   "dur": 111.25, "args": {"External id": 10000, "Ev Idx": 0}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#1", "pid": 0, "tid": 7, "ts": 1010.0,
   "dur": 80, "args": {"External id": 10000}},
  {"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "pid": 4, "tid": 4, "ts": 1002, "dur": 3,
   "args": {"External id": 11}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 4, "tid": 4, "ts": 1003, "dur": 1,
   "args": {"External id": 0, "cbid": 652, "correlation": 5}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 20, "ts": 1014.5, "dur": 14.25,
   "args": {"device": 0, "context": 1, "stream": 20, "correlation": 5, "Collective name": "allreduce",
            "graph id": 3, "graph node id": 77, "priority": -5, "channel": 9, "channel_type": 1}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 4, "tid": 4, "ts": 1020, "dur": 9,
   "args": {"cbid": 131, "correlation": 6}},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000020, "ts": 1020, "dur": 8.5,
   "args": {"cuda_sync_kind": "Stream Sync", "stream": 20, "correlation": 6, "device": 0, "context": 1}},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7, "ts": 1030, "dur": 1,
   "args": {"stream": 7, "correlation": 9, "device": 0, "context": 1, "wait_on_stream": 20,
            "wait_on_cuda_event_record_corr_id": 8, "wait_on_cuda_event_id": 2}},
  {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 1081, "dur": 28,
   "args": {"stream": 4294967295, "correlation": 10, "device": 0, "context": 1}},
  {"ph": "X", "cat": "cuda_event", "name": "cudaEvent", "pid": 0, "tid": 20, "ts": 1029.5, "dur": 0.001,
   "args": {"event_id": 2, "stream": 20, "correlation": 8, "device": 0, "context": 1}},
  {"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 1050, "dur": 2},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 4, "tid": 4, "ts": 1002, "dur": 9,
   "args": {"Python id": 1, "Python module id": 0}},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 4, "tid": 4, "ts": 1003,
   "args": {"Device Type": 0, "Device Id": -1, "Addr": 1000, "Bytes": -512, "Total Allocated": 512,
            "Total Reserved": 2097152}},
  {"ph": "C", "cat": "hardware_counters", "name": "sm__cycles_active", "pid": "GPU 2 Counters", "tid": 0,
   "ts": 1004, "args": {"": 53.5}},
  {"ph": "f", "id": 1, "pid": 4, "tid": 4, "ts": 1001, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1200}
  ], "traceName": "a.json"})json";

}  // namespace hone::trace
