// See operands.hpp.
#include "device/cpu/quantized/operands.hpp"

#include <algorithm>
#include <cmath>

#include "device/cpu/onednn.hpp"

namespace hone::device::cpu {

using engine::Layout;
using engine::StepRequest;
using graph::QuantizedOperand;
using tensor::DType;
using tensor::Tensor;

const Tensor* constant_input(const StepRequest& request, size_t input) {
  return input < request.node.inputs.size() ? request.graph.constant(request.node.inputs[input]) : nullptr;
}

namespace {

std::optional<ByteScale> read_scale(const StepRequest& request, const QuantizedOperand& operand,
                                    DType dtype) {
  if (!operand.is_quantized() || !is_byte(dtype)) return std::nullopt;
  const Tensor* scale = constant_input(request, operand.scale);
  if (scale == nullptr || scale->size() != 1 || scale->dtype() != DType::kFloat32) return std::nullopt;
  ByteScale result{dtype, scale->values<float>()[0], 0};
  if (!(result.scale > 0) || !std::isfinite(result.scale)) return std::nullopt;
  if (operand.zero_point == QuantizedOperand::kNone) return result;
  const Tensor* zero_point = constant_input(request, operand.zero_point);
  if (zero_point == nullptr || zero_point->size() != 1) return std::nullopt;
  result.zero_point = static_cast<int32_t>(zero_point->to_double()[0]);
  return result;
}

bool sums_bytes_exactly() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx: return true;
    default: return false;
  }
}

}  // namespace

std::optional<ByteScale> byte_scale(const StepRequest& request, const QuantizedOperand& operand) {
  if (!operand.is_present()) return std::nullopt;
  return read_scale(request, operand, request.inputs[operand.value].dtype);
}

std::optional<ByteScale> byte_scale(const StepRequest& request, const graph::QuantizedStage& stage) {
  const size_t zero_point = stage.to.zero_point;
  const bool given = zero_point != QuantizedOperand::kNone;
  return read_scale(request, stage.to, given ? request.inputs[zero_point].dtype : stage.type);
}

void keep_constants(const StepRequest& request, const QuantizedOperand& operand, engine::Offer& offer) {
  for (const size_t input : {operand.scale, operand.zero_point}) {
    if (input != QuantizedOperand::kNone)
      offer.inputs[input] = {request.inputs[input].dtype, request.inputs[input].shape, Layout::kPlain};
  }
}

void keep_constants(const StepRequest& request, const graph::QuantizedChain& chain, engine::Offer& offer) {
  const auto keep = [&](const QuantizedOperand& operand) {
    keep_constants(request, operand, offer);
    if (operand.is_present() && constant_input(request, operand.value) != nullptr) {
      offer.inputs[operand.value] = {request.inputs[operand.value].dtype, request.inputs[operand.value].shape,
                                     Layout::kPlain};
    }
  };
  keep(chain.x);
  keep_constants(request, chain.w, offer);
  keep(chain.bias);
  for (const graph::QuantizedStage& stage : chain.stages) {
    keep(stage.operand);
    keep(stage.to);
  }
}

Refusal refuse_saturation(DType first, const Tensor* weights) {
  if (sums_bytes_exactly()) return {};
  // 255 * 64 + 255 * 64 fits into 16 bits.
  constexpr double kSafe = 64;
  if (first != DType::kUInt8 || weights == nullptr)
    return "without VNNI, sums of two products saturate at 16 bits";
  const double middle = weights->dtype() == DType::kUInt8 ? 128 : 0;
  const auto values = weights->to_double();
  const bool safe = std::all_of(values.begin(), values.end(),
                                [&](double value) { return std::abs(value - middle) <= kSafe; });
  return safe ? Refusal()
              : Refusal("without VNNI, sums of two products with such weights saturate at 16 bits");
}

}  // namespace hone::device::cpu
