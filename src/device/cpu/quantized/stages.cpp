// See stages.hpp.
#include "device/cpu/quantized/stages.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/quantize_math.hpp"
#include "transform/constants.hpp"

namespace hone::device::cpu {

using engine::Layout;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

namespace {

/// The axis that lies innermost in memory.
int64_t inner_axis(const TensorDesc& desc) {
  return desc.layout == Layout::kChannelsLast ? 1 : static_cast<int64_t>(desc.shape.size()) - 1;
}

/// True if an operand has one element for each channel of channels-last images, or for those of all.
bool is_one_a_channel(const engine::Shape& operand, const TensorDesc& result) {
  if (result.layout != Layout::kChannelsLast || operand.size() != result.shape.size()) return false;
  return (operand[0] == 1 || operand[0] == result.shape[0]) && operand[1] == result.shape[1] &&
         tensor::element_count(operand) == operand[0] * operand[1];
}

void to_bytes(const float* x, const ByteScale& to, void* bytes, int64_t position, size_t n) {
  const auto zero_point = static_cast<float>(to.zero_point);
  if (to.dtype == DType::kUInt8) {
    quantize_row(x, to.scale, zero_point, static_cast<uint8_t*>(bytes) + position, n);
  } else {
    quantize_row(x, to.scale, zero_point, static_cast<int8_t*>(bytes) + position, n);
  }
}

}  // namespace

void read_bytes(const void* bytes, const ByteScale& from, float* x, int64_t position, size_t n) {
  const auto zero_point = static_cast<float>(from.zero_point);
  if (from.dtype == DType::kUInt8) {
    dequantize_row(static_cast<const uint8_t*>(bytes) + position, from.scale, zero_point, x, n);
  } else {
    dequantize_row(static_cast<const int8_t*>(bytes) + position, from.scale, zero_point, x, n);
  }
}

Refusal StageProgram::read_operand(const StepRequest& request, const graph::QuantizedOperand& operand,
                                   const TensorDesc& result, engine::Offer& offer, Stage& stage) {
  const TensorDesc& desc = request.inputs[operand.value];
  stage.link.operand = operand.value;
  if (operand.is_quantized()) {
    const auto scale = byte_scale(request, operand);
    const bool whole = desc.shape == result.shape;
    if (!scale || !(whole || is_one_a_channel(desc.shape, result)))
      return "an operand that is no bytes of the result's shape, or of one a channel of an image";
    stage.kind = whole ? Operand::kBytes : Operand::kChannelBytes;
    stage.of_images = desc.shape[0] != 1;
    stage.scale = *scale;
    offer.inputs[operand.value] = {desc.dtype, desc.shape, result.layout};
    return {};
  }
  const tensor::Tensor* constant = constant_input(request, operand.value);
  if (constant == nullptr) {
    if (desc.shape != result.shape ||
        request.graph.value(request.node.inputs[operand.value]).type.dtype != DType::kFloat32)
      return "an operand in floating point that is broadcast";
    stage.kind = Operand::kFloats;
    offer.inputs[operand.value] = {DType::kFloat32, desc.shape, result.layout};
    return {};
  }
  const int64_t axis = inner_axis(result);
  const auto values = transform::per_channel(request.graph, request.node.inputs[operand.value],
                                             static_cast<int64_t>(result.shape.size()), axis,
                                             result.shape[static_cast<size_t>(axis)]);
  if (!values) return "a constant operand that varies along another axis than channels";
  stage.kind = constant->size() == 1 ? Operand::kSingle : Operand::kChannels;
  stage.values.assign(values->begin(), values->end());
  return {};
}

Refusal StageProgram::make(const StepRequest& request, const graph::QuantizedChain& chain,
                           const TensorDesc& result, engine::Offer& offer, StageProgram& program) {
  if (result.shape.empty()) return "a scalar";
  program.channels_ = result.shape[static_cast<size_t>(inner_axis(result))];
  program.type_ = result.dtype;
  program.image_ = tensor::element_count(result.shape) / std::max<int64_t>(1, result.shape[0]);
  for (const graph::QuantizedStage& stage : chain.stages) {
    Stage own;
    own.rounds = stage.rounds();
    if (own.rounds) {
      const auto scale = byte_scale(request, stage);
      if (!scale) return "numbers are rounded to other than bytes of one constant scale";
      own.scale = *scale;
    } else {
      const auto op = chain_op(stage.op);
      if (!op) return "a function that no chain has";
      own.link = {*op, stage.alpha, stage.beta};
      if (stage.operand.is_present()) {
        if (Refusal reason = read_operand(request, stage.operand, result, offer, own)) return reason;
      }
    }
    program.stages_.push_back(std::move(own));
  }
  const bool ends_in_bytes = !program.stages_.empty() && program.stages_.back().rounds;
  if (ends_in_bytes != is_byte(result.dtype)) return "the result is of another type than the last rounding";
  return {};
}

bool StageProgram::is_function(size_t own) const {
  return std::all_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
    return stage.kind == Operand::kNone || stage.kind == Operand::kSingle ||
           (stage.kind == Operand::kBytes && stage.link.operand == own);
  });
}

void StageProgram::apply(const Stage& stage, float* x, int64_t position, size_t n,
                         std::span<const void* const> inputs) const {
  if (stage.rounds) {
    int8_t bytes[kRun];
    to_bytes(x, stage.scale, bytes, 0, n);
    return read_bytes(bytes, stage.scale, x, 0, n);
  }
  alignas(64) float y[kRun];
  const float* other = y;
  size_t stride = 1;
  switch (stage.kind) {
    case Operand::kNone: stride = 0; break;
    case Operand::kBytes: read_bytes(inputs[stage.link.operand], stage.scale, y, position, n); break;
    case Operand::kChannelBytes: read_channels(stage, inputs[stage.link.operand], position, n, y); break;
    case Operand::kFloats: other = static_cast<const float*>(inputs[stage.link.operand]) + position; break;
    case Operand::kSingle:
      other = stage.values.data();
      stride = 0;
      break;
    case Operand::kChannels:
      for (size_t done = 0; done < n;) {
        const auto channel = static_cast<size_t>((position + static_cast<int64_t>(done)) % channels_);
        const size_t count = std::min(n - done, static_cast<size_t>(channels_) - channel);
        std::memcpy(y + done, stage.values.data() + channel, count * sizeof(float));
        done += count;
      }
      break;
  }
  apply_link(stage.link, x, other, stride, x, n);
}

void StageProgram::read_channels(const Stage& stage, const void* bytes, int64_t position, size_t n,
                                 float* y) const {
  for (size_t done = 0; done < n;) {
    const int64_t at = position + static_cast<int64_t>(done);
    const int64_t channel = at % channels_;
    const int64_t first = stage.of_images ? at / image_ * channels_ : 0;
    const size_t count = std::min(n - done, static_cast<size_t>(channels_ - channel));
    read_bytes(bytes, stage.scale, y + done, first + channel, count);
    done += count;
  }
}

void StageProgram::run(float* x, int64_t position, size_t n, std::span<const void* const> inputs,
                       void* output) const {
  const size_t inside = is_byte(type_) ? stages_.size() - 1 : stages_.size();
  for (size_t i = 0; i < inside; ++i) apply(stages_[i], x, position, n, inputs);
  if (is_byte(type_)) return to_bytes(x, stages_.back().scale, output, position, n);
  std::memcpy(static_cast<float*>(output) + position, x, n * sizeof(float));
}

}  // namespace hone::device::cpu
