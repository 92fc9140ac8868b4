// The CUDA runtime in the house's terms: errors as sentences, and memory, streams and events that free
// themselves.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "tensor/tensor.hpp"

namespace hone::device::cuda {

/// Throws unless `status` is success: a bug of ours for what only a kernel can have done (a fault, a failed
/// assertion), LostDevice for a GPU that is gone, else an environment error. The sentence says what failed
/// and why.
void check(cudaError_t status, std::string_view what);

/// Throws, as check() does, where the runtime knows of a fault or of a GPU that is gone.
void check_alive(std::string_view what);

/// Of a call into `library` that failed for `reason`: the sentence of check() where memory was full, or where
/// the runtime knows of a fault or of a GPU that is gone, which libraries call a failed execution; else an
/// environment error with `reason`.
[[noreturn]] void fail_library_call(std::string_view what, std::string_view library, const char* reason,
                                    bool memory_full);

/// Device memory, 256-byte aligned. OutOfMemory, an environment error with the sizes, when the device has no
/// room.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(int64_t size);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&& other) noexcept;
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

/// Host memory that the device copies from and to without staging.
class PinnedBytes {
 public:
  explicit PinnedBytes(int64_t size);
  ~PinnedBytes();
  PinnedBytes(PinnedBytes&& other) noexcept;
  PinnedBytes& operator=(PinnedBytes&&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

/// Copies from the host, done when it returns (cudaMemcpy alone may still be under way for other streams).
void copy_to_device(const DeviceBytes& to, const void* from, size_t size);

/// Fills with zeros, done when it returns.
void clear(const DeviceBytes& bytes);

/// Memory of the device that everything of ours in the process holds at present, and the most it ever held.
int64_t allocated_bytes();
int64_t peak_allocated_bytes();

/// Writes twice as many bytes as the L2 cache holds, which has `l2_bytes`, done when it returns: what a
/// program used is out of it. The buffer is allocated at the first call and kept.
void evict_l2(int64_t l2_bytes);

class Stream {
 public:
  /// The highest one: its blocks go first where there is room for some.
  enum class Priority : uint8_t { kNormal, kHighest };
  explicit Stream(Priority priority = Priority::kNormal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  /// Waits for everything handed over.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "the GPU work"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds between two events that have happened.
double elapsed_us(const Event& begin, const Event& end);

/// The device's copy of host bytes, shared by all who ask for the same bytes; it keeps the host tensor alive.
std::shared_ptr<const DeviceBytes> device_copy(const tensor::Tensor& host);
/// The same for bytes that everyone gathers anew: shared by all who ask for equal content, which is kept on
/// the host to compare with.
std::shared_ptr<const DeviceBytes> device_copy_of_content(const tensor::Tensor& host);

}  // namespace hone::device::cuda
