// See device_exchange.hpp.
#include "backend/device_exchange.hpp"

#include <algorithm>

#include "backend/driver_library.hpp"
#include "base/error.hpp"

namespace hone::backend {
namespace {

/// Functions of the driver's stable interface, declared here so that hone can be built without CUDA.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*retain_context)(void**, int) = nullptr;
  int (*set_context)(void*) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
  int (*allocate)(uint64_t*, size_t) = nullptr;
  int (*free)(uint64_t) = nullptr;
  int (*to_device)(uint64_t, const void*, size_t, void*) = nullptr;
  int (*to_host)(void*, uint64_t, size_t, void*) = nullptr;
  int (*fill)(uint64_t, unsigned char, size_t, void*) = nullptr;
  int (*create_stream)(void**, unsigned) = nullptr;
  int (*destroy_stream)(void*) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*create_event)(void**, unsigned) = nullptr;
  int (*destroy_event)(void*) = nullptr;
  int (*record_event)(void*, void*, unsigned) = nullptr;
  int (*elapsed)(float*, void*, void*) = nullptr;
};

constexpr int kOutOfMemory = 2;
constexpr unsigned kNonBlocking = 1;

Driver open_driver() {
  void* const library = open_driver_library();
  Driver driver;
  find_in_driver(library, "cuInit", driver.init);
  find_in_driver(library, "cuDeviceGetCount", driver.device_count);
  find_in_driver(library, "cuDeviceGet", driver.get_device);
  find_in_driver(library, "cuDevicePrimaryCtxRetain", driver.retain_context);
  find_in_driver(library, "cuCtxSetCurrent", driver.set_context);
  find_in_driver(library, "cuGetErrorString", driver.error_text);
  find_in_driver(library, "cuMemAlloc_v2", driver.allocate);
  find_in_driver(library, "cuMemFree_v2", driver.free);
  find_in_driver(library, "cuMemcpyHtoDAsync_v2", driver.to_device);
  find_in_driver(library, "cuMemcpyDtoHAsync_v2", driver.to_host);
  find_in_driver(library, "cuMemsetD8Async", driver.fill);
  find_in_driver(library, "cuStreamCreate", driver.create_stream);
  find_in_driver(library, "cuStreamDestroy_v2", driver.destroy_stream);
  find_in_driver(library, "cuStreamSynchronize", driver.synchronize);
  find_in_driver(library, "cuEventCreate", driver.create_event);
  find_in_driver(library, "cuEventDestroy_v2", driver.destroy_event);
  find_in_driver(library, "cuEventRecordWithFlags", driver.record_event);
  find_in_driver(library, "cuEventElapsedTime", driver.elapsed);
  return driver;
}

const Driver& driver() {
  static const Driver kDriver = open_driver();
  return kDriver;
}

void check(int result, const char* doing) {
  if (result == 0) return;
  const char* text = nullptr;
  driver().error_text(result, &text);
  fail_environment("{} failed on the GPU: {}", doing,
                   text == nullptr ? fmt::format("error {}", result) : text);
}

class Memory {
 public:
  Memory(void* context, int64_t bytes) : context_(context) {
    // An empty tensor also has an address.
    const int result = driver().allocate(&address_, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
    if (result == kOutOfMemory)
      fail_environment("out of memory: the GPU has no {:.1f} MB left for a value between blocks",
                       static_cast<double>(bytes) / 1e6);
    check(result, "an allocation");
  }
  ~Memory() {
    driver().set_context(context_);
    driver().free(address_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint64_t address() const { return address_; }

 private:
  void* context_;
  uint64_t address_ = 0;
};

class Event final : public DeviceExchange::Moment {
 public:
  explicit Event(void* stream) {
    check(driver().create_event(&event_, 0), "making an event");
    check(driver().record_event(event_, stream, 0), "recording an event");
  }
  ~Event() override { driver().destroy_event(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void* get() const { return event_; }

 private:
  void* event_ = nullptr;
};

uint64_t address_of(const tensor::Buffer& buffer) { return reinterpret_cast<uint64_t>(buffer.data); }

}  // namespace

DeviceExchange::DeviceExchange(tensor::Place place) : place_(place) {
  check(driver().init(0), "starting CUDA");
  int count = 0;
  check(driver().device_count(&count), "counting GPUs");
  if (place.ordinal >= count)
    fail_environment("this machine has {}", count == 1 ? "1 GPU, cuda:0" : fmt::format("{} GPUs", count));
  int device = 0;
  check(driver().get_device(&device, place.ordinal), "opening the GPU");
  check(driver().retain_context(&context_, device), "making a context");
  enter();
  check(driver().create_stream(&stream_, kNonBlocking), "making a stream");
}

DeviceExchange::~DeviceExchange() {
  // The context is kept, because systems that used it may still have memory there.
  driver().set_context(context_);
  driver().synchronize(stream_);
  driver().destroy_stream(stream_);
}

void DeviceExchange::enter() const { check(driver().set_context(context_), "choosing the GPU"); }

tensor::Buffer DeviceExchange::allocate(int64_t bytes) {
  enter();
  auto memory = std::make_shared<const Memory>(context_, bytes);
  if (bytes > 0)
    check(driver().fill(memory->address(), 0, static_cast<size_t>(bytes), stream_), "clearing a value");
  auto* data = reinterpret_cast<std::byte*>(memory->address());
  return {.place = place_, .data = data, .bytes = bytes, .owner = std::move(memory)};
}

void DeviceExchange::copy_to_device(const tensor::Tensor& from, const tensor::Buffer& to) {
  enter();
  if (from.byte_size() == 0) return;
  check(driver().to_device(address_of(to), from.bytes(), from.byte_size(), stream_), "a copy to the GPU");
}

tensor::Tensor DeviceExchange::copy_to_host(const tensor::Buffer& from, tensor::DType dtype,
                                            const tensor::Shape& shape) {
  enter();
  tensor::Tensor to(dtype, shape);
  if (to.byte_size() > 0)
    check(driver().to_host(to.mutable_bytes(), address_of(from), to.byte_size(), stream_),
          "a copy from the GPU");
  synchronize();
  return to;
}

void DeviceExchange::synchronize() {
  enter();
  check(driver().synchronize(stream_), "a run");
}

std::unique_ptr<DeviceExchange::Moment> DeviceExchange::record() {
  enter();
  return std::make_unique<Event>(stream_);
}

double DeviceExchange::microseconds_between(const Moment& begin, const Moment& end) {
  float milliseconds = 0;
  check(driver().elapsed(&milliseconds, static_cast<const Event&>(begin).get(),
                         static_cast<const Event&>(end).get()),
        "reading a time");
  return 1e3 * static_cast<double>(milliseconds);
}

}  // namespace hone::backend
