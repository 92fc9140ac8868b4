// See output_check.hpp.
#include "engine/output_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tensor/metrics.hpp"

namespace hone::engine {
namespace {

/// Relative L2 distance between outputs of networks that only differ in their tactics. Rounding moves them by
/// some unit roundoffs (fp16 0x1p-11, bf16 0x1p-8); a kernel that is wrong moves them by far more than this.
double tolerance(Precision precision) {
  switch (precision) {
    case Precision::kBf16: return 0.1;
    case Precision::kFp16: return 0.02;
    case Precision::kTf32: return 0.01;
    default: return 1e-3;
  }
}

size_t values_not_finite(const Outputs& outputs) {
  size_t count = 0;
  for (const tensor::Tensor& output : outputs) {
    if (!tensor::is_floating(output.dtype())) continue;
    const std::vector<double> values = output.to_double();
    count += static_cast<size_t>(
        std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); }));
  }
  return count;
}

}  // namespace

Outputs OutputCheck::run(Program& program) const {
  program.executor().poison();
  Outputs outputs = program.run(inputs_);
  if (!overlapping_) return outputs;
  program.executor().poison();
  return program.run(inputs_);
}

void OutputCheck::expect(const std::vector<Outputs>& outputs, const std::function<Outputs()>& decide) {
  // A kernel that reads what nobody wrote brings in values that are not finite, and many that do agree.
  std::vector<size_t> broken;
  for (const Outputs& candidate : outputs) broken.push_back(values_not_finite(candidate));
  const size_t fewest = *std::min_element(broken.begin(), broken.end());
  size_t most = 0;
  Outputs best;
  // Each of them in turn, until one has most of the others on its side.
  for (size_t i = 0; i < outputs.size() && 2 * most < outputs.size(); ++i) {
    if (broken[i] != fewest) continue;
    expected_ = outputs[i];
    const auto agreeing = static_cast<size_t>(
        std::count_if(outputs.begin(), outputs.end(), [this](const Outputs& o) { return agrees(o); }));
    if (agreeing <= most) continue;
    most = agreeing;
    best = outputs[i];
  }
  if (most == 1 && outputs.size() > 1) {
    expected_ = decide();
    if (std::any_of(outputs.begin(), outputs.end(), [this](const Outputs& o) { return agrees(o); })) return;
  }
  expected_ = std::move(best);
}

bool OutputCheck::agrees(const Outputs& outputs) const {
  if (outputs.size() != expected_.size()) return false;
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (!tensor::is_floating(outputs[i].dtype()) || outputs[i].shape() != expected_[i].shape()) continue;
    if (!(tensor::relative_l2(outputs[i], expected_[i]) <= tolerance(precision_))) return false;
  }
  return true;
}

}  // namespace hone::engine
