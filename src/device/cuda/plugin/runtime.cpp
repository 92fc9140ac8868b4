// See runtime.hpp.
#include "device/cuda/plugin/runtime.hpp"

#include <utility>

#include "base/out_of_memory.hpp"
#include "device/cuda/plugin/device_guard.hpp"

namespace hone::device::cuda {
namespace {

constexpr double kMega = 1e6;

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

/// True for errors that only a bug can cause: a kernel accessed memory out of bounds, or is invalid.
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

/// True if the device itself is gone or cannot be used any more.
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

/// Returns the error that prevents the process from using the GPU; success if it can still use it. The
/// runtime is asked in addition to `last`, its last error, because a library may have its own runtime, whose
/// errors ours does not know. All other errors are ignored, because they may be left from an earlier refusal.
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
  (void)cudaGetLastError();  // otherwise the next call would report this error
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

void GpuMemory::add(int64_t bytes) {
  const int64_t now = held_ += bytes;
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

DeviceBytes::DeviceBytes(GpuMemory& memory, int64_t size) : memory_(&memory), size_(size) {
  if (size == 0) return;
  const DeviceGuard guard(context());
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, static_cast<size_t>(size));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail_for_room("the GPU has no room for {:.1f} MB: {}", static_cast<double>(size) / kMega,
                  free_memory_text());
  }
  check(status, "an allocation");
  data_ = static_cast<std::byte*>(data);
  memory.add(size);
}

DeviceBytes::~DeviceBytes() {
  if (data_ == nullptr) return;
  const DeviceGuard guard(context());
  (void)cudaFree(data_);
  memory_->add(-size_);
}

DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : memory_(other.memory_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBytes& DeviceBytes::operator=(DeviceBytes&& other) noexcept {
  std::swap(memory_, other.memory_);
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
  context_ = current_context();
  data_ = static_cast<std::byte*>(memory);
}

PinnedBytes::~PinnedBytes() {
  if (data_ == nullptr) return;
  const DeviceGuard guard(context_);
  (void)cudaFreeHost(data_);
}

PinnedBytes::PinnedBytes(PinnedBytes&& other) noexcept
    : context_(other.context_), data_(std::exchange(other.data_, nullptr)) {}

void copy_to_device(const DeviceBytes& to, const void* from, size_t size) {
  if (size == 0) return;
  const DeviceGuard guard(to.context());
  check(cudaMemcpy(to.data(), from, size, cudaMemcpyHostToDevice), "a copy to the device");
  // From pageable memory, the call returns when the bytes are staged, and our streams do not wait for this
  // copy.
  check(cudaStreamSynchronize(nullptr), "a copy to the device");
}

void clear(const DeviceBytes& bytes) {
  const DeviceGuard guard(bytes.context());
  check(cudaMemset(bytes.data(), 0, static_cast<size_t>(bytes.size())), "clearing memory");
  check(cudaStreamSynchronize(nullptr), "clearing memory");
}

Stream::Stream(Priority priority) {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "a new stream");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                     priority == Priority::kHighest ? highest : lowest),
        "a new stream");
  context_ = current_context();
}
Stream::~Stream() {
  if (stream_ == nullptr) return;
  const DeviceGuard guard(context_);
  (void)cudaStreamDestroy(stream_);
}

Event::Event() {
  check(cudaEventCreate(&event_), "a new event");
  context_ = current_context();
}
Event::~Event() {
  if (event_ == nullptr) return;
  const DeviceGuard guard(context_);
  (void)cudaEventDestroy(event_);
}
Event::Event(Event&& other) noexcept
    : context_(other.context_), event_(std::exchange(other.event_, nullptr)) {}

double elapsed_us(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading an event");
  return 1e3 * static_cast<double>(milliseconds);
}

}  // namespace hone::device::cuda
