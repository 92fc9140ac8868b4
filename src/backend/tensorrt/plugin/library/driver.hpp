// The CUDA driver, opened at run time: without it there is a clear error, and the plugin needs no CUDA
// library. Each object here owns the resource in its name, on the GPU whose context is current.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>

// The header maps this to its second version, which drivers that are otherwise new enough may lack.
#undef cuEventElapsedTime

namespace hone::backend::tensorrt {

// The header renames functions to their newest versions; the names of members and symbols follow it.
// clang-format sees the entries as a chain of calls and would move them every time.
// clang-format off
#define HONE_DRIVER_FUNCTIONS(F) \
  F(cuInit) F(cuDriverGetVersion) F(cuDeviceGet) F(cuDeviceGetCount) F(cuDeviceGetName) \
  F(cuDeviceGetAttribute) F(cuDeviceGetPCIBusId) F(cuDevicePrimaryCtxRetain) F(cuCtxSetCurrent) \
  F(cuGetErrorString) F(cuMemGetInfo) F(cuMemAlloc) F(cuMemFree) F(cuMemAllocHost) \
  F(cuMemFreeHost) F(cuMemcpyHtoDAsync) F(cuMemcpyDtoHAsync) F(cuMemsetD8Async) \
  F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamSynchronize) F(cuStreamBeginCapture) \
  F(cuStreamEndCapture) F(cuGraphInstantiateWithFlags) F(cuGraphLaunch) F(cuGraphDestroy) \
  F(cuGraphExecDestroy) F(cuEventCreate) F(cuEventDestroy) F(cuEventRecordWithFlags) \
  F(cuEventSynchronize)
// clang-format on

struct Driver {
#define HONE_MEMBER(name) decltype(&::name) name = nullptr;
  HONE_DRIVER_FUNCTIONS(HONE_MEMBER)
#undef HONE_MEMBER
  CUresult (*cuEventElapsedTime)(float*, CUevent, CUevent) = nullptr;
};

/// Environment error if no driver is loaded on this machine.
const Driver& driver();

/// Environment error that says what was being done, unless the result is success.
void check(CUresult result, const char* doing);

/// One of the GPUs that are visible to the process. Its context becomes current in this thread.
class Gpu {
 public:
  /// Environment error if there is no such GPU.
  explicit Gpu(int ordinal);

  void use() const;
  /// "NVIDIA H200".
  const std::string& name() const { return name_; }
  int major() const { return major_; }
  int minor() const { return minor_; }
  /// "NVIDIA H200, sm 9.0".
  std::string text() const;
  std::string bus_id() const { return bus_id_; }
  /// "13.0", the CUDA version of the driver.
  std::string driver_version() const;
  int64_t free_bytes() const;
  int64_t l2_bytes() const { return l2_bytes_; }

 private:
  CUcontext context_ = nullptr;
  std::string name_;
  std::string bus_id_;
  int major_ = 0;
  int minor_ = 0;
  int64_t l2_bytes_ = 0;
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  CUdeviceptr address() const { return address_; }
  void* get() const { return reinterpret_cast<void*>(address_); }
  size_t size() const { return size_; }

 private:
  CUdeviceptr address_ = 0;
  size_t size_ = 0;
};

/// Host memory that can be copied to and from the device without staging.
class PinnedMemory {
 public:
  explicit PinnedMemory(size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CUstream get() const { return stream_; }
  void synchronize() const;

 private:
  CUstream stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  /// `captured` means that the stream is being captured; every launch of the graph then records the event.
  void record(const Stream& stream, bool captured = false) const;
  void synchronize() const;
  static double milliseconds_between(const Event& begin, const Event& end);

 private:
  CUevent event_ = nullptr;
};

/// The work that `enqueue` submits to a stream, as a graph that is launched as a whole.
class CapturedGraph {
 public:
  /// ok() is false if some of the work cannot be captured; the stream remains usable.
  template <class F>
  CapturedGraph(const Stream& stream, F&& enqueue) {
    if (driver().cuStreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS)
      return;
    const bool enqueued = enqueue();
    finish(stream, enqueued);
  }
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  bool ok() const { return executable_ != nullptr; }
  void launch(CUstream stream) const { check(driver().cuGraphLaunch(executable_, stream), "a launch"); }
  void launch(const Stream& stream) const { launch(stream.get()); }

 private:
  void finish(const Stream& stream, bool enqueued);

  CUgraphExec executable_ = nullptr;
};

}  // namespace hone::backend::tensorrt
