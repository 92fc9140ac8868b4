// See packed_form.hpp.
#include "device/cpu/packed_form.hpp"

#include <cstring>

namespace hone::device::cpu {

using tensor::Tensor;

PackedConstant packed_form(const engine::StepRequest& request, size_t input, const std::string& word,
                           size_t bytes, engine::WeightStore& weights, const FillForm& fill) {
  const graph::ValueId id = request.node.inputs[input];
  const engine::WeightKey key{request.graph.value(id).name, engine::kFinalForm + word};
  if (const Tensor* found = weights.find(key)) {
    if (found->byte_size() != bytes)
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", key.first, found->byte_size(),
                     bytes);
    return {found->bytes(), key};
  }
  const Tensor* constant = request.graph.constant(id);
  if (constant == nullptr) throw engine::MissingForm(key);
  Tensor packed(tensor::DType::kUInt8, {static_cast<int64_t>(bytes)});
  std::memset(packed.mutable_bytes(), 0, bytes);
  fill(*constant, packed.mutable_bytes());
  return {weights.add(key, std::move(packed)).bytes(), key};
}

}  // namespace hone::device::cpu
