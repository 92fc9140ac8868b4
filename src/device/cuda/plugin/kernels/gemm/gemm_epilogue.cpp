// Converts the steps of a convolution to the parameters of its kernel. See gemm_epilogue.hpp.
#include "device/cuda/plugin/kernels/gemm/gemm_epilogue.hpp"

namespace hone::device::cuda {
bool valid_steps(const ConvArgs& args) {
  if (args.step_count < 0 || args.step_count > kMaxEpilogueSteps) return false;
  for (int i = 0; i < args.step_count; ++i) {
    if (is_binary(args.steps[i].op) != (args.steps[i].operand != nullptr)) return false;
  }
  return true;
}

EpilogueParams make_epilogue(const ConvProblem& problem, const ConvArgs& args) {
  EpilogueParams params{};
  params.bias = args.bias;
  params.y = args.y;
  params.rows = static_cast<int>(problem.rows());
  params.filters = problem.filters;
  params.float_y = problem.float_result;
  params.pixels = FastDivisor(int64_t{problem.out_height()} * problem.out_width());
  params.step_count = args.step_count;
  params.prefetched_step = -1;
  for (int i = 0; i < args.step_count; ++i) {
    const EpilogueStep& step = args.steps[i];
    params.steps[i] = step;
    if (params.prefetched == nullptr && is_binary(step.op) && step.shape == OperandShape::kFull) {
      params.prefetched = step.operand;
      params.prefetched_step = i;
    }
  }
  params.mode = EpilogueMode::kSteps;
  if (args.step_count == 0) params.mode = EpilogueMode::kPlain;
  if (args.step_count == 1 && args.steps[0].op == graph::PostOp::kRelu) params.mode = EpilogueMode::kRelu;
  if (args.step_count == 2 && args.steps[0].op == graph::PostOp::kAdd && params.prefetched_step == 0 &&
      args.steps[1].op == graph::PostOp::kRelu) {
    params.mode = EpilogueMode::kAddRelu;
  }
  return params;
}

}  // namespace hone::device::cuda
