// See shape_profile.hpp.
#include "engine/shape_profile.hpp"

#include <fmt/format.h>

namespace hone::engine {

std::string profile_fault(const graph::Value& input, const ShapeProfile& profile) {
  const auto& [min, opt, max] = profile;
  if (min.size() != opt.size() || opt.size() != max.size()) return "min, opt and max have different ranks";
  if (input.type.ranked() && input.type.dims->size() != opt.size())
    return fmt::format("rank {} for an input {}", opt.size(), input.type.text());
  for (size_t i = 0; i < opt.size(); ++i) {
    if (min[i] < 0 || min[i] > opt[i] || opt[i] > max[i]) {
      return fmt::format("dimension {} must hold min <= opt <= max, found {}, {}, {}", i, min[i], opt[i],
                         max[i]);
    }
    if (!input.type.ranked()) continue;
    const graph::Dim& dim = (*input.type.dims)[i];
    if (dim.known() && (min[i] != dim.value() || max[i] != dim.value()))
      return fmt::format("dimension {} is {} in the model, found {} to {}{}", i, dim.value(), min[i], max[i],
                         i == 0 ? "; for other batches, export the model with that dimension open" : "");
  }
  return "";
}

std::string range_text(const ShapeProfile& profile) {
  std::string max;
  for (const int64_t size : profile.max)
    max += (max.empty() ? "" : "x") + (size == kAnySize ? "*" : std::to_string(size));
  return fmt::format("{} to {}", tensor::shape_text(profile.min),
                     profile.max.empty() ? tensor::shape_text(profile.max) : max);
}

std::string input_text(const std::string& name, const ShapeProfile& profile) {
  return fmt::format("input {}: {}, tuned for {}", name, range_text(profile),
                     tensor::shape_text(profile.opt));
}

}  // namespace hone::engine
