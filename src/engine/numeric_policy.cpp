// See numeric_policy.hpp.
#include "engine/numeric_policy.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace hone::engine {
namespace {

using tensor::DType;
using tensor::Precision;

struct Known {
  std::string_view name;
  Precision precision;
  NumericPolicy policy;
};

/// All existing policies. A policy that rounds more comes after those that round less.
constexpr std::array<Known, 5> kKnown = {
    {{"fp32", Precision::kFp32, {DType::kFloat32, Compute::kFloat32, Rounding::kNone}},
     {"tf32", Precision::kTf32, {DType::kFloat32, Compute::kTf32, Rounding::kNone}},
     {"fp16", Precision::kFp16, {DType::kFloat16, Compute::kFloat16, Rounding::kNone}},
     {"bf16", Precision::kBf16, {DType::kBFloat16, Compute::kBFloat16, Rounding::kNone}},
     {"bf16-emulated", Precision::kBf16, {DType::kFloat32, Compute::kFloat32, Rounding::kBFloat16}}}};

template <class Wanted>
const Known* find_known(const Wanted& wanted) {
  const auto* const found = std::find_if(kKnown.begin(), kKnown.end(), wanted);
  return found == kKnown.end() ? nullptr : found;
}

const Known& known(const NumericPolicy& policy) {
  const Known* const found = find_known([&](const Known& item) { return item.policy == policy; });
  if (found == nullptr) fail_internal("a numeric policy that no precision has");
  return *found;
}

}  // namespace

NumericPolicy policy_of(Precision precision) {
  const Known* const found = find_known([&](const Known& item) { return item.precision == precision; });
  if (found == nullptr) {
    fail_environment(
        "no floating-point value has precision {}; hone quantize makes a model whose products do",
        tensor::precision_name(precision));
  }
  return found->policy;
}

NumericPolicy emulated_bf16() { return kKnown.back().policy; }

Precision precision_of(const NumericPolicy& policy) { return known(policy).precision; }

std::string_view policy_name(const NumericPolicy& policy) { return known(policy).name; }

std::optional<NumericPolicy> find_policy(std::string_view name) {
  const Known* const found = find_known([&](const Known& item) { return item.name == name; });
  if (found == nullptr) return std::nullopt;
  return found->policy;
}

NumericPolicy parse_policy(std::string_view name) {
  const std::optional<NumericPolicy> policy = find_policy(name);
  if (!policy) fail_bad_input("numeric policy '{}' is not known", name);
  return *policy;
}

std::string policies_text(std::span<const NumericPolicy> policies) {
  std::string text;
  for (const NumericPolicy& policy : policies) {
    if (!text.empty()) text += '+';
    text += policy_name(policy);
  }
  return text;
}

Precision coarsest_precision(std::span<const NumericPolicy> policies) {
  const Known* coarsest = &kKnown.front();
  for (const NumericPolicy& policy : policies) coarsest = std::max(coarsest, &known(policy));
  return coarsest->precision;
}

}  // namespace hone::engine
