// See driver.hpp.
#include "backend/tensorrt/plugin/library/driver.hpp"

#include <array>
#include <utility>

#include "backend/driver_library.hpp"
#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

#define HONE_TEXT(name) #name
#define HONE_EXPANDED_TEXT(name) HONE_TEXT(name)

Driver open_driver() {
  void* const library = open_driver_library();
  Driver driver;
#define HONE_FIND(name) find_in_driver(library, HONE_EXPANDED_TEXT(name), driver.name);
  HONE_DRIVER_FUNCTIONS(HONE_FIND)
#undef HONE_FIND
  find_in_driver(library, "cuEventElapsedTime", driver.cuEventElapsedTime);
  return driver;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "asking for the GPU's properties");
  return value;
}

}  // namespace

const Driver& driver() {
  static const Driver kDriver = open_driver();
  return kDriver;
}

void check(CUresult result, const char* doing) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver().cuGetErrorString(result, &text);
  fail_environment("{} failed on the GPU: {}", doing,
                   text == nullptr ? fmt::format("error {}", static_cast<int>(result)) : text);
}

Gpu::Gpu(int ordinal) {
  const Driver& d = driver();
  check(d.cuInit(0), "starting CUDA");
  int count = 0;
  check(d.cuDeviceGetCount(&count), "counting GPUs");
  if (ordinal >= count)
    fail_environment("this machine has {}", count == 1 ? "1 GPU, cuda:0" : fmt::format("{} GPUs", count));
  CUdevice device = 0;
  check(d.cuDeviceGet(&device, ordinal), "opening the GPU");
  check(d.cuDevicePrimaryCtxRetain(&context_, device), "making a context");
  use();
  std::array<char, 256> text{};
  check(d.cuDeviceGetName(text.data(), static_cast<int>(text.size()), device), "asking for the GPU's name");
  name_ = text.data();
  check(d.cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "asking for the GPU's bus id");
  bus_id_ = text.data();
  major_ = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  minor_ = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  l2_bytes_ = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

void Gpu::use() const { check(driver().cuCtxSetCurrent(context_), "choosing the GPU"); }

std::string Gpu::text() const { return fmt::format("{}, sm {}.{}", name_, major_, minor_); }

std::string Gpu::driver_version() const {
  int version = 0;
  check(driver().cuDriverGetVersion(&version), "asking for the driver's version");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int64_t Gpu::free_bytes() const {
  size_t free = 0;
  size_t total = 0;
  check(driver().cuMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<int64_t>(free);
}

DeviceMemory::DeviceMemory(size_t bytes) : size_(bytes) {
  // An empty tensor also has an address.
  const CUresult result = driver().cuMemAlloc(&address_, bytes == 0 ? 1 : bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    fail_environment("out of memory: the GPU has no {:.1f} MB left for TensorRT",
                     static_cast<double>(bytes) / 1e6);
  check(result, "an allocation");
}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) driver().cuMemFree(address_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), size_(std::exchange(other.size_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedMemory::PinnedMemory(size_t bytes) {
  check(driver().cuMemAllocHost(&data_, bytes == 0 ? 1 : bytes), "an allocation of pinned memory");
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) driver().cuMemFreeHost(data_);
}

Stream::Stream() { check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream"); }

Stream::~Stream() {
  if (stream_ != nullptr) driver().cuStreamDestroy(stream_);
}

void Stream::synchronize() const { check(driver().cuStreamSynchronize(stream_), "a run"); }

Event::Event() { check(driver().cuEventCreate(&event_, CU_EVENT_DEFAULT), "making an event"); }

Event::~Event() {
  if (event_ != nullptr) driver().cuEventDestroy(event_);
}

void Event::record(const Stream& stream, bool captured) const {
  check(driver().cuEventRecordWithFlags(event_, stream.get(),
                                        captured ? CU_EVENT_RECORD_EXTERNAL : CU_EVENT_RECORD_DEFAULT),
        "recording an event");
}

void Event::synchronize() const { check(driver().cuEventSynchronize(event_), "a run"); }

double Event::milliseconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(driver().cuEventElapsedTime(&milliseconds, begin.event_, end.event_), "reading a time");
  return milliseconds;
}

void CapturedGraph::finish(const Stream& stream, bool enqueued) {
  CUgraph graph = nullptr;
  const bool captured = driver().cuStreamEndCapture(stream.get(), &graph) == CUDA_SUCCESS && graph != nullptr;
  if (captured && enqueued && driver().cuGraphInstantiateWithFlags(&executable_, graph, 0) != CUDA_SUCCESS)
    executable_ = nullptr;
  if (captured) driver().cuGraphDestroy(graph);
}

CapturedGraph::~CapturedGraph() {
  if (executable_ != nullptr) driver().cuGraphExecDestroy(executable_);
}

}  // namespace hone::backend::tensorrt
