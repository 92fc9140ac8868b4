// See runtime.hpp.
#include "device/cuda/plugin/runtime.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace hone::device::cuda {
namespace {

std::atomic<int64_t> held_bytes{0};
thread_local cudaStream_t thread_stream = nullptr;
thread_local bool thread_next_waits = false;

}  // namespace

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a failed call leaves its mark for the next one otherwise
  fail_environment("{} failed on the GPU: {}", what, cudaGetErrorString(status));
}

DeviceBytes::DeviceBytes(int64_t size) : size_(size) {
  if (size == 0) return;
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<size_t>(size));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    size_t free = 0;
    size_t total = 0;
    (void)cudaMemGetInfo(&free, &total);
    constexpr double kMega = 1e6;
    fail_environment("the GPU has no room for {:.1f} MB: {:.1f} of its {:.1f} MB are free",
                     static_cast<double>(size) / kMega, static_cast<double>(free) / kMega,
                     static_cast<double>(total) / kMega);
  }
  check(status, "an allocation");
  data_ = static_cast<std::byte*>(memory);
  held_bytes += size;
}

DeviceBytes::~DeviceBytes() {
  if (data_ == nullptr) return;
  (void)cudaFree(data_);
  held_bytes -= size_;
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

DeviceBytes& DeviceBytes::operator=(DeviceBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBytes::PinnedBytes(int64_t size) {
  if (size == 0) return;
  void* memory = nullptr;
  check(cudaMallocHost(&memory, static_cast<size_t>(size)), "an allocation of pinned host memory");
  data_ = static_cast<std::byte*>(memory);
}

PinnedBytes::~PinnedBytes() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}

PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

void copy_to_device(const DeviceBytes& to, const void* from, size_t size) {
  if (size == 0) return;
  check(cudaMemcpy(to.data(), from, size, cudaMemcpyHostToDevice), "a copy to the device");
  // From pageable memory the call returns once the bytes are staged, and our streams do not wait for this
  // one.
  check(cudaStreamSynchronize(nullptr), "a copy to the device");
}

void clear(const DeviceBytes& bytes) {
  check(cudaMemset(bytes.data(), 0, static_cast<size_t>(bytes.size())), "clearing memory");
  check(cudaStreamSynchronize(nullptr), "clearing memory");
}

int64_t allocated_bytes() { return held_bytes; }

Stream::Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a new stream"); }
Stream::~Stream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

Event::Event() { check(cudaEventCreate(&event_), "a new event"); }
Event::~Event() {
  if (event_ != nullptr) (void)cudaEventDestroy(event_);
}
Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}

double elapsed_us(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading an event");
  return 1e3 * static_cast<double>(milliseconds);
}

cudaStream_t current_stream() { return thread_stream; }

bool next_step_waits() { return thread_next_waits; }
void set_next_step_waits(bool waits) { thread_next_waits = waits; }

StreamScope::StreamScope(const Stream& stream) : previous_(std::exchange(thread_stream, stream.get())) {}
StreamScope::~StreamScope() { thread_stream = previous_; }

std::shared_ptr<const DeviceBytes> device_copy(const tensor::Tensor& host) {
  struct Copy {
    tensor::Tensor host;
    DeviceBytes device;
  };
  static std::mutex mutex;
  static std::map<std::pair<const std::byte*, size_t>, std::weak_ptr<Copy>> copies;
  const std::lock_guard lock(mutex);
  const std::pair key(host.bytes(), host.byte_size());
  std::shared_ptr<Copy> copy = copies[key].lock();
  if (copy == nullptr) {
    std::erase_if(copies, [](const auto& entry) { return entry.second.expired(); });
    // The copy holds on to the host's bytes, so that no other tensor can take their address meanwhile.
    copy = std::make_shared<Copy>(Copy{host, DeviceBytes(static_cast<int64_t>(host.byte_size()))});
    copy_to_device(copy->device, host.bytes(), host.byte_size());
    copies[key] = copy;
  }
  return {copy, &copy->device};
}

}  // namespace hone::device::cuda
