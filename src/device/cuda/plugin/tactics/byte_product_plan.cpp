// See byte_product_plan.hpp.
#include "device/cuda/plugin/tactics/byte_product_plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/cuda/plugin/tactics/convolution_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using graph::QuantizedChain;
using graph::QuantizedOperand;
using tensor::DType;
using tensor::Tensor;

bool is_convolution(const QuantizedChain& chain) {
  return chain.core->op == "Conv" || chain.core->op == "FusedConv";
}

/// The number to subtract from the weights' integers so that they become signed bytes; nullopt if they are
/// not bytes.
std::optional<int> weight_middle(const StepRequest& request, const QuantizedOperand& w) {
  const DType dtype = request.inputs[w.value].dtype;
  if (!is_byte(dtype)) return std::nullopt;
  const int middle = dtype == DType::kUInt8 ? 128 : 0;
  if (w.zero_point == QuantizedOperand::kNone) return middle == 0 ? std::optional(0) : std::nullopt;
  const Tensor* const zero_points = constant_input(request, w.zero_point);
  if (zero_points == nullptr) return std::nullopt;
  const auto values = zero_points->to_double();
  const bool all = std::all_of(values.begin(), values.end(), [&](double value) { return value == middle; });
  return all ? std::optional(middle) : std::nullopt;
}

Refusal read_convolution(const StepRequest& request, ByteProductPlan& plan) {
  const Shape& shape = request.inputs[plan.chain.x.value].shape;
  if (shape.size() != 4) return "only 2-D convolutions";
  const graph::Convolution geometry =
      graph::read_convolution(plan.chain.core->attributes, shape, request.inputs[plan.chain.w.value].shape);
  if (geometry.group != 1) return "it has groups";
  if (!fits_in_int(geometry.axes)) return "a window beyond 2^31";
  plan.problem.shape = conv_problem(geometry, Element::kHalf);
  const ConvProblem& p = plan.problem.shape;
  const int64_t taps = int64_t{p.kernel_h} * p.kernel_w;
  plan.weights = {taps * p.channels, 1, taps};
  plan.source = {plan.x.dtype, shape, Layout::kChannelsLast};
  plan.result = {request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
  // Zero bytes pad the image; with a zero point, they would represent numbers other than zero.
  const bool padded = p.pad_top > 0 || p.pad_left > 0 || p.pad_bottom > 0 || p.pad_right > 0;
  return padded && plan.x.zero_point != 0 ? Refusal("padding of a zero point") : Refusal();
}

/// Leading dimensions of a stack become rows of one matrix.
Refusal read_matrix(const StepRequest& request, ByteProductPlan& plan) {
  const Shape& shape = request.inputs[plan.chain.x.value].shape;
  const graph::Attributes& attributes = plan.chain.core->attributes;
  const bool transposed = attributes.has("transB") && attributes.get_int("transB") != 0;
  if (request.inputs[plan.chain.w.value].shape.size() != 2) return "its weights are no matrix";
  const int64_t depth = shape.back();
  const int64_t columns = request.outputs[0].shape.back();
  const int64_t rows = tensor::element_count(shape) / depth;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (depth > kMost || columns > kMost || rows > kMost) return "a matrix beyond 2^31";
  ConvProblem& p = plan.problem.shape;
  p.height = 1;
  p.width = static_cast<int>(rows);
  p.channels = static_cast<int>(depth);
  p.filters = static_cast<int>(columns);
  plan.weights = transposed ? WeightStrides{depth, 0, 1} : WeightStrides{1, 0, columns};
  plan.source = {plan.x.dtype, shape, Layout::kPlain};
  plan.result = {request.outputs[0].dtype, request.outputs[0].shape, Layout::kPlain};
  return {};
}

Refusal read_scales(const StepRequest& request, ByteProductPlan& plan) {
  const auto channels = static_cast<size_t>(plan.problem.shape.filters);
  const Tensor* const weights = constant_input(request, plan.chain.w.scale);
  if (weights == nullptr || !tensor::is_floating(weights->dtype()))
    return "the scales of its weights are computed";
  std::vector<double> scales = weights->to_double();
  if (scales.size() == 1) scales.assign(channels, scales[0]);
  if (scales.size() != channels) return "as many scales as channels are needed";
  for (double& scale : scales) scale *= double{plan.x.scale};
  const int64_t axis =
      is_convolution(plan.chain) ? 1 : static_cast<int64_t>(request.outputs[0].shape.size()) - 1;
  return read_byte_stages(request, plan.chain, std::move(scales), axis, plan.stages);
}

/// Chooses the form of a result that is not bytes.
Refusal choose_result(const StepRequest& request, ByteProductPlan& plan) {
  if (is_byte(plan.result.dtype)) return {};
  if (plan.result.dtype != DType::kFloat32) return "a result of other numbers";
  if (request.storage() != DType::kFloat16) {
    plan.problem.result = ByteResult::kFloat;
    return {};
  }
  constexpr float kMostHalf = 65504;
  plan.problem.result = ByteResult::kHalf;
  plan.result.dtype = DType::kFloat16;
  ByteFinish& finish = plan.stages.finish;
  finish.low = std::max(finish.low, -kMostHalf);
  finish.high = std::min(finish.high, kMostHalf);
  finish.clamps = true;
  return {};
}

/// Packs weights in the order of byte_gemm.hpp, followed by the sum of each filter as int32.
PackedConstant pack_weights(Gpu& gpu, const StepRequest& request, const ByteProductPlan& plan,
                            engine::WeightStore& weights) {
  const graph::Value& value = request.graph.value(request.node.inputs[plan.chain.w.value]);
  const ConvProblem& p = plan.problem.shape;
  const int64_t filters = byte_filters(plan.problem);
  const int64_t taps = int64_t{p.kernel_h} * p.kernel_w;
  const int64_t depth = taps * p.channels;
  const engine::WeightKey key{
      value.name, fmt::format("cuda-bytes:{}x{}x{}:{}", p.filters, taps, p.channels, plan.weights.channel)};
  const int64_t bytes = filters * depth + filters * static_cast<int64_t>(sizeof(int32_t));
  if (const Tensor* found = weights.find(key)) {
    if (static_cast<int64_t>(found->byte_size()) != bytes) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", value.name, found->byte_size(),
                     bytes);
    }
    return {gpu.copies().of(*found), key};
  }
  if (value.constant->bytes() == nullptr) throw engine::MissingForm(key);
  const auto middle = static_cast<uint8_t>(*weight_middle(request, plan.chain.w));
  const auto* const from = reinterpret_cast<const uint8_t*>(value.constant->bytes());
  Tensor packed(DType::kUInt8, {bytes});
  std::memset(packed.mutable_bytes(), 0, packed.byte_size());
  auto* const to = reinterpret_cast<int8_t*>(packed.mutable_bytes());
  auto* const sums = reinterpret_cast<int32_t*>(packed.mutable_bytes() + filters * depth);
  for (int64_t k = 0; k < p.filters; ++k) {
    int8_t* const row = to + byte_filter_place(k) * depth;
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t c = 0; c < p.channels; ++c) {
        const uint8_t weight =
            from[k * plan.weights.filter + t * plan.weights.tap + c * plan.weights.channel];
        row[t * p.channels + c] = static_cast<int8_t>(weight ^ middle);
        sums[k] += row[t * p.channels + c];
      }
    }
  }
  return {gpu.copies().of(weights.add(key, std::move(packed))), key};
}

/// Packs scales, followed by biases; these compensate for the contribution of x's zero point to the sums.
std::shared_ptr<const DeviceBytes> pack_scales(Gpu& gpu, const ByteProductPlan& plan, const Tensor& packed) {
  const auto count = static_cast<size_t>(byte_scales(plan.problem));
  const int64_t depth = plan.problem.shape.depth();
  const auto* const sums =
      reinterpret_cast<const int32_t*>(packed.bytes() + byte_filters(plan.problem) * depth);
  Tensor numbers(DType::kFloat32, {static_cast<int64_t>(2 * count)});
  const auto to = numbers.mutable_values<float>();
  std::fill(to.begin(), to.end(), 0.0F);
  for (size_t k = 0; k < plan.stages.scales.size(); ++k) {
    to[k] = plan.stages.scales[k];
    to[count + k] = static_cast<float>(double{plan.stages.bias[k]} -
                                       double{plan.stages.scales[k]} * plan.x.zero_point * sums[k]);
  }
  return gpu.copies().of_content(numbers);
}

}  // namespace

Refusal read_byte_product(const StepRequest& request, ByteProductPlan& plan) {
  auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core == nullptr || !chain->w.is_present()) return "no product of dequantized operands";
  plan.chain = std::move(*chain);
  const graph::ValueId weights = request.node.inputs[plan.chain.w.value];
  if (weights == graph::kNoValue || !request.graph.value(weights).constant) return "the weights are computed";
  const auto x = byte_scale(request, plan.chain.x);
  if (!x) return "its first operand is no bytes of one constant scale";
  plan.x = *x;
  if (!weight_middle(request, plan.chain.w)) return "its weights are not symmetric";
  if (tensor::element_count(request.inputs[plan.chain.x.value].shape) == 0) return "an operand is empty";
  if (Refusal reason =
          is_convolution(plan.chain) ? read_convolution(request, plan) : read_matrix(request, plan))
    return reason;
  if (Refusal reason = read_scales(request, plan)) return reason;
  plan.problem.function = plan.stages.function;
  plan.problem.unsigned_x = plan.x.dtype == DType::kUInt8;
  return choose_result(request, plan);
}

void arrange_byte_product(const StepRequest& request, const ByteProductPlan& plan, Offer& offer) {
  offer.inputs.resize(request.inputs.size());
  keep_constants(request, plan.chain, offer);
  offer.inputs[plan.chain.x.value] = plan.source;
  if (plan.stages.operand) {
    const DType dtype =
        is_byte(plan.result.dtype) ? request.inputs[*plan.stages.operand].dtype : plan.result.dtype;
    offer.inputs[*plan.stages.operand] = {dtype, plan.result.shape, plan.result.layout};
  }
  offer.outputs = {plan.result};
}

PackedByteProduct pack_byte_product(Gpu& gpu, const StepRequest& request, const ByteProductPlan& plan,
                                    engine::WeightStore& weights) {
  const PackedConstant filters = pack_weights(gpu, request, plan, weights);
  PackedByteProduct packed{.weights = filters.device,
                           .scales = pack_scales(gpu, plan, *weights.find(filters.key)),
                           .key = filters.key};
  packed.args.w = filters.device->data();
  packed.args.scales = reinterpret_cast<const float*>(packed.scales->data());
  packed.args.bias = packed.args.scales + byte_scales(plan.problem);
  packed.args.finish = plan.stages.finish;
  return packed;
}

}  // namespace hone::device::cuda
