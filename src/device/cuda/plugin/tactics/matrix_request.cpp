// See matrix_request.hpp.
#include "device/cuda/plugin/tactics/matrix_request.hpp"

#include <algorithm>

#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Shape;
using engine::StepRequest;
using graph::PostOp;
using tensor::DType;

/// Reads post-ops that the library's epilogue supports: first an addition, then one activation. Returns an
/// empty refusal if they fit.
Refusal read_epilogue(const StepRequest& request, ChannelAxis axis, Product& product) {
  const auto post_ops = read_post_ops(request, 3, axis);
  if (!post_ops) return "a post-op's operand is broadcast";
  bool activated = false;
  for (const PostOpRequest& post : *post_ops) {
    if (activated) return "a post-op after the activation";
    if (post.op == PostOp::kAdd && post.shape == OperandShape::kFull && product.addend < 0) {
      product.addend = static_cast<int>(post.operand);
    } else if (post.op == PostOp::kRelu) {
      activated = true;
      product.epilogue = product.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    } else if (post.op == PostOp::kGeluTanh) {
      activated = true;
      product.epilogue = product.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    } else {
      return "a post-op that cuBLASLt has not";
    }
  }
  return {};
}

/// An operand as matrices; a vector is a row as the first operand, a column as the second.
Shape as_matrices(const Shape& shape, bool first) {
  if (shape.size() != 1) return shape;
  return first ? Shape{1, shape[0]} : Shape{shape[0], 1};
}

int64_t matrix_count(const Shape& shape) {
  return tensor::element_count(std::span<const int64_t>(shape).first(shape.size() - 2));
}

/// Reads the numbers of rows and columns, the depth, and the operands that the whole batch shares.
Refusal read_extents(const Shape& x, const Shape& w, bool transposes_w, Product& product) {
  const int64_t rows = x[x.size() - (product.transposed_x ? 1 : 2)];
  product.depth = x[x.size() - (product.transposed_x ? 2 : 1)];
  product.columns = w[w.size() - (transposes_w ? 2 : 1)];
  product.rows = rows;
  if (matrix_count(w) == 1) {
    // Leading dimensions of a stack become rows of one matrix.
    product.rows = rows * matrix_count(x);
    product.shared_w = true;
  } else if (matrix_count(x) == 1) {
    product.batch = matrix_count(w);
    product.shared_x = true;
  } else {
    if (x.size() != w.size() || !std::equal(x.begin(), x.end() - 2, w.begin()))
      return "its stacks are broadcast against each other";
    product.batch = matrix_count(x);
  }
  return {};
}

/// Reads everything except the operations after the bias.
Refusal read_operands(const StepRequest& request, Product& product) {
  const graph::Node& node = request.node;
  if (Refusal reason = engine::only_float32(request)) return reason;
  for (const engine::TensorDesc& operand : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
    if (tensor::element_count(operand.shape) == 0) return "an operand is empty";
  }
  product.dtype = request.storage();
  const auto& leaving = request.graph.outputs;
  product.result = std::find(leaving.begin(), leaving.end(), node.outputs[0]) != leaving.end()
                       ? DType::kFloat32
                       : product.dtype;
  product.compute = compute_type(request.policy.compute);
  if (is_gemm(node)) {
    product.transposed_x = node.attributes.get_int("transA") != 0;
    product.transposed = node.attributes.get_int("transB") != 0;
    product.alpha = node.attributes.get_float("alpha");
    if (node.has_input(2) && node.attributes.get_float("beta") != 1.0f) return "beta is not 1";
  }
  const Shape& w = request.inputs[1].shape;
  if (Refusal reason = read_extents(as_matrices(request.inputs[0].shape, true), as_matrices(w, false),
                                    product.transposed, product))
    return reason;
  if (node.has_input(2)) {
    if (!tensor::is_row(request.inputs[2].shape, product.columns))
      return "the bias is not one value per column";
    product.bias = true;
    product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  }
  if (request.graph.value(node.inputs[1]).constant && w.size() == 2) product.transposed = true;
  return {};
}

}  // namespace

cublasComputeType_t compute_type(engine::Compute compute) {
  switch (compute) {
    case engine::Compute::kFloat32: return CUBLAS_COMPUTE_32F_PEDANTIC;
    case engine::Compute::kTf32: return CUBLAS_COMPUTE_32F_FAST_TF32;
    default: return CUBLAS_COMPUTE_32F;
  }
}

std::vector<std::string> product_operators() { return {"Gemm", "FusedGemm", "MatMul", "FusedMatMul"}; }

bool is_gemm(const graph::Node& node) { return node.op == "Gemm" || node.op == "FusedGemm"; }

Refusal read_product(const StepRequest& request, Product& product) {
  if (Refusal reason = read_operands(request, product)) return reason;
  return read_epilogue(request, ChannelAxis::kLast, product);
}

bool is_convolution(const std::string& op) { return op == "Conv" || op == "FusedConv"; }

Refusal read_pixel_product(const StepRequest& request, Product& product) {
  ConvolutionRequest convolution;
  if (Refusal reason = read_convolution_request(request, convolution)) return reason;
  const graph::Convolution& geometry = convolution.geometry;
  if (geometry.group != 1) return "it has groups";
  for (const graph::WindowAxis& axis : geometry.axes) {
    if (axis.kernel != 1) return "its window is larger than a pixel";
    if (axis.stride != 1 || axis.output != axis.input) return "it skips or adds pixels";
  }
  product.dtype = product.result = request.storage();
  product.compute = compute_type(request.policy.compute);
  product.rows = geometry.batch * geometry.axes[0].output * geometry.axes[1].output;
  product.columns = geometry.out_channels;
  product.depth = geometry.in_channels;
  product.transposed = product.shared_w = true;
  if (convolution.has_bias) {
    product.bias = true;
    product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  }
  return read_epilogue(request, ChannelAxis::kSecond, product);
}

Refusal read_layer(const StepRequest& request, LayerProduct& layer) {
  Product& product = layer.product;
  if (Refusal reason = read_operands(request, product)) return reason;
  if (!request.graph.value(request.node.inputs[1]).constant || request.inputs[1].shape.size() != 2)
    return "the matrix is not constant";
  if (request.inputs[0].shape.size() < 2) return "the first operand is a vector";
  if (product.transposed_x) return "the first operand is transposed";
  if (product.bias && !request.graph.value(request.node.inputs[2]).constant)
    return "the bias is not constant";
  auto post_ops = read_post_ops(request, 3, ChannelAxis::kLast);
  if (!post_ops) return "a post-op's operand is broadcast in a way no kernel has";
  layer.post_ops = std::move(*post_ops);
  return {};
}

PackedConstant pack_columns(Gpu& gpu, const StepRequest& request, const Product& product,
                            engine::WeightStore& weights) {
  const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
  return pack_matrix(gpu, request, 1, product.dtype, transposed, weights);
}

}  // namespace hone::device::cuda
