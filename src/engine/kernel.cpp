// What a device does unless it has memory of its own; see kernel.hpp.
#include "engine/kernel.hpp"

#include <cstring>

#include "system/memory.hpp"
#include "tensor/tensor_view.hpp"

namespace hone::engine {
namespace {

class StridedCopy final : public Kernel {
 public:
  StridedCopy(DType dtype, Shape shape, Shape strides)
      : dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)) {}

  void run(const Run& run) const override {
    tensor::copy_strided(static_cast<const std::byte*>(run.inputs[0]), strides_,
                         static_cast<std::byte*>(run.outputs[0]), shape_, dtype_);
  }

 private:
  DType dtype_;
  Shape shape_;
  Shape strides_;
};

}  // namespace

NumericPolicy Device::policy_for(Precision precision) const {
  if (computes_in(precision)) return policy_of(precision);
  if (emulates(precision)) return emulated_bf16();
  fail_environment("the device {} does not run in {}", name(), tensor::precision_name(precision));
}

bool Device::emulates(Precision precision) const {
  return precision == Precision::kBf16 && !computes_in(precision) && place().kind == tensor::PlaceKind::kCpu;
}

bool Device::runs(const NumericPolicy& policy) const {
  const Precision precision = precision_of(policy);
  return (computes_in(precision) || emulates(precision)) && policy_for(precision) == policy;
}

tensor::Buffer Device::allocate(int64_t bytes) const {
  auto memory = system::allocate_bytes(static_cast<size_t>(bytes));
  return {.place = place(), .data = memory.get(), .bytes = bytes, .owner = memory};
}

std::unique_ptr<tensor::Queue> Device::wrap_queue(void*) const {
  fail_usage("the device {} has no streams", name());
}

void Device::copy(const tensor::Buffer& from, const tensor::Buffer& to, const tensor::Queue*) const {
  if (from.bytes != 0) std::memcpy(to.data, from.data, static_cast<size_t>(from.bytes));
}

std::shared_ptr<const Kernel> Device::make_strided_copy(DType dtype, const Shape& shape,
                                                        const Shape& strides) const {
  return std::make_shared<StridedCopy>(dtype, shape, strides);
}

}  // namespace hone::engine
