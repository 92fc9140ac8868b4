// How one step stores its numbers, multiplies them and rounds its results. Scales and zero points are no part
// of it: they are constants of the graph.
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

/// The type to which results are rounded beyond their element type.
enum class Rounding : uint8_t { kNone, kBFloat16 };

struct NumericPolicy {
  /// Element type of floating-point values between steps.
  tensor::DType storage = tensor::DType::kFloat32;
  Compute compute = Compute::kFloat32;
  /// kBFloat16: bf16 on a device without it. Weights and results are rounded to bfloat16's values, arithmetic
  /// is in float32.
  Rounding rounding = Rounding::kNone;

  auto operator<=>(const NumericPolicy&) const = default;
  bool is_emulated() const { return rounding != Rounding::kNone; }
};

/// The policy of a device with this precision; environment error for int8, which quantized nodes of a graph
/// ask for.
NumericPolicy policy_of(tensor::Precision precision);
/// bf16 on a device without it.
NumericPolicy emulated_bf16();
/// The precision that a user names to get the policy.
tensor::Precision precision_of(const NumericPolicy& policy);

/// "fp32", "tf32", "bf16", "fp16", "bf16-emulated".
std::string_view policy_name(const NumericPolicy& policy);
/// Finds the policy with this policy_name().
std::optional<NumericPolicy> find_policy(std::string_view name);
/// The same; bad input for another name.
NumericPolicy parse_policy(std::string_view name);
/// Names, in their order: "fp16+fp32".
std::string policies_text(std::span<const NumericPolicy> policies);

/// The precision that rounds most of these, of which there is one at least.
tensor::Precision coarsest_precision(std::span<const NumericPolicy> policies);

}  // namespace hone::engine
