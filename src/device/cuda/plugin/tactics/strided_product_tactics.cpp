// Runs matrix products that cuBLASLt does not support with hone's own kernel: stacks that are broadcast
// against each other, and addends of any shape.
#include <algorithm>

#include "device/cuda/plugin/kernels/layers/strided_product.hpp"
#include "device/cuda/plugin/tactics/matrix_request.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;

constexpr size_t kMostDims = StridedMatrix::kAxes + 2;

/// The strides of an operand as a stack with the result's
/// dimensions, aligned at the end; 0 for broadcast dimensions.
std::vector<int64_t> broadcast_strides(const Shape& shape) {
  const Shape dense = tensor::row_major_strides(shape);
  std::vector<int64_t> strides(kMostDims, 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) strides[kMostDims - shape.size() + i] = dense[i];
  }
  return strides;
}

StridedMatrix matrix_of(const Shape& shape, bool transposed) {
  const std::vector<int64_t> strides = broadcast_strides(shape);
  StridedMatrix matrix;
  std::copy_n(strides.begin(), StridedMatrix::kAxes, matrix.batch);
  matrix.row = strides[kMostDims - (transposed ? 1 : 2)];
  matrix.column = strides[kMostDims - (transposed ? 2 : 1)];
  return matrix;
}

/// Returns an empty refusal if the product is filled in.
Refusal read(const StepRequest& request, StridedProduct& product) {
  Product known;
  if (!read_product(request, known)) return "cuBLASLt takes it";
  Shape x = request.inputs[0].shape;
  Shape w = request.inputs[1].shape;
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (w.size() == 1) w.push_back(1);
  if (x.size() > kMostDims || w.size() > kMostDims) return fmt::format("more than {} dimensions", kMostDims);
  bool transposes_x = false;
  bool transposes_w = false;
  if (is_gemm(request.node)) {
    transposes_x = request.node.attributes.get_int("transA") != 0;
    transposes_w = request.node.attributes.get_int("transB") != 0;
    product.alpha = request.node.attributes.get_float("alpha");
    product.beta = request.node.attributes.get_float("beta");
  }
  product.x = matrix_of(x, transposes_x);
  product.w = matrix_of(w, transposes_w);
  product.rows = x[x.size() - (transposes_x ? 1 : 2)];
  product.depth = x[x.size() - (transposes_x ? 2 : 1)];
  product.columns = w[w.size() - (transposes_w ? 2 : 1)];
  for (const Shape& operand : {x, w}) {
    for (size_t i = 0; i + 2 < operand.size(); ++i) {
      int64_t& extent = product.batch[StridedMatrix::kAxes + 2 - operand.size() + i];
      extent = std::max(extent, operand[i]);
    }
  }
  if (request.node.has_input(2)) product.c = matrix_of(request.inputs[2].shape, false);
  return {};
}

Offer offer_product(const StepRequest& request, engine::WeightStore&) {
  StridedProduct product;
  if (Refusal reason = read(request, product)) return Offer::refuse(std::move(reason));
  const auto desc = [&](const TensorDesc& operand) {
    return TensorDesc{request.storage(), operand.shape, Layout::kPlain};
  };
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i)
    offer.inputs.push_back(request.node.has_input(i) ? desc(request.inputs[i]) : TensorDesc{});
  offer.outputs = {desc(request.outputs[0])};
  const FloatType type = float_type(request.storage());
  const bool adds = request.node.has_input(2);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a matrix product", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return strided_product(inputs[0], inputs[1], adds ? inputs[2] : nullptr, outputs[0], type, product,
                               options);
      });
  return offer;
}

}  // namespace

void add_strided_product_tactics(TacticList& list) {
  list.push_back({.name = "strided_product",
                  .operators = {"Gemm", "MatMul"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_product});
}

}  // namespace hone::device::cuda
