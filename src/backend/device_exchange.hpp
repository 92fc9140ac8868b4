// The place on a GPU where the executables of several backends meet: one queue to which all of them hand
// their runs, and memory. A value that one of them leaves there is read in place by the next one.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/buffer.hpp"
#include "tensor/place.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

/// Used by one thread. It talks to NVIDIA's driver, which it opens when it is made, in the context that the
/// CUDA runtime, and so every system here, uses.
class DeviceExchange {
 public:
  /// A moment in the queue whose time can be read.
  class Moment {
   public:
    virtual ~Moment() = default;
  };

  /// Environment error where there is no such GPU, or no driver.
  explicit DeviceExchange(tensor::Place place);
  ~DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  tensor::Place place() const { return place_; }
  /// The queue as CUDA has it: a cudaStream_t.
  void* stream() const { return stream_; }
  /// Zeros. Environment error where there is no room. The memory may outlive the exchange.
  tensor::Buffer allocate(int64_t bytes);
  /// Hands a copy over; `from` has to stay as it is until synchronize().
  void copy_to_device(const tensor::Tensor& from, const tensor::Buffer& to);
  /// Copies the contents that the memory has after everything that was handed over before. Waits.
  tensor::Tensor copy_to_host(const tensor::Buffer& from, tensor::DType dtype, const tensor::Shape& shape);
  /// Waits for everything that was handed over.
  void synchronize();
  std::unique_ptr<Moment> record();
  /// The time between two moments that have passed, by the GPU's clock.
  static double microseconds_between(const Moment& begin, const Moment& end);

 private:
  /// Sets the GPU's context as the calling thread's.
  void enter() const;

  tensor::Place place_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace hone::backend
