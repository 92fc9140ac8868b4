// See lowering.hpp.
#include "backend/torch/plugin/lowering.hpp"

namespace hone::backend::aten {

std::vector<int64_t> Ints::get(const Arguments& arguments) const {
  if (known_) return *known_;
  const at::Tensor values = arguments[input_].to(at::kCPU, at::kLong).contiguous();
  const int64_t* data = values.data_ptr<int64_t>();
  return {data, data + values.numel()};
}

at::ScalarType Lowering::output_type(size_t i) const {
  return program.scalar_type(graph.value(node.output(i)).type.dtype);
}

Ints Lowering::ints(size_t i) const {
  if (const tensor::Tensor* tensor = constant(i)) return Ints::of(tensor->to_int64());
  if (traced) refuse("input {} is computed from data, which a trace would freeze", i);
  return Ints::from_input(i);
}

std::vector<int64_t> Lowering::ints_or(std::string_view attribute, std::vector<int64_t> fallback) const {
  return attributes().get_or(attribute, std::move(fallback));
}

Operation lower(const Lowering& lowering) {
  static const graph::ImplementationTable<Lower> kTable(
      "ATen lowerings",
      {unary_lowerings(), binary_lowerings(), activation_lowerings(), convolution_lowerings(),
       pooling_lowerings(), normalization_lowerings(), matrix_lowerings(), reduction_lowerings(),
       shape_lowerings(), indexing_lowerings(), creation_lowerings(), resize_lowerings()});
  const Lower function = kTable.find(lowering.node.op);
  if (function == nullptr) fail_bad_input("backend {} cannot run {}", lowering.backend, lowering.node.text());
  return function(lowering);
}

}  // namespace hone::backend::aten
