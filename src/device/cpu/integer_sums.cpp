// Convolutions and matrix products of 8-bit integers with loops of ours, whose sums are exact on any CPU:
// where there is no VNNI, oneDNN multiplies bytes in 16 bits, and those saturate.
#include "device/cpu/packed_form.hpp"
#include "device/cpu/quantized/sums_kernel.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::Tensor;
using Positions = BytePositions;

/// The number of products of 255 * 255, the largest, whose sum fits into 31 bits.
constexpr int64_t kMostTerms = (int64_t{1} << 31) / (255 * 255) - 1;

/// Fills it in for an operator that rounds its sums.
Refusal read_scales(const StepRequest& request, const Positions& at, int64_t columns,
                    Requantization& requantization) {
  if (at.y_scale == Positions::kNone) return {};
  const Tensor* const a_scale = constant_input(request, at.a_scale);
  const Tensor* const b_scale = constant_input(request, at.b_scale);
  const Tensor* const y_scale = constant_input(request, at.y_scale);
  const Tensor* const y_zero = constant_input(request, at.y_zero);
  if (a_scale == nullptr || b_scale == nullptr || y_scale == nullptr || y_zero == nullptr)
    return "scales or the result's zero point are computed";
  const bool fits = b_scale->size() == 1 || (b_scale->rank() == 1 && b_scale->size() == columns);
  if (a_scale->size() != 1 || y_scale->size() != 1 || y_zero->size() != 1 || !fits) return "scales of rows";
  const auto scales = b_scale->to_double();
  for (int64_t c = 0; c < columns; ++c) {
    const double scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(c)];
    requantization.scales.push_back(
        static_cast<float>(a_scale->to_double()[0] * scale / y_scale->to_double()[0]));
  }
  requantization.zero_point = static_cast<float>(y_zero->to_double()[0]);
  requantization.dtype = request.outputs[0].dtype;
  return {};
}

Refusal refuse(const StepRequest& request, const Positions& at, const SumsProblem& problem) {
  if (!is_byte(problem.a_type) || !is_byte(problem.b_type)) return "only bytes";
  if (problem.inner == 0) return "an operand is empty";
  if (problem.inner > kMostTerms) return "its sums may be beyond 32 bits";
  if (request.node.has_input(at.a_zero) && tensor::element_count(request.inputs[at.a_zero].shape) != 1)
    return "several zero points of the first operand";
  const bool of_columns = problem.b_zeros == problem.all_columns() && request.node.has_input(at.b_zero) &&
                          request.inputs[at.b_zero].shape.size() == 1;
  if (problem.b_zeros != 1 && !of_columns) return "zero points of other parts than columns";
  return {};
}

Offer offer_sums(const StepRequest& request, engine::WeightStore& weights) {
  const bool rounds = request.node.op.starts_with("QLinear");
  const Positions& at = rounds ? kQuantizedPositions : kSumPositions;
  const bool is_convolution = request.node.op.starts_with("Conv") || request.node.op == "QLinearConv";
  if (is_convolution && request.inputs[at.a].shape.size() > 5) return Offer::refuse("more than three axes");
  if (!has_tiles(byte_tile_type())) return Offer::refuse("the CPU has no vectors for operands of this type");
  SumsProblem problem = is_convolution ? convolution_sums(request, at) : matrix_sums(request, at);
  if (Refusal reason = refuse(request, at, problem)) return Offer::refuse(std::move(reason));
  Requantization requantization;
  if (Refusal reason = read_scales(request, at, problem.all_columns(), requantization))
    return Offer::refuse(std::move(reason));
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.node.has_input(i))
      offer.inputs.push_back({request.inputs[i].dtype, request.inputs[i].shape, Layout::kPlain});
    else
      offer.inputs.emplace_back();
  }
  offer.inputs[at.a].layout = problem.layout;
  offer.outputs = {{request.outputs[0].dtype, request.outputs[0].shape, problem.layout}};
  const auto take = [&](auto kernel) {
    offer.scratch_bytes = kernel->scratch_bytes();
    offer.kernel = std::move(kernel);
  };
  if (problem.is_depthwise()) {
    take(make_depthwise_sums(std::move(problem), at, std::move(requantization)));
    return offer;
  }
  const std::byte* packed = nullptr;
  if (request.graph.value(request.node.inputs[at.b]).constant) {
    const PackedConstant constant =
        packed_form(request, at.b, problem.form_word(), static_cast<size_t>(problem.packed_bytes()), weights,
                    [&](const Tensor& plain, std::byte* to) { problem.pack(plain.bytes(), to); });
    packed = static_cast<const std::byte*>(constant.data);
    offer.packed = {constant.key};
    offer.inputs[at.b] = {};
  }
  take(make_tiled_sums(std::move(problem), at, std::move(requantization), packed));
  return offer;
}

}  // namespace

void add_integer_sums_tactics(TacticList& list) {
  list.push_back({.name = "integer_sums",
                  .operators = {"ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_sums});
}

}  // namespace hone::device::cpu
