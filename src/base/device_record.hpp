// Times and work of a device as recorded by the program itself, without a profiler.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hone::base {

/// Launch parameters of a kernel; sizes in bytes.
struct DeviceLaunch {
  std::array<int32_t, 3> grid{};
  std::array<int32_t, 3> block{};
  std::array<int32_t, 3> cluster{};  ///< zeros without clusters
  int32_t registers_per_thread = 0;
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  int64_t local_bytes_per_thread = 0;
  bool programmatic = false;  ///< may start before the previous kernel has ended
};

/// A call of the device's API.
struct DeviceCall {
  int64_t name = 0;  ///< index into DeviceRecord::texts
  int64_t thread = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool waits = false;  ///< true if it waits for all submitted work
};

/// A kernel, copy or fill.
struct DeviceWork {
  enum class Kind : uint8_t { kKernel, kCopyToDevice, kCopyToHost, kCopyWithin, kFill };
  Kind kind = Kind::kKernel;
  int64_t name = -1;  ///< mangled name of a kernel: index into DeviceRecord::texts
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t call = 0;     ///< the call that submitted it: index into DeviceRecord::calls
  int64_t node = -1;    ///< node of the graph that the call launched: index into DeviceRecord::nodes
  int64_t launch = -1;  ///< for a kernel: index into DeviceRecord::launches
  int64_t bytes = 0;    ///< for a copy or fill
};

/// A node of the program's graph, which runs after the previous node.
struct DeviceNode {
  int64_t step = 0;  ///< name of its step: index into DeviceRecord::texts
};

struct DeviceDescription {
  std::string name;
  std::string uuid;     ///< "GPU-" and 32 digits in 5 groups
  int32_t ordinal = 0;  ///< number among the devices that the process sees
  int64_t memory_bytes = 0;
  int32_t compute_major = 0;
  int32_t compute_minor = 0;
  int32_t multiprocessors = 0;
  int32_t warp_size = 0;
  int32_t threads_per_multiprocessor = 0;
  int32_t registers_per_multiprocessor = 0;
  int64_t shared_bytes_per_multiprocessor = 0;
  int32_t blocks_per_multiprocessor = 0;
};

/// Times are base::monotonic_ns().
struct DeviceRecord {
  DeviceDescription device;
  std::vector<std::string> texts;
  std::vector<DeviceCall> calls;
  std::vector<DeviceWork> work;
  std::vector<DeviceLaunch> launches;
  std::vector<DeviceNode> nodes;
  std::vector<std::string> notes;  ///< facts that a reader of the times must know
};

}  // namespace hone::base
