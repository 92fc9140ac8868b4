// See kernel.hpp.
#include "reference/kernel.hpp"

#include "base/out_of_memory.hpp"
#include "reference/kernel_list.hpp"

namespace hone::reference {

const Tensor& KernelContext::input(size_t i) const {
  if (!has_input(i)) fail_internal("kernel of {} reads absent input {}", node.text(), i);
  return *inputs[i];
}

Tensor& KernelContext::make_output(size_t i, DType dtype, Shape shape) {
  outputs.at(i) = Tensor(dtype, std::move(shape));
  return outputs[i];
}

Kernel find_kernel(std::string_view op) {
  static const graph::ImplementationTable<Kernel> kTable(
      "reference kernels",
      {elementwise_kernels(), reduction_kernels(), shape_kernels(), convolution_kernels(), matrix_kernels(),
       normalization_kernels(), quantization_kernels(), recurrent_kernels(), control_kernels(),
       detection_kernels(), signal_kernels(), loss_kernels(), fused_kernels()});
  return kTable.find(op);
}

std::vector<Tensor> run_node(const graph::Node& node, std::vector<const Tensor*> inputs) {
  const Kernel kernel = find_kernel(node.op);
  if (kernel == nullptr) fail_internal("{} has no reference kernel", node.text());
  KernelContext context{node, std::move(inputs), std::vector<Tensor>(node.outputs.size())};
  try {
    kernel(context);
  } catch (const Error& error) {
    if (error.where().empty()) rethrow_within(error, node.text());
    throw;
  }
  return std::move(context.outputs);
}

}  // namespace hone::reference
