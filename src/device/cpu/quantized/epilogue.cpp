// See epilogue.hpp. Inside a primitive a number is kept as a multiple of a unit: of the scale that it is
// rounded by first, so that one multiplication does both, or of 1 where a function needs the number itself.
#include "device/cpu/quantized/epilogue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/eltwise.hpp"
#include "transform/constants.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::algorithm;
using engine::Layout;
using engine::StepRequest;
using engine::TensorDesc;
using graph::QuantizedChain;
using graph::QuantizedStage;
using tensor::DType;
using tensor::Tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_binary_name(const std::string& op) { return op == "add" || op == "sub" || op == "mul"; }

/// True if f(unit · x) = unit · f'(x), where f' is the same function with other bounds.
bool scales_with_unit(const QuantizedStage& stage) {
  return stage.op == "relu" || stage.op == "leaky_relu" || stage.op == "clip" || is_binary_name(stage.op);
}

class EpilogueMaker {
 public:
  EpilogueMaker(const StepRequest& request, const QuantizedChain& chain, const ProductScales& scales,
                TensorDesc result, int64_t axis, engine::Offer& offer, ByteEpilogue& epilogue)
      : request_(request),
        chain_(chain),
        result_(std::move(result)),
        axis_(axis),
        channels_(static_cast<size_t>(result_.shape[static_cast<size_t>(axis)])),
        offer_(offer),
        epilogue_(epilogue) {
    sums_.factors.resize(channels_);
    for (size_t c = 0; c < channels_; ++c)
      sums_.factors[c] = double{scales.x.scale} * scales.weights[scales.weights.size() == 1 ? 0 : c];
  }

  Refusal run(bool with_stages) {
    const auto rank = static_cast<int64_t>(result_.shape.size());
    if (Refusal reason = engine::read_channel_sums(request_, chain_, std::move(sums_.factors), rank, axis_,
                                                   with_stages, sums_))
      return reason;
    if (!with_stages) return finish_sums();
    choose_unit(sums_.next);
    if (Refusal reason = finish_sums()) return reason;
    for (size_t next = sums_.next; next < chain_.stages.size(); ++next) {
      if (Refusal reason = add(chain_.stages[next], next + 1 == chain_.stages.size())) return reason;
    }
    return flush_bounds() ? Refusal() : refuse_functions();
  }

 private:
  static Refusal refuse_functions() { return "functions that one primitive does not take together"; }

  std::optional<std::vector<double>> channel_values(const graph::QuantizedOperand& operand) const {
    if (operand.is_quantized()) return std::nullopt;
    return transform::per_channel(request_.graph, request_.node.inputs[operand.value],
                                  static_cast<int64_t>(result_.shape.size()), axis_,
                                  static_cast<int64_t>(channels_));
  }

  /// The scale of the first rounding from stage `first` on.
  void choose_unit(size_t first) {
    for (size_t i = first; i < chain_.stages.size(); ++i) {
      const QuantizedStage& stage = chain_.stages[i];
      if (!stage.rounds() && !scales_with_unit(stage)) return;
      if (!stage.rounds()) continue;
      if (const auto scale = byte_scale(request_, stage)) unit_ = scale->scale;
      return;
    }
  }

  Refusal finish_sums() {
    for (size_t c = 0; c < channels_; ++c) {
      if (sums_.has_addends) {
        if (sums_.factors[c] == 0) return "a channel has the scale 0";
        epilogue_.bias.push_back(static_cast<float>(sums_.addends[c] / sums_.factors[c]));
      }
      epilogue_.scales.push_back(static_cast<float>(sums_.factors[c] / unit_));
    }
    const auto is_finite = [](float value) { return std::isfinite(value); };
    const bool finite = std::all_of(epilogue_.scales.begin(), epilogue_.scales.end(), is_finite) &&
                        std::all_of(epilogue_.bias.begin(), epilogue_.bias.end(), is_finite);
    return finite ? Refusal() : Refusal("scales or biases are beyond float32");
  }

  bool append(algorithm kind, float alpha, float beta) {
    return append_functions({{kind, alpha, beta}}, functions_, epilogue_.ops);
  }

  /// Bounds that follow each other are one.
  void bound(float low, float high) {
    low_ = std::clamp(low_, low, high);
    high_ = std::clamp(high_, low, high);
  }

  bool flush_bounds() {
    const float low = std::exchange(low_, -kInfinity);
    const float high = std::exchange(high_, kInfinity);
    if (low == -kInfinity && high == kInfinity) return true;
    if (low == 0 && high == kInfinity) return append(algorithm::eltwise_relu, 0, 0);
    constexpr float kLargest = std::numeric_limits<float>::max();
    return append(algorithm::eltwise_clip, std::max(low, -kLargest), std::min(high, kLargest));
  }

  bool set_unit(double unit) {
    if (unit == unit_) return true;
    const auto factor = static_cast<float>(unit_ / unit);
    unit_ = unit;
    return flush_bounds() && append(algorithm::eltwise_linear, factor, 0);
  }

  Refusal add(const QuantizedStage& stage, bool is_last) {
    if (stage.rounds()) return add_rounding(stage, is_last);
    const auto unit = static_cast<float>(unit_);
    if (stage.op == "relu") {
      bound(0, kInfinity);
      return {};
    }
    if (stage.op == "clip") {
      bound(stage.alpha / unit, stage.beta / unit);
      return {};
    }
    if (!flush_bounds()) return refuse_functions();
    if (is_binary_name(stage.op)) return add_operand(stage);
    if (stage.op != "leaky_relu" && !set_unit(1)) return refuse_functions();
    const bool taken =
        append_functions(eltwise_functions(stage.op, stage.alpha, stage.beta), functions_, epilogue_.ops);
    return taken ? Refusal() : refuse_functions();
  }

  Refusal add_rounding(const QuantizedStage& stage, bool is_last) {
    const auto scale = byte_scale(request_, stage);
    if (!scale) return "numbers are rounded to other than bytes of one constant scale";
    if (is_last && scale->dtype != result_.dtype) return "the result is of another type";
    const auto zero_point = static_cast<float>(scale->zero_point);
    if (is_last) {
      // Conversion to the type saturates, which is what a Relu before it does where 0 is the lowest value.
      const float low = low_ * static_cast<float>(unit_ / scale->scale) + zero_point;
      const float high = high_ * static_cast<float>(unit_ / scale->scale) + zero_point;
      if (low <= scale->lowest() && high >= scale->highest()) low_ = -kInfinity, high_ = kInfinity;
      if (!set_unit(scale->scale)) return refuse_functions();
      epilogue_.zero_point = scale->zero_point;
      return {};
    }
    if (!set_unit(scale->scale) || !flush_bounds() || !append(algorithm::eltwise_round, 0, 0))
      return refuse_functions();
    bound(scale->lowest() - zero_point, scale->highest() - zero_point);
    return {};
  }

  Refusal add_operand(const QuantizedStage& stage) {
    if (const auto values = channel_values(stage.operand)) return add_constant(stage, *values);
    const auto scale = byte_scale(request_, stage.operand);
    const TensorDesc& desc = request_.inputs[stage.operand.value];
    if (!scale || desc.shape != result_.shape || stage.op == "mul" || epilogue_.accumulate_input >= 0)
      return "an operand that no sum in place takes";
    if (scale->dtype != result_.dtype || constant_input(request_, stage.operand.value) != nullptr)
      return "a sum in place with bytes of another type";
    const double factor = scale->scale / unit_;
    epilogue_.ops.append_sum(static_cast<float>(stage.op == "sub" ? -factor : factor), scale->zero_point);
    epilogue_.accumulate_input = static_cast<int>(stage.operand.value);
    offer_.inputs[stage.operand.value] = {desc.dtype, desc.shape, result_.layout};
    return {};
  }

  Refusal add_constant(const QuantizedStage& stage, const std::vector<double>& values) {
    std::vector<float> own;
    for (const double value : values)
      own.push_back(static_cast<float>(stage.op == "mul" ? value : value / unit_));
    // A primitive sees rows of one matrix in any result but images.
    const bool is_image = result_.layout == Layout::kChannelsLast;
    tensor::Shape shape(is_image ? result_.shape.size() : 2, 1);
    shape[1] = static_cast<int64_t>(channels_);
    const dnnl::memory::desc desc = onednn_desc({DType::kFloat32, shape, Layout::kPlain});
    const algorithm kind = stage.op == "add"   ? algorithm::binary_add
                           : stage.op == "mul" ? algorithm::binary_mul
                                               : algorithm::binary_sub;
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(epilogue_.ops.len()) | DNNL_ARG_SRC_1;
    epilogue_.ops.append_binary(kind, desc);
    epilogue_.constants.push_back({argument, desc, Tensor::of<float>(own, shape)});
    return {};
  }

  const StepRequest& request_;
  const QuantizedChain& chain_;
  TensorDesc result_;
  int64_t axis_;
  size_t channels_;
  engine::Offer& offer_;
  ByteEpilogue& epilogue_;
  engine::ChannelSums sums_;
  double unit_ = 1;
  /// Bounds that are still to be appended.
  float low_ = -kInfinity;
  float high_ = kInfinity;
  std::vector<Eltwise> functions_;
};

}  // namespace

std::optional<ProductScales> product_scales(const StepRequest& request, const QuantizedChain& chain) {
  const auto x = byte_scale(request, chain.x);
  const Tensor* weights = constant_input(request, chain.w.scale);
  if (!x || weights == nullptr || weights->dtype() != DType::kFloat32) return std::nullopt;
  const auto values = weights->values<float>();
  return ProductScales{*x, {values.begin(), values.end()}};
}

Refusal make_epilogue(const StepRequest& request, const QuantizedChain& chain, const ProductScales& scales,
                      const TensorDesc& result, int64_t axis, engine::Offer& offer, ByteEpilogue& epilogue) {
  return EpilogueMaker(request, chain, scales, result, axis, offer, epilogue).run(true);
}

Refusal make_plain_epilogue(const StepRequest& request, const QuantizedChain& chain,
                            const ProductScales& scales, int64_t channels, ByteEpilogue& epilogue) {
  engine::Offer none;
  const TensorDesc result{DType::kFloat32, {channels}, Layout::kPlain};
  return EpilogueMaker(request, chain, scales, result, 0, none, epilogue).run(false);
}

}  // namespace hone::device::cpu
