// Checks of products with a constant matrix by the warpgroup GEMM, whose rows are images of one pixel.
#include <algorithm>
#include <cmath>

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

void check_product(Family& family, const DeviceProperties& device, FloatType type, bool float_result,
                   int rows, int depth, int columns, bool relu) {
  ConvProblem p;
  p.element = type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16;
  p.batch = rows;
  p.height = p.width = 1;
  p.channels = depth;
  p.filters = columns;
  p.float_result = float_result;
  const FloatType result = float_result ? FloatType::kFloat : type;
  const Values x(int64_t{rows} * depth, type);
  const Values w(int64_t{columns} * depth, type);
  const Values bias(columns, FloatType::kFloat);
  std::vector<double> expected;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      double sum = bias[c];
      for (int k = 0; k < depth; ++k) sum += x[int64_t{r} * depth + k] * w[int64_t{c} * depth + k];
      expected.push_back(relu ? std::max(sum, 0.0) : sum);
    }
  }
  ConvArgs args;
  args.x = x.get();
  args.w = w.get();
  args.bias = static_cast<const float*>(bias.get());
  if (relu) args.steps[args.step_count++].op = graph::PostOp::kRelu;
  const std::string what = std::string(type_name(type)) + " " + std::to_string(rows) + " x " +
                           std::to_string(depth) + " x " + std::to_string(columns) +
                           (float_result ? " to floats" : "");
  const std::vector<WarpgroupConfig> configs = warpgroup_configs(p, device);
  if (device.warpgroups && configs.empty()) family.launched(cudaErrorNotSupported, what);
  for (const WarpgroupConfig& config : configs) {
    Output y(int64_t{rows} * columns, result);
    y.expected = expected;
    args.y = y.get();
    family.launched(launch_warpgroup(p, config, args, {.device = &gpu()}), what + ", " + config.text());
    // n products of magnitude up to 1, added in float.
    const auto n = static_cast<double>(depth);
    family.compare(y, kFloatRoundoff * (16 + n * std::sqrt(n)), what + ", " + config.text());
  }
}

/// Steps after a transformer's products, by all configurations: a GELU, a scale for each column and the
/// addition of a residual.
void check_steps(Family& family, const DeviceProperties& device, FloatType type, graph::PostOp op) {
  constexpr int kRows = 130;
  constexpr int kDepth = 384;
  constexpr int kColumns = 200;
  ConvProblem p;
  p.element = type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16;
  p.batch = p.height = 1;
  p.width = kRows;
  p.channels = kDepth;
  p.filters = kColumns;
  const Values x(kRows * kDepth, type);
  const Values w(kColumns * kDepth, type);
  const Values bias(kColumns, FloatType::kFloat);
  const Values scale(kColumns, type);
  const Values residual(kRows * kColumns, type);
  ConvArgs args;
  args.x = x.get();
  args.w = w.get();
  args.bias = static_cast<const float*>(bias.get());
  if (is_binary(op)) {
    args.steps[args.step_count++] = {graph::PostOp::kMul, 0, 0, OperandShape::kPerChannel, scale.get()};
    args.steps[args.step_count++] = {graph::PostOp::kAdd, 0, 0, OperandShape::kFull, residual.get()};
  } else {
    args.steps[args.step_count++].op = op;
  }
  std::vector<double> expected;
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      double sum = bias[c];
      for (int k = 0; k < kDepth; ++k) sum += x[r * kDepth + k] * w[c * kDepth + k];
      if (is_binary(op)) sum = sum * scale[c] + residual[r * kColumns + c];
      if (op == graph::PostOp::kGeluErf) sum *= 0.5 * std::erfc(-sum / std::sqrt(2.0));
      if (op == graph::PostOp::kGeluTanh)
        sum *= 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
      expected.push_back(sum);
    }
  }
  for (const WarpgroupConfig& config : warpgroup_configs(p, device, 64)) {
    const std::string what =
        std::string(type_name(type)) + " step " + std::to_string(static_cast<int>(op)) + ", " + config.text();
    Output y(kRows * kColumns, type);
    y.expected = expected;
    args.y = y.get();
    family.launched(launch_warpgroup(p, config, args, {.device = &gpu()}), what);
    family.compare(y, kFloatRoundoff * (64 + kDepth * std::sqrt(double{kDepth})), what);
  }
}

/// Nothing but bounds goes before a result of floats.
void check_refusals(Family& family) {
  ConvProblem p;
  p.batch = 8;
  p.height = p.width = 1;
  p.channels = 256;
  p.filters = 64;
  p.float_result = true;
  const Values x(int64_t{8} * 256, FloatType::kHalf);
  const Values w(int64_t{64} * 256, FloatType::kHalf);
  const Output y(int64_t{8} * 64, FloatType::kFloat);
  for (const graph::PostOp op : {graph::PostOp::kAdd, graph::PostOp::kSwish, graph::PostOp::kTanh}) {
    ConvArgs args;
    args.x = x.get();
    args.w = w.get();
    args.y = y.get();
    args.steps[args.step_count++] = {op, 1, 0, OperandShape::kFull,
                                     op == graph::PostOp::kAdd ? y.get() : nullptr};
    family.expect(launch_warpgroup(p, {64, 32, 2, 2}, args, {.device = &gpu()}) == cudaErrorInvalidValue,
                  "a step that is no bound is refused");
  }
}

}  // namespace

void check_warpgroup_matrix() {
  Family family("warpgroup matrix");
  DeviceProperties device;
  family.launched(find_device_properties(0, device), "limits");
  check_refusals(family);
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const bool float_result : {false, true})
      check_product(family, device, type, float_result, 33, 520, 72, true);
    for (const graph::PostOp op : {graph::PostOp::kGeluErf, graph::PostOp::kGeluTanh, graph::PostOp::kAdd})
      check_steps(family, device, type, op);
  }
}

void check_warpgroup_matrix_layers() {
  Family family("fully connected layers");
  DeviceProperties device;
  family.launched(find_device_properties(0, device), "limits");
  for (const FloatType type : {FloatType::kHalf, FloatType::kBfloat16}) {
    for (const bool float_result : {false, true}) {
      check_product(family, device, type, float_result, 2, 2048, 1000, false);
      check_product(family, device, type, float_result, 130, 1280, 200, false);
    }
  }
}

}  // namespace hone::device::cuda::check
