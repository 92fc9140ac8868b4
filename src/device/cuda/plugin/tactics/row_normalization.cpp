// See row_normalization.hpp.
#include "device/cuda/plugin/tactics/row_normalization.hpp"

#include <algorithm>

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

constexpr std::string_view kRmsNormalization =
    "square=Mul mean=ReduceMean(0:square) sum=Add(0:mean) root=Sqrt(0:sum) factor=Reciprocal(0:root) "
    "normalized=Mul(1:factor) scaled=Mul(0:normalized) -> scaled";

int64_t product(const Shape& shape, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i) result *= shape[i];
  return result;
}

/// True if a scale or bias has one value for each element of a row: it has the data's dimensions from the
/// axis on, preceded only by dimensions of size 1.
bool covers(const Shape& scale, const Shape& data, size_t axis) {
  const size_t inner = data.size() - axis;
  if (scale.size() < inner) return false;
  const auto from = scale.end() - static_cast<std::ptrdiff_t>(inner);
  return std::equal(from, scale.end(), data.begin() + static_cast<std::ptrdiff_t>(axis)) &&
         std::all_of(scale.begin(), from, [](int64_t size) { return size == 1; });
}

/// The only element of a float32 constant; nullopt for anything else.
std::optional<float> constant_number(const StepRequest& request, int input) {
  if (input < 0) return std::nullopt;
  const tensor::Tensor* constant = request.graph.constant(request.node.inputs[static_cast<size_t>(input)]);
  if (constant == nullptr || constant->dtype() != DType::kFloat32 || constant->size() != 1)
    return std::nullopt;
  return constant->values<float>()[0];
}

/// True if the mean is only over the last axis, with kept dimensions.
bool is_over_rows(const RegionPart& mean, const StepRequest& request, size_t rank) {
  const int axes = mean.operands.position(1);
  if (axes < 0 || mean.node.attributes.get_int("keepdims") == 0) return false;
  const tensor::Tensor* constant = request.graph.constant(request.node.inputs[static_cast<size_t>(axes)]);
  if (constant == nullptr || constant->dtype() != DType::kInt64 || constant->size() != 1) return false;
  const int64_t axis = constant->values<int64_t>()[0];
  return axis == -1 || axis + 1 == static_cast<int64_t>(rank);
}

Refusal read_layer_normalization(const StepRequest& request, RowNormalization& out) {
  if (request.node.has_output(1) || request.node.has_output(2)) return "the statistics are wanted";
  const Shape& shape = request.inputs[0].shape;
  const int64_t given = request.node.attributes.get_int("axis");
  const auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(shape.size()) : given);
  out.rows = product(shape, 0, axis);
  out.columns = product(shape, axis, shape.size());
  out.epsilon = request.node.attributes.get_float("epsilon");
  out.constants = true;
  for (const auto& [position, input] : {std::pair(&out.scale, size_t{1}), std::pair(&out.shift, size_t{2})}) {
    if (!request.node.has_input(input)) continue;
    if (!covers(request.inputs[input].shape, shape, axis)) return "scale or bias is broadcast";
    *position = static_cast<int>(input);
    out.constants = out.constants && request.graph.value(request.node.inputs[input]).constant;
  }
  return {};
}

Refusal read_rms_normalization(const StepRequest& request, RowNormalization& out) {
  const RegionParts parts(request);
  if (parts.form() != kRmsNormalization) return "its body is no RMS normalization";
  const PartOperands& squared = parts.part("square").operands;
  out.x = squared.position(0);
  out.scale = parts.part("scaled").operands.position(1);
  if (out.x < 0 || out.scale < 0 || squared.position(1) != out.x ||
      parts.part("normalized").operands.position(0) != out.x)
    return "its body normalizes by something else";
  const Shape& shape = request.inputs[static_cast<size_t>(out.x)].shape;
  const auto epsilon = constant_number(request, parts.part("sum").operands.position(1));
  if (shape.empty() || !epsilon || !is_over_rows(parts.part("mean"), request, shape.size()))
    return "it is not over rows, or its epsilon is not constant";
  const size_t axis = shape.size() - 1;
  if (out.scale == out.x || !covers(request.inputs[static_cast<size_t>(out.scale)].shape, shape, axis) ||
      request.outputs[0].shape != shape)
    return "the scale is broadcast";
  out.centers = false;
  out.epsilon = *epsilon;
  out.constants = parts.part("scaled").is_constant(1);
  out.rows = product(shape, 0, axis);
  out.columns = shape[axis];
  return {};
}

}  // namespace

Refusal read_row_normalization(const StepRequest& request, RowNormalization& out) {
  if (request.node.op == "LayerNormalization") return read_layer_normalization(request, out);
  return read_rms_normalization(request, out);
}

void arrange_parameters(const StepRequest& request, const RowNormalization& norm,
                        std::vector<engine::TensorDesc>& inputs) {
  for (const int position : {norm.scale, norm.shift}) {
    if (position < 0) continue;
    const auto at = static_cast<size_t>(position);
    inputs[at] = {DType::kFloat32, request.inputs[at].shape, Layout::kPlain};
  }
}

const float* floats_of(std::span<const void* const> inputs, int position) {
  return position < 0 ? nullptr : static_cast<const float*>(inputs[static_cast<size_t>(position)]);
}

}  // namespace hone::device::cuda
