// Databases in the shape of Nsight Systems' exports: as of 2025, and as of 2021 with fewer columns.
#pragma once

namespace hone::trace {

/// One process (pid 300, thread 301) that launches a kernel and one in a graph, copies, waits for an event.
/// globalTid = pid << 24 | tid.
constexpr const char* kNsys2025 = R"sql(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'),
  (4, 'cuLaunchKernelEx'), (5, 'cudaMemcpyAsync_v3020'), (6, 'worker'), (7, 'forward'), (8, 'cudaEventRecord_v3020'),
  (9, 'cuMemAlloc_v2'), (10, 'Lazy Function Loading');
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1711929600000000000, '', '');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER,
  maxRegistersPerSm INTEGER, maxShmemPerSm INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER,
  maxBlocksPerSm INTEGER, computeMajor INTEGER, computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 3, 'NVIDIA H200', 150754820096, 132, 65536, 233472, 32, 64, 32, 9, 0);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 300, '', 132);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER,
  deviceId INTEGER, contextId INTEGER, parentContextId INTEGER, isGreenContext INTEGER);
INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 0, 300, 0, 1, NULL, 0);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER,
  contextId INTEGER, priority INTEGER, flag INTEGER);
INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 0, 0, 300, 1, 0, 3), (13, 0, 0, 300, 1, -5, 2);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device');
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
  (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
  shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
  blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
  localMemoryPerThread INTEGER, graphNodeId INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER,
  clusterZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (2000, 2500, 0, 1, NULL, 7, 100, 300 << 24, 1, 2, 2, 40, 10, 2, 1, 128, 1, 1, 1024, 2048, 16, NULL, NULL, 2, 1, 1),
  (2600, 2700, 0, 1, NULL, 13, 101, 300 << 24, NULL, 2, 2, 40, 10, 2, 1, 128, 1, 1, 0, 0, 0, 77, 5, 0, 0, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0, 1, 7, 102, 300 << 24, 4096, 1, 0, 2, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER,
  memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3200, 3210, 0, 1, 7, 103, 300 << 24, 0, 64, NULL, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, (300 << 24) | 301, 100, 3, 0, NULL),
  (1110, 1120, 1, (300 << 24) | 301, 101, 4, 0, NULL), (1200, 1300, 0, (300 << 24) | 301, 102, 5, 0, NULL),
  (1310, 1320, 0, (300 << 24) | 301, 104, 8, 0, NULL), (1330, 1340, 1, (300 << 24) | 301, 105, 9, 2, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, deprecatedSyncType INTEGER, syncType INTEGER,
  eventId INTEGER, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1400, 1410, 0, 1, 13, 106, 300 << 24, 2, 2, 9, 55),
  (1500, 1600, 0, 1, 4294967295, 107, 300 << 24, 4, 4, 0, 0), (1700, 1800, 0, 1, 7, 108, 300 << 24, 0, 9, 0, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (2510, 0, 1, 7, 104, 300 << 24, 9, 55), (0, 0, 1, 7, 109, 300 << 24, 9, 56);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, overheadType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (1010, 1020, 0, (300 << 24) | 301, 100, 10, 4);
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (6, 0, (300 << 24) | 301);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT,
  globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (900, 1900, 59, NULL, NULL, (300 << 24) | 301, NULL, 7, 0),
  (950, 1150, 59, NULL, 'ProfilerStep#2', (300 << 24) | 301, NULL, NULL, 0),
  (1000, 1050, 60, 1, 'fits', (300 << 24) | 301, NULL, NULL, 0),
  (1040, 1200, 60, 2, 'crosses', (300 << 24) | 301, NULL, NULL, 0),
  (1300, NULL, 59, NULL, 'open', (300 << 24) | 301, NULL, NULL, 0),
  (1300, NULL, 34, NULL, 'mark', (300 << 24) | 301, NULL, NULL, 0);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER,
  metricName TEXT);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (4398046511104, 0, 'x', 4, 'SMs Active [Throughput %]');
CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
INSERT INTO GPU_METRICS VALUES (0, 2100, 4398046511104, 4, 87), (0, 2200, 4398046511104, 99, 1);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,
  address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name TEXT);
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1330, 300 << 24, 0, 1, 4096, 0, 512, 2, 0, NULL),
  (1900, 300 << 24, 0, 1, 4096, 0, 512, 2, 1, NULL);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
  globalPid INTEGER);
INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 0, 0, 1, 'all is well', 0), (0, 0, 0, 2, 'Not all events were collected.', 0);
)sql";

/// Without graph nodes, clusters, records of events, enumerations; copies of unknown columns.
constexpr const char* kNsys2021 = R"sql(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (2, 'gemm'), (3, 'cudaStreamWaitEvent_v3020');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
  blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 2500, 0, 1, 7, 100, 300 << 24, 2, 2, 40, 1, 1, 1, 32, 1, 1, 0, 0, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER,
  dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0, 1, 7, 102, 300 << 24, 4096, 2, 2, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1400, 1410, 0, 1, 13, 106, 300 << 24, 2, 9);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5000, 6000, 0, 1, 7, 110, 300 << 24, 5);
CREATE TABLE NVTX_EVENTS (start INTEGER, text TEXT);
)sql";

}  // namespace hone::trace
