// Reference kernels of the fused family: the base operator's kernel, then the post-ops.
#include "graph/convolution_geometry.hpp"
#include "graph/operator.hpp"
#include "reference/kernel_list.hpp"
#include "reference/kernels/map.hpp"
#include "reference/post_ops.hpp"

namespace hone::reference {
namespace {

void fused_conv(KernelContext& context) {
  find_kernel("Conv")(context);
  apply_post_ops(context, 3);
}

void fused_conv_max_pool(KernelContext& context) {
  fused_conv(context);
  graph::Node pool;
  pool.op = "MaxPool";
  pool.attributes = graph::max_pool_attributes(context.attributes());
  pool.outputs = {context.node.outputs[0]};
  context.outputs[0] = run_node(pool, {&context.outputs[0]})[0];
}

void fused_conv_global_pool(KernelContext& context) {
  fused_conv(context);
  graph::Node pool;
  pool.op = "GlobalAveragePool";
  pool.outputs = context.node.outputs;
  context.outputs = run_node(pool, {&context.outputs[0]});
}

void fused_conv_sum(KernelContext& context) {
  const auto convolved = [&](const graph::Attributes& attributes, size_t x, const Tensor* bias) {
    graph::Node node;
    node.op = "Conv";
    for (const auto& [name, value] : attributes) {
      if (!name.starts_with("second_") && !name.starts_with("post_")) node.attributes.set(name, value);
    }
    node.inputs = {0, 1, 2};
    node.outputs = {3};
    graph::complete_node(node);
    return run_node(node, {&context.input(x), &context.input(x + 1), bias})[0];
  };
  const Tensor* const bias = context.has_input(4) ? &context.input(4) : nullptr;
  const Tensor first = convolved(context.attributes(), 0, bias);
  const Tensor second = convolved(context.attributes().part("second_"), 2, nullptr);
  context.outputs[0] = broadcast_compute(first, second, [](auto a, auto b) { return add(a, b); });
  apply_post_ops(context, 5);
}

/// What a FusedConv with the weights at input `w`, the bias at `b` and the activation of that prefix makes of
/// `x`.
Tensor fused_part(const KernelContext& context, const Tensor& x, size_t w, size_t b,
                  std::string_view prefix) {
  graph::Node convolution;
  convolution.op = "FusedConv";
  convolution.attributes = context.attributes().part(prefix);
  convolution.inputs = {0, 1, 2};
  convolution.outputs = {3};
  graph::complete_node(convolution);
  const Tensor* bias = context.has_input(b) ? &context.input(b) : nullptr;
  return run_node(convolution, {&x, &context.input(w), bias})[0];
}

void fused_stem(KernelContext& context) {
  fused_conv_max_pool(context);
  context.outputs[1] = fused_part(context, context.outputs[0], 3, 4, "next_");
}

void fused_squeeze_excite(KernelContext& context) {
  const auto run = [&](const char* op, std::vector<const Tensor*> inputs) {
    graph::Node node;
    node.op = op;
    node.outputs = context.node.outputs;
    return run_node(node, std::move(inputs))[0];
  };
  const Tensor& x = context.input(0);
  const Tensor means = run("GlobalAveragePool", {&x});
  const Tensor hidden = fused_part(context, means, 1, 3, "squeeze_");
  const Tensor gate = fused_part(context, hidden, 2, 4, "gate_");
  context.outputs[0] = run("Mul", {&x, &gate});
}

/// A convolution of a FusedBottleneck: the filters at input `w` and their bias, after an addition where there
/// is an `operand` the activation of that prefix.
Tensor bottleneck_part(const KernelContext& context, const Tensor& x, size_t w, size_t b, const char* prefix,
                       const Tensor* operand = nullptr) {
  graph::Node convolution;
  convolution.op = "FusedConv";
  if (prefix != nullptr) convolution.attributes = context.attributes().part(prefix);
  if (operand != nullptr) {
    const auto prepend = [&](const char* name, auto first) {
      auto values = convolution.attributes.get<std::vector<decltype(first)>>(name);
      values.insert(values.begin(), first);
      convolution.attributes.set(name, std::move(values));
    };
    prepend("post_ops", std::string("add"));
    prepend("post_alphas", 0.0f);
    prepend("post_betas", 0.0f);
  }
  const int64_t pad = context.input(w).shape()[2] / 2;
  convolution.attributes.set("pads", std::vector<int64_t>(4, pad));
  convolution.inputs = {0, 1, 2, 3};
  convolution.outputs = {4};
  if (operand == nullptr) convolution.inputs.pop_back();
  graph::complete_node(convolution);
  std::vector<const Tensor*> inputs = {&x, &context.input(w),
                                       context.has_input(b) ? &context.input(b) : nullptr};
  if (operand != nullptr) inputs.push_back(operand);
  return run_node(convolution, std::move(inputs))[0];
}

void fused_bottleneck(KernelContext& context) {
  const bool projects = context.has_input(8);
  const Tensor shortcut =
      projects ? bottleneck_part(context, context.input(4), 8, 9, nullptr) : context.input(4);
  const Tensor middle = bottleneck_part(context, context.input(0), 1, 5, "window_");
  context.outputs[0] = bottleneck_part(context, middle, 2, 6, "wide_", &shortcut);
  if (context.has_input(3))
    context.outputs[1] = bottleneck_part(context, context.outputs[0], 3, 7, "narrow_");
}

void fused_matmul(KernelContext& context) {
  find_kernel("MatMul")(context);
  if (context.has_input(2)) {
    tensor::broadcast_strides(context.input(2).shape(), context.outputs[0].shape());  // refuses a larger bias
    context.outputs[0] =
        broadcast_compute(context.outputs[0], context.input(2), [](auto a, auto b) { return add(a, b); });
  }
  apply_post_ops(context, 3);
}

void fused_gemm(KernelContext& context) {
  find_kernel("Gemm")(context);
  apply_post_ops(context, 3);
}

void fused_elementwise(KernelContext& context) {
  context.outputs[0] = context.input(0);
  apply_post_ops(context, 1);
}

constexpr KernelEntry kKernels[] = {
    {"FusedBottleneck", fused_bottleneck},
    {"FusedConv", fused_conv},
    {"FusedConvGlobalPool", fused_conv_global_pool},
    {"FusedConvMaxPool", fused_conv_max_pool},
    {"FusedConvSum", fused_conv_sum},
    {"FusedElementwise", fused_elementwise},
    {"FusedGemm", fused_gemm},
    {"FusedMatMul", fused_matmul},
    {"FusedSqueezeExcite", fused_squeeze_excite},
    {"FusedStem", fused_stem},
};

}  // namespace

std::span<const KernelEntry> fused_kernels() { return kKernels; }

}  // namespace hone::reference
