// Wraps the CUDA runtime: errors become sentences, and memory, streams and events free themselves on the GPU
// on which they were made, whichever GPU is current.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace hone::device::cuda {

/// Throws unless `status` is success: an internal error for an error that only a kernel can cause (a fault, a
/// failed assertion), LostDevice for a GPU that is gone, else an environment error. The sentence says what
/// failed and why.
void check(cudaError_t status, std::string_view what);

/// Throws like check() if the runtime knows of a fault or of a GPU that is gone.
void check_alive(std::string_view what);

/// Reports a call into `library` that failed because of `reason`. If memory was full, or if the runtime knows
/// of a fault or of a GPU that is gone (which libraries report only as a failed execution), it throws the
/// error of check(); else an environment error with `reason`.
[[noreturn]] void fail_library_call(std::string_view what, std::string_view library, const char* reason,
                                    bool memory_full);

/// The memory of one GPU that this process has allocated.
class GpuMemory {
 public:
  /// A null context represents a missing GPU; memory then comes from the runtime.
  explicit GpuMemory(CUcontext context) : context_(context) {}

  CUcontext context() const { return context_; }
  /// The bytes that are currently allocated, and the largest such amount so far.
  int64_t held() const { return held_; }
  int64_t peak() const { return peak_; }

 private:
  friend class DeviceBytes;
  void add(int64_t bytes);

  CUcontext context_;
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
};

/// Device memory, 256-byte aligned. Throws OutOfMemory, an environment error with the sizes, if the device
/// has no room.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  /// `memory` must outlive it.
  DeviceBytes(GpuMemory& memory, int64_t size);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&& other) noexcept;
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  /// The context of its GPU; null if it is empty or the GPU is missing.
  CUcontext context() const { return memory_ == nullptr ? nullptr : memory_->context(); }

 private:
  GpuMemory* memory_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

/// Host memory that every GPU can copy from and to without staging; a GPU must be current when it is made.
class PinnedBytes {
 public:
  explicit PinnedBytes(int64_t size);
  ~PinnedBytes();
  PinnedBytes(PinnedBytes&& other) noexcept;
  PinnedBytes& operator=(PinnedBytes&&) = delete;
  std::byte* data() const { return data_; }

 private:
  CUcontext context_ = nullptr;
  std::byte* data_ = nullptr;
};

/// Copies from the host; finished when it returns (a plain cudaMemcpy may still be in progress for other
/// streams).
void copy_to_device(const DeviceBytes& to, const void* from, size_t size);

/// Fills with zeros; finished when it returns.
void clear(const DeviceBytes& bytes);

/// A stream of the GPU that is current when it is made.
class Stream {
 public:
  /// With the highest priority, its blocks are scheduled first when there is room.
  enum class Priority : uint8_t { kNormal, kHighest };
  explicit Stream(Priority priority = Priority::kNormal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  /// Waits for all submitted work.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "the GPU work"); }

 private:
  CUcontext context_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// An event of the GPU that is current when it is made.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  CUcontext context_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

/// Microseconds between two events that have completed.
double elapsed_us(const Event& begin, const Event& end);

}  // namespace hone::device::cuda
