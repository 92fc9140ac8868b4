// Calls the rows of a device's table, and implements the defaults of devices without their own memory; see
// kernel.hpp.
#include "engine/kernel.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "graph/region.hpp"
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

/// Returns the refusal for the first requirement that the step does not meet.
Refusal unmet(const Tactic& tactic, const StepRequest& request) {
  for (const Requirement requirement : tactic.requirements) {
    if (Refusal reason = requirement(request)) return reason;
  }
  return {};
}

}  // namespace

NumericPolicy Device::policy_for(Precision precision) const {
  if (computes_in(precision)) return policy_of(precision);
  if (emulates(precision)) return emulated_bf16();
  std::vector<std::string_view> others;
  for (const Precision other : {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16}) {
    if (computes_in(other) || emulates(other)) others.push_back(tensor::precision_name(other));
  }
  fail_environment("the device {} does not run in {}; choose one of {}", name(),
                   tensor::precision_name(precision), fmt::join(others, ", "));
}

bool Device::emulates(Precision precision) const {
  return precision == Precision::kBf16 && !computes_in(precision) && place().kind == tensor::PlaceKind::kCpu;
}

bool Device::runs(const NumericPolicy& policy) const {
  const Precision precision = precision_of(policy);
  return (computes_in(precision) || emulates(precision)) && policy_for(precision) == policy;
}

Offer Tactic::offer(const StepRequest& request, WeightStore& weights) const {
  if (Refusal reason = unmet(*this, request)) return Offer::refuse(std::move(reason));
  return make(request, weights);
}

std::vector<std::string> Tactic::variants(const StepRequest& request) const {
  if (!list_variants || unmet(*this, request)) return {};
  return list_variants(request);
}

Preparation Tactic::expect(const StepRequest& request, const std::vector<std::string>& variants) const {
  if (!prepare || unmet(*this, request)) return nullptr;
  return prepare(request, variants);
}

Offer Tactic::offer_variant(const StepRequest& request, WeightStore& weights,
                            std::string_view variant) const {
  if (Refusal reason = unmet(*this, request)) return Offer::refuse(std::move(reason));
  return make_variant ? make_variant(request, weights, variant) : make(request, weights);
}

std::vector<const Tactic*> tactics_for(const TacticList& list, const graph::Node& node) {
  const std::string wanted =
      graph::is_region(node) ? fmt::format("{}:{}", node.op, graph::kind_of(node)) : node.op;
  std::vector<const Tactic*> result;
  for (const Tactic& tactic : list) {
    const auto& names = tactic.operators;
    if (std::find(names.begin(), names.end(), wanted) != names.end()) result.push_back(&tactic);
  }
  return result;
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
