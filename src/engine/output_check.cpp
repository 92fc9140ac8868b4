// See output_check.hpp.
#include "engine/output_check.hpp"

#include <algorithm>

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

}  // namespace

Outputs OutputCheck::run(Program& program) const {
  program.executor().poison();
  Outputs outputs = program.run(inputs_);
  if (!overlapping_) return outputs;
  program.executor().poison();
  return program.run(inputs_);
}

void OutputCheck::expect(const std::vector<Outputs>& outputs) {
  expected_ = outputs.front();
  const auto agreeing = static_cast<size_t>(
      std::count_if(outputs.begin(), outputs.end(), [this](const Outputs& o) { return agrees(o); }));
  // The first may itself be the wrong one.
  if (outputs.size() > 1 && 2 * agreeing < outputs.size()) expected_ = outputs[1];
  if (!agrees(expected_)) expected_.clear();
}

bool OutputCheck::agrees(const Outputs& outputs) const {
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (!tensor::is_floating(outputs[i].dtype()) || outputs[i].shape() != expected_[i].shape()) continue;
    if (!(tensor::relative_l2(outputs[i], expected_[i]) <= tolerance(precision_))) return false;
  }
  return true;
}

}  // namespace hone::engine
