// See byte_chain.hpp.
#include "device/cuda/plugin/tactics/byte_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/post_op.hpp"
#include "transform/constants.hpp"

namespace hone::device::cuda {

using engine::Layout;
using engine::StepRequest;
using graph::PostOp;
using graph::QuantizedChain;
using graph::QuantizedOperand;
using graph::QuantizedStage;
using tensor::DType;
using tensor::Tensor;

bool is_byte(DType dtype) { return dtype == DType::kUInt8 || dtype == DType::kInt8; }

const Tensor* constant_input(const StepRequest& request, size_t input) {
  return input < request.node.inputs.size() ? request.graph.constant(request.node.inputs[input]) : nullptr;
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<ByteScale> read_scale(const StepRequest& request, const QuantizedOperand& operand,
                                    DType dtype) {
  if (!operand.is_quantized() || !is_byte(dtype)) return std::nullopt;
  const Tensor* const scale = constant_input(request, operand.scale);
  if (scale == nullptr || scale->size() != 1 || scale->dtype() != DType::kFloat32) return std::nullopt;
  ByteScale result{dtype, scale->values<float>()[0], 0};
  if (!(result.scale > 0) || !std::isfinite(result.scale)) return std::nullopt;
  if (operand.zero_point == QuantizedOperand::kNone) return result;
  const Tensor* const zero_point = constant_input(request, operand.zero_point);
  if (zero_point == nullptr || zero_point->size() != 1) return std::nullopt;
  result.zero_point = static_cast<int32_t>(zero_point->to_double()[0]);
  return result;
}

struct Bounds {
  float low = -kInfinity;
  float high = kInfinity;

  bool any() const { return low != -kInfinity || high != kInfinity; }
  void add(float from, float to) {
    low = std::clamp(low, from, to);
    high = std::clamp(high, from, to);
  }
  /// In units of a scale, and inside of what its bytes hold.
  Bounds in_bytes(const ByteScale& scale) const {
    const bool is_unsigned = scale.dtype == DType::kUInt8;
    const auto first = static_cast<float>((is_unsigned ? 0 : -128) - scale.zero_point);
    Bounds result{low / scale.scale, high / scale.scale};
    result.add(first, first + 255);
    return result;
  }
};

class StageReader {
 public:
  StageReader(const StepRequest& request, const QuantizedChain& chain, std::vector<double> scales,
              int64_t axis, ByteStages& result)
      : request_(request), chain_(chain), axis_(axis), result_(result), scales_(std::move(scales)) {}

  Refusal run() {
    if (Refusal reason = read_bias()) return reason;
    for (size_t i = fold_constants(); i < chain_.stages.size(); ++i) {
      const QuantizedStage& stage = chain_.stages[i];
      Refusal reason = !stage.rounds()                 ? take_function(stage)
                       : i + 1 == chain_.stages.size() ? take_last_rounding(stage)
                                                       : take_first_rounding(stage);
      if (reason) return reason;
    }
    return finish();
  }

 private:
  Refusal read_bias() {
    bias_.assign(scales_.size(), 0);
    if (!chain_.bias.is_present()) return {};
    const Tensor* const values = constant_input(request_, chain_.bias.value);
    if (values == nullptr || chain_.bias.is_quantized()) return "the bias is computed";
    const std::vector<double> numbers = values->to_double();
    if (numbers.size() != 1 && numbers.size() != bias_.size()) return "the bias is not one value a channel";
    for (size_t c = 0; c < bias_.size(); ++c) bias_[c] = numbers[numbers.size() == 1 ? 0 : c];
    return {};
  }

  /// Constants that are added or multiplied before anything else go into scales and bias; the first stage
  /// behind them.
  size_t fold_constants() {
    size_t i = 0;
    for (; i < chain_.stages.size(); ++i) {
      const QuantizedStage& stage = chain_.stages[i];
      if (!stage.operand.is_present() || stage.operand.is_quantized()) break;
      const auto values = transform::per_channel(request_.graph, request_.node.inputs[stage.operand.value],
                                                 static_cast<int64_t>(request_.outputs[0].shape.size()),
                                                 axis_, static_cast<int64_t>(scales_.size()));
      if (!values) break;
      for (size_t c = 0; c < scales_.size(); ++c) {
        if (stage.op == "mul") {
          scales_[c] *= (*values)[c];
          bias_[c] *= (*values)[c];
        } else {
          bias_[c] += stage.op == "add" ? (*values)[c] : -(*values)[c];
        }
      }
    }
    return i;
  }

  bool has_function() const {
    return result_.function == ByteFunction::kSwish || result_.function == ByteFunction::kGelu;
  }

  Refusal take_function(const QuantizedStage& stage) {
    const auto op = graph::find_post_op(stage.op);
    if (!op) return "a function that no kernel has";
    switch (*op) {
      case PostOp::kRelu: bounds_.add(0, kInfinity); return {};
      case PostOp::kClip: bounds_.add(stage.alpha, stage.beta); return {};
      case PostOp::kAdd: return take_operand(stage, 1);
      case PostOp::kSub: return take_operand(stage, -1);
      case PostOp::kSwish:
      case PostOp::kGeluErf: break;
      default: return "a function that no kernel of bytes has";
    }
    if (has_function() || bounds_.any() || result_.function == ByteFunction::kAdd)
      return "functions that one kernel does not take together";
    result_.function = *op == PostOp::kSwish ? ByteFunction::kSwish : ByteFunction::kGelu;
    result_.finish.alpha = stage.alpha;
    return {};
  }

  Refusal take_operand(const QuantizedStage& stage, float sign) {
    if (has_function() || bounds_.any() || result_.operand) return "an addition behind a function";
    const engine::TensorDesc& desc = request_.inputs[stage.operand.value];
    if (desc.shape != request_.outputs[0].shape) return "an operand that is broadcast";
    const bool bytes = is_byte(request_.outputs[0].dtype);
    if (bytes != stage.operand.is_quantized()) return "an operand of other numbers than the result";
    result_.function = ByteFunction::kAdd;
    result_.operand = stage.operand.value;
    operand_ = {DType::kFloat32, sign, 0};
    if (!bytes) return {};
    const auto scale = byte_scale(request_, stage.operand);
    if (!scale) return "an operand that is no bytes of one constant scale";
    operand_ = {scale->dtype, sign * scale->scale, scale->zero_point};
    return {};
  }

  Refusal take_first_rounding(const QuantizedStage& stage) {
    const auto scale = byte_scale(request_, stage);
    if (!scale) return "numbers are rounded to other than bytes of one constant scale";
    if (first_ || result_.operand || has_function()) return "roundings that one kernel does not do";
    const Bounds bounds = bounds_.in_bytes(*scale);
    result_.function = ByteFunction::kAdd;
    result_.finish.rounds_first = true;
    result_.finish.first_low = bounds.low;
    result_.finish.first_high = bounds.high;
    first_ = *scale;
    bounds_ = {};
    return {};
  }

  Refusal take_last_rounding(const QuantizedStage& stage) {
    last_ = byte_scale(request_, stage);
    return last_ ? Refusal() : Refusal("numbers are rounded to other than bytes of one constant scale");
  }

  Refusal finish() {
    if (last_.has_value() != is_byte(request_.outputs[0].dtype))
      return "the result is of another type than the last rounding";
    ByteFinish& finish = result_.finish;
    const float unit = last_ ? last_->scale : 1;
    if (last_) {
      const Bounds bounds = bounds_.in_bytes(*last_);
      const Bounds range = Bounds().in_bytes(*last_);
      finish.low = bounds.low;
      finish.high = bounds.high;
      finish.zero_point = last_->zero_point;
      finish.unsigned_y = last_->dtype == DType::kUInt8;
      finish.clamps = bounds.low != range.low || bounds.high != range.high;
    } else {
      finish.low = bounds_.low;
      finish.high = bounds_.high;
      finish.clamps = bounds_.any();
    }
    if (first_) finish.first_factor = first_->scale / unit;
    if (result_.operand) {
      finish.operand_unsigned = operand_.dtype == DType::kUInt8;
      finish.operand_factor = operand_.scale / unit;
      finish.operand_offset = -static_cast<float>(operand_.zero_point) * finish.operand_factor;
    }
    finish.factor = 1 / unit;
    return finish_sums(first_ ? first_->scale : has_function() ? 1 : unit);
  }

  Refusal finish_sums(float unit) {
    for (size_t c = 0; c < scales_.size(); ++c) {
      result_.scales.push_back(static_cast<float>(scales_[c] / unit));
      result_.bias.push_back(static_cast<float>(bias_[c] / unit));
    }
    const auto is_finite = [](float value) { return std::isfinite(value); };
    const bool finite =
        std::ranges::all_of(result_.scales, is_finite) && std::ranges::all_of(result_.bias, is_finite);
    return finite ? Refusal() : Refusal("scales or biases are beyond float32");
  }

  const StepRequest& request_;
  const QuantizedChain& chain_;
  int64_t axis_;
  ByteStages& result_;
  std::vector<double> scales_;
  std::vector<double> bias_;
  Bounds bounds_;
  ByteScale operand_;
  std::optional<ByteScale> first_;
  std::optional<ByteScale> last_;
};

}  // namespace

std::optional<ByteScale> byte_scale(const StepRequest& request, const QuantizedOperand& operand) {
  if (!operand.is_present()) return std::nullopt;
  return read_scale(request, operand, request.inputs[operand.value].dtype);
}

std::optional<ByteScale> byte_scale(const StepRequest& request, const QuantizedStage& stage) {
  const size_t zero_point = stage.to.zero_point;
  const bool given = zero_point != QuantizedOperand::kNone;
  return read_scale(request, stage.to, given ? request.inputs[zero_point].dtype : stage.type);
}

void keep_constants(const StepRequest& request, const QuantizedChain& chain, engine::Offer& offer) {
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

Refusal read_byte_stages(const StepRequest& request, const QuantizedChain& chain, std::vector<double> scales,
                         int64_t axis, ByteStages& stages) {
  return StageReader(request, chain, std::move(scales), axis, stages).run();
}

}  // namespace hone::device::cuda
