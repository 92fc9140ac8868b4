// See byte_chain.hpp.
#include "device/cuda/plugin/tactics/byte_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/post_op.hpp"

namespace hone::device::cuda {

using engine::StepRequest;
using graph::PostOp;
using graph::QuantizedChain;
using graph::QuantizedStage;
using tensor::DType;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Bounds {
  float low = -kInfinity;
  float high = kInfinity;

  bool any() const { return low != -kInfinity || high != kInfinity; }
  void add(float from, float to) {
    low = std::clamp(low, from, to);
    high = std::clamp(high, from, to);
  }
  /// Converts to units of a scale, limited to the range of its bytes.
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
  StageReader(const StepRequest& request, const QuantizedChain& chain, ByteStages& result)
      : request_(request), chain_(chain), result_(result) {}

  Refusal run(std::vector<double> scales, int64_t axis) {
    const auto rank = static_cast<int64_t>(request_.outputs[0].shape.size());
    if (Refusal reason =
            engine::read_channel_sums(request_, chain_, std::move(scales), rank, axis, true, sums_))
      return reason;
    for (size_t i = sums_.next; i < chain_.stages.size(); ++i) {
      const QuantizedStage& stage = chain_.stages[i];
      Refusal reason = !stage.rounds()                 ? take_function(stage)
                       : i + 1 == chain_.stages.size() ? take_last_rounding(stage)
                                                       : take_first_rounding(stage);
      if (reason) return reason;
    }
    return finish();
  }

 private:
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
    for (size_t c = 0; c < sums_.factors.size(); ++c) {
      result_.scales.push_back(static_cast<float>(sums_.factors[c] / unit));
      result_.bias.push_back(static_cast<float>(sums_.addends[c] / unit));
    }
    const auto is_finite = [](float value) { return std::isfinite(value); };
    const bool finite =
        std::ranges::all_of(result_.scales, is_finite) && std::ranges::all_of(result_.bias, is_finite);
    return finite ? Refusal() : Refusal("scales or biases are beyond float32");
  }

  const StepRequest& request_;
  const QuantizedChain& chain_;
  ByteStages& result_;
  engine::ChannelSums sums_;
  Bounds bounds_;
  ByteScale operand_;
  std::optional<ByteScale> first_;
  std::optional<ByteScale> last_;
};

}  // namespace

Refusal read_byte_stages(const StepRequest& request, const QuantizedChain& chain, std::vector<double> scales,
                         int64_t axis, ByteStages& stages) {
  return StageReader(request, chain, stages).run(std::move(scales), axis);
}

}  // namespace hone::device::cuda
