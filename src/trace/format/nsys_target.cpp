// Devices, contexts, streams, clock and diagnostics of an export of Nsight Systems.
#include <map>
#include <string>

#include "trace/format/nsys_import.hpp"

namespace hone::trace {
namespace {

constexpr int64_t kMostDiagnostics = 100;
constexpr size_t kLongestDiagnostic = 500;

/// CUDA numbers devices as the process sees them; Nsight Systems numbers them as the machine has them.
std::multimap<int64_t, int64_t> cuda_numbers(NsysImport& nsys) {
  std::multimap<int64_t, int64_t> numbers;
  nsys.read("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId"}, 2,
            [&](const NsysRows& rows) { numbers.emplace(rows.integer(0), rows.integer(1)); });
  return numbers;
}

void read_devices(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kId, kName, kMemory, kMajor, kMinor, kMultiprocessors, kWarp, kWarps, kRegisters, kShared, kBlocks };
  const std::multimap<int64_t, int64_t> numbers = cuda_numbers(nsys);
  nsys.read("TARGET_INFO_GPU",
            {"id", "name", "totalMemory", "computeMajor", "computeMinor", "smCount", "threadsPerWarp",
             "maxWarpsPerSm", "maxRegistersPerSm", "maxShmemPerSm", "maxBlocksPerSm"},
            1, [&](const NsysRows& rows) {
              DeviceProperties device;
              const auto number = numbers.find(rows.integer(kId));
              const int64_t id = number == numbers.end() ? rows.integer(kId) : number->second;
              device.id = std::in_range<int32_t>(id) ? static_cast<int32_t>(id) : 0;
              device.name = trace.strings.intern(rows.text(kName));
              device.memory_bytes = rows.integer(kMemory);
              device.compute_major = rows.small(kMajor);
              device.compute_minor = rows.small(kMinor);
              device.multiprocessors = rows.small(kMultiprocessors);
              device.warp_size = rows.small(kWarp);
              const int64_t threads = static_cast<int64_t>(rows.small(kWarps)) * rows.small(kWarp);
              device.threads_per_multiprocessor = threads < (1 << 20) ? static_cast<int32_t>(threads) : 0;
              device.registers_per_multiprocessor = rows.small(kRegisters);
              device.shared_bytes_per_multiprocessor = rows.integer(kShared);
              device.blocks_per_multiprocessor = rows.small(kBlocks);
              if (trace.find_device(device.id) == nullptr) trace.devices.push_back(device);
            });
}

/// CUpti_ActivityStreamFlag.
StreamKind stream_kind(int64_t flag) {
  switch (flag) {
    case 1: return StreamKind::kBlocking;
    case 2: return StreamKind::kNonBlocking;
    case 3: return StreamKind::kNull;
    default: return StreamKind::kUnknown;
  }
}

void read_contexts(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kContext, kProcess, kDevice, kNullStream };
  nsys.read("TARGET_INFO_CUDA_CONTEXT_INFO", {"contextId", "processId", "deviceId", "nullStreamId"}, 2,
            [&](const NsysRows& rows) {
              const int64_t process = rows.integer(kProcess) & 0xffffff;
              trace.contexts.push_back({nsys.of_process(rows.id(kContext), process << 24),
                                        rows.small(kDevice), process, rows.id(kNullStream)});
            });
  enum { kStream, kStreamContext, kStreamProcess, kPriority, kFlag };
  nsys.read("TARGET_INFO_CUDA_STREAM", {"streamId", "contextId", "processId", "priority", "flag"}, 3,
            [&](const NsysRows& rows) {
              const int64_t process = (rows.integer(kStreamProcess) & 0xffffff) << 24;
              trace.streams.push_back({nsys.of_process(rows.id(kStreamContext), process), rows.id(kStream),
                                       stream_kind(rows.integer(kFlag)), rows.small(kPriority)});
            });
}

bool is_warning(NsysImport& nsys, int64_t severity) {
  const std::string name = nsys.enumerator("ENUM_DIAGNOSTIC_SEVERITY_LEVEL", severity);
  if (name.empty()) return severity >= 2;
  return name.find("warning") != std::string::npos || name.find("error") != std::string::npos;
}

/// Reads the diagnostics of Nsight Systems about the recording.
void read_diagnostics(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  int64_t count = 0;
  nsys.read("DIAGNOSTIC_EVENT", {"severity", "text"}, 2, [&](const NsysRows& rows) {
    if (!is_warning(nsys, rows.integer(0)) || ++count > kMostDiagnostics) return;
    trace.doubt(Severity::kDoubt, "recording", std::string(rows.text(1).substr(0, kLongestDiagnostic)));
  });
}

void read_metadata(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  trace.metadata["source"] = "nsys";
  nsys.read("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1,
            [&](const NsysRows& rows) { trace.metadata["utc_epoch_ns"] = std::to_string(rows.integer(0)); });
  nsys.read("META_DATA_EXPORT", {"name", "value"}, 2, [&](const NsysRows& rows) {
    if (trace.metadata.size() < 1000) trace.metadata[std::string(rows.text(0))] = rows.text(1);
  });
}

}  // namespace

void read_nsys_target(NsysImport& nsys) {
  read_metadata(nsys);
  read_devices(nsys);
  read_contexts(nsys);
  read_diagnostics(nsys);
}

}  // namespace hone::trace
