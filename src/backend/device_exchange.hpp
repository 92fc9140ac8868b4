// The place on a GPU that the executables of several backends share: memory, and one queue to which all of
// them submit their runs. A value that one of them writes there is read in place by the next one.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/buffer.hpp"
#include "tensor/place.hpp"
#include "tensor/tensor.hpp"

namespace hone::backend {

/// Used by one thread. It opens NVIDIA's driver on construction, and calls it in the context of the CUDA
/// runtime, which every system here uses.
class DeviceExchange {
 public:
  /// A point in the queue whose time can be read.
  class Moment {
   public:
    virtual ~Moment() = default;
  };

  /// Environment error if there is no such GPU or no driver.
  explicit DeviceExchange(tensor::Place place);
  ~DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  tensor::Place place() const { return place_; }
  /// The queue as CUDA's type: a cudaStream_t.
  void* stream() const { return stream_; }
  /// Memory filled with zeros. Environment error if there is no room. It may outlive the exchange.
  tensor::Buffer allocate(int64_t bytes);
  /// Submits a copy; `from` must not change until synchronize().
  void copy_to_device(const tensor::Tensor& from, const tensor::Buffer& to);
  /// Copies the contents that the memory has after all earlier work of the queue. Waits for the copy.
  tensor::Tensor copy_to_host(const tensor::Buffer& from, tensor::DType dtype, const tensor::Shape& shape);
  /// Waits for all submitted work.
  void synchronize();
  std::unique_ptr<Moment> record();
  /// The time between two moments that have passed, by the GPU's clock.
  static double microseconds_between(const Moment& begin, const Moment& end);

 private:
  /// Makes the GPU's context current in the calling thread.
  void enter() const;

  tensor::Place place_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace hone::backend
