// See runtime.hpp.
#include "device/cuda/plugin/runtime.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/out_of_memory.hpp"

namespace hone::device::cuda {
namespace {

constexpr double kMega = 1e6;

std::atomic<int64_t> held_bytes{0};
std::atomic<int64_t> peak_bytes{0};

void hold(int64_t bytes) {
  const int64_t now = held_bytes += bytes;
  int64_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

std::string free_memory_text() {
  size_t free = 0;
  size_t total = 0;
  const cudaError_t status = cudaMemGetInfo(&free, &total);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) return "some hundred MB that CUDA itself takes are not free";
    return "how much of its memory is free is unknown";
  }
  return fmt::format("{:.1f} of its {:.1f} MB are free", static_cast<double>(free) / kMega,
                     static_cast<double>(total) / kMega);
}

template <class... Args>
[[noreturn]] void fail_for_room(fmt::format_string<Args...> format, Args&&... args) {
  throw OutOfMemory(ErrorKind::kEnvironment, fmt::format(format, std::forward<Args>(args)...));
}

/// What no environment causes: a kernel reached outside of its memory, or was not what it claimed to be.
bool is_fault(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure: return true;
    default: return false;
  }
}

/// The device itself is gone or may not be used any more.
bool is_loss(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorHardwareStackError:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

/// Where the process can use the GPU no more: `last`, which the runtime knew, or what it hears when it is
/// asked. A library has a runtime of its own, and ours knows nothing of what that met. Else success, as
/// anything else may be what an earlier refusal has left.
cudaError_t end_of_use(cudaError_t last) {
  size_t free = 0;
  size_t total = 0;
  const cudaError_t now = cudaMemGetInfo(&free, &total);
  (void)cudaGetLastError();
  for (const cudaError_t status : {last, now}) {
    if (is_fault(status) || is_loss(status)) return status;
  }
  return cudaSuccess;
}

}  // namespace

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a failed call leaves its mark for the next one otherwise
  const char* reason = cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation)
    fail_for_room("{} failed because the GPU's memory is full: {}", what, free_memory_text());
  if (is_fault(status)) fail_internal("{} failed on the GPU, which is a bug of hone: {}", what, reason);
  if (is_loss(status)) {
    throw LostDevice(fmt::format(
        "{} failed because the GPU is lost ({}); nvidia-smi says whether it needs a reset", what, reason));
  }
  if (status == cudaErrorNoKernelImageForDevice) {
    fail_environment(
        "{} failed because this build of hone has no kernels for the GPU; configure it with "
        "-DHONE_CUDA_ARCHITECTURES for the GPU's compute capability",
        what);
  }
  fail_environment("{} failed on the GPU: {}", what, reason);
}

void check_alive(std::string_view what) { check(end_of_use(cudaGetLastError()), what); }

void fail_library_call(std::string_view what, std::string_view library, const char* reason,
                       bool memory_full) {
  const cudaError_t last = memory_full ? cudaErrorMemoryAllocation : cudaGetLastError();
  check(last == cudaErrorMemoryAllocation ? last : end_of_use(last), what);
  fail_environment("{} failed in {}: {}", what, library, reason);
}

DeviceBytes::DeviceBytes(int64_t size) : size_(size) {
  if (size == 0) return;
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<size_t>(size));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail_for_room("the GPU has no room for {:.1f} MB: {}", static_cast<double>(size) / kMega,
                  free_memory_text());
  }
  check(status, "an allocation");
  data_ = static_cast<std::byte*>(memory);
  hold(size);
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
  const cudaError_t status = cudaMallocHost(&memory, static_cast<size_t>(size));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail_for_room("the host has no room for {:.1f} MB of pinned memory", static_cast<double>(size) / kMega);
  }
  check(status, "an allocation of pinned host memory");
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
int64_t peak_allocated_bytes() { return peak_bytes; }

void evict_l2(int64_t l2_bytes) {
  static const DeviceBytes kBuffer(2 * l2_bytes);
  clear(kBuffer);
}

Stream::Stream(Priority priority) {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "a new stream");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                     priority == Priority::kHighest ? highest : lowest),
        "a new stream");
}
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

namespace {

struct Copy {
  explicit Copy(tensor::Tensor bytes)
      : host(std::move(bytes)), device(static_cast<int64_t>(host.byte_size())) {
    copy_to_device(device, host.bytes(), host.byte_size());
  }
  tensor::Tensor host;
  DeviceBytes device;
};

}  // namespace

std::shared_ptr<const DeviceBytes> device_copy(const tensor::Tensor& host) {
  static std::mutex mutex;
  static std::map<std::pair<const std::byte*, size_t>, std::weak_ptr<Copy>> copies;
  const std::lock_guard lock(mutex);
  const std::pair key(host.bytes(), host.byte_size());
  std::shared_ptr<Copy> copy = copies[key].lock();
  if (copy == nullptr) {
    std::erase_if(copies, [](const auto& entry) { return entry.second.expired(); });
    // The copy holds on to the host's bytes, so that no other tensor can take their address meanwhile.
    copy = std::make_shared<Copy>(host);
    copies[key] = copy;
  }
  return {copy, &copy->device};
}

std::shared_ptr<const DeviceBytes> device_copy_of_content(const tensor::Tensor& host) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<Copy>> copies;
  const std::lock_guard lock(mutex);
  std::erase_if(copies, [](const auto& copy) { return copy.expired(); });
  for (const auto& known : copies) {
    const std::shared_ptr<Copy> copy = known.lock();
    if (copy != nullptr && copy->host.byte_size() == host.byte_size() &&
        std::memcmp(copy->host.bytes(), host.bytes(), host.byte_size()) == 0)
      return {copy, &copy->device};
  }
  auto copy = std::make_shared<Copy>(host);
  copies.push_back(copy);
  return {copy, &copy->device};
}

}  // namespace hone::device::cuda
