// How one step stores its numbers, multiplies them and rounds its results. Scales and zero points are not
// part of it: they are constants of the graph.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/dtype.hpp"
#include "tensor/precision.hpp"

namespace hone::engine {

/// The type to which factors of products are rounded; sums are float32.
enum class Compute : uint8_t { kFloat32, kTf32, kBFloat16, kFloat16 };

/// The type to which results are rounded, if it is narrower than their element type.
enum class Rounding : uint8_t { kNone, kBFloat16 };

struct NumericPolicy {
  /// Element type of floating-point values between steps.
  tensor::DType storage = tensor::DType::kFloat32;
  Compute compute = Compute::kFloat32;
  /// kBFloat16 emulates bf16 on a device without it: weights and results are rounded to values of bfloat16,
  /// and arithmetic is in float32.
  Rounding rounding = Rounding::kNone;

  auto operator<=>(const NumericPolicy&) const = default;
  bool is_emulated() const { return rounding != Rounding::kNone; }
};

/// The policy of a device that has this precision. Environment error for int8, because quantized nodes of the
/// graph define that.
NumericPolicy policy_of(tensor::Precision precision);
/// The policy for bf16 on a device without it.
NumericPolicy emulated_bf16();
/// The precision with which a user selects the policy.
tensor::Precision precision_of(const NumericPolicy& policy);

/// "fp32", "tf32", "bf16", "fp16", "bf16-emulated".
std::string_view policy_name(const NumericPolicy& policy);
/// Finds the policy with this policy_name().
std::optional<NumericPolicy> find_policy(std::string_view name);
/// Like find_policy(); bad input for another name.
NumericPolicy parse_policy(std::string_view name);
/// The names in the same order: "fp16+fp32".
std::string policies_text(std::span<const NumericPolicy> policies);

/// The precision that rounds most; there must be at least one policy.
tensor::Precision coarsest_precision(std::span<const NumericPolicy> policies);

}  // namespace hone::engine
