// See quantized_operands.hpp.
#include "engine/quantized_operands.hpp"

#include <cmath>

#include "transform/constants.hpp"

namespace hone::engine {

using graph::is_byte;
using graph::QuantizedChain;
using graph::QuantizedOperand;
using graph::QuantizedStage;
using tensor::Tensor;

namespace {

std::optional<ByteScale> read_scale(const StepRequest& request, const QuantizedOperand& operand,
                                    tensor::DType dtype) {
  if (!operand.is_quantized() || !is_byte(dtype)) return std::nullopt;
  const Tensor* scale = constant_input(request, operand.scale);
  if (scale == nullptr || scale->size() != 1 || scale->dtype() != tensor::DType::kFloat32)
    return std::nullopt;
  ByteScale result{dtype, scale->values<float>()[0], 0};
  if (!(result.scale > 0) || !std::isfinite(result.scale)) return std::nullopt;
  if (operand.zero_point == QuantizedOperand::kNone) return result;
  const Tensor* zero_point = constant_input(request, operand.zero_point);
  if (zero_point == nullptr || zero_point->size() != 1) return std::nullopt;
  result.zero_point = static_cast<int32_t>(zero_point->to_double()[0]);
  return result;
}

Refusal read_bias(const StepRequest& request, const QuantizedOperand& bias, ChannelSums& sums) {
  sums.addends.assign(sums.factors.size(), 0);
  sums.has_addends = bias.is_present();
  if (!sums.has_addends) return {};
  const Tensor* values = constant_input(request, bias.value);
  if (values == nullptr || bias.is_quantized()) return "the bias is computed";
  const std::vector<double> numbers = values->to_double();
  if (numbers.size() != 1 && numbers.size() != sums.addends.size())
    return "the bias is not one value a channel";
  for (size_t c = 0; c < sums.addends.size(); ++c) sums.addends[c] = numbers[numbers.size() == 1 ? 0 : c];
  return {};
}

/// Returns true if the stage is a constant that was included in the channel sums.
bool fold(const StepRequest& request, const QuantizedStage& stage, int64_t rank, int64_t axis,
          ChannelSums& sums) {
  const bool multiplies = stage.op == "mul";
  if (!multiplies && stage.op != "add" && stage.op != "sub") return false;
  if (!stage.operand.is_present() || stage.operand.is_quantized()) return false;
  const auto values = transform::per_channel(request.graph, request.node.inputs[stage.operand.value], rank,
                                             axis, static_cast<int64_t>(sums.factors.size()));
  if (!values) return false;
  for (size_t c = 0; c < sums.factors.size(); ++c) {
    if (multiplies) {
      sums.factors[c] *= (*values)[c];
      sums.addends[c] *= (*values)[c];
    } else {
      sums.addends[c] += stage.op == "add" ? (*values)[c] : -(*values)[c];
    }
  }
  sums.has_addends = sums.has_addends || !multiplies;
  return true;
}

}  // namespace

const Tensor* constant_input(const StepRequest& request, size_t input) {
  return input < request.node.inputs.size() ? request.graph.constant(request.node.inputs[input]) : nullptr;
}

std::optional<ByteScale> byte_scale(const StepRequest& request, const QuantizedOperand& operand) {
  if (!operand.is_present()) return std::nullopt;
  return read_scale(request, operand, request.inputs[operand.value].dtype);
}

std::optional<ByteScale> byte_scale(const StepRequest& request, const QuantizedStage& stage) {
  const size_t zero_point = stage.to.zero_point;
  const bool given = zero_point != QuantizedOperand::kNone;
  return read_scale(request, stage.to, given ? request.inputs[zero_point].dtype : stage.type);
}

void keep_constants(const StepRequest& request, const QuantizedChain& chain, Offer& offer) {
  const auto keep_input = [&](size_t input) {
    if (input != QuantizedOperand::kNone && constant_input(request, input) != nullptr)
      offer.inputs[input] = {request.inputs[input].dtype, request.inputs[input].shape, Layout::kPlain};
  };
  const auto keep = [&](const QuantizedOperand& operand) {
    keep_input(operand.scale);
    keep_input(operand.zero_point);
    keep_input(operand.value);
  };
  keep(chain.x);
  keep_input(chain.w.scale);
  keep_input(chain.w.zero_point);
  keep(chain.bias);
  for (const QuantizedStage& stage : chain.stages) {
    keep(stage.operand);
    keep(stage.to);
  }
}

Refusal read_channel_sums(const StepRequest& request, const QuantizedChain& chain,
                          std::vector<double> factors, int64_t rank, int64_t axis, bool stages,
                          ChannelSums& sums) {
  sums = {.factors = std::move(factors)};
  if (Refusal reason = read_bias(request, chain.bias, sums)) return reason;
  while (stages && sums.next < chain.stages.size() &&
         fold(request, chain.stages[sums.next], rank, axis, sums))
    ++sums.next;
  return {};
}

}  // namespace hone::engine
