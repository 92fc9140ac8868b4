// See stream_epilogue.hpp.
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"

#include <limits>

namespace hone::device::cuda {
namespace {

std::optional<StreamKind> activation_kind(graph::PostOp op) {
  switch (op) {
    case graph::PostOp::kSwish: return StreamKind::kSwish;
    case graph::PostOp::kHardSwish: return StreamKind::kHardSwish;
    case graph::PostOp::kLeakyRelu: return StreamKind::kLeaky;
    case graph::PostOp::kGeluErf: return StreamKind::kGelu;
    case graph::PostOp::kGeluTanh: return StreamKind::kGeluTanh;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<StreamEpilogue> stream_epilogue(const ConvArgs& args) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  StreamEpilogue result{StreamKind::kBounds, 0, -kInfinity, kInfinity};
  int next = 0;
  if (args.step_count > 0 && args.steps[0].op == graph::PostOp::kAdd &&
      args.steps[0].shape == OperandShape::kFull) {
    result.kind = StreamKind::kAdd;
    ++next;
  }
  if (next == args.step_count) return result;
  const EpilogueStep& step = args.steps[next++];
  if (next != args.step_count) return std::nullopt;
  switch (step.op) {
    case graph::PostOp::kRelu: result.low = 0; return result;
    case graph::PostOp::kClip:
      result.low = step.alpha;
      result.high = step.beta;
      return result;
    default: break;
  }
  const std::optional<StreamKind> activation = activation_kind(step.op);
  if (!activation || result.kind == StreamKind::kAdd) return std::nullopt;
  result.kind = *activation;
  result.alpha = step.alpha;
  return result;
}

Refusal stream_epilogue_refusal(const ConvArgs& args) {
  if (stream_epilogue(args)) return {};
  return "its epilogue is more than bounds, also after an addition, or one activation";
}

}  // namespace hone::device::cuda
