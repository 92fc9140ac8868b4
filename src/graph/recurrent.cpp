// See recurrent.hpp.
#include "graph/recurrent.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace hone::graph {
namespace {

/// The name of a function and the defaults of its parameters.
struct FunctionDef {
  std::string_view name;
  RecurrentFunction function;
  std::optional<float> alpha;
  std::optional<float> beta;
};

constexpr FunctionDef kFunctions[] = {
    {"Relu", RecurrentFunction::kRelu, {}, {}},
    {"Tanh", RecurrentFunction::kTanh, {}, {}},
    {"Sigmoid", RecurrentFunction::kSigmoid, {}, {}},
    {"Affine", RecurrentFunction::kAffine, 1.0f, 0.0f},
    {"LeakyRelu", RecurrentFunction::kLeakyRelu, 0.01f, {}},
    {"ThresholdedRelu", RecurrentFunction::kThresholdedRelu, 1.0f, {}},
    {"ScaledTanh", RecurrentFunction::kScaledTanh, 1.0f, 1.0f},
    {"HardSigmoid", RecurrentFunction::kHardSigmoid, 0.2f, 0.5f},
    {"Elu", RecurrentFunction::kElu, 1.0f, {}},
    {"Softsign", RecurrentFunction::kSoftsign, {}, {}},
    {"Softplus", RecurrentFunction::kSoftplus, {}, {}},
};

const FunctionDef& find_function(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const FunctionDef& def) { return def.name == name; });
  if (found == std::end(kFunctions)) fail_bad_input("attribute 'activations' holds '{}'", name);
  return *found;
}

/// The next entry of a list of parameters, for a function that has the parameter.
float take(const std::optional<float>& fallback, const std::vector<float>& list, size_t& next) {
  if (!fallback) return 0;
  return next < list.size() ? list[next++] : *fallback;
}

}  // namespace

std::vector<bool> read_reversed(const Attributes& attributes) {
  const std::string& direction = attributes.get_string("direction");
  if (direction == "forward") return {false};
  if (direction == "reverse") return {true};
  if (direction == "bidirectional") return {false, true};
  fail_bad_input("attribute 'direction' is '{}', expected forward, reverse or bidirectional", direction);
}

std::vector<RecurrentActivation> read_activations(const Attributes& attributes,
                                                  const std::vector<std::string_view>& defaults,
                                                  size_t directions) {
  auto names = attributes.get_or<std::vector<std::string>>("activations", {});
  for (size_t i = 0; names.size() < defaults.size() * directions && !attributes.has("activations"); ++i) {
    names.emplace_back(defaults[i % defaults.size()]);
  }
  if (names.size() != defaults.size() * directions) {
    fail_bad_input("attribute 'activations' has {} entries, expected {}", names.size(),
                   defaults.size() * directions);
  }
  const auto alphas = attributes.get_or<std::vector<float>>("activation_alpha", {});
  const auto betas = attributes.get_or<std::vector<float>>("activation_beta", {});
  size_t next_alpha = 0;
  size_t next_beta = 0;
  std::vector<RecurrentActivation> result;
  for (const std::string& name : names) {
    const FunctionDef& def = find_function(name);
    const float alpha = take(def.alpha, alphas, next_alpha);
    result.push_back({def.function, alpha, take(def.beta, betas, next_beta)});
  }
  return result;
}

}  // namespace hone::graph
